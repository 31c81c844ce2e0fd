# common.sh - what the tests of bridges share; $volery is the command, and the working folder theirs.
# shellcheck shell=sh disable=SC2154

fail() { echo "${0##*/}: $*"; cat out err 2>/dev/null; exit 1; }
says() { grep -qF -- "$2" "$1" || fail "$1 does not say: $2"; }
try() { # try STATUS COMMAND... - its exit status must be STATUS; its output is in the files out and err
    wanted=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    [ $status -eq "$wanted" ] || fail "$* gives status $status, wanted $wanted"
}
hash() { sed -n 's/.*hash \([0-9a-f]\{16\}\).*/\1/p' out | tail -1; }
replays() { # LOG - without any program, to the same end
    was=$(hash)
    try 0 env PATH=/usr/bin:/bin "$volery" replay "$1"
    says out identical
    says out "$was"
}
