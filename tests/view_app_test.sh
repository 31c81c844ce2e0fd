#!/bin/bash
# view_app_test.sh BUILD - the page of volery view as a person uses it, in headless Chromium. Pictures of what it saw are
# left in BUILD/view. Where chromium or node is missing (make test-page installs them), it is skipped and says so.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
volery=$build/volery
work=$build/view
mkdir -p "$work"
cd "$work"

skip() {
    echo "view: SKIPPED: $*"
    exit 0
}
command -v node >/dev/null || skip "no node"
command -v chromium >/dev/null || skip "no chromium"
"$root/web/fetch.sh" "$root/tests/view/packages.lock" "$work" 2>fetch.log ||
    skip "playwright-core cannot be fetched, see $work/fetch.log"

"$volery" run first-flight -q -o a.mcap
"$volery" view a.mcap -o a.html -q 2>err || { grep -q "without the page" err && skip "built without the page"; cat err; exit 1; }
"$volery" export a.mcap --csv -o a.csv
"$volery" run first-flight -q --seed 2 -o b.mcap || true # expectations may be missed
"$volery" export b.mcap --csv -o b.csv
"$volery" diff a.mcap b.mcap --json >diff.json || true
"$volery" view a.mcap b.mcap -o both.html -q
"$volery" branch a.mcap --at 6 --set drones.alpha.controller.gains.rate=9 -q -o branched.mcap || true
"$volery" view a.mcap branched.mcap -o branched.html -q
"$volery" run shock -q 2>/dev/null --set drones.alpha.safety.tilt_max=0.1 --set 'expect=[]' -o failed.mcap || true
"$volery" view failed.mcap -o failed.html -q
"$volery" run swarm -q -o swarm.mcap
"$volery" view swarm.mcap -o swarm.html -q
"$volery" view swarm.mcap -o thin.html -q --size 2
"$volery" export swarm.mcap --csv --drone west --fields body.position -o west.csv
sensors='{gps: {period: 0.2}, baro: {period: 0.02}, esc: {period: 0.01}, power: {period: 0.1}, range: {period: 0.05}}'
"$volery" run battery -q --set "drones.alpha.sensors=$sensors" --set log.energy=on --set duration=20 \
    --set 'expect=[]' -o battery.mcap
"$volery" view battery.mcap -o battery.html -q
"$volery" export battery.mcap --csv -o battery.csv
"$volery" run slung-load -q --set duration=8 --set 'expect=[]' -o load.mcap
"$volery" view load.mcap -o load.html -q
"$volery" export load.mcap --csv --drone carrier -o load.csv
"$volery" run "$root/tests/view/ground.yaml" -q -o ground.mcap
"$volery" view ground.mcap -o ground.html -q
"$volery" run "$root/tests/view/scene.yaml" -q -o scene.mcap
"$volery" view scene.mcap -o scene.html -q
"$volery" run "$root/tests/view/failsafe.yaml" -q --set "drones.alpha.controller.library=$build/tests/plugin_controller.so" \
    -o failsafe.mcap
"$volery" view failsafe.mcap -o failsafe.html -q
"$volery" export failsafe.mcap --csv --fields reply.thrust -o failsafe.csv
"$volery" run hopper -q --set duration=4 --set 'expect=[]' -o hopper.mcap
"$volery" view hopper.mcap -o hopper.html -q
"$volery" export hopper.mcap --csv -o hopper.csv
"$volery" run gate -q -o gate.mcap
"$volery" view gate.mcap -o gate.html -q
"$volery" run warehouse -q --set duration=3 --set 'expect=[]' -o warehouse.mcap
"$volery" view warehouse.mcap -o warehouse.html -q
"$volery" run sensors -q --set duration=8 --set 'expect=[]' -o sensors.mcap
"$volery" view sensors.mcap -o sensors.html -q
"$volery" export sensors.mcap --csv -o sensors.csv
"$volery" run canyon -q --set duration=12 --set 'expect=[]' -o canyon.mcap
"$volery" view canyon.mcap -o canyon.html -q
"$volery" run nesc/case06 -q -o planet.mcap 2>/dev/null || "$volery" run "$root/scenarios/nesc/case06.yaml" -q -o planet.mcap
"$volery" view planet.mcap -o planet.html -q
"$root/tests/view/many.sh" 200 1 >many.yaml
"$volery" run many.yaml -q -o many.mcap
"$volery" view many.mcap -o many.html -q
"$volery" view many.mcap -o few.html -q --size 4 2>/dev/null
size=$(stat -c %s few.html)
[ "$size" -le 4000000 ] || { echo "view: FAILED: a page of at most 4 MB has $size bytes"; exit 1; }
"$volery" export many.mcap --csv --drone d150 --fields imu.accel -o many.csv

# Logs that were cut off, and pages that were.
"${CC:-cc}" -std=c17 -O1 -I"$root/include" "$root/tests/app/odd_logs.c" "$build/libvolery.a" -lfyaml -lqhull_r -lcrypto -lzstd \
    -lz -lm -lpthread -o odd_logs
./odd_logs hostile hostile.mcap
"$volery" view hostile.mcap -o hostile.html -q 2>hostile.err
head -c 1500000 a.mcap >cut.mcap.part
"$volery" view cut.mcap.part -o cut.html -q 2>/dev/null
head -c $(($(stat -c %s a.html) - 900000)) a.html >torn.html
sed 's|id="volery-log-0">H4sI|id="volery-log-0">H4sIxxxxxxxx|' a.html >damaged.html
sed 's|id="volery-info">{|id="volery-info">{{|' a.html >no-info.html
: >empty.html

NODE_PATH=$work/node_modules node "$root/tests/view/page.mjs" "$work"
NODE_PATH=$work/node_modules node "$root/tests/view/live.mjs" "$volery" "$work"

# Firefox, where it is.
if command -v firefox-esr >/dev/null && command -v xvfb-run >/dev/null && "$root/web/fetch.sh" "$root/tests/view/firefox.lock" "$work/firefox" 2>fetch.log; then
    node "$root/tests/view/firefox.mjs" "$volery" "$work" "$work/firefox"
else
    echo "firefox: SKIPPED: no firefox-esr, no xvfb-run, or puppeteer-core cannot be fetched"
fi
