#!/bin/sh
# bridge_test.sh BUILD - firmware in the loop without firmware: the MAVLink messages against pymavlink, and stand-ins for
# PX4 and ArduPilot that fly through their protocols, break off, hang, talk nonsense and refuse. Where python3 or pymavlink cannot be
# had it is skipped, and the last line says so.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/bridge_test
mkdir -p "$work"
cd "$work"

packages() {
    rm -rf venv
    python3 -m venv venv && venv/bin/pip install --quiet --only-binary :all: --require-hashes -r "$source/tests/bridge/requirements.txt"
}
if ! cmp -s "$source/tests/bridge/requirements.txt" "$work/done"; then
    if ! packages >"$work/pip.log" 2>&1; then
        echo "bridge: skipped, no packages (see $work/pip.log)"
        exit 0
    fi
    cp "$source/tests/bridge/requirements.txt" "$work/done"
fi
python=$work/venv/bin/python volery=$build/volery

. "$source/tests/bridge/common.sh"
# Ports that nobody else has: this test may run beside others.
port=$("$python" -c 'import socket as s; a = [s.socket() for _ in range(8)]; [x.bind(("127.0.0.1", 0)) for x in a]; print(max(x.getsockname()[1] for x in a))')
link=$((port > 40000 ? port - 7000 : port + 7000))
# fly HOW STATUS LOG WORDS... - the flight of px4.yaml with a double that does HOW
fly() {
    how=$1 wanted=$2 log=$3
    shift 3
    try "$wanted" "$volery" run "$source/tests/bridge/px4.yaml" -o "$log" \
        --set "drones.alpha.controller.command=$python $source/tests/bridge/px4_double.py $port $link $how" \
        --set "drones.alpha.controller.port=$port" --set "drones.alpha.controller.script_port=$link" \
        --set "drones.alpha.controller.boot=60 s" "$@"
}

"$python" "$source/tests/bridge/codec_test.py" "$build/tests/mavlink_codec"

# It arms, takes off, flies its mission and lands. Twice it is the same flight; who only connects changes nothing.
fly "" 0 flight.mcap
first=$(hash)
[ -n "$first" ] || fail "no hash"
replays flight.mcap
"$python" - "$port" <<'END' &
import socket, sys, time
for _ in range(3000):  # before the double, whose Python takes longer to begin
    try:
        wire = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=1)
        break
    except OSError:
        time.sleep(0.002)
else:
    sys.exit("nobody listened")
wire.settimeout(60)
assert wire.recv(1) == b"", "who says nothing is sent away"
END
ghost=$!
fly "" 0 ghost.mcap
[ "$(hash)" = "$first" ] || fail "the same flight gives another hash: $(hash), not $first"
wait $ghost || fail "a client that only connects"

# A branch shows it the recorded samples, and goes on where it does what it did; not with one that does something else.
try 0 "$volery" branch flight.mcap --at 8 --allow-programs -o branch.mcap --set 'world.wind.constant=[2, 0.5, 0]' --set 'expect=[]'
says err "the firmware's motor commands are within 0.0 % of the log"
replays branch.mcap
try 1 "$volery" branch flight.mcap --at 8 --allow-programs -o other.mcap \
    --set "drones.alpha.controller.command=$python $source/tests/bridge/px4_double.py $port $link weak"
says err "its motor commands differ by up to"

# Before its mission, with nothing changed, it goes on to the same end.
try 0 "$volery" branch flight.mcap --at 4 --allow-programs -o same.mcap
says err "the firmware's motor commands are within 0.0 % of the log"
[ "$(hash)" = "$first" ] || fail "a branch without a change ends elsewhere: $(hash), not $first"

# On a busy computer PX4 reads its MAVLink late, by the wall clock: still each message acts from the same moment on, and the flight is the same.
# One that accepts sooner than it did in the run is told the same at the same moments in a branch, where the second line of the script
# waited for the first; what it refuses, unlike in the run, it is told again.
fly busy 0 busy.mcap
[ "$(hash)" = "$first" ] || fail "a firmware that reads its MAVLink late flies otherwise: $(hash), not $first"
fly late 0 late.mcap --set 'duration=4 s' --set 'expect=[]'
again() { # HOW T LOG - a branch of it at T, by a double that does HOW
    try 0 "$volery" branch late.mcap --at "$2" --allow-programs -o "$3" --set 'expect=[]' --set 'duration=4 s' \
        --set "drones.alpha.controller.command=$python $source/tests/bridge/px4_double.py $port $link $1"
}
again "" 1.6 early.mcap
says err "the firmware's motor commands are within 0.0 % of the log"
replays early.mcap
again moody 2.8 moody.mcap
replays moody.mcap

