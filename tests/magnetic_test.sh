#!/bin/bash
# magnetic_test.sh BUILD - the World Magnetic Model against pygeomag, pinned in tests/magnetic and installed into BUILD/magnetic; where
# it cannot be had the comparison is skipped, and that is said. test_magnetic has values of it in any case.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/magnetic" && pwd)
work=$build/magnetic
mkdir -p "$work"
cd "$work"

install_packages() {
    cmp -s "$here/requirements.txt" done.txt && return
    python3 -m venv venv && venv/bin/pip install --quiet --only-binary :all: --require-hashes -r "$here/requirements.txt" && cp "$here/requirements.txt" done.txt
}
if ! command -v python3 >/dev/null || ! install_packages >install.log 2>&1; then
    echo "magnetic: SKIPPED: no python3 or no pygeomag, see $work/install.log"
    exit 0
fi
venv/bin/python "$here/compare.py" "$build/libvolery.so"
