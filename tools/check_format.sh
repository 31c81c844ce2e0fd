#!/bin/sh
# check_format.sh - every C file is as clang-format leaves it; `make format` makes it so.
# Version 14, Debian 12's: another version formats differently.
set -eu
cd "$(dirname "$0")/.."

clang-format-14 --version >/dev/null
unformatted=$(tools/list_files.sh '*.c' '*.h' | xargs -P "$(nproc)" -n 20 clang-format-14 --dry-run -Werror 2>&1 |
    sed -n 's/^\([^:]*\):.*code should be clang-formatted.*/not formatted: \1/p' | sort -u)
if [ -n "$unformatted" ]; then
    echo "$unformatted"
    echo "format: run make format"
    exit 1
fi
echo "format: ok"
