#!/bin/bash
# output_test.sh BUILD - files that are written: none of them is an input or another output of the command, two
# writers never share one, what an earlier run left behind is kept, and what a killed one leaves is made a log again.
# shellcheck disable=SC2086,SC2015 # lists of words; `fail` after || where either side is wrong
set -uo pipefail
volery=$(cd "$1" && pwd)/volery
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cd "$temp" || exit 1
export LC_ALL=C NO_COLOR=1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# try STATUS COMMAND...: run it with its output in ./out and ./err; its exit status must be STATUS.
try() {
    local wanted=$1 status
    shift
    timeout 300 "$@" >out 2>err
    status=$?
    [ $status -eq "$wanted" ] || { fail "status $status instead of $wanted: $*"; head -5 out err; }
}
says() { grep -qF -- "$2" "$1" || { fail "no \"$2\" in $1:"; head -8 "$1"; }; }
# same A B: two files hold the same bytes
same() { cmp -s "$1" "$2" || fail "$2 is not what it was"; }
# wait_for COMMAND...: until it succeeds; a busy machine may take its time
wait_for() {
    local i
    for i in $(seq 1500); do
        "$@" && return
        sleep 0.04
    done
    fail "waited $i times in vain: $*"
}
size() { stat -c %s "$1" 2>/dev/null || echo 0; }
larger() { [ "$(size "$1")" -gt "$2" ]; }
longer() { "$volery" replay "$1" 2>/dev/null | awk -v want="$2" '/^incomplete/ && $6 >= want {ok = 1} END {exit !ok}'; }

printf 'volery: 1\nduration: 3 s\ndrones: [{name: alpha}]\n' >me.yaml
cp me.yaml me.before
try 0 "$volery" run me.yaml -q -o whole.mcap
head -c $(($(size whole.mcap) * 2 / 3)) whole.mcap >cut.bytes

# --- an output is no input, under its own name or the temporary one, by any path
cp cut.bytes run.mcap.part
try 2 "$volery" branch run.mcap.part --at 0.5 -q -o run.mcap
says err "which is an input"
same cut.bytes run.mcap.part
[ ! -e run.mcap ] || fail "a refused branch wrote a log"
try 2 "$volery" view run.mcap.part -q -o run.mcap
says err "which is an input"
same cut.bytes run.mcap.part
try 2 "$volery" export run.mcap.part --csv -o run.mcap
says err "which is an input"
try 2 "$volery" export run.mcap.part --csv -o run.mcap.part
says err "would replace the input"
cp cut.bytes figure.svg.part
try 2 "$volery" plot figure.svg.part -o figure.svg
says err "which is an input"
same cut.bytes figure.svg.part
mkdir -p sub
for name in me.yaml ./me.yaml sub/../me.yaml; do
    try 2 "$volery" run me.yaml -q --no-log --junit "$name"
    says err "would replace the input"
    same me.before me.yaml
    try 2 "$volery" run me.yaml -q -o "$name"
    says err "would replace the input"
    same me.before me.yaml
done
ln -s me.yaml link.yaml
try 2 "$volery" run me.yaml -q --no-log --junit link.yaml
same me.before me.yaml
# a file that the scenario names is an input, too
printf '1 w\n' >keys.txt
cp keys.txt keys.before
printf 'volery: 1\nduration: 1 s\ndrones: [{name: alpha, controller: {kind: pilot, device: keys.txt}}]\n' >pilot.yaml
try 2 "$volery" run pilot.yaml -q -o keys.txt
says err "would replace the input"
same keys.before keys.txt
printf 'volery: 1\nduration: 1 s\ndrones: [{name: alpha, vehicle: own.yaml}]\n' >own-run.yaml
printf 'base: crazyflie2x\nname: own\nmass: 0.03 kg\n' >own.yaml
cp own.yaml own.before
try 0 "$volery" run own-run.yaml -q --no-log
try 2 "$volery" run own-run.yaml -q --no-log --junit own.yaml
says err "would replace the input"
same own.before own.yaml

# --- two outputs of one command are two files
for names in "a.mcap a.mcap" "a.mcap ./a.mcap" "a.mcap a.mcap.part" "a.mcap.part a.mcap"; do
    set -- $names
    try 2 "$volery" run me.yaml -q -o "$1" --junit "$2"
    says err "two outputs"
    [ ! -e a.mcap ] && [ ! -e a.mcap.part ] || fail "refused outputs $names were written"
done
try 2 "$volery" run me.yaml -q --junit me.mcap # the log's own name
says err "two outputs"
try 0 "$volery" run me.yaml -q -o a.mcap --junit a.xml
says a.xml "<testsuites>"
try 0 "$volery" run me.yaml -q -o /dev/null --junit /dev/null
try 0 "$volery" run me.yaml -q -o /dev/stdout # a regular file here
cp out stream.mcap
try 0 "$volery" replay stream.mcap

# --- what a killed run left is kept under a number, and named
echo oldest >a.mcap.part
try 0 "$volery" run me.yaml -q -o a.mcap
says err "a.mcap.part.1"
says a.mcap.part.1 oldest
echo older >a.mcap.part
try 0 "$volery" branch whole.mcap --at 1 -q -o a.mcap
says err "a.mcap.part.2"
says a.mcap.part.1 oldest
says a.mcap.part.2 older
echo table >a.csv.part
try 0 "$volery" export whole.mcap --csv -o a.csv
says err "a.csv.part.1"
says a.csv.part.1 table
[ ! -e a.csv.part ] && [ ! -e a.mcap.part ] || fail "a temporary file is left behind"
# a link is not followed
echo precious >precious
for command in "run me.yaml -q -o l.out" "export whole.mcap --csv -o l.out" "view whole.mcap -q -o l.out"; do
    ln -sf precious l.out.part
    try 0 "$volery" $command
    [ "$(cat precious)" = precious ] || fail "$command wrote through a link"