# A fault of a sensor reaches the firmware: without GPS it does not arm.
fly "" 1 fault.mcap --set 'faults=[{kind: sensor_dropout, channel: gps_position, share: 1, drone: alpha}]' \
    --set 'drones.alpha.controller.patience=5 s'
says out "refused line 1 of its script for 5 s"
replays fault.mcap

# The other parts and the radio reach it, and what is broken of them is silent: no old distance comes by another message.
parts() { # FAULT
    fly "" 0 parts.mcap --set 'expect=[]' --set 'duration=8 s' --set drones.alpha.sensors.range=tf-luna --set drones.alpha.sensors.flow=pmw3901 \
        --set 'drones.alpha.controller.rc=[{time: 0, channels: [1500, 1600]}, {time: 5 s, channels: [0]}]' --set "faults=[$1]"
    says err "RC_CHANNELS 250, after 5 s: 2 channels, 1500 1600 65535"
}
parts ''
says err "after 8 s: orientation 25, within 20 to 800 cm"
says err "after 8 s: 10000 us, distance -1 m, quality 255"
parts '{kind: sensor_dropout, channel: range, share: 1, start: 6 s}, {kind: sensor_dropout, channel: flow, share: 1, start: 7 s},
    {kind: sensor_bias, channel: airspeed, bias: 300, start: 6 s}'
says err "after 6 s: orientation 25"
says err "after 7 s: 10000 us, distance -1 m, quality 255"
grep -qE 'HIL_SENSOR [0-9]+, after 8 s: [23][0-9]{2} Pa' err || fail "no fault of the pitot tube"
replays parts.mcap

# Trouble on the way: a verdict, and a log that is whole.
fly kill 1 kill.mcap
says out "crashed: signal 9"
replays kill.mcap
fly exit 1 exit.mcap
says out "ended before the run did, with exit status 3"
replays exit.mcap
fly hang 1 hang.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "did not reply within its deadline of 0.5 s"
replays hang.mcap
fly garbage 1 garbage.mcap
says out "sent bytes that are not of its protocol"
replays garbage.mcap
fly again 1 again.mcap
says out "ended before the run did"
replays again.mcap
fly refuse 1 refuse.mcap --set 'drones.alpha.controller.patience=7 s'
says out "refused line 1 of its script for 7 s"
replays refuse.mcap
fly mute 1 mute.mcap --set 'drones.alpha.controller.boot=2 s'
says out "was not ready within 2 s"
replays mute.mcap
# A vehicle with a failsafe flies on.
fly kill 0 failsafe.mcap --set 'drones.alpha.vehicle={base: x500, drive: {failsafe: cut}}' --set 'expect=[]'
replays failsafe.mcap

# Nobody connects; no such program; a port that is taken; bad input with its place.
try 1 "$volery" run "$source/tests/bridge/px4.yaml" --no-log --set "drones.alpha.controller.port=$port" \
    --set "drones.alpha.controller.script_port=$link" --set 'drones.alpha.controller.boot=0.2 s'
says out "was not ready within 0.2 s"
says err "px4 that connects to TCP port $port of 127.0.0.1, its MAVLink to UDP port $link"
cat >hold.py <<'END'
import socket, subprocess, sys

kind = getattr(socket, sys.argv[1])
holder = socket.socket(socket.AF_INET, kind)
if kind == socket.SOCK_STREAM:
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
holder.bind(("127.0.0.1", int(sys.argv[2])))
if kind == socket.SOCK_STREAM:
    holder.listen()
