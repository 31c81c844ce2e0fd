#!/bin/bash
# fit_test.sh BUILD - volery fit as a user works: the shipped real flight to a vehicle file, a page and JSON; the file is
# a vehicle for check; the same bytes twice; each kind of bad input is one sentence and exit status 2, and nothing is
# written.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
volery=$build/volery
data=$PWD/tests/data/crazyflie
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cd "$temp"
fail() {
    echo "fit_test: $*"
    exit 1
}

fit() { "$volery" fit "$data/flight.csv" --mapping "$data/columns.yaml" --vehicle "$data/base.yaml" --mass 0.027 "$@"; }
fit --for prediction -o mine.yaml --page mine.html --json >mine.json
fit --for prediction -o again.yaml -q
cmp mine.yaml again.yaml || fail "two fits of a flight differ"
python3 - <<'PYTHON'
import json
r = json.load(open("mine.json"))
found = {p["name"]: p for p in r["parameters"] if p["status"] == "found"}
assert found["thrust_coef"]["low"] < found["thrust_coef"]["value"] < found["thrust_coef"]["high"]
assert r["held_out"]["fitted"]["specific_force"]["1"] < r["held_out"]["hold"]["specific_force"]["1"]
assert r["held_out"]["fitted"]["rate"]["0.1"] < r["held_out"]["base"]["rate"]["0.1"]
assert r["missing"]
PYTHON
grep -q "Content-Security-Policy" mine.html || fail "the page has no policy"
grep -q "<svg" mine.html || fail "the page has no plot"
grep -q "<h1>Fit of flight.csv</h1>" mine.html || fail "the page names another flight, or its folder"
if grep -oE '(src|href)=' mine.html; then fail "the page refers to something outside of it"; fi
printf 'volery: 1\ndrones: [{name: a, vehicle: {base: mine.yaml}}]\n' >scenario.yaml
"$volery" check scenario.yaml >checked.yaml || fail "the fitted vehicle is refused"
grep -q "0.027" checked.yaml || fail "the mass is not in the resolved scenario"

refused() { # refused PATTERN ARGUMENTS...: exit status 2, one sentence, no file
    local pattern=$1 status=0
    shift
    "$volery" fit "$@" -o bad.yaml 2>told || status=$?
    [ $status = 2 ] || fail "exit status $status of: $*"
    grep -q -- "$pattern" told || fail "no \"$pattern\" in: $(cat told)"
    [ ! -e bad.yaml ] || fail "a file was written by: $*"
}
base=(--vehicle crazyflie2x-physical --mass 0.027)
refused "no column \"gyro\"" "$data/flight.csv" "${base[@]}" --mapping 'time=t_ms ms, rate.x=gyro'
refused "no column is the time" "$data/flight.csv" "${base[@]}"
refused "is no vehicle" "$data/flight.csv" --vehicle none --mass 1 --mapping "$data/columns.yaml"
refused "--mass" "$data/flight.csv" --vehicle x500
refused "there is no" none.csv "${base[@]}"
refused "there is no mapping none.yaml" "$data/flight.csv" "${base[@]}" --mapping none.yaml
refused "number of kg" "$data/flight.csv" --vehicle x500 --mass -3
refused "parameters or prediction" "$data/flight.csv" "${base[@]}" --for fun
head -400 "$data/flight.csv" >short.csv
refused "too short to tell" short.csv "${base[@]}" --mapping "$data/columns.yaml"
{ head -300 "$data/flight.csv"; sed -n '200,400p' "$data/flight.csv"; } >back.csv
refused "time goes back" back.csv "${base[@]}" --mapping "$data/columns.yaml"
{ head -300 "$data/flight.csv"; sed -n '1000,2000p' "$data/flight.csv"; } >gap.csv
refused "a gap of" gap.csv "${base[@]}" --mapping "$data/columns.yaml"
sed 's/acc_z_mg mg/acc_z_mg/' "$data/columns.yaml" >unit.yaml
refused "accel.z is usually" "$data/flight.csv" "${base[@]}" --mapping unit.yaml
printf 'ULog\x01\x12\x35\x01aaaaaaaabbbbbbbbbbb' >bad.ulg
sed 's|/65535||' "$data/columns.yaml" >motor.yaml
refused "commands are 0 to 1" "$data/flight.csv" "${base[@]}" --mapping motor.yaml
sed 's|/65535|/65535 %|' "$data/columns.yaml" >percent.yaml
refused "no motor's command is above" "$data/flight.csv" "${base[@]}" --mapping percent.yaml
sed 's|mrad/s|*0.00001|' "$data/columns.yaml" >still.yaml
refused "no vehicle predicts this flight" "$data/flight.csv" "${base[@]}" --mapping still.yaml
refused "is it in g" "$data/flight.csv" --vehicle crazyflie2x-physical --mass 27 --mapping "$data/columns.yaml"
sed 's/^rate.x/rate.u/' "$data/columns.yaml" >misspelt.yaml
refused "misspelt.yaml:4:1: a flight has no \"rate.u\"" "$data/flight.csv" "${base[@]}" --mapping misspelt.yaml
refused "a drone is chosen of a log" "$data/flight.csv" "${base[@]}" --mapping "$data/columns.yaml" --drone alpha
refused "a mapping is for a table" bad.ulg "${base[@]}" --mapping "$data/columns.yaml"
refused "sensor_combined" bad.ulg "${base[@]}"
echo "fit: ok"
