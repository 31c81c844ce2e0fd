#!/bin/sh
# betaflight_test.sh BUILD - Betaflight in the loop without Betaflight: a stand-in in Python flies angle mode in simulated time,
# by `volery sitl`, breaks off, hangs, talks nonsense and refuses. Where python3 cannot be had it is skipped.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/betaflight_test
mkdir -p "$work"
cd "$work"
# The interpreter itself: what a launcher starts has the wall's clock.
if ! python=$(python3 -c 'import sys; print(sys.executable)') || ! command -v "$python" >/dev/null; then
    echo "betaflight: skipped, no python3"
    exit 0
fi
volery=$build/volery
. "$source/tests/bridge/common.sh"

# Betaflight's stand-in flies angle mode in simulated time: twice the same flight, beside itself, and on any port that is taken.
rise() { # HOW STATUS LOG WORDS...
    how=$1 wanted=$2 log=$3
    shift 3
    try "$wanted" "$volery" run "$source/tests/bridge/betaflight.yaml" -o "$log" --set 'drones.alpha.controller.boot=60 s' \
        --set "drones.alpha.controller.command=$volery sitl -- $python $source/tests/bridge/betaflight_double.py $how" "$@"
}
rise "" 0 rise.mcap
says err "its attitude and GPS are the truth"
first=$(hash)
replays rise.mcap
"$volery" run "$source/tests/bridge/betaflight.yaml" -o beside.mcap --set 'drones.alpha.controller.boot=60 s' -q \
    --set "drones.alpha.controller.command=$volery sitl -- $python $source/tests/bridge/betaflight_double.py" &
beside=$!
rise "" 0 second.mcap
[ "$(hash)" = "$first" ] || fail "the same flight gives another hash: $(hash), not $first"
wait $beside || fail "a second flight at the same time"
try 0 "$volery" diff rise.mcap beside.mcap
rise "" 0 seed.mcap --seed 2
[ "$(hash)" != "$first" ] || fail "another seed, the same hash"
try 0 "$volery" branch rise.mcap --at 4 --allow-programs -o lean.mcap --set 'world.wind.constant=[2, 0, 0]' --set 'expect=[]'
says err "the firmware's motor commands are within 0.0 % of the log"
replays lean.mcap
# Two of them in one world, without a port of the system's.
"$python" - "$source/tests/bridge/betaflight.yaml" >two.yaml <<'END'
import sys

text = open(sys.argv[1]).read()
start, end = text.index("  - name: alpha"), text.index("  - name: beta")
rest = text.index("expect:")
second = text[start:end].replace("name: alpha", "name: beta").replace("[2, 1, 0.076]", "[20, 0, 0.076]")
print(text[:end] + second + text[rest : text.index("  - {quantity: position_error")])
END
try 0 "$volery" run two.yaml -o two.mcap --set "drones.alpha.controller.command=$volery sitl -- $python $source/tests/bridge/betaflight_double.py" \
    --set "drones.beta.controller.command=$volery sitl -- $python $source/tests/bridge/betaflight_double.py" \
    --set 'drones.alpha.controller.boot=60 s' --set 'drones.beta.controller.boot=60 s'
