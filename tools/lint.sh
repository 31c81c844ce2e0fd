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
tools/list_files.sh 'src/*.c' 'app/*.c' 'scenes/*.c' 'bench/*.c' | grep -v '^bench/peers/\|_[248]\(_avx[0-9]*\)\?\.c$' >$files # lanes: the scalar source again

echo "== clang-tidy"
xargs -P "$(nproc)" -n 4 clang-tidy -p build/clang --quiet <$files || status=1

echo "== cppcheck" # one configuration a file: all of them take a quarter of an hour
cppcheck --quiet --std=c11 --language=c --error-exitcode=1 -j "$(nproc)" -Iinclude -Isrc -I. \
    --enable=warning,performance,portability --inline-suppr --suppressions-list=tools/cppcheck.txt \
    --max-configs=1 --file-list=$files || status=1

[ $status -eq 0 ] && echo "lint: ok" || echo "lint: FAILED"
exit $status