sys.exit(subprocess.call(sys.argv[3:]))
END
taken() { # SCENARIO KIND PORT KEY
    try 3 "$python" hold.py "$2" "$3" "$volery" run "$source/tests/bridge/$1.yaml" --no-log --set "drones.alpha.controller.port=$port" \
        --set "drones.alpha.controller.script_port=$link"
    says err "Address already in use: \`$4\` of the controller sets another"
}
taken px4 SOCK_STREAM "$port" port
taken px4 SOCK_DGRAM "$link" script_port
taken ardupilot_script SOCK_DGRAM "$port" port
fly "" 1 none.mcap --set 'drones.alpha.controller.command=sh -c "exit 7"'
says out "with exit status 7"
refuses() { # CHANGE SENTENCE
    try 2 "$volery" run "$source/tests/bridge/px4.yaml" --no-log --set "drones.alpha.controller.$1" \
        --set "drones.alpha.controller.port=$port" --set "drones.alpha.controller.script_port=$link"
    says err "$2"
}
refuses airframe=hexa_x "airframe hexa_x has 6 motors, and the vehicle 4 rotors"
refuses address=nowhere "address nowhere is no IPv4 address"
refuses 'parameters={NAME: text}' "a firmware's parameter is a number"
refuses 'setpoints=[]' "a mission needs the drone's setpoints"
refuses 'script=[{time: 2, do: arm}, {time: 1, do: land}]' "time must not be before that of the line before it, 2 s"
refuses 'script=[{time: 2, do: jump}]' jump
sed 's/kind: px4/kind: px4\n      airframe: quad_plus/' "$source/tests/bridge/px4.yaml" >wrong.yaml
try 2 "$volery" check wrong.yaml
says err "wrong.yaml:28:17"
says err "the vehicle has no rotor where motor 1 is"
sed '/planet:/d' "$source/tests/bridge/px4.yaml" >flat.yaml
try 2 "$volery" check flat.yaml
says err "px4 needs a place for its GPS and compass: world.planet.origin"

# Ports are few: an eleventh PX4 with a script, and flights of a campaign side by side, are refused with a sentence.
"$python" - "$source/tests/bridge/px4.yaml" >eleven.yaml <<'END'
import sys

head, rest = open(sys.argv[1]).read().split("drones:\n", 1)
others = "".join(f"  - {{name: d{i}, start: {{position: [{50 + 2 * i}, 50, 1]}}}}\n" for i in range(10))
print(head + "drones:\n" + others + rest)
END
try 2 "$volery" run eleven.yaml --no-log --set "drones.alpha.controller.port=$port"
says err "px4 sends its MAVLink to 10 ports"
says err "this is number 11"
printf 'volery: 1\ncampaign: ports\nscenario: %s\ncases: 4\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 2 kg, to: 2.1 kg}\n' \
    "$source/tests/bridge/px4.yaml" >ports.yaml
rm -rf ports-results
try 2 "$volery" campaign run ports.yaml --jobs 2
says err "the firmware of drone alpha takes ports of this computer"

# ArduPilot's stand-in climbs, holds and lands by the sticks; both sizes of its packets are the same flight, and so is one whose
# answers get lost.
soar() { # OUTPUTS HOW STATUS LOG WORDS...
    outputs=$1 how=$2 wanted=$3 log=$4
    shift 4
    try "$wanted" "$volery" run "$source/tests/bridge/ardupilot.yaml" -o "$log" --set "drones.alpha.controller.port=$port" \
        --set "drones.alpha.controller.command=$python $source/tests/bridge/ardupilot_double.py $port $outputs $how" \
        --set 'drones.alpha.controller.boot=60 s' "$@"
}
soar 16 "" 0 soar.mcap
replays soar.mcap
motion() { "$volery" export "$1" --csv --drone alpha --fields body.position,reply.motors --rate 50; }
motion soar.mcap >first.csv
same() { motion "$1" | cmp -s first.csv - || fail "another flight: $1"; }
soar 32 "" 0 soar32.mcap
same soar32.mcap
soar 16 lost 0 lost.mcap
same lost.mcap
soar 16 kill 1 akill.mcap
says out "crashed: signal 9"
replays akill.mcap
soar 16 hang 1 ahang.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "did not reply within its deadline of 0.5 s"
soar 16 restart 1 restart.mcap
says out "ended before the run did"
replays restart.mcap
soar 16 reboot 1 reboot.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "ended before the run did"
replays reboot.mcap
soar 16 garbage 1 agarbage.mcap
says out "sent bytes that are not of its protocol"
replays agarbage.mcap
soar 16 word 1 aword.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "sent bytes that are not of its protocol"
try 2 "$volery" check "$source/tests/bridge/ardupilot.yaml" --set drones.alpha.controller.truth=off
says err "ardupilot simulates GPS, compass and barometer itself, from the truth"
try 2 "$volery" check "$source/tests/bridge/ardupilot.yaml" --set 'drones.alpha.sensors.gps=neo-m9n' \
    --set 'faults=[{kind: sensor_bias, channel: gps_position, bias: [1, 0, 0], drone: alpha}]'
