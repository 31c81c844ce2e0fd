#!/bin/bash
# app_test.sh BUILD - the command as its users meet it: words, exit statuses, JSON, files, signals, damage.
# VOLERY_KILLS is how many times a run is killed at a random moment (10).
set -uo pipefail
build=$(cd "$1" && pwd)
tests=$(cd "$(dirname "$0")" && pwd)
volery=$build/volery
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cd "$temp" || exit 1
export LC_ALL=C NO_COLOR=1
failures=0 skipped=

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# try STATUS COMMAND...: run it with its output in ./out and ./err; its exit status must be STATUS.
try() {
    local wanted=$1 status
    shift
    "$@" >out 2>err
    status=$?
    [ $status -eq "$wanted" ] || { fail "status $status instead of $wanted: $*"; head -5 out err; }
}
# says FILE TEXT: the file from the last try holds the text.
says() { grep -qF -- "$2" "$1" || { fail "no \"$2\" in $1:"; head -8 "$1"; }; }
silent() { [ ! -s "$1" ] || { fail "$1 should be empty:"; head -5 "$1"; }; }
# value KEY: a member of the JSON object in ./out, for keys that hold no quotes or nesting.
value() { sed -n "s/.*\"$1\": \"\{0,1\}\([^\",}]*\).*/\1/p" out; }
json() { # the last output is JSON
    [ "$(wc -l <out)" -eq 1 ] || fail "not one line of JSON"
    if command -v python3 >/dev/null; then python3 -m json.tool out >/dev/null || fail "not JSON: $(head -c 300 out)"
    else skipped="$skipped json"; fi
}
flip() { # flip FILE OFFSET: one bit of one byte
    local byte
    byte=$(od -An -tu1 -j"$2" -N1 "$1")
    printf '%b' "\\0$(printf %o $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
size() { stat -c %s "$1" 2>/dev/null || echo 0; }

# --- words
try 0 "$volery" --version
says out "physics revision"
try 0 "$volery" --help
commands=$(sed -n '/^To start/q; s/^  \([a-z][a-z]*\) .*/\1/p' out)
for c in run check replay sitl campaign manual; do
    echo "$commands" | grep -qx "$c" || fail "--help does not list $c"
done
for c in $commands; do
    try 0 "$volery" help "$c"
    says out "usage: volery $c"
    says out "examples:"
    cp out help
    try 0 "$volery" "$c" --help
    cmp -s out help || fail "volery $c --help is not volery help $c"
    case $c in bench | list | help | manual) continue ;; esac
    try 2 "$volery" "$c" # without a word: one sentence
    says err "volery $c: "
    silent out
done
try 2 "$volery"
try 2 "$volery" rnu
says err "volery: unknown command rnu; did you mean run?"
try 2 "$volery" help zzzzzz
try 2 "$volery" run first-flight --sed 7
says err "volery run: unknown option --sed; did you mean --seed?"
silent out
try 2 "$volery" run first-flight --seed
says err "--seed needs a value"
try 2 "$volery" run first-flight --seed=-3
says err "--seed needs a whole number"
# A shorter run skips what it cannot reach, and says so everywhere; its log is whole.
try 0 "$volery" run hover --duration 2 -o brief.mcap --junit brief.xml
says out "  skipped     position_error of all at most"
grep -q 'failures="0" errors="0" skipped="2"' brief.xml || fail "$(cat brief.xml)"
grep -q '<skipped message="position_error of all' brief.xml || fail "$(cat brief.xml)"
try 0 "$volery" replay brief.mcap
try 0 "$volery" run hover --duration 2 --no-log --json
grep -q '"met": null, "skipped": true' out || fail "--json does not say what was skipped: $(cat out)"
# A vehicle's file, named on the command line as in the scenario: seen from the scenario's folder.
mkdir -p own/parts
printf 'base: crazyflie2x\nmass: 30 g\n' >own/parts/heavy.yaml
printf 'volery: 1\nduration: 0.1\ndrones: [{name: a, vehicle: {base: parts/heavy.yaml, area: 0.01}}]\n' >own/fly.yaml
try 0 "$volery" check own/fly.yaml
says out "mass: 0.03"
printf 'volery: 1\nduration: 0.1\ndrones: [{name: a}]\n' >own/fly.yaml
for change in vehicle=parts/heavy.yaml vehicle.base=parts/heavy.yaml 'vehicle={base: parts/heavy.yaml, area: 0.01}'; do
    try 0 "$volery" check own/fly.yaml --set "drones.a.$change"
    says out "mass: 0.03"