replays two.mcap
# A reconnect: with its ports opened once more it flies on, and disarms over its new UART; begun anew it is another program.
script='drones.alpha.controller.script=[{time: 0.2, do: mode, mode: stabilized}, {time: 0.5, do: arm}, {time: 7, do: disarm}]'
rise "" 0 bdisarm.mcap --set "$script"
once=$(hash)
[ "$once" != "$first" ] || fail "disarmed, the same hash"
rise again 0 bagain.mcap --set "$script"
says err "double: here again"
[ "$(hash)" = "$once" ] || fail "another flight after a reconnect: $(hash), not $once"
replays bagain.mcap
rise restart 1 brestart.mcap
says out "ended before the run did"
replays brestart.mcap
rise kill 1 bkill.mcap
says out "crashed: signal 9"
replays bkill.mcap
rise exit 1 bexit.mcap
says out "ended before the run did, with exit status 3"
replays bexit.mcap
rise hang 1 bhang.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "did not reply within its deadline of 0.5 s"
replays bhang.mcap
rise spin 1 bspin.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "did not reply within its deadline of 0.5 s"
replays bspin.mcap
rise garbage 1 bgarbage.mcap --set 'drones.alpha.controller.unanswered=1'
says out "sent bytes that are not of its protocol"
replays bgarbage.mcap
rise noise 1 bnoise.mcap
says out "sent bytes that are not of its protocol"
replays bnoise.mcap
# Noise of the right size is noise, too, and so is what it gets: without answers, or at the mercy of its sticks. The log is whole.
noisy() { # HOW LOG SENTENCE
    try 1 "$volery" run "$source/tests/bridge/betaflight.yaml" -o "$2" --set 'drones.alpha.controller.boot=60 s' \
        --set "drones.alpha.controller.command=$python $source/tests/bridge/sitl_relay.py $1 1500 $volery sitl -- $python $source/tests/bridge/betaflight_double.py"
    says err "relay: $1"
    says out "$3"
    replays "$2"
}
noisy motors bmotors.mcap "sent bytes that are not of its protocol"
noisy state bstate.mcap "of the packets of a second unanswered"
noisy rc brc.mcap FAILED
rise deaf 1 bdeaf.mcap
says out "left 50 % of the packets of a second unanswered, more than 2 %"
replays bdeaf.mcap
rise refuse 1 brefuse.mcap --set 'drones.alpha.controller.patience=3 s'
says out "refused line 2 of its script for 3 s"
replays brefuse.mcap
rise mute 1 bmute.mcap --set 'drones.alpha.controller.boot=2 s'
says out "was not ready within 2 s"
# Nobody starts it, and nobody could.
try 2 "$volery" run "$source/tests/bridge/betaflight.yaml" --no-log
says err "betaflight by simulated time is started by the run"
# Without `volery sitl` there is nobody at the other end.
rise "" 1 bnone.mcap --set "drones.alpha.controller.command=sleep 5" --set 'drones.alpha.controller.boot=0.5 s'
says out "was not ready within 0.5 s"
# By the wall's clock, over ports of the system's, which another program may have: no state goes out before its UART listens.
if "$python" - <<'END' 2>/dev/null; then
import socket

for kind, port in (socket.SOCK_DGRAM, 9002), (socket.SOCK_DGRAM, 9003), (socket.SOCK_DGRAM, 9004), (socket.SOCK_STREAM, 5761):
    with socket.socket(socket.AF_INET, kind) as s:
        if kind == socket.SOCK_STREAM:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", port))
END
    rise "" 0 wall.mcap --set 'duration=1 s' --set 'expect=[]' --set drones.alpha.controller.clock=wall \
        --set drones.alpha.controller.unanswered=1 --set 'drones.alpha.controller.deadline=60 s' \
        --set "drones.alpha.controller.command=$python $source/tests/bridge/betaflight_double.py late"
    replays wall.mcap
else
    echo "betaflight: the wall's clock is skipped, its ports are taken"
fi
bad() { # CHANGE SENTENCE
    try 2 "$volery" check "$source/tests/bridge/betaflight.yaml" --set "$1"
    says err "$2"
}
bad drones.alpha.controller.truth=off "takes its attitude and GPS from the simulator: truth: on"
bad drones.alpha.controller.airframe=own "betaflight's program has the motors of quad_x alone"
bad 'drones.alpha.controller.parameters={a: 1}' "betaflight keeps its own in eeprom.bin"
bad 'drones.alpha.controller.script=[{time: 1, do: takeoff}]' "betaflight can arm, disarm, and change its mode"
bad 'drones.alpha.controller.script=[{time: 2, do: arm}, {time: 1, do: disarm}]' "time must not be before that of the line before it, 2 s"
try 2 "$volery" check two.yaml --set drones.alpha.controller.clock=wall --set drones.beta.controller.clock=wall
says err "one drone at most runs it by the wall's clock"

# Simulated time alone: nothing is waited for, and a program that is not there is one sentence.
try 0 "$volery" sitl -- sleep 100000
try 0 "$volery" sitl -- "$python" -c 'import time; t = time.time(); time.sleep(3600); assert 3600 < time.time() - t < 3601'
try 2 "$volery" sitl -- ./nothing
says err "cannot start ./nothing"

echo "betaflight: ok"