done
mkdir d.csv.part
try 2 "$volery" export whole.mcap --csv -o d.csv
says err "d.csv.part"
mkdir d.csv
try 2 "$volery" export whole.mcap --csv -o d.csv

# --- two writers
"$volery" run hover --duration 1000000 -q -o busy.mcap >/dev/null 2>&1 &
job=$!
wait_for larger busy.mcap.part 50000
try 2 "$volery" run me.yaml -q -o busy.mcap
says err "is being written by another process"
try 2 "$volery" export whole.mcap --csv -o busy.mcap
says err "is being written by another process"
try 2 "$volery" recover busy.mcap.part
says err "is being written by another process"
[ ! -e busy.mcap.part.1 ] || fail "the file of a living writer was moved"
kill -TERM $job
wait $job
try 0 "$volery" replay busy.mcap
try 0 "$volery" export whole.mcap --csv -o one.csv
for _ in 1 2 3 4 5 6; do
    for i in 1 2 3; do "$volery" export whole.mcap --csv -o many.csv >/dev/null 2>"err$i" & done
    wait
    same one.csv many.csv
done
[ "$(echo many.csv.part*)" = "many.csv.part*" ] || fail "writers left $(echo many.csv.part*)"

# --- a log is there from the start, and grows with the clock
sed 's/3 s/1000 s/' me.yaml >slow.yaml
"$volery" run slow.yaml --realtime -q -o slow.mcap >/dev/null 2>&1 &
job=$!
wait_for longer slow.mcap.part 1
[ "$(size slow.mcap.part)" -lt 1000000 ] || fail "a log of $(size slow.mcap.part) bytes at once"
wait_for longer slow.mcap.part 1500 # far less than a chunk of a fast run
kill -9 $job
wait $job 2>/dev/null
try 0 "$volery" replay slow.mcap.part
says err "slow.mcap.part was cut off"

# --- recover
steps() { sed -n 's/^incomplete: the same in all \([0-9]*\) steps .*, final hash \([0-9a-f]*\).*/\1 \2/p' out; }
cut=$(steps)
cp slow.mcap.part slow.before
try 0 "$volery" recover slow.mcap.part
says out "slow.mcap"
same slow.before slow.mcap.part
try 0 "$volery" replay slow.mcap
says err "slow.mcap was cut off"
[ "$(steps)" = "$cut" ] && [ -n "$cut" ] || fail "recovered: $(steps), before: $cut"
try 0 "$volery" replay slow.mcap --json
says out '"complete": false'
try 0 "$volery" diff slow.mcap slow.mcap.part
try 0 "$volery" view slow.mcap -q -o slow.html
says err "was cut off"
try 0 "$volery" branch slow.mcap --at 1 --set duration=1.5 -q -o twig.mcap
try 2 "$volery" recover slow.mcap.part # its place is taken
says err "slow.mcap"
same slow.before slow.mcap.part
try 0 "$volery" recover slow.mcap.part -o again.mcap
same slow.mcap again.mcap
try 2 "$volery" recover slow.mcap.part -o slow.mcap.part
says err "would replace the input"
try 2 "$volery" recover slow.mcap -o x.mcap
says err "nothing to recover"
try 2 "$volery" recover whole.mcap -o x.mcap
says err "nothing to recover"
try 2 "$volery" recover me.yaml -o x.mcap
try 2 "$volery" recover none.mcap.part
says err "there is no log none.mcap.part"
: >empty.mcap.part
try 2 "$volery" recover empty.mcap.part
head -c 3000 whole.mcap >early.mcap.part
try 2 "$volery" recover early.mcap.part
[ "$(wc -l <err)" -eq 1 ] || fail "more than a sentence: $(cat err)"
try 2 "$volery" recover cut.bytes
says err "-o"
cp slow.before other.mcap.part.3
try 0 "$volery" recover other.mcap.part.3
[ -e other.mcap ] || fail "no other.mcap"
try 2 "$volery" recover
printf 'volery: 1\nduration: 20 s\nlog: {compression: zstd}\ndrones: [{name: alpha}]\n' >packed.yaml
try 0 "$volery" run packed.yaml -q -o packed.mcap
head -c $(($(size packed.mcap) * 2 / 3)) packed.mcap >packed.bytes
try 0 "$volery" recover packed.bytes -o unpacked.mcap
larger packed.mcap "$(size unpacked.mcap)" || fail "a packed log became larger: $(size unpacked.mcap)"
try 0 "$volery" replay unpacked.mcap
[ ! -e x.mcap ] || fail "a refused command wrote a log"

# --- a pilot's device that never ends
ln -s /dev/zero js0
for device in /dev/zero js0; do
    sed "s,keys.txt,$device," pilot.yaml >zero.yaml
    try 1 "$volery" run zero.yaml --realtime -q -o zero.mcap
    says err "sent more than it was asked for"
    try 0 "$volery" replay zero.mcap
done

[ $failures -eq 0 ] || { echo "output_test: $failures failures"; exit 1; }
echo "output_test: ok"