done
try 2 "$volery" check own/fly.yaml --set drones.a.vehicle.base=heavy.yaml
says err "there is no file heavy.yaml, seen from the folder of own/fly.yaml"
try 2 "$volery" run first-flight --duration none
says err "--duration needs a number of seconds"
try 2 "$volery" run first-flight --seed 1 --seed 2
says err "given twice"
try 2 "$volery" run swarm-collisions --threads 1025
says err "--threads needs a whole number from 0 to 1024, got 1025"
try 0 "$volery" run swarm-collisions --threads 2 --duration 1 --set expect=[] --no-log --json
cp out two
try 0 "$volery" run swarm-collisions --duration 1 --set expect=[] --no-log --json
for key in config_hash final_hash; do
    [ "$(grep -o "\"$key\":[^,]*" out)" = "$(grep -o "\"$key\":[^,]*" two)" ] || fail "threads change the $key"
done
try 2 "$volery" run first-flight --json=yes
says err "--json takes no value"
try 2 "$volery" run first-flight --set mass
says err "--set needs key=value"
try 2 "$volery" run first-flight second
says err "unexpected argument second"
try 2 "$volery" run first-flight --no-log -o x.mcap
try 2 "$volery" run first-flight --log-state never
try 2 "$volery" run
says err "volery run first-flight"
says err "hover" # one of those it lists
try 2 "$volery" bench nothing
try 0 "$volery" bench hover
says out "steps/s"
try 0 "$volery" bench hover --json
json
if ! grep -qs '^VOLERY_CUDA:BOOL=ON' "$build/CMakeCache.txt"; then
    try 3 "$volery" bench gpu
    says err "GPU: this program was built without CUDA"
    silent out
fi
for c in replay diff branch recover verify export view plot check completion; do
    try 2 "$volery" $c
    [ "$(grep -c '^volery ' err)" -eq 1 ] || fail "volery $c alone does not say one sentence"
done
try 0 "$volery" run --quiet --no-log -- first-flight
silent out
silent err

# --- lists: all there is, by kind; what is listed is there
try 0 "$volery" list
for kind in vehicles parts scenarios controllers joints faults benchmarks; do
    says out "$kind: "
    "$volery" list "$kind" >these || fail "volery list $kind"
    [ -s these ] || fail "volery list $kind is empty"
    [ "$(grep -cxFf these out)" -ge "$(wc -l <these)" ] || fail "volery list lacks some $kind"
done
"$volery" list vehicles | awk '{print $1}' | sort >listed
(cd "$tests/../vehicles" && for f in *.yaml; do echo "${f%.yaml}"; done | sort) >wanted
cmp -s listed wanted || fail "volery list vehicles is not what vehicles/ holds"
while read -r part sensor; do
    "$volery" check battery --set "drones.alpha.sensors={$sensor: $part}" >/dev/null || fail "$sensor: $part is listed and not known"
done < <("$volery" list parts)
[ "$("$volery" list parts | wc -l)" -ge 15 ] || fail "parts are missing from the list"
try 0 "$volery" list --json
python3 -c 'import json; d = json.load(open("out")); assert list(d) == "vehicles parts scenarios controllers joints faults benchmarks".split(); assert {"name": "cylindrical", "about": "b moves along the axis of a and turns about it"} in d["joints"]' || fail "volery list --json"
try 2 "$volery" list planets
says err "there is no list of planets; there are vehicles, parts, scenarios, "
silent out

# --- completion and manual
try 0 "$volery" completion bash
bash -n out || fail "bash completion has mistakes"
# complete WORDS...: what bash offers for the last word
complete_words() { bash -c 'source ./out; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _volery; echo "${COMPREPLY[@]}"' - "$@"; }
touch seen.yaml seen.mcap left.mcap.part left.mcap.part.1
[ "$(complete_words volery rep)" = replay ] || fail "bash does not complete rep to replay"
[ "$(complete_words volery run --se)" = "--seed --set" ] || fail "bash does not complete --se"
[ "$(complete_words volery run figure)" = figure-eight ] || fail "bash does not complete a scenario's name"
[ "$(complete_words volery check --json first-f)" = first-flight ] || fail "bash does not complete a scenario's name after an option"
[ "$(complete_words volery new con)" = controller ] || fail "bash does not complete new controller"
[ "$(complete_words volery new controller mine --lan)" = --language ] || fail "bash does not complete --language"
[ "$(complete_words volery new controller mine --language p)" = python ] || fail "bash does not complete a language"
[ -z "$(complete_words volery new controller con)" ] || fail "bash offers a name for a controller"
[ "$(complete_words volery run see)" = seen.yaml ] || fail "bash does not complete a scenario's file"
[ "$(complete_words volery diff seen.mcap see)" = seen.mcap ] || fail "bash does not complete a log's file"
[ "$(complete_words volery recover le | tr ' ' '\n' | sort | xargs)" = "left.mcap.part left.mcap.part.1" ] || fail "bash does not complete a .part"
[ "$(complete_words volery list ve)" = vehicles ] || fail "bash does not complete a kind of list"
[ "$(complete_words volery run --nap s)" = strict ] || fail "bash does not complete a choice"
[ "$(complete_words volery check --re)" = "" ] || fail "bash completes a hidden option"
rm seen.* left.*
try 0 "$volery" completion zsh
says out "figure-eight"
says out "1:controller NAME:(controller)"
says out ":c|python:(c python)"
if command -v zsh >/dev/null; then zsh -n out || fail "zsh completion has mistakes"; else skipped="$skipped zsh"; fi
try 2 "$volery" completion fish
try 0 "$volery" manual
if command -v groff >/dev/null; then
    groff -man -ww -Tascii out 2>warnings | sed "s/.$(printf '\b')//g" >page || fail "the man page does not render"
    silent warnings
    says page "EXIT STATUS"
