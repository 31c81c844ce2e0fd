#!/bin/sh
# check_symbols.sh BUILD - the objects of the simulation need nothing but what tools/symbols.txt lists, and whatever
# the library makes visible to the linker is called vy_.
# BUILD is a build directory in which the library has been built, without sanitizers.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
top=$(pwd)

all=$(find src -mindepth 2 -maxdepth 2 -name '*.c' ! -name '*_none.c' | sort | sed 's/$/.o/')
simulation=$(printf '%s\n' "$all" |
    grep -E '^src/(base|equations|geometry|environment|dynamics|vehicle|sensors|control|world)/')
cd "$build/CMakeFiles/volery_objects.dir"
# shellcheck disable=SC2086 # lists of words
if ! nm -A -P -u $simulation >"$build/symbols.needed" || ! nm -A -P -g --defined-only $all >"$build/symbols.given"; then
    echo "symbols: build the library first"
    exit 1
fi

status=0
awk -v list="$top/tools/symbols.txt" '
    function pattern(text) { gsub(/\./, "\\.", text); gsub(/\*/, ".*", text); return "^" text "$" }
    function allowed(symbol, file,    i) {
        for (i = 1; i <= rules; ++i) if (symbol ~ symbols[i] && file ~ files[i]) return 1
        return 0
    }
    BEGIN {
        while ((getline line < list) > 0) {
            n = split(line, word, " ")
            if (n == 0 || word[1] ~ /^#/) continue
            if (n == 1) word[n = 2] = "*"
            for (i = 2; i <= n; ++i) { symbols[++rules] = pattern(word[1]); files[rules] = pattern(word[i]) }
        }
    }
    {
        file = $1; sub(/^src\//, "", file); sub(/\.o:$/, "", file)
        if ($2 !~ /^vy_/ && !allowed($2, file)) { print "src/" file " needs " $2; broken = 1 }
    }
    END { exit broken }' "$build/symbols.needed" || { echo "symbols: see tools/symbols.txt"; status=1; }
awk '$2 !~ /^vy_/ { sub(/\.o:$/, "", $1); print $1 " gives " $2 ", which is not called vy_"; broken = 1 }
    END { exit broken }' "$build/symbols.given" || status=1
[ $status -eq 0 ] && echo "symbols: ok"
exit $status
