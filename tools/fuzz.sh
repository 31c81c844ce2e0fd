#!/bin/sh
# fuzz.sh BUILD SECONDS - run every fuzz target of a build for so long, two at a time. A target NAME starts from
# fuzz/corpus/NAME (less fuzz_) where there is one; what it finds, and an input that breaks it, stay in BUILD/NAME.d.
# FUZZ_SEED (1) picks another walk: 0 a new one every time, for long hunts.
set -eu
build=$(cd "$1" && pwd)
seconds=$2
cd "$(dirname "$0")/.."

targets=$(find "$build" -name 'fuzz_*' -type f -perm -u+x -exec basename {} \; | sort)
[ -n "$targets" ] || { echo "fuzz: no targets"; exit 0; }
run_one() {
    seeds=fuzz/corpus/${1#fuzz_}
    mkdir -p "$build/$1.d"
    [ -d "$seeds" ] || seeds=
    # shellcheck disable=SC2086 # none or one
    if "$build/fuzz/$1" -max_total_time="$seconds" -seed="${FUZZ_SEED:-1}" -timeout=10 -artifact_prefix="$build/$1.d/" "$build/$1.d" $seeds \
        >"$build/$1.log" 2>&1; then
        echo "$1: $(tail -n 1 "$build/$1.log")"
    else
        tail -n 40 "$build/$1.log"
        echo "$1: FAILED, the input is in $build/$1.d"
        return 1
    fi
}

status=0
pair=
for target in $targets; do
    run_one "$target" &
    if [ -z "$pair" ]; then pair=$!; continue; fi
    wait "$pair" || status=1
    wait $! || status=1
    pair=
done
[ -z "$pair" ] || wait "$pair" || status=1
exit $status
