#!/bin/sh
# list_files.sh [PATTERN...] - the project's own files, one a line: what git tracks or would track; in a tree
# without git, everything but build outputs. A pattern is a shell pattern over the file's path, as '*.c'.
set -eu
cd "$(dirname "$0")/.."

all_files() {
    git ls-files -co --exclude-standard 2>/dev/null ||
        find . -type d \( -name .git -o -name build -o -name out -o -name node_modules \) -prune -o -type f -print |
        sed 's|^\./||'
}

all_files | sort -u | while read -r file; do
    [ -f "$file" ] || continue # deleted, but not yet for git
    [ $# -gt 0 ] || set -- '*'
    for pattern in "$@"; do
        # shellcheck disable=SC2254 # a pattern on purpose
        case $file in $pattern) echo "$file"; break ;; esac
    done
done
