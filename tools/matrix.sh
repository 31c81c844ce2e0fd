#!/bin/bash
# matrix.sh [short|full|--update] - the determinism matrix: build the golden scenes with many compilers, levels and
# machines, run each, and compare every state and motion hash with tests/golden.txt. One different bit fails.
#   short     gcc -O0 and clang -O2 on this machine (the default; part of make test, whose own build is gcc -O3 and has
#             its scenes compared by test_determinism)
#   full      also this CPU's own instructions, ARM64 under qemu, WebAssembly under node (part of make check-long)
#   --update  rewrite tests/golden.txt from gcc -O2, after a change that is meant to move the hashes
set -u
cd "$(dirname "$0")/.." || exit 2
mode=${1:-short}
mode=${mode#--}
out=build/matrix
case $mode in short | full | update) ;; *) echo "usage: tools/matrix.sh [short|full|--update]"; exit 2 ;; esac
mkdir -p "$out/include" || exit 2
exec 9>"$out/lock" # objects are kept, and shared by the modes: one matrix at a time
flock 9

# Cross compilers must not see this machine's /usr/include, so xxhash.h comes from a copy.
xxhash=$(echo '#include <xxhash.h>' | gcc -M -x c - 2>/dev/null | tr ' ' '\n' | grep '/xxhash\.h$')
cmp -s "$xxhash" "$out/include/xxhash.h" || cp "$xxhash" "$out/include/" ||
    { echo "matrix: xxhash.h not found (packages.txt, section demo)"; exit 2; }

read -r -d '' -a sources < <(tools/golden_sources)
exact="-std=c17 -ffp-contract=off -fno-math-errno -Iinclude -Isrc -I. -Itests -I$out/include"
gcc_exact="$exact -fno-tree-vectorize"
clang_exact="$exact -fno-vectorize -fno-slp-vectorize"

# The builds, one a line: name | runner | compiler and flags | build that lends all other objects : the source compiled.
case $mode in
update) builds="gcc -O2||gcc $gcc_exact -O2" ;;
*) builds="gcc -O0||gcc $gcc_exact -O0
clang -O2||clang $clang_exact -O2" ;;
esac
if [ "$mode" = full ]; then
    builds+="
gcc -O2||gcc $gcc_exact -O2
gcc -O3||gcc $gcc_exact -O3
clang -O3||clang $clang_exact -O3
gcc -O3 -march=native||gcc $gcc_exact -O3 -march=native
clang -O3 -march=native||clang $clang_exact -O3 -march=native
aarch64 gcc -O2|qemu-aarch64|aarch64-linux-gnu-gcc $gcc_exact -O2 -static
aarch64 gcc -O3|qemu-aarch64|aarch64-linux-gnu-gcc $gcc_exact -O3 -static
wasm emcc -O2|node --no-experimental-fetch|emcc $clang_exact -O2 -s ALLOW_MEMORY_GROWTH=1"
fi
# Controls: a matrix that cannot go red proves nothing. One source with contracted arithmetic must change a hash.
contracted=src/control/control.c
if [ "$mode" = update ]; then :
elif grep -qw fma /proc/cpuinfo; then
    builds+="
control: contraction||gcc $gcc_exact -O2 -mfma -ffp-contract=fast|gcc -O0:$contracted"
elif [ "$mode" = full ]; then
    builds+="
control: contraction|qemu-aarch64|aarch64-linux-gnu-gcc $gcc_exact -O2 -static -ffp-contract=fast|aarch64 gcc -O2:$contracted"
fi
export NODE_PATH=/usr/share/nodejs # where Debian's emscripten finds its parser

folder_of() { echo "$out/${1//[^a-zA-Z0-9-]/_}"; } # NAME -> where its objects, program and hashes go

