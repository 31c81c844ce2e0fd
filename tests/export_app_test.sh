#!/bin/bash
# export_app_test.sh BUILD - what others read: tables of volery export by NumPy and pyarrow, Foxglove's messages by its own
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
if "$volery" export run.mcap --csv --parquet 2>err || ! grep -q "say one format" err; then
    echo "FAILED: two formats at once" && exit 1
fi
if "$volery" export run.mcap --csv --fields forces.gravty 2>err >/dev/null || ! grep -q "no field forces.gravty" err; then
    echo "FAILED: a field that is not there" && exit 1
fi

install_packages() {
    cmp -s "$here/requirements.txt" done.txt && return
    python3 -m venv venv && venv/bin/pip install --quiet -r "$here/requirements.txt" && cp "$here/requirements.txt" done.txt
}
if ! command -v python3 >/dev/null || ! install_packages >install.log 2>&1; then
    echo "export: SKIPPED the reading: no python3 or no packages, see $work/install.log"
    exit 0
fi
venv/bin/python "$here/read_tables.py" "$work"
venv/bin/python "$here/read_foxglove.py" run.mcap planet.mcap ground.mcap scene.mcap
venv/bin/python "$here/read_plotjuggler.py" run.mcap all.csv
