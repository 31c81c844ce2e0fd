#!/bin/sh
# levels.sh BUILD COUNT - scenarios at random fly to the same bits in builds of -O0, and of -O3 without assertions, as in BUILD
# (-O3 with assertions).
set -eu
build=$1
count=$2
"$build/tests/test_pairs" hashes "$count" >build/levels.txt
[ "$(wc -l <build/levels.txt)" -eq "$count" ] || { echo "levels: not all scenarios flew"; exit 1; }
for level in O0 O3; do
    out=build/levels-$level
    cmake -S . -B "$out" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-$level" -DVOLERY_ASSERT=OFF >/dev/null
    cmake --build "$out" --target test_pairs -j "$(nproc)" -- -s >/dev/null
    "$out/tests/test_pairs" hashes "$count" >"build/levels-$level.txt"
    cmp -s build/levels.txt "build/levels-$level.txt" || {
        echo "levels: -$level without assertions ends elsewhere:"
        diff build/levels.txt "build/levels-$level.txt" | head -5
        exit 1
    }
done
echo "levels: $count scenarios have the same hashes at -O0 and -O3, with assertions and without"