# rules NAME RUNNER COMMAND LENDER: what make needs to know of a build. An object is made anew when its source, a header,
# the compiler or a flag has changed; the hashes always.
rules() {
    local folder lent='' own=("${sources[@]}") program flags
    folder=$(folder_of "$1")
    program=$folder/golden
    case $3 in emcc*) program=$folder/golden.js ;; esac
    mkdir -p "$folder"
    flags="$3 $(${3%% *} --version | head -1)"
    [ "$flags" = "$(cat "$folder/flags" 2>/dev/null)" ] || echo "$flags" >"$folder/flags"
    if [ -n "$4" ]; then
        own=("${4#*:}")
        for source in "${sources[@]}"; do
            [ "$source" = "${own[0]}" ] || lent+=" $(folder_of "${4%:*}")/${source%.c}.o"
        done
    fi
    own=("${own[@]/#/$folder/}")
    printf '%s\n' "all: $folder/hashes.txt" \
        "$folder/%.o: %.c $folder/flags" "	@mkdir -p \$(@D)" "	@$3 -MMD -MP -c \$< -o \$@" \
        "$program: ${own[*]/%.c/.o}$lent" "	@$3 \$^ -o \$@ -lm" \
        "$folder/hashes.txt: $program" "	@$2 ./\$< >\$@.new && mv \$@.new \$@"
    find "$folder" -name '*.d' -printf 'include %p\n'
}

# compare FILE: "ok", or the first scene whose hashes are not those of tests/golden.txt.
compare() {
    awk 'NR == FNR { want[$1] = $2 " " $3; next }
         !difference && want[$1] != $2 " " $3 { difference = $1 " " $2 " " $3 ", expected " ($1 in want ? want[$1] : "none") }
         { delete want[$1]; ++seen }
         END {
             for (name in want) if (!difference) difference = name " is absent"
             print difference ? "differs: " difference : seen ? "ok" : "no scenes"
         }' tests/golden.txt "$1"
}

row() { printf '%-26s %s\n' "$1" "$2"; }

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
echo 'all:' >"$out/makefile"
missing='|'
while IFS='|' read -r name runner command lender; do
    rm -f "$(folder_of "$name")/hashes.txt"
    if command -v "${command%% *}" >/dev/null && command -v "${runner%% *}" >/dev/null; then
        rules "$name" "$runner" "$command" "$lender" >>"$out/makefile"
    else missing+="$name|"; fi
done <<<"${builds//||/|env|}"
log=$out/$mode.log
make -k -j "$(nproc)" --no-print-directory --output-sync=target -f "$out/makefile" >"$log" 2>&1

if [ "$mode" = update ]; then
    hashes=$(folder_of "gcc -O2")/hashes.txt
    [ -s "$hashes" ] || { cat "$log"; exit 1; }
    cp "$hashes" tests/golden.txt
    echo "tests/golden.txt rewritten: $(wc -l <tests/golden.txt) scenes"
    exit 0
fi

status=0
while IFS='|' read -r name _; do
    folder=$(folder_of "$name")
    if [[ $missing == *"|$name|"* ]]; then verdict="missing: its compiler, or what runs it"
    elif [ ! -f "$folder/hashes.txt" ]; then verdict="does not build or run, see $log"
    else verdict=$(compare "$folder/hashes.txt"); fi
    case $name:$verdict in
    control*:differs*) verdict="$verdict (as it must)" ;;
    control*:ok) verdict="equal, but must differ" status=1 ;;
    *:ok) ;;
    *:missing*) [ "$mode" = short ] || status=1 ;;
    *) status=1 ;;
    esac
    row "$name" "$verdict"
done <<<"$builds"

if check_headers >"$out/headers.log" 2>&1; then verdict=ok; else verdict="does not build, see $out/headers.log" status=1; fi
row "g++ headers" "$verdict"

# shellcheck disable=SC2086
if gcc $gcc_exact -ffast-math -fsyntax-only "$contracted" 2>&1 | grep -q 'build without -ffast-math'; then
    verdict="refused (as it must)"
else verdict="not refused" status=1; fi
row "control: fast-math" "$verdict"

[ $status -eq 0 ] && echo "matrix: all equal" || echo "matrix: FAILED"
exit $status
