#!/bin/bash
# screenshots.sh BUILD - the pictures in docs/images, made anew: pages in headless Chromium, and a figure of volery plot.
# Needs what `make test-page` and `make playground` install.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
volery=$build/volery
work=$build/view
mkdir -p "$work" "$root/docs/images"
cd "$work"
"$root/web/fetch.sh" "$root/tests/view/packages.lock" "$work"

"$volery" run first-flight -q -o flight.mcap
"$volery" branch flight.mcap --at 6 --set drones.alpha.controller.gains.rate=9 -q -o soft.mcap || true # it may miss its mark
"$volery" run swarm -q -o swarm.mcap
"$volery" run gate -q -o gate.mcap
"$volery" view flight.mcap -q -o flight.html
"$volery" view gate.mcap -q -o gate.html
"$volery" view flight.mcap soft.mcap -q -o both.html
"$volery" view swarm.mcap -q -o swarm.html
"$volery" plot flight.mcap -o "$root/docs/images/plot.svg"
"$root/web/playground/build.sh" "$root/build/playground"
cp "$root/build/playground/playground.html" .
node "$root/tools/screenshots.mjs" "$work" "$root/docs/images"
ls -l "$root/docs/images"
