#!/bin/sh
# pilot_test.sh BUILD - a person flies: keys from a file, a pipe and a terminal, a joystick's events from a pipe; logs
# that replay without them; a terminal that is put right whatever ends the run.
set -eu
volery=$(cd "$1" && pwd)/volery
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "pilot_test: $*"; cat out err 2>/dev/null; exit 1; }
try() {
    wanted=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    [ $status -eq "$wanted" ] || fail "$* gives status $status, wanted $wanted"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }

scenario() { # NAME DEVICE DURATION EXPECT
    cat >"$1.yaml" <<TEXT
volery: 1
duration: $3
drones:
  - name: alpha
    start: {position: [0, 0, 1]}
    controller: {kind: pilot, device: $2, pilot: {speed: 2, strafe: 1, climb: 1}}
expect:
$4
TEXT
}

# A file of keys: deterministic, and as fast as the machine. Two steps of a tenth of 2 m/s forward, then a climb.
cat >keys.txt <<'TEXT'
# seconds, keys
0.5 w w
1.5 rr
3   _    # a space: stop
TEXT
scenario script keys.txt "4 s" "  - {quantity: x, at: end, min: 0.7, max: 1.1}
  - {quantity: z, at: end, min: 1.3, max: 1.6}
  - {quantity: speed, at: end, max: 0.1}"
try 0 "$volery" run script.yaml -q -o script.mcap
try 0 "$volery" replay script.mcap
try 0 "$volery" replay script.mcap --live --allow-programs
mv keys.txt gone.txt
try 0 "$volery" replay script.mcap # which needs no keys
try 2 "$volery" run script.yaml -q --no-log
says err "device: there is no keys.txt"
printf '1 w\n0.5 w\n' >keys.txt
try 2 "$volery" run script.yaml -q --no-log
says err "keys.txt:2: a line is a time in seconds"

# Keys through a pipe, in real time.
mkfifo pipe
scenario live pipe "4 s" "  - {quantity: y, at: end, max: -0.1}"
(printf 'dd' >pipe) &
try 0 "$volery" run live.yaml --realtime -q -o live.mcap
wait
try 0 "$volery" replay live.mcap
try 2 "$volery" run live.yaml -q --no-log
says err "goes only with: volery run --realtime"

# A joystick: events of the Linux interface. Axis 4 all the way up is forward.
mkfifo js0
scenario stick js0 "4 s" "  - {quantity: x, at: end, min: 0.3}"
(printf '\000\000\000\000\001\200\002\004' >js0) &
try 0 "$volery" run stick.yaml --realtime -q -o stick.mcap
wait
try 0 "$volery" replay stick.mcap

# No terminal: a clear sentence.
scenario keyboard keyboard "6 s" "  - {quantity: x, at: end, min: 0.1}"
try 3 setsid "$volery" run keyboard.yaml --realtime -q --no-log </dev/null
says err "a keyboard needs a terminal"

# A terminal, put right at the end, after Ctrl-C, after SIGTERM, and after what nobody can catch.
for case in end:0 interrupt:130 terminate:143 kill:-9; do
    how=${case%:*}
    try 0 python3 "$source/tests/pilot/terminal.py" "$volery" keyboard.yaml keyboard.mcap "$how"
    says out "status ${case#*:} terminal right"
    [ "$how" = kill ] || try 0 "$volery" replay keyboard.mcap
done

# The log on standard output: a stream that replays; the summary is on standard error.
printf 'volery: 1\nduration: 3 s\ndrones: [{name: alpha}]\n' >hold.yaml
try 0 "$volery" run hold.yaml -o - # into a regular file
cp out stream.mcap
says err "completed"
try 0 "$volery" replay stream.mcap
"$volery" run hold.yaml -q -o - | cat >stream.mcap
try 0 "$volery" replay stream.mcap
[ ! -e ./- ] || fail "a file called -"
try 2 "$volery" run hold.yaml -o - --json
says err "cannot both go to standard output"
try 0 "$volery" branch stream.mcap --at 1 -q -o -
cp out branch.mcap
try 0 "$volery" diff stream.mcap branch.mcap
try 0 "$volery" export stream.mcap --csv --fields body.position -o -
says out "time"
try 0 "$volery" view stream.mcap -q -o -
says out "<html"
try 2 "$volery" plot stream.mcap -o -
says err "a figure is an .svg, .png or .pdf file"
echo "pilot_test: ok"
