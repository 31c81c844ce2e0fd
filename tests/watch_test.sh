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
command -v node >/dev/null || skip "no node"
"$root/web/fetch.sh" "$root/tests/watch/packages.lock" "$work" 2>fetch.log || skip "its client cannot be fetched, see $work/fetch.log"
node "$root/tests/watch/foxglove.mjs" "$build/volery" "$work"