else skipped="$skipped man"; fi

# --- run and its summary
try 0 "$volery" run first-flight
silent err
says out "first-flight.mcap"
says out "times real time"
says out "ok  "
! grep -q "$(printf '\033')" out || fail "colours without a terminal"
[ -f first-flight.mcap ] || fail "no log of the default name"
[ ! -e first-flight.mcap.part ] || fail "a .part is left behind"
try 0 "$volery" run first-flight --json -o a.mcap
json
silent err
first=$(value final_hash)
for key in scenario seed tier steps sim_time_s wall_s realtime_factor config_hash final_hash status failure events nap \
    expectations log; do
    says out "\"$key\": "
done
[ "$(value status) $(value steps) $(value log)" = "completed 20000 a.mcap" ] || fail "run --json"
try 0 "$volery" run first-flight --json --no-log
[ "$(value final_hash)" = "$first" ] || fail "a run without a log ends with another hash"
[ "$(value log)" = null ] || fail "a log in a run without one"
try 0 "$volery" run first-flight --json --seed 2 --duration 2 -o b.mcap --set expect=[]
[ "$(value steps) $(value seed)" = "2000 2" ] || fail "--seed or --duration has no effect"

# A fault of all drones is none of a body's: in the summary, in JSON, in the log.
fault='faults=[{kind: motor_weak, share: 0.9, start: 10 s}, {kind: sensor_noise, channel: gyro, noise: [0.01, 0.01, 0.01]}]'
try 0 "$volery" run payload --set "$fault" -o faults.mcap
says out "1 drone, 1 body"
[ "$(grep '^  faults ' out)" = "  faults      courier: 2 times (motor_weak, sensor_noise of gyro)" ] || fail "$(grep faults out)"
[ "$(LC_ALL=C grep -aoE 'fault".[a-z]+[*]' faults.mcap | tr -cd 'a-z\n' | sort | uniq -c | xargs)" = "2 faultcourier" ] ||
    fail "events of faults in the log"
try 0 "$volery" run payload --set "$fault" --no-log --json
json
[ "$(grep -o '{"kind": "fault"[^}]*}' out)" = '{"kind": "fault", "vehicle": "courier", "count": 2}' ] || fail "$(cat out)"

cat >strange.yaml <<'TEXT'
volery: 1
name: "a \"strange\" \\ name / ünï"
duration: 0.1 s
drones: [{name: a-b_c}, {name: second, start: {position: [1, 1, 1]}}]
TEXT
try 0 "$volery" run strange.yaml --json
json
try 0 "$volery" run strange.yaml
try 0 "$volery" check strange.yaml --json
json

# --- bad input
printf 'volery: 1\ndurationn: 3 s\nseed: x\ndrones: [{}]\n' >bad.yaml
try 2 "$volery" run bad.yaml
says err "bad.yaml:2:1"
says err "bad.yaml:3:"
silent out
[ ! -e bad.mcap ] || fail "a log of a bad scenario"
try 2 "$volery" run bad.yaml --json
json
[ "$(value status)" = error ] || fail "run --json of a bad scenario"
grep -q '"file": "bad.yaml", "line": 2, "column": 1, "path": "durationn", "kind": "unknown_key", "text": "unknown key' out ||
    fail "run --json names no mistake: $(cat out)"
try 2 "$volery" check bad.yaml --json
json
grep -q '"line": 3, "column": 7, "path": "seed", "kind": "value", "text": "seed: expected a whole number' out || fail "$(cat out)"
if grep -q 'out of range' out; then fail "an unknown key has the sentence of another mistake: $(cat out)"; fi
printf 'volery: 1\ndrones: [{start: {velocity: [1e200, 0, 0]}}]\n' >fast.yaml
try 2 "$volery" check fast.yaml --json
json
grep -q '"path": "drones\[0\].start.velocity\[0\]", "kind": "range"' out || fail "$(cat out)"
try 2 "$volery" check hover --json --set drones[0].start.position='[1e308, 0, 0]'
json
grep -q '"line": 0, "column": 0, "path": "drones\[0\].start.position", "kind": "range"' out || fail "$(cat out)"

# a bad run is an error in the report for machines, and nothing else is overwritten
try 2 "$volery" run bad.yaml --junit bad.xml
# shellcheck disable=SC2015 # either is a failure
grep -q 'errors="1"' bad.xml && grep -q 'unknown key &quot;durationn&quot;' bad.xml || fail "$(cat bad.xml)"
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("bad.xml")' || fail "bad.xml"
try 2 "$volery" run no-such.yaml --junit none.xml
grep -q '<error type="run" message="there is no scenario no-such.yaml"' none.xml || fail "$(cat none.xml)"
cp bad.yaml kept.yaml
try 2 "$volery" run bad.yaml --junit bad.yaml
cmp -s bad.yaml kept.yaml || fail "--junit replaced the scenario"

# programs, libraries and devices that are not there
missing() { # missing KEYS SENTENCE: of a controller
    printf 'volery: 1\ndrones:\n  - controller: {%s}\n' "$1" >missing.yaml
    for name in check run; do
        try 2 "$volery" "$name" missing.yaml
        says err "missing.yaml:3:"
        says err "$2"
        [ ! -e missing.mcap ] || fail "a log of a flight without its program"
    done
}
missing 'kind: process, command: no-such-program --x' "command: there is no program no-such-program in PATH"
missing 'kind: process, command: ./no-such-program' "command: there is no ./no-such-program"
missing 'kind: process, command: ./missing.yaml' "command: ./missing.yaml cannot be run"
missing 'kind: plugin, library: no-such.so' "library: there is no no-such.so"
missing 'kind: pilot, device: /dev/no-such-stick' "device: there is no /dev/no-such-stick"
printf 'volery: 1\ndrones: [{controller: {kind: process, command: "sh -c \\"touch started\\""}}]\n' >there.yaml
try 0 "$volery" check there.yaml
[ ! -e started ] || fail "check started a program"
try 0 "$volery" --help
says out "view RUN.mcap [OTHER.mcap]  make" # the longest left side has a gap too
try 0 "$volery" help run
sed -n '/^scenarios that came/,$p' out | sed 1d | grep -v 'run pilot' | grep -v '\.$' >err && fail "what a scenario is, cut off: $(head -3 err)"
try 2 "$volery" run ""
says err "an argument is empty"
try 2 "$volery" run first-flight -o ""
says err "--output needs a value"
try 2 "$volery" run first-flight -o .
says err "is a folder"
try 2 "$volery" run first-fligth
says err "volery help run lists"
try 2 "$volery" run no-such.yaml
says err "there is no scenario no-such.yaml"
try 2 "$volery" run .
says err "is a folder"
try 2 "$volery" run first-flight --set drones.alpha.mss=1
try 2 "$volery" replay strange.yaml
says err "strange.yaml"
try 2 "$volery" replay no-such.mcap
: >empty.mcap
try 2 "$volery" replay empty.mcap
try 2 "$volery" run strange.yaml -o strange.yaml
says err "would replace the input"
try 2 "$volery" run strange.yaml -o no/such/folder.mcap
says err "no/such/folder.mcap"

# --- check
try 0 "$volery" check first-flight
says out "configuration hash"
cp out resolved.yaml
try 0 "$volery" check resolved.yaml
cmp -s out resolved.yaml || fail "the resolved configuration does not resolve to itself"
try 0 "$volery" check --schema
if command -v python3 >/dev/null; then python3 -m json.tool out >/dev/null || fail "the schema is no JSON"; fi
try 0 "$volery" check --reference

# --- failing runs
try 1 "$volery" run first-flight --set 'expect=[{quantity: tilt, max: 1 deg}]' -o failed.mcap
says out "FAILED"
says out "failed"
try 1 "$volery" run first-flight --set 'expect=[{quantity: tilt, max: 1 deg}]' --no-log -q
says err "expectation"
silent out
try 1 "$volery" run shock --set drones.alpha.safety.tilt_max=0.1 --set expect=[] --json -o safety.mcap
json
[ "$(value reason)" = tilt ] || fail "the reason of a safety limit"
try 1 "$volery" run shock --set drones.alpha.safety.tilt_max=0.1 --set expect=[] --no-log
says out "above its limit of 0.1 rad"
try 0 "$volery" replay safety.mcap

# --- replay, diff, branch, export
try 0 "$volery" replay a.mcap
says out "identical: 20000 of 20000 steps, final hash $first"
try 0 "$volery" replay a.mcap --json
json
[ "$(value status) $(value complete) $(value steps) $(value steps_total)" = "identical true 20000 20000" ] ||
    fail "replay --json does not say that all steps are identical"
try 0 "$volery" diff a.mcap first-flight.mcap
try 1 "$volery" diff a.mcap b.mcap
says out "seed"
says out "differs"
gust='disturbances=[{kind: constant, force: [0.01, 0, 0], start: 1 s, duration: 0.5 s}]'
try 0 "$volery" run first-flight --quiet --seed 2 --duration 2 -o gust.mcap --set expect=[] --set "$gust"
for pair in "b.mcap gust.mcap" "gust.mcap b.mcap"; do
    # shellcheck disable=SC2086 # two files
    try 1 "$volery" diff $pair
    says out "disturbances[0].kind"
    ! grep -qF '[]' out || fail "an empty list beside its elements: $(grep -F '[]' out)"
done
try 1 "$volery" diff a.mcap b.mcap --json
json
try 0 "$volery" run first-flight --duration 5 --set expect=[] -o short.mcap -q
try 1 "$volery" diff a.mcap short.mcap
says out "differs in length"
try 0 "$volery" branch a.mcap --at 7.7777 -o branch.mcap --json
json
[ "$(value final_hash)" = "$first" ] || fail "a branch with nothing changed ends with another hash"
[ "$(value first_step) $(value steps)" = "7778 12222" ] || fail "a branch from step $(value first_step)"
try 0 "$volery" replay branch.mcap
try 0 "$volery" diff a.mcap branch.mcap
try 0 "$volery" branch branch.mcap --at 15 -o twig.mcap --json
[ "$(value final_hash)" = "$first" ] || fail "a branch of a branch ends with another hash"
try 0 "$volery" branch a.mcap --at 7 -o other.mcap --set drones.alpha.controller.gains.rate=18 -q
try 0 "$volery" replay other.mcap
try 1 "$volery" diff a.mcap other.mcap
says out "drones[0].controller.gains.rate"
says out "first at step 70"
try 2 "$volery" branch a.mcap --at 21 -o x.mcap
says err "outside the log"
try 2 "$volery" branch a.mcap --at 20 -o x.mcap
says err "nothing is left to fly"
try 0 "$volery" branch a.mcap --at 20 -o longer.mcap --set duration=21 -q
try 2 "$volery" branch branch.mcap --at 1 -o x.mcap
try 2 "$volery" branch a.mcap --at 1 -o a.mcap
says err "would replace the input"
try 2 "$volery" branch a.mcap --at 1 -o x.mcap --set step=0.002
try 0 "$volery" export a.mcap --csv -o a.csv
[ "$(wc -l <a.csv)" -eq 2002 ] || fail "$(wc -l <a.csv) lines in the table instead of 2002"
try 0 "$volery" export a.mcap --csv --drone alpha --fields body.position
[ "$(head -1 out)" = time,body.position.x,body.position.y,body.position.z ] || fail "header $(head -1 out)"
try 2 "$volery" export a.mcap --csv --fields nothing -o a.csv
[ "$(wc -l <a.csv)" -eq 2002 ] || fail "a failed export replaced an older table"
[ ! -e a.csv.part ] || fail "a failed export left a .part"
says err "body.position" # the names that there are
try 2 "$volery" export a.mcap --csv --parquet
says err "say one format"
try 2 "$volery" export a.mcap

# --- plot
try 0 "$volery" plot a.mcap
grep -qF "<svg" a.svg || fail "no figure"
tail -n 1 a.svg | grep -qF "</svg>" || fail "no whole figure"
grep -qF "position error" a.svg || fail "a figure without the error"
[ "$(size a.svg)" -lt 400000 ] || fail "a figure of $(size a.svg) bytes"
for ending in png pdf; do
    try 0 "$volery" plot a.mcap --signals forces.gravity --signals body.rate,control.rates --from 5 --to 8 --width 200 --panel 60 -o a.$ending
    cp a.$ending first.$ending
done
[ "$(head -c 8 a.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "no PNG"
[ "$(head -c 5 a.pdf)" = %PDF- ] || fail "no PDF"
[ "$(tail -n 1 a.pdf)" = %%EOF ] || fail "no whole PDF"
! grep -qaF CreationDate a.pdf || fail "a PDF that tells when it was made"
# a name that is no UTF-8 text, and one that is cut inside a character
odd=$(printf 'odd\377\001<&.mcap') long=$(printf 'a%.0s' {1..59})é.mcap
for name in "$odd" "$long"; do
    cp a.mcap "$name"
    for ending in svg png pdf; do try 0 "$volery" plot "$name" -o "${#name}.$ending"; done
done
if command -v python3 >/dev/null; then
    python3 - a.png a.svg "${#odd}.svg" "${#long}.svg" <<'PYTHON' || fail "a figure that cannot be read"
import struct, sys, xml.dom.minidom, zlib
data = open(sys.argv[1], "rb").read()
at, pixels = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at : at + 8])
    body = data[at + 8 : at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0]
    if kind == b"IHDR":
        width, height, depth, color = struct.unpack(">IIBB", body[:10])
    if kind == b"IDAT":
        pixels += body
    at += 12 + size
