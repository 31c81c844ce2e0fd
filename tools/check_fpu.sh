#!/bin/sh
# check_fpu.sh - every public function begins with FPU_SCOPE (or fpu_enter), so that the caller's rounding cannot
# change a bit, or is named in no_numbers.txt, because it computes, reads and writes no number.
set -eu
cd "$(dirname "$0")/.."

cat include/volery/*.h | sed 's|//.*||' | grep -oE '\bvy_[a-z0-9_]+\(' | tr -d '(' | sort -u |
    awk -v exempt=tools/no_numbers.txt '
    BEGIN { while ((getline line < exempt) > 0) if (line !~ /^#/ && line != "") named[line] = 1 }
    FNR == NR { public[$1] = 1; next }
    FNR == 1 { name = "" }
    name == "" && /^[a-z].*[ *]vy_[a-z0-9_]+\(/ && !/^(static|typedef|extern)/ && !/;$/ {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        scoped = 0
    }
    name != "" && /FPU_SCOPE|fpu_enter\(/ { scoped = 1 }
    name != "" && /}$/ && (/^}/ || /^[a-z]/) {
        if (name in public && !scoped && !(name in named)) {
            print FILENAME ": " name " has no FPU_SCOPE and is not in tools/no_numbers.txt"
            bad = 1
        }
        if (name in public && scoped && name in named) {
            print "tools/no_numbers.txt: " name " has an FPU_SCOPE"
            bad = 1
        }
        name = ""
    }
    END { exit bad }' - src/*/*.c
echo "fpu: ok"
