#!/bin/bash
# watch_test.sh BUILD - flights that are watched (volery run --watch): tests/watch/watch.py says what is tried. Foxglove's own
# client watches one, too, where there is node and its packages can be fetched.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$build/watch
mkdir -p "$work"
cd "$work"
python3 "$root/tests/watch/watch.py" "$build/volery" "$root"

skip() {
    echo "foxglove: SKIPPED: $*"
    exit 0
}
# Foxglove's own server says what ours must say, where it can be fetched: by version and digest.
oracle=foxglove_sdk-0.30.3
if [ ! -d "$work/$oracle" ]; then
    printf 'foxglove-sdk==0.30.3 --hash=sha256:%s\n' "$(cat "$root/tests/watch/foxglove_sdk.sha256")" >"$work/oracle.txt"
    if python3 -m pip install -q --require-hashes --no-deps --only-binary :all: --target "$work/$oracle.part" -r "$work/oracle.txt" 2>oracle.log; then
        mv "$work/$oracle.part" "$work/$oracle"
    else
        rm -rf "$work/$oracle.part"
    fi
fi
if [ -d "$work/$oracle" ]; then
    PYTHONPATH=$work/$oracle python3 "$root/tests/watch/oracle.py" "$build/volery" "$root"
else
    echo "oracle: SKIPPED: foxglove-sdk cannot be fetched, see $work/oracle.log"
fi
command -v node >/dev/null || skip "no node"
"$root/web/fetch.sh" "$root/tests/watch/packages.lock" "$work" 2>fetch.log || skip "its client cannot be fetched, see $work/fetch.log"
node "$root/tests/watch/foxglove.mjs" "$build/volery" "$work"
