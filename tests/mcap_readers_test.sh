#!/bin/sh
# mcap_readers_test.sh BUILD - logs written by us, read by the MCAP packages of PyPI and npm: same values and counts.
# The packages, pinned in tests/mcap_readers, are installed into BUILD/mcap_readers. Where python3, npm or the
# packages cannot be had, that reader is skipped, and the last line says so. The mcap command, where it is on the PATH or VOLERY_MCAP
# names it, compresses and decompresses a log, which is verified after that.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/mcap_readers"
here=$(pwd)
work=$build/mcap_readers
mkdir -p "$work"

"${CC:-cc}" -std=c17 -O1 -I../../include -I../../src write_log.c "$build/libvolery.a" -lzstd -lz -lcrypto -lpthread \
    -o "$work/write_log"
"$work/write_log" "$work/zstd.mcap" zstd
"$work/write_log" "$work/none.mcap" none
"$work/write_log" "$work/threaded.mcap" zstd threaded
cmp "$work/zstd.mcap" "$work/threaded.mcap"
openssl genpkey -algorithm ed25519 -out "$work/key.pem" 2>/dev/null
openssl pkey -in "$work/key.pem" -pubout -out "$work/key.pub"
"$build/volery" run payload -q -o "$work/flight.mcap" --sign "$work/key.pem"
# As kill -9 leaves it: the last chunk torn, nothing behind it.
head -c 200000 "$work/zstd.mcap" >"$work/torn.mcap.part"

# install_once NAME MANIFEST COMMAND...: run the command unless it ran for this manifest before.
install_once() {
    name=$1 manifest=$2
    shift 2
    cmp -s "$manifest" "$work/$name.done" && return 0
    "$@" >"$work/$name.log" 2>&1 || return 1
    cp "$manifest" "$work/$name.done"
}
python_packages() {
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --only-binary :all: --require-hashes -r requirements.txt
}
node_packages() {
    cp package.json package-lock.json "$work" && cd "$work" && npm ci --ignore-scripts --no-audit --no-fund
}

# A log that another program wrote anew says what it said: the same digest, signature and flight.
verify_rewritten() {
    "$build/volery" verify "$1" --key "$work/key.pub" >"$work/verified" || { echo "mcap_readers: $1 is not verified"; exit 1; }
    digest=$(sed -n 's/^  digest //p' "$work/verified")
    "$build/volery" verify "$work/flight.mcap" --no-replay | grep -q "$digest" ||
        { echo "mcap_readers: $1 has another digest"; exit 1; }
}

skipped=
if command -v python3 >/dev/null && install_once python requirements.txt python_packages; then
    "$work/venv/bin/python" read_log.py "$work/zstd.mcap" "$work/none.mcap" --torn "$work/torn.mcap.part" \
        "$work/flight.mcap"
    for compression in ZSTD NONE; do # as `mcap compress` and `mcap decompress` do
        "$work/venv/bin/python" rewrite_log.py "$work/flight.mcap" "$work/by_python.mcap" $compression
        verify_rewritten "$work/by_python.mcap"
    done
else
    skipped="$skipped python (see $work/python.log)"
fi
if command -v npm >/dev/null && (install_once node package-lock.json node_packages); then
    (cd "$work" && node "$here/read_log.mjs" zstd.mcap none.mcap --torn torn.mcap.part)
    (cd "$work" && node "$here/rewrite_log.mjs" flight.mcap by_node.mcap)
    verify_rewritten "$work/by_node.mcap"
else
    skipped="$skipped node (see $work/node.log)"
fi
mcap=${VOLERY_MCAP:-mcap}
if command -v "$mcap" >/dev/null; then
    "$mcap" compress "$work/flight.mcap" --compression zstd -o "$work/by_command.mcap" >"$work/mcap.log" 2>&1 || { cat "$work/mcap.log"; exit 1; }
    verify_rewritten "$work/by_command.mcap"
    "$mcap" decompress "$work/by_command.mcap" -o "$work/plain.mcap" >"$work/mcap.log" 2>&1 || { cat "$work/mcap.log"; exit 1; }
    verify_rewritten "$work/plain.mcap"
    "$mcap" compress "$work/flight.mcap" --compression lz4 -o "$work/lz4.mcap" >"$work/mcap.log" 2>&1 || { cat "$work/mcap.log"; exit 1; }
    status=0
    "$build/volery" verify "$work/lz4.mcap" >"$work/said" 2>&1 || status=$?
    if [ $status -ne 1 ] || ! grep -q 'packed with "lz4"; zstd and none are supported' "$work/said"; then
        cat "$work/said"
        echo "mcap_readers: a log packed with lz4 gives status $status, wanted 1 and a sentence"
        exit 1
    fi
    echo "mcap_readers: rewritten by the mcap command, and verified"
else
    skipped="$skipped the mcap command (VOLERY_MCAP names it)"
fi
[ -z "$skipped" ] || echo "mcap_readers: SKIPPED for want of packages:$skipped"
