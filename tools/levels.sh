#!/bin/sh
# levels.sh BUILD COUNT - scenarios at random fly to the same bits in a build of -O0 without assertions as in BUILD (-O3 with assertions).
set -eu
build=$1
count=$2
out=build/levels
"$build/tests/test_pairs" hashes "$count" >build/levels.txt
[ "$(wc -l <build/levels.txt)" -eq "$count" ] || { echo "levels: not all scenarios flew"; exit 1; }
cmake -S . -B "$out" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 -DVOLERY_ASSERT=OFF -DVOLERY_TESTS=ON >/dev/null
cmake --build "$out" --target test_pairs -j "${JOBS:-$(nproc)}" -- -s >/dev/null
"$out/tests/test_pairs" hashes "$count" >build/levels-O0.txt
cmp -s build/levels.txt build/levels-O0.txt || {
    echo "levels: -O0 without assertions ends elsewhere:"
    diff build/levels.txt build/levels-O0.txt | head -5
    exit 1
}
echo "levels: $count scenarios have the same hashes at -O0 without assertions and at -O3 with them"
