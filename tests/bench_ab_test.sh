#!/bin/sh
# bench_ab_test.sh BUILD - tools/bench_ab with builds made up for it: equal, slower, with other results, broken.
set -eu
tool=$(cd "$(dirname "$0")/.." && pwd)/tools/bench_ab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

build() { # NAME SECONDS HASH: a build whose every benchmark takes SECONDS
    mkdir "$1"
    # shellcheck disable=SC2016 # a script that is written
    printf '#!/bin/sh\necho "$2" >>%s/asked\necho "{\\"name\\":\\"$2\\",\\"best_s\\":%s,\\"hash\\":\\"%s\\"}"\n' \
        "$work" "$2" "$3" >"$1/volery"
    chmod +x "$1/volery"
}
try() { # STATUS TEXT ARGUMENTS...
    wanted=$1 text=$2
    shift 2
    status=0
    "$tool" "$@" >out 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" out; then
        echo "bench_ab: $* gives status $status, wanted $wanted and \"$text\":"
        cat out
        exit 1
    fi
}
build old 1.00 aa
build new 1.02 aa
build slow 1.04 aa
build other 1.00 bb
mkdir broken
printf '#!/bin/sh\nexit 1\n' >broken/volery
chmod +x broken/volery
try 0 "1.020" old new
[ "$(sort asked | uniq -c | tr -s ' \n' ' ')" = " 20 batch-widest 20 pile-1000 20 world " ] || { cat asked; exit 1; }
try 1 "above 1.03" old slow world --runs 1
try 0 "1.040" old slow/volery world --runs 1 --limit 1.05
try 1 "other results: aa and bb" old other world --runs 1
try 0 "other results: aa and bb" old other world --runs 1 --other-results
try 3 "broken/volery bench world fails" old broken world
try 2 "no command absent" old absent
try 2 "needs two builds" old
try 2 "--limit needs a number" old new --limit
try 0 "usage: tools/bench_ab" --help
echo "bench_ab: ok"
