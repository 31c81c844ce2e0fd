#!/bin/sh
# many.sh DRONES SECONDS - a scenario of so many drones, each about a place of its own on a grid: what the page's pace is measured with.
set -eu
awk -v count="$1" -v seconds="$2" '
    function about(x, reach) { seed = (seed * 16807) % 2147483647; return sprintf("%.2f", x + reach * (2 * seed / 2147483647 - 1)) }
    BEGIN {
        seed = 1
        side = 10
        while (count > 100 && side * side * side < count) side += 1
        printf "volery: 1\nname: many\nduration: %g s\ndrones:\n", seconds
        for (i = 0; i < count; ++i) {
            x = 2 * (i % side); y = 2 * (int(i / side) % side); z = 2 + 2 * int(i / (side * side))
            printf "  - name: d%d\n    start: {position: [%g, %g, %g]}\n    controller:\n      setpoints:\n", i, x, y, z
            for (t = 0.5; t < seconds && t < 60; t += 3)
                printf "        - {time: %g s, position: [%s, %s, %s]}\n", t, about(x, 1), about(y, 1), about(z, 0.7)
        }
    }'
