#!/bin/sh
# lint.sh - clang-tidy (.clang-tidy says what), cppcheck and shellcheck over everything but the tests; a finding fails.
set -eu
cd "$(dirname "$0")/.."
status=0

echo "== shellcheck"
# shellcheck disable=SC2046 # a list of words
shellcheck $(tools/list_files.sh '*.sh') tools/golden_sources .ci/run || status=1

cmake --preset clang --log-level=WARNING >/dev/null
files=build/clang/lint.files
tools/list_files.sh 'src/*.c' 'app/*.c' 'scenes/*.c' 'bench/*.c' | grep -v '^bench/peers/\|lanes_[248]' >$files # lanes are the scalar source again

echo "== clang-tidy"
xargs -P "$(nproc)" -n 4 clang-tidy -p build/clang --quiet <$files || status=1

echo "== cppcheck"
cppcheck --quiet --std=c11 --language=c --error-exitcode=1 -j "$(nproc)" -Iinclude -Isrc -I. \
    --enable=warning,performance,portability --inline-suppr --suppressions-list=tools/cppcheck.txt \
    --file-list=$files || status=1

[ $status -eq 0 ] && echo "lint: ok" || echo "lint: FAILED"
exit $status
