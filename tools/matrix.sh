#!/bin/bash
# matrix.sh [short|full|--update] - the determinism matrix: build the golden scenes with many compilers, levels and
# machines, run each, and compare every state hash with tests/golden.txt. One different bit fails.
#   short     gcc and clang on this machine (the default; part of make test)
#   full      also this CPU's own instructions, ARM64 under qemu, WebAssembly under node (part of make check-long)
#   --update  rewrite tests/golden.txt from gcc -O2, after a change that is meant to move the hashes
set -u
cd "$(dirname "$0")/.." || exit 2
mode=${1:-short}
mode=${mode#--}
out=build/matrix
out_mode=$out/$mode
case $mode in short | full | update) ;; *) echo "usage: tools/matrix.sh [short|full|--update]"; exit 2 ;; esac
rm -rf "$out_mode"
mkdir -p "$out_mode" "$out/include" || exit 2

# Cross compilers must not see this machine's /usr/include, so xxhash.h comes from a copy.
xxhash=$(echo '#include <xxhash.h>' | gcc -M -x c - 2>/dev/null | tr ' ' '\n' | grep '/xxhash\.h$')
cp "$xxhash" "$out/include/" || { echo "matrix: xxhash.h not found (packages.txt, section demo)"; exit 2; }

read -r -d '' -a sources < <(tools/golden_sources)
exact="-std=c17 -ffp-contract=off -fno-math-errno -Iinclude -Isrc -I. -I$out/include"
gcc_exact="$exact -fno-tree-vectorize"
clang_exact="$exact -fno-vectorize -fno-slp-vectorize"

# The builds, one a line: name | runner | compiler and flags.
builds="gcc -O2||gcc $gcc_exact -O2"
if [ "$mode" != update ]; then
    builds+="
gcc -O0||gcc $gcc_exact -O0
gcc -O3||gcc $gcc_exact -O3
clang -O2||clang $clang_exact -O2"
fi
if [ "$mode" = full ]; then
    builds+="
clang -O3||clang $clang_exact -O3
gcc -O3 -march=native||gcc $gcc_exact -O3 -march=native
clang -O3 -march=native||clang $clang_exact -O3 -march=native
aarch64 gcc -O2|qemu-aarch64|aarch64-linux-gnu-gcc $gcc_exact -O2 -static
aarch64 gcc -O3|qemu-aarch64|aarch64-linux-gnu-gcc $gcc_exact -O3 -static
wasm emcc -O2|node --no-experimental-fetch|emcc $clang_exact -O2 -s ALLOW_MEMORY_GROWTH=1"
fi
export NODE_PATH=/usr/share/nodejs # where Debian's emscripten finds its parser

file_of() { echo "$out_mode/${1//[^a-zA-Z0-9-]/_}"; } # NAME -> where its outputs go, without suffix

# build_and_run NAME RUNNER COMPILER FLAGS...: leaves NAME.txt (the hashes), NAME.log and NAME.row (seconds, verdict).
build_and_run() {
    local name=$1 runner=${2:-env} file program started=$SECONDS verdict
    shift 2
    file=$(file_of "$name")
    program=$file
    [ "$1" != emcc ] || program=$file.js
    if ! command -v "$1" >/dev/null || ! command -v "${runner%% *}" >/dev/null; then
        verdict="missing ($1 $runner)"
    elif ! "$@" "${sources[@]}" -o "$program" -lm >"$file.log" 2>&1; then
        verdict="does not build, see $file.log"
    elif ! $runner "$program" >"$file.txt" 2>>"$file.log"; then
        verdict="does not run, see $file.log"
    else
        verdict=ok
        [ "$mode" = update ] || verdict=$(compare "$file.txt")
    fi
    echo "$((SECONDS - started))|$verdict" >"$file.row"
}

# compare FILE: "ok", or the first scene whose hash is not that of tests/golden.txt.
compare() {
    awk 'NR == FNR { want[$1] = $2; next }
         !difference && want[$1] != $2 { difference = $1 " " $2 ", expected " ($1 in want ? want[$1] : "none") }
         { delete want[$1]; ++seen }
         END {
             for (name in want) if (!difference) difference = name " is absent"
             print difference ? "differs: " difference : seen ? "ok" : "no scenes"
         }' tests/golden.txt "$1"
}

row() { printf '%-28s %5s s  %s\n' "$1" "$2" "$3"; }

# headers: the equations are also C++17, for one lane, for four and for one of floats.
check_headers() {
    local lanes header
    for lanes in 1 4 "1 -DVY_SINGLE=1"; do
        for header in include/volery/*.h src/base/*.h src/equations/*.h; do
            # shellcheck disable=SC2086 # words
            echo "#include \"$header\"" |
                g++ -std=c++17 -fsyntax-only -Wall -Wextra -Wno-psabi -Werror -DVY_LANES=$lanes -Iinclude -Isrc -I. \
                    -I"$out/include" -x c++ - || return 1
        done
    done
}

[ -f tests/golden.txt ] || [ "$mode" = update ] || { echo "matrix: no tests/golden.txt; see --update"; exit 1; }
while IFS='|' read -r name runner command; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    # shellcheck disable=SC2086 # flags are words
    build_and_run "$name" "$runner" $command &
done <<<"$builds"
wait

if [ "$mode" = update ]; then
    file=$(file_of "gcc -O2")
    [ -s "$file.txt" ] || { cat "$file.log"; exit 1; }
    cp "$file.txt" tests/golden.txt
    echo "tests/golden.txt rewritten: $(wc -l <tests/golden.txt) scenes"
    exit 0
fi

status=0
while IFS='|' read -r name _; do
    IFS='|' read -r seconds verdict <"$(file_of "$name").row"
    case $verdict in
    ok) ;;
    missing*) [ "$mode" = short ] || status=1 ;;
    *) status=1 ;;
    esac
    row "$name" "$seconds" "$verdict"
done <<<"$builds"

started=$SECONDS
if check_headers >"$out_mode/headers.log" 2>&1; then verdict=ok; else verdict="does not build, see $out_mode/headers.log" status=1; fi
row "g++ headers" $((SECONDS - started)) "$verdict"

# Controls: a matrix that cannot go red proves nothing. Contracted arithmetic must change a hash, and fast-math
# must be refused.
if grep -qw fma /proc/cpuinfo; then
    # shellcheck disable=SC2086
    build_and_run "control contract" "" gcc $gcc_exact -O3 -march=haswell -ffp-contract=fast
elif [ "$mode" = full ]; then
    # shellcheck disable=SC2086
    build_and_run "control contract" qemu-aarch64 aarch64-linux-gnu-gcc $gcc_exact -O3 -static -ffp-contract=fast
else
    echo "0|not tried, this CPU cannot" >"$(file_of "control contract").row"
fi
IFS='|' read -r seconds verdict <"$(file_of "control contract").row"
case $verdict in
differs*) verdict="$verdict (as it must)" ;;
"not tried"*) ;;
*) verdict="$verdict, but must differ" status=1 ;;
esac
row "control: contraction" "$seconds" "$verdict"

# shellcheck disable=SC2086
build_and_run "control fast-math" "" gcc $gcc_exact -O2 -ffast-math
if grep -q 'build without -ffast-math' "$(file_of "control fast-math").log"; then verdict="refused (as it must)"; else verdict="not refused" status=1; fi
row "control: fast-math" 0 "$verdict"

[ $status -eq 0 ] && echo "matrix: all equal" || echo "matrix: FAILED"
exit $status
