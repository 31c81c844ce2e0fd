#!/bin/sh
# league_test.sh BUILD - the league's table, by a built-in law alone: flown once, it is the same from its logs alone; other logs
# are another table, and a flight that does not come back is lost.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
logs=$build/league_test volery=$build/volery
fail() { echo "league: $*"; cat "$logs"/*.md "$logs"/*.txt 2>/dev/null; exit 1; }
rm -rf "$logs"

tools/league.sh "$build" "logs=$logs" laws=hold >/dev/null || fail "it did not fly"
mv "$logs/table.md" "$logs/flown.md"
[ "$(grep -c '^| hold | [0-9.]* / [0-9.]* | [0-9.]* / [0-9.]* | [0-9.]* / [0-9.]* | [0-9.]* / [0-9.]* |$' "$logs/flown.md")" -eq 1 ] ||
    fail "hold has no four figures"
grep -q '^| px4 | missing | missing | missing | missing |$' "$logs/flown.md" || fail "PX4 was not flown, and is not missing"

# From the logs alone: with nothing to fly by, and after each has been flown again from itself.
tools/league.sh "$build" "logs=$logs" table >/dev/null
cmp -s "$logs/flown.md" "$logs/table.md" || fail "another table from the same logs"
for log in "$logs"/*.mcap; do "$volery" replay "$log" >"$logs/replay.txt" 2>&1 || fail "$log does not replay"; done

# The figures are the logs': with a gyroscope's fault in place of none the first column is the third. One that stays up is lost.
cp "$logs/hold.gyro.mcap" "$logs/hold.none.mcap"
"$volery" run scenarios/league/built-in.yaml --duration 60 -q -o "$logs/hold.rotor.mcap"
tools/league.sh "$build" "logs=$logs" table >/dev/null
row() { sed -n 's/^| hold | //p' "$logs/$1.md" | tr -d ' ' | cut -d'|' -f"$2"; }
[ "$(row table 1)" = "$(row flown 3)" ] || fail "the first column is not of its log"
[ "$(row table 1)" != "$(row flown 1)" ] || fail "the gyroscope's fault does not show"
[ "$(row table 2)" = lost ] || fail "a flight that ends at 10 m is not lost"
[ "$(row table 4)" = "$(row flown 4)" ] || fail "the last column has changed"

# The distance itself, by another program where there is one.
if command -v python3 >/dev/null; then
    "$volery" export "$logs/hold.accel.mcap" --csv --drone alpha --fields body.position --rate 20 -o - 2>/dev/null | python3 -c '
import csv, math, sys
c = [(0, 0, 0), (0, 0, 10), (5, 0, 10), (5, 5, 10), (0, 5, 10), (0, 0, 10)]
path = [tuple(a + (b - a) * i / 2000 for a, b in zip(p, q)) for p, q in zip(c, c[1:]) for i in range(2001)]
d = [min(math.dist(at, p) for p in path) for at in [tuple(map(float, r[1:4])) for r in list(csv.reader(sys.stdin))[1::20]]]
print(max(d))' >"$logs/most.txt"
    most=$(row table 4)
    awk -v a="$(cat "$logs/most.txt")" -v b="${most#*/}" 'BEGIN { exit !(a <= b + 0.006 && a > 0.5 * b) }' ||
        fail "the largest distance is $(cat "$logs/most.txt") m of every 20th point, and $most in the table"
fi
echo "league: ok"