says err "its SIM_ parameters break them"

# A range finder that has broken is silent, as one of its own drivers would be: the last distance does not stay.
soar 16 "" 0 silent.mcap --set 'faults=[{kind: sensor_dropout, channel: range, share: 1, start: 5 s, duration: 3 s}]'
says err "double: no range finder for 2.81 s" # 0.2 s after the last sample
soar 16 "" 0 soar.mcap
grep -q "no range finder" err && fail "silent without a fault"

# Told by a script over MAVLink: parameters, a mode, arming, take-off, mission, landing; one hash, and a branch.
told() { # HOW STATUS LOG WORDS...
    how=$1 wanted=$2 log=$3
    shift 3
    try "$wanted" "$volery" run "$source/tests/bridge/ardupilot_script.yaml" -o "$log" --set "drones.alpha.controller.port=$port" \
        --set "drones.alpha.controller.command=$python $source/tests/bridge/ardupilot_double.py $port 16 $how $link" \
        --set "drones.alpha.controller.script_port=$link" --set 'drones.alpha.controller.boot=60 s' "$@"
}
told fine 0 told.mcap
first=$(hash)
replays told.mcap
told fine 0 twice.mcap
[ "$(hash)" = "$first" ] || fail "the same flight gives another hash: $(hash), not $first"
try 0 "$volery" branch told.mcap --at 9 --allow-programs -o tbranch.mcap --set 'world.wind.constant=[2, 0.5, 0]' --set 'expect=[]'
says err "the firmware's motor commands are within 0.0 % of the log"
replays tbranch.mcap
# Confined it flies the same, and ends the same: ArduPilot wants a parent that it may signal.
told fine 0 confined.mcap --set drones.alpha.controller.confine=on --set drones.alpha.controller.network=loopback
says err ", confined"
[ "$(motion confined.mcap)" = "$(motion told.mcap)" ] || fail "confined it flies otherwise"
told kill 1 ckill.mcap --set drones.alpha.controller.confine=on --set drones.alpha.controller.network=loopback
says out "crashed: signal 9"
replays ckill.mcap
told refuse 1 trefuse.mcap --set 'drones.alpha.controller.patience=2 s'
says out "refused line 2 of its script for 2 s"
replays trefuse.mcap
told kill 1 tkill.mcap
says out "crashed: signal 9"
replays tkill.mcap
# Who sends noise to its two ports changes nothing; noise in place of what it says, or hears, over MAVLink is a verdict.
"$python" "$source/tests/bridge/noise.py" 60 "$port" "$link" >noise &
stranger=$!
told fine 0 stranger.mcap
kill $stranger
wait $stranger || true
grep -q "^noise: [1-9]" noise || fail "there was no noise"
[ "$(hash)" = "$first" ] || fail "a stranger's noise makes another flight: $(hash), not $first"
for meddling in garbage lies again; do
    "$python" "$source/tests/bridge/relay.py" udp "$link" $((link + 1)) $meddling 6 >relay.log &
    relay=$!
    told fine 1 "t$meddling.mcap" --set "drones.alpha.controller.script_port=$((link + 1))" --set 'drones.alpha.controller.patience=2 s'
    kill $relay 2>/dev/null || true
    says relay.log "relay: $meddling"
    says out "of its script for 2 s"
    replays "t$meddling.mcap"
done
told fine 1 tnone.mcap --set 'drones.alpha.controller.parameters={NO_SUCH: 1}' --set 'drones.alpha.controller.boot=2 s'
says out "was not ready within 2 s"
sed '/planet:/d' "$source/tests/bridge/ardupilot_script.yaml" >flat.yaml
try 2 "$volery" check flat.yaml
says err "a mission goes by latitude and longitude: world.planet.origin"

"$volery" list controllers 2>/dev/null | grep -q px4 || "$volery" list | grep -q px4 || fail "volery list"
echo "bridge: ok"
