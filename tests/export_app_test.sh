#!/bin/bash
# export_app_test.sh BUILD - what others read: tables of volery export by NumPy and pyarrow, of a campaign by pandas and polars, Foxglove's messages by its own
# classes. The packages, pinned in tests/export, are installed into BUILD/export; where they cannot be had the reading is
# skipped, and that is said.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/export" && pwd)
volery=$build/volery
work=$build/export
mkdir -p "$work"
cd "$work"

"$volery" run first-flight -q -o run.mcap
"$volery" export run.mcap --csv -o all.csv
"$volery" export run.mcap --parquet -o all.parquet
"$volery" export run.mcap --parquet --rate 30 --fields body.position,reference.position -o even.parquet
"$volery" run first-flight -q --set log.every=1 -o many.mcap
"$volery" export many.mcap --parquet --fields body.position,mocap.position -o many.parquet
"$volery" run "$here/../../scenarios/nesc/case06.yaml" -q -o planet.mcap
"$volery" run "$here/../view/ground.yaml" -q -o ground.mcap
"$volery" run "$here/../view/scene.yaml" -q -o scene.mcap
cat >track.yaml <<'YAML'
volery: 1
name: track
duration: 30 s
world: {planet: {origin: {latitude: 45 deg, longitude: 179.9999 deg, height: 250 m, date: 2026.5}}}
drones:
  - name: a
    start: {position: [0, 0, 2]}
    mission: [{time: 25 s, latitude: 45.0001 deg, longitude: -179.9999 deg, height: 5 m, above: ground}]
YAML
"$volery" run track.yaml -q -o track.mcap
"$volery" export track.mcap --csv --rate 1 --fields geodetic,ground -o track.csv
# Columns come in the order asked for.
head=$("$volery" export run.mcap --csv --rate 1 --fields body.velocity,reference.position,body.position | head -1)
case $head in
*body.velocity.z*,*reference.position.x*,*body.position.x*) ;;
*) echo "FAILED: fields in another order than asked for: $head" && exit 1 ;;
esac
"$volery" run first-flight -q --set 'world.wind={constant: [2, -1, 0]}' --set duration=6 -o flat.mcap >/dev/null || [ $? -eq 1 ]
"$volery" export flat.mcap --csv --rate 10 --fields ground,body -o flat.csv
cat >plan.yaml <<'YAML'
volery: 1
campaign: table
scenario: first-flight
set: [duration=0.1]
cases: 40
vary:
  - {key: drones.alpha.vehicle.mass, from: 26 g, to: 30 g}
  - {key: drones.alpha.controller.gains.rate, distribution: values, values: [15, 20]}
  - {key: disturbances, distribution: values, values: ["[]", "[{kind: impulse, force: [0, 1 N s, 0], duration: 20 ms}]"]}
YAML
rm -rf campaign
"$volery" campaign run plan.yaml -o campaign -q || [ $? -eq 1 ]
"$volery" campaign merge plan.yaml -o campaign --json >campaign.json || [ $? -eq 1 ]
"$volery" export track.mcap --kml --rate 1 -o track.kml
"$volery" export track.mcap --gpx --rate 1 -o track.gpx
if "$volery" export run.mcap --kml 2>err >/dev/null || ! grep -q "no planet" err; then
    echo "FAILED: a path over no planet" && exit 1
fi
if "$volery" export track.mcap --kml --fields geodetic 2>err >/dev/null || ! grep -q "takes no --fields" err; then
    echo "FAILED: fields of a path" && exit 1
fi
if "$volery" export run.mcap --csv --parquet 2>err || ! grep -q "say one format" err; then
    echo "FAILED: two formats at once" && exit 1
fi
if "$volery" export run.mcap --csv --fields forces.gravty 2>err >/dev/null || ! grep -q "no field forces.gravty" err; then
    echo "FAILED: a field that is not there" && exit 1
fi

# schemas/: packages for their files alone, without what they depend on; one comes as source, which setuptools builds.
install_packages() {
    cat "$here/requirements.txt" "$here/schemas/requirements.txt" >wanted.txt
    cmp -s wanted.txt done.txt && return
    python3 -m venv venv && venv/bin/pip install --quiet --only-binary :all: --require-hashes -r "$here/requirements.txt" &&
        venv/bin/pip install --quiet --no-deps --no-build-isolation --require-hashes -r "$here/schemas/requirements.txt" && mv wanted.txt done.txt
}
if ! command -v python3 >/dev/null || ! install_packages >install.log 2>&1; then
    echo "export: SKIPPED the reading: no python3 or no packages, see $work/install.log"
    exit 0
fi
venv/bin/python "$here/read_tables.py" "$work"
venv/bin/python "$here/read_campaign.py" "$work"
venv/bin/python "$here/read_tracks.py" "$work"
venv/bin/python "$here/read_foxglove.py" run.mcap planet.mcap ground.mcap scene.mcap
venv/bin/python "$here/read_plotjuggler.py" run.mcap all.csv
