#!/bin/bash
# faults_test.sh BUILD [EVERY] - every EVERYth (25th) allocation and system call of each command fails, and commands read logs with changed bytes and right
# checksums: tests/faults/faults.py and mutants.py say what is asked for.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/faults" && pwd)
work=$build/faults
rm -rf "$work"
python3 "$here/faults.py" "$build/volery" "$build/tests/fail_alloc.so" "$work" "${2:-25}"
python3 "$here/mutants.py" "$build/volery" "$work/mutants" $((15 + 250 / ${2:-25}))
rm -rf "$work"