packed = zlib.decompress(pixels)
assert width == 600 and (depth, color) == (8, 2) and len(packed) == height * (3 * width + 1)


def paeth(a, b, c):
    return min((a, b, c), key=lambda near: abs(a + b - c - near))


rows, above = [], bytes(3 * width)
for y in range(height):
    kind, *row = packed[y * (3 * width + 1) : (y + 1) * (3 * width + 1)]
    for x in range(3 * width if kind else 0):
        left, corner = (row[x - 3], above[x - 3]) if x >= 3 else (0, 0)
        guess = (0, left, above[x], (left + above[x]) // 2, paeth(left, above[x], corner))[kind]
        row[x] = (row[x] + guess) & 255
    above = bytes(row)
    rows.append(above)
assert any(bytes.fromhex("d55e00") in row for row in rows), "no line"
below = rows[height - 3 * 34 + 9][3 * 160 :]  # between the axis and its numbers
assert set(below) == {255}, "a line outside the axes"
for name in sys.argv[2:]:
    xml.dom.minidom.parse(name)
PYTHON
fi
for ending in png pdf; do
    try 0 "$volery" plot a.mcap --signals forces.gravity --signals body.rate,control.rates --from 5 --to 8 --width 200 --panel 60 -o a.$ending
    cmp a.$ending first.$ending || fail "two figures of one log differ"
    ln -s /dev/full full.$ending
    try 3 "$volery" plot a.mcap -o full.$ending
    says err "No space left on device while writing full.$ending"
done
try 2 "$volery" plot a.mcap --width 4000 --scale 10 -o x.png
says err "more than 32767 pixels"
# shellcheck disable=SC2015 # either is a failure
[ ! -e x.png ] && [ ! -e x.png.part ] || fail "a figure that is too large left a file"
try 2 "$volery" plot a.mcap -o a.gif
says err "a figure is an .svg, .png or .pdf file"
try 2 "$volery" plot a.mcap --signals nothing -o x.svg
says err "the log has no field nothing"
says err "body.position"
try 2 "$volery" plot a.mcap --from 5 --to 4
try 2 "$volery" plot a.mcap --from 100 --to 200 -o x.svg
says err "the log goes from 0 s to 20 s"
try 0 "$volery" run tumble --duration 1 --set expect=[] -q -o tumble.mcap
try 0 "$volery" plot tumble.mcap # which has no motors
[ ! -e x.svg ] || fail "a failed plot left a file"

# --- view: what the page looks like is in view_test.sh
if "$volery" view a.mcap -o a.html >out 2>err; then
    says out "a.html"
    grep -qF 'id="volery-log-0"' a.html || fail "a page without records"
    [ $(($(size a.html) - 2 * $(size a.mcap))) -lt 1000000 ] || fail "the page is larger than 1 MB and its data"
    try 0 "$volery" view a.mcap b.mcap -o both.html -q
    silent out
    grep -qF 'id="volery-log-1"' both.html || fail "a page without the second run"
    try 2 "$volery" view a.mcap --size 1
    says err "--size needs a number of MB from 2 to 50, got 1"
    try 2 "$volery" view nothing.mcap
    try 2 "$volery" view a.mcap -o a.mcap
    try 0 "$volery" run swarm -o many.mcap -q
    try 0 "$volery" view many.mcap -o many.html --size 2
    says err "is thinned to fit the page"
    [ "$(size many.html)" -le 2000000 ] || fail "a page of $(size many.html) bytes where 2 MB were asked for"
else
    says err "built without the page"
    skipped="$skipped view"
fi
try 2 "$volery" export a.mcap --csv --drone beta
says err "alpha"
try 2 "$volery" export strange.mcap --csv
says err "a-b_c, second"

# --- logs that lie, all checksums right
"${CC:-cc}" -std=c17 -O1 -I"$tests/../include" "$tests/app/odd_logs.c" "$build/libvolery.a" -lfyaml -lqhull_r -lcrypto -lzstd -lz \
    -lm -lpthread -o odd_logs || fail "odd_logs does not build"
for kind in honest value parameter scenario reply gap state result; do ./odd_logs $kind $kind.mcap || fail "odd_logs $kind"; done
try 0 "$volery" replay honest.mcap
try 1 "$volery" replay value.mcap
says out "differs first at step 501"
says out "at step 501 drones[0].body."
try 1 "$volery" replay parameter.mcap
says out "differs first at step 1 "
says out "at step 1 drones[0].body.position.z is"
try 1 "$volery" replay scenario.mcap
says err "the scenario in the log is not the one that was flown"
try 1 "$volery" replay reply.mcap
says out "differs first at step 500"
says out "drones[0]."
try 1 "$volery" replay gap.mcap
says err "gap.mcap: the replay cannot continue after step 399 of 1000: the hashes of steps 400 to 499 are missing"
silent out
try 1 "$volery" replay gap.mcap --json
json
[ "$(value status) $(value identical) $(value steps) $(value steps_total)" = "damaged false 399 1000" ] ||
    fail "replay --json does not say where it ended"
try 2 "$volery" diff honest.mcap gap.mcap
says err "the hashes of steps 400 to 499 are missing"
try 1 "$volery" replay state.mcap
says out "differs first at step 500 (0.5 s): the same hash, but another full state in the log"
says out "at step 500 drones[0].body.position.z is"
try 1 "$volery" replay state.mcap --json
json
[ "$(value status)" = differs ] || fail "replay --json of a changed state: $(value status)"
try 1 "$volery" replay result.mcap
says err "its hashes end at step 1000, but its result is of step 1100"
try 1 "$volery" diff honest.mcap value.mcap
says out "differs first at step 501"
try 1 "$volery" diff honest.mcap value.mcap --json
json
try 2 "$volery" run <(printf 'volery: 1\ndrones: [{controller: {kind: callback}}]\nduration: 1 s\n')
if command -v python3 >/dev/null; then
    python3 - <<'TEXT' || fail "patching the physics revision"
import struct, zlib
data = bytearray(open("a.mcap", "rb").read())
at = data.index(b"physics") + len(b"physics") + 4
digits = struct.unpack_from("<I", data, at - 4)[0]
assert 1 <= digits <= 3
data[at:at + digits] = b"1".rjust(digits, b"0")
summary = struct.unpack_from("<Q", data, len(data) - 28)[0]
end = summary - 13
assert data[end] == 0x0F
struct.pack_into("<I", data, end + 9, zlib.crc32(data[:end]))
open("physics.mcap", "wb").write(data)
TEXT
    try 1 "$volery" replay physics.mcap
    says err "this log was written by physics revision 1; this program computes revision"
else skipped="$skipped physics"; fi

# --- damage
length=$(size a.mcap)
for part in 1 20 40 60 80 99; do
    cp a.mcap flipped.mcap
    flip flipped.mcap $((length * part / 100))
    "$volery" replay flipped.mcap >out 2>err
    status=$?
    [ $status -eq 1 ] || [ $status -eq 2 ] || { fail "a flipped bit at $part % gives status $status"; cat out err; }
    says err "flipped.mcap"
done
head -c $((length * 2 / 3)) a.mcap >cut.mcap
try 0 "$volery" replay cut.mcap
says err "warning: cut.mcap was cut off"
says out "incomplete: the same in all"
try 0 "$volery" replay cut.mcap --json
json
[ "$(value status) $(value complete) $(value identical)" = "incomplete false false" ] ||
    fail "replay --json does not say that a log was cut off"
try 0 "$volery" diff a.mcap cut.mcap

# --- nothing lost: signals, kills, full disks, closed pipes. Jobs of their own, so that SIGINT is not ignored.
set -m
# started FILE: wait until a run has written something to FILE
started() {
    local i
    for i in $(seq 5000); do
        [ "$(size "$1")" -gt 50000 ] && return
        sleep 0.02
    done
    fail "$1 does not grow: waited $i times"
}
for signal in INT TERM; do # a caller in the background may have left us with SIGINT ignored, which is passed on
    env --default-signal=INT "$volery" run hover --duration 1000000 --json -o stopped.mcap >out 2>err &
    job=$!
    started stopped.mcap.part
    kill -$signal $job
    wait $job
    status=$?
    [ $status -eq $((128 + $(kill -l $signal))) ] || fail "status $status after SIG$signal"
    json
    [ "$(value status)" = interrupted ] || fail "status $(value status) after SIG$signal"
    try 0 "$volery" replay stopped.mcap
    silent err
    rm stopped.mcap
done

kills=${VOLERY_KILLS:-10} opened=0
cp a.mcap kept.mcap
for i in $(seq "$kills"); do
    rm -f kept.mcap.part
    "$volery" run hover --duration 1000000 -q -o kept.mcap >out 2>err &
    job=$!
    [ $((i % 2)) -eq 0 ] || started kept.mcap.part # else it may be killed before the first chunk
    sleep "0.$(printf %03d $((RANDOM % 300 + 20)))"
    kill -9 $job
    wait $job 2>/dev/null
    cmp -s a.mcap kept.mcap || { fail "kill $i destroyed an older log"; cp a.mcap kept.mcap; }
    [ -e kept.mcap.part ] || continue
    "$volery" replay kept.mcap.part >out 2>err
    status=$?
    if [ $status -eq 0 ]; then
        opened=$((opened + 1))
        says err "cut off"
        "$volery" diff kept.mcap.part kept.mcap.part >out 2>err || fail "kill $i: diff"
    elif [ $status -ne 2 ] || [ "$(size kept.mcap.part)" -gt 4000000 ]; then # before the first chunk nothing can be read
        fail "kill $i: status $status"
        cat out err
    fi
done
[ "$opened" -gt $((kills / 3)) ] || fail "only $opened of $kills killed logs could be read"
rm -f kept.mcap.part

(ulimit -f 300; exec "$volery" run hover --duration 100 -o kept.mcap >out 2>err)
status=$?
[ $status -eq 3 ] || fail "status $status when the disk is full"
says err "kept.mcap"
silent out
cmp -s a.mcap kept.mcap || fail "a full disk destroyed an older log"
(ulimit -f 10; exec "$volery" export a.mcap --csv -o a.csv >out 2>err)
status=$?
[ $status -eq 3 ] || fail "status $status when the disk is full for a table"
[ "$(wc -l <a.csv)" -eq 2002 ] || fail "a full disk destroyed an older table"
if [ -w /dev/full ]; then
    try 3 "$volery" run hover -o /dev/full
    says err "/dev/full"
    try 3 bash -c "'$volery' check first-flight >/dev/full"
    says err "could not write to standard output"
    try 3 bash -c "'$volery' run hover --no-log --json >/dev/full"
    try 3 bash -c "'$volery' export a.mcap --csv >/dev/full"
    [ "$(wc -l <err)" -eq 1 ] || fail "a full disk is told $(wc -l <err) times"
fi
"$volery" run hover -q -o /dev/stdout 2>err | true
status=${PIPESTATUS[0]}
[ "$status" -eq 3 ] || fail "status $status when the log's pipe is closed"
mkfifo unread
# shellcheck disable=SC2094 # a pipe of ours
exec 3<>unread 4>unread 3<&-
"$volery" manual >&4 2>err
status=$?
exec 4>&-
[ "$status" -eq 3 ] || fail "status $status when the pipe of stdout is closed"
says err "Broken pipe"

# --- on a terminal: a progress line and colours
if command -v script >/dev/null; then
    export NO_COLOR='' TERM=xterm
    # Ctrl-C once there is something to see, also where this script was started with SIGINT ignored. From an input that has
    # ended, script stops listening before all is written.
    interrupt() {
        local i
        for i in $(seq 2400); do
            grep -qaF "s left" typescript 2>/dev/null && break
            sleep 0.05
        done
        printf '\003'
        sleep 4
    }
    script -qefc "env --default-signal=INT $volery run hover --no-log --duration 1000000" typescript >/dev/null < <(interrupt)
    says typescript "times real time"
    says typescript "s left"
    says typescript "$(printf '\033[1;31m')interrupted"
else skipped="$skipped terminal"; fi

[ -z "$skipped" ] || echo "app: SKIPPED for want of programs:$(tr ' ' '\n' <<<"$skipped" | sort -u | tr '\n' ' ')"
[ $failures -eq 0 ] || { echo "app: $failures failures"; exit 1; }
echo "app: ok ($opened of $kills killed logs readable)"
