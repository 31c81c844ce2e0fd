#!/bin/sh
# pairs_test.sh BUILD - scenarios of many options through the commands: check, run, replay, branch, view, plot, export.
# What each must show in process is tests/test_pairs.c.
set -eu
build=$1
count=${VOLERY_PAIRS:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
volery=$build/volery
"$build/tests/test_pairs" write "$count" "$work"
hash_of() { sed -n 's/.*"final_hash": *"\([0-9a-fx]*\)".*/\1/p' "$1" | head -1; }
fail() {
    echo "pairs: $1: $2"
    cat "$3"
    echo "$work/$1.err:"
    cat "$work/err"
    exit 1
}
flown=0
for scenario in "$work"/pair-*.yaml; do
    name=$(basename "$scenario" .yaml)
    log=$work/$name.mcap
    # A limit of the scenario's own may end a run: exit status 1, and all the rest is the same.
    run() {
        status=0
        "$volery" "$@" >"$work/out" 2>"$work/err" || status=$?
        [ "$status" -le 1 ] || fail "$name" "volery $* exits with $status" "$scenario"
    }
    must() {
        "$volery" "$@" >"$work/out" 2>"$work/err" || fail "$name" "volery $* exits with $?" "$scenario"
    }
    must check "$scenario"
    cp "$work/out" "$work/resolved.yaml"
    must check "$work/resolved.yaml"
    [ "$(grep 'configuration hash' "$work/out")" = "$(grep 'configuration hash' "$work/resolved.yaml")" ] ||
        fail "$name" "what check prints has another hash" "$scenario"
    run run "$scenario" -o "$log" --json
    end=$(hash_of "$work/out")
    [ -n "$end" ] || fail "$name" "run --json has no final_hash" "$scenario"
    must replay "$log"
    duration=$(sed -n 's/^duration: //p' "$scenario")
    half=$(awk "BEGIN { printf \"%.6f\", $duration / 2 }")
    if [ "$status" -eq 0 ]; then
        run branch "$log" --at "$half" -o "$work/branch.mcap" --json
        [ "$(hash_of "$work/out")" = "$end" ] || fail "$name" "an unchanged branch ends elsewhere" "$scenario"
    fi
    must view "$log" -o "$work/page.html"
    must plot "$log" --drone drone0 -o "$work/plot.svg"
    must export "$log" --drone drone0 --csv -o "$work/table.csv"
    must export "$log" --drone drone0 --parquet -o "$work/table.parquet"
    rm -f "$work/branch.mcap" "$work/page.html" "$work/plot.svg" "$work"/table.* "$log"
    flown=$((flown + 1))
done
[ "$flown" -eq "$count" ] || { echo "pairs: $flown of $count scenarios"; exit 1; }
echo "pairs: $flown scenarios through every command"
