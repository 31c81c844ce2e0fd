#!/bin/bash
# soak.sh BUILD HOURS [SCENARIO...] - fly each scenario (tests/soak/soak.yaml and first-flight) for HOURS of simulated time without a
# log, twice side by side: both end with the same hash, and neither has more memory at the end than after its first minute of work.
# One minute is a tenth of a flight that takes no longer.
set -euo pipefail
build=$(cd "$1" && pwd)
hours=$2
shift 2
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tests/soak/soak.yaml first-flight
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GROWTH=256 # [KiB] that a flight may grow by: pages that are touched for the first time

resident() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status" 2>/dev/null || true; } # PID: [KiB]; nothing once it has ended
seconds() { awk "BEGIN { printf \"%.0f\", $hours * 3600 }"; }

fly() { # NAME; in the background, in the place of its shell
    exec "$build/volery" run "$scenario" --no-log --json --set 'expect=[]' --duration "$(seconds)" >"$work/$1.json" 2>"$work/$1.err"
}
result() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r[sys.argv[2]])' "$work/$1.json" "$2"; }

for scenario in "$@"; do
    fly second &
    second=$!
    fly first &
    first=$!
    while now=$(resident $first) && [ -n "$now" ]; do
        echo "$now" >>"$work/memory"
        sleep 0.2
    done
    wait $first || { cat "$work/first.err"; exit 1; }
    wait $second || { cat "$work/second.err"; exit 1; }
    hash=$(result first final_hash)
    [ "$hash" = "$(result second final_hash)" ] || { echo "soak: $scenario: two flights, two hashes: $hash and $(result second final_hash)"; exit 1; }
    [ "$(result first status)" = completed ] || { echo "soak: $scenario: $(result first status)"; exit 1; }
    # The first tenth of the samples, a minute's at most, warms up; after it the largest is hardly more than the first.
    growth=$(awk '{ m[NR] = $1 }
        END {
            first = int(NR / 10) + 1; if (first > 300) first = 300
            for (i = first; i <= NR; ++i) if (m[i] > most) most = m[i]
            print NR < 3 ? 0 : most - m[first]
        }' "$work/memory")
    [ "$growth" -le $GROWTH ] || { echo "soak: $scenario: $growth KiB more at the end than at the start"; exit 1; }
    echo "soak: $scenario: $hours h, $(result first steps) steps, hash $hash twice, memory +$growth KiB of $(tail -1 "$work/memory") ($(wc -l <"$work/memory") samples)"
    rm "$work/memory"
done
