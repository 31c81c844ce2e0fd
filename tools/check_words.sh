#!/bin/sh
# check_words.sh - no file names a path of one machine or a package registry: both mean nothing to a reader
# elsewhere. This file is left out, since it has to name them.
set -eu
cd "$(dirname "$0")/.."

paths='(^|[^A-Za-z0-9._/-])/(work|home|root|Users|mnt)/[A-Za-z0-9._-]'
hosts='(registry\.npmjs\.org|registry\.yarnpkg\.com|files\.pythonhosted\.org|pypi\.org/simple|deb\.debian\.org|ghcr\.io|docker\.io)'

found=$(tools/list_files.sh | grep -vx 'tools/check_words.sh' | tr '\n' '\0' |
    xargs -0 grep -nHIE -e "$paths" -e "$hosts" || true)
if [ -n "$found" ]; then
    echo "$found"
    echo "words: the lines above name a machine's path or a registry"
    exit 1
fi
echo "words: ok"
