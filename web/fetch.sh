#!/bin/sh
# fetch.sh LOCK FOLDER - the packages that the file LOCK names into FOLDER/node_modules, for this kind of machine; what
# is there already is kept, and then no network is needed.
set -eu
web=$(cd "$(dirname "$0")" && pwd)
machine=$("$web/machine.sh")
if ! cmake -DMACHINE="$machine" -DLOCK="$1" -DINTO="$2" -P "$web/fetch.cmake" 2>/dev/null; then
    registry=$("$web/registry.sh")
    cmake -DMACHINE="$machine" -DLOCK="$1" -DINTO="$2" -DREGISTRY="$registry" -P "$web/fetch.cmake"
fi
