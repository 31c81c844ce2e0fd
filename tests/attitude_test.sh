#!/bin/sh
# attitude_test.sh BUILD - the attitude suite: built-in controllers pass it with every seed, a badly tuned one fails it
# for the reason stated; its outcome is JUnit XML that others read.
set -eu
volery=$(cd "$1" && pwd)/volery
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "attitude_test: $*"; cat out; exit 1; }

for file in "$source"/scenarios/attitude/*.yaml; do
    for seed in 1001 1002 1003; do
        "$volery" run "$file" --seed $seed --no-log >out 2>&1 || fail "$file with seed $seed"
    done
done
[ "$(find "$source"/scenarios/attitude -name '*.yaml' | wc -l)" -eq 5 ] || fail "there are five scenarios"

# Attitude corrected faster than the rates can follow: it swings ever more, and the limits end the flight.
for name in hover-start impulse-shock; do
    status=0
    "$volery" run "$source/scenarios/attitude/$name.yaml" --set drones.alpha.controller.gains.attitude=60 --no-log \
        --junit bad.xml >out 2>&1 || status=$?
    [ $status -eq 1 ] || fail "a badly tuned controller gives status $status on $name"
    grep -Eq 'because +at [0-9.]+ s the (rate|tilt) of alpha was' out || fail "no reason on $name"
done
# Too slow to settle: the limits hold, an expectation does not.
status=0
"$volery" run "$source/scenarios/attitude/hover-start.yaml" --set drones.alpha.controller.gains.attitude=1 \
    --set drones.alpha.controller.gains.position=1 --no-log --junit slow.xml >out 2>&1 || status=$?
[ $status -eq 1 ] || fail "a slow controller gives status $status"
grep -q 'FAILED *tilt of all' out || fail "the expectation is not named"
if command -v python3 >/dev/null; then
    python3 - bad.xml slow.xml <<'TEXT' || fail "JUnit"
import sys, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    suite = tree.parse(path).getroot().find("testsuite")
    cases = suite.findall("testcase")
    failed = [c for c in cases if c.find("failure") is not None]
    assert int(suite.get("tests")) == len(cases) == 4, path
    assert int(suite.get("failures")) == len(failed) > 0, path
    assert len({c.get("name") for c in cases}) == len(cases), path
    assert all(c.find("failure").get("message") for c in failed), path
bad = tree.parse("bad.xml").getroot().find("testsuite").find("testcase")
assert bad.get("name") == "flight" and "limit" in bad.find("failure").get("message")
TEXT
fi

# Paced by the clock it takes its time, and flies the same.
printf 'volery: 1\nduration: 0.5 s\ndrones: [{name: alpha}]\n' >brief.yaml
value() { sed "s/.*\"$1\": *\"\{0,1\}\([0-9a-f.]*\).*/\1/" out; }
"$volery" run brief.yaml --no-log --json >out
fast=$(value final_hash)
"$volery" run brief.yaml --no-log --json --realtime >out
[ "$(value final_hash)" = "$fast" ] || fail "paced by the clock it flies another flight"
value wall_s | awk '{ exit !($1 >= 0.49) }' || fail "half a second took $(value wall_s) s by the clock"
echo "attitude_test: ok"
