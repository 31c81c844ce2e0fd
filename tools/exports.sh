#!/bin/sh
# exports.sh HEADER... - print a linker version script that exports every vy_ name the headers declare.
# Names of types are in it as well; a name without a symbol exports nothing.
set -eu
printf '{\nglobal:\n'
grep -oh '\<vy_[a-z0-9_]*' "$@" | sort -u | sed 's/.*/    &;/'
printf 'local:\n    *;\n};\n'
