#!/bin/sh
# crazyflie_test.sh BUILD [cflib | firmware LIBRARY] - a client flies a Crazyflie over CRTP: a stand-in in Python's own library,
# twice with the same hash, killed, ended and hanging on the way, and among nonsense. With the word cflib Bitcraze's own client
# flies, from PyPI; with firmware and a library of examples/crazyflie and its sources the firmware's controllers and estimators do.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/crazyflie_test volery=$build/volery
mkdir -p "$work"
cd "$work"
command -v python3 >/dev/null || { echo "crazyflie: skipped, no python3"; exit 0; }

. "$source/tests/bridge/common.sh"
# A port that nobody else has: this test may run beside others.
port=$(python3 -c 'import socket as s; a = s.socket(s.AF_INET, s.SOCK_DGRAM); a.bind(("127.0.0.1", 0)); print(a.getsockname()[1])')
fly() { # CLIENT STATUS LOG WORDS...
    client=$1 wanted=$2 log=$3
    shift 3
    try "$wanted" "$volery" run "$source/tests/bridge/crazyflie.yaml" -o "$log" --set "drones.alpha.controller.port=$port" \
        --set "drones.alpha.controller.command=$client" --set 'drones.alpha.controller.boot=120 s' \
        --set 'drones.alpha.controller.deadline=60 s' "$@"
}
double="python3 $source/tests/bridge/crazyflie_double.py $port"

if [ "${2-}" = cflib ]; then
    [ -x venv/bin/python ] || python3 -m venv venv
    venv/bin/pip install --quiet --require-hashes --only-binary :all: -r "$source/tests/bridge/cflib_requirements.txt"
    fly "venv/bin/python $source/tests/bridge/cflib_flight.py $port" 0 cflib.mcap --set "drones.alpha.controller.folder=$work"
    cat err
    first=$(hash)
    replays cflib.mcap
    fly "venv/bin/python $source/tests/bridge/cflib_flight.py $port" 0 again.mcap --set "drones.alpha.controller.folder=$work"
    [ "$(hash)" = "$first" ] || fail "the same flight gives another hash: $(hash), not $first"
    echo "crazyflie: cflib flew, twice the same, and the replay is identical without it"
    exit 0
fi
if [ "${2-}" = firmware ]; then
    library=$3
    rm -rf plugin
    mkdir plugin
    cp "$source/examples/crazyflie/crazyflie.yaml" plugin
    cp "$library" plugin/crazyflie.so
    try 0 "$volery" run plugin/crazyflie.yaml -o plugin.mcap
    cat out
    first=$(hash)
    try 0 "$volery" run plugin/crazyflie.yaml --no-log
    [ "$(hash)" = "$first" ] || fail "the same flight gives another hash: $(hash), not $first"
    rm plugin/crazyflie.so
    replays plugin.mcap
    echo "crazyflie: the firmware flew, twice the same, and the replay is identical without it"
    exit 0
fi

fly "$double" 0 flight.mcap
first=$(hash)
[ -n "$first" ] || fail "no hash"
replays flight.mcap
try 0 "$volery" run "$source/tests/bridge/crazyflie.yaml" --json --no-log --set "drones.alpha.controller.port=$port" \
    --set "drones.alpha.controller.command=$double garbage" --set 'drones.alpha.controller.boot=120 s' \
    --set 'drones.alpha.controller.deadline=60 s'
says out '"tier": 1'
says out "$first" # nonsense changes nothing

# A branch shows the client what was logged, and goes on where it wants what it wanted; not with one that wants something else.
try 0 "$volery" branch flight.mcap --at 5 --allow-programs -o branch.mcap --set 'world.wind.constant=[0.8, 0, 0]' --set 'expect=[]'
says err "the client's thrust and attitude are within 0.0 % of the log"
[ "$(hash)" != "$first" ] || fail "another wind, the same hash"
replays branch.mcap
try 1 "$volery" branch flight.mcap --at 5 --allow-programs -o other.mcap --set "drones.alpha.controller.command=$double late"
says err "the client does not repeat its flight: its thrust and attitude differ by up to"
try 2 "$volery" branch flight.mcap --at 5 --allow-programs -o other.mcap --set drones.alpha.controller.lock_step=off
says err "cannot be shown the flight again; only one with lock_step: on can"

# Over UDP an end is silence, so these take as long as the deadline.
fly "$double kill" 1 kill.mcap --set 'drones.alpha.controller.deadline=4 s'
says out "crashed: signal 9"
replays kill.mcap
fly "$double exit" 1 exit.mcap --set 'drones.alpha.controller.deadline=4 s'
says out "ended before the run did, with exit status 3"
replays exit.mcap
fly "$double hang" 1 hang.mcap --set 'drones.alpha.controller.deadline=0.5 s'
says out "did not reply within its deadline of 0.5 s"
replays hang.mcap
fly "$double kill" 0 failsafe.mcap --set 'drones.alpha.vehicle={base: crazyflie2x-physical, drive: {failsafe: cut}}' \
    --set 'expect=[]' --set 'drones.alpha.controller.deadline=4 s'
replays failsafe.mcap

# Nobody connects; a client by the wall clock needs the wall clock; bad input with its place.
try 1 "$volery" run "$source/tests/bridge/crazyflie.yaml" --no-log --set "drones.alpha.controller.port=$port" \
    --set 'drones.alpha.controller.boot=0.2 s'
says out "was not ready within 0.2 s"
try 2 "$volery" run "$source/tests/bridge/crazyflie.yaml" --no-log --set drones.alpha.controller.lock_step=off
says err "drone alpha is flown by a client, which has the clock of the wall: volery run --realtime, or lock_step: on"
try 2 "$volery" check "$source/tests/bridge/crazyflie.yaml" --set drones.alpha.controller.address=here
says err "address here is no IPv4 address"
try 2 "$volery" check "$source/tests/bridge/crazyflie.yaml" --set 'drones.alpha.controller.parameters={a: 1}'
says err "parameters: those of a Crazyflie are its client's to set"
echo "crazyflie: ok"
