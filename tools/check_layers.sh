#!/bin/sh
# check_layers.sh - every #include "..." must be granted to its folder by tools/layers.txt.
set -eu
cd "$(dirname "$0")/.."

find src include/volery app bench scenes examples \( -name '*.[ch]' -o -name '*.inl' \) -exec grep -Hn '^ *# *include *"' {} + | sort |
awk -F '[:"]' '
    function fail(text) { print where ": " text; broken = 1 }
    BEGIN {
        while ((getline line < "tools/layers.txt") > 0) {
            n = split(line, word, " ")
            if (word[1] == "folder") {
                known[word[2]] = granted[word[2], word[2]] = granted[word[2], "public:" word[2]] = 1
                for (i = 3; i <= n; ++i) {
                    granted[word[2], word[i]] = granted[word[2], "public:" word[i]] = 1
                    sub(/^public:/, "", word[i])
                    sub(/\/.*/, "", word[i])
                    if (!(word[i] in known)) { print "layers.txt: " word[2] " is granted " word[i] ", which is not below it"; broken = 1 }
                }
            } else if (word[1] == "header") {
                home["volery/" word[2]] = word[3]
            }
        }
    }
    {
        # file:line:#include "used"
        where = $1 ":" $2; used = $4
        split($1, part, "/")
        public = (part[1] == "include")
        folder = public ? home["volery/" part[3]] : part[1] == "src" ? part[2] : part[1]
        if (public && folder == "") { fail("volery/" part[3] " has no home in tools/layers.txt"); next }
        if (!(folder in known)) { fail("folder " folder " is not in tools/layers.txt"); next }
        slash = index(used, "/")
        if (!slash) next # a neighbour in the same folder
        target = substr(used, 1, slash - 1)
        if (target == "volery") {
            if (home[used] == "") { fail(used " has no home in tools/layers.txt"); next }
            target = "public:" home[used]
        } else if (public) {
            fail("a public header may not include " used); next
        }
        if (!((folder, target) in granted) && !((folder, used) in granted)) fail(folder " may not include " used)
    }
    END { exit broken }' || { echo "layers: see tools/layers.txt"; exit 1; }
echo "layers: ok"
