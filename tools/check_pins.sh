#!/bin/sh
# check_pins.sh - what build and tests take from PyPI is pinned by the SHA-256 of its files: every pip that installs or
# downloads asks for hashes or stays on this machine, and every package of a list has one. What builds a package from source
# has no hash where pip fetches it by itself: so pip takes no source, or is told to build with what is installed.
set -eu
cd "$(dirname "$0")/.."

unpinned=$(tools/list_files.sh '*.sh' Makefile .ci/run | tr '\n' '\0' | xargs -0 grep -nHE 'pip"? (install|download)' |
    grep -vE '^(tools/check_pins|tests/gates_test)[.]sh:' | grep -vE '^[^:]*:[0-9]*:[[:space:]]*(#|echo )|^Makefile:[0-9]*:[a-z-]*:.*##' |
    grep -vE -e '--require-hashes.*--only-binary :all:' -e '--only-binary :all:.*--require-hashes' -e '--no-build-isolation.*--require-hashes' \
        -e '--no-deps --no-build-isolation' || true)
if [ -n "$unpinned" ]; then
    echo "$unpinned"
    echo "pins: the lines above take packages without --require-hashes, or build with what has none (--only-binary :all: or --no-build-isolation)"
    exit 1
fi

# A package may go over several lines, each but the last with a backslash at its end.
for list in $(tools/list_files.sh '*requirements.txt'); do
    sed -e ':more' -e '/\\$/N; s/\\\n//; t more' "$list" | grep -vE '^(#|$)' | grep -vE '^[A-Za-z0-9._-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}' >&2 &&
        { echo "pins: $list has the lines above, without a version and a hash"; exit 1; }
done
exit 0
