#!/bin/sh
# law.sh BUILD SCENES FIRST JOBS - the law of passive scenes (docs/contacts.md) over many of them, FIRST on, by JOBS
# processes. Lists those that break it; fails when more than one in a hundred does, or when fewer than
# 90 in a hundred have contact impulses in 20 steps.
set -eu
cd "$(dirname "$0")/.."
build=$1 scenes=$2 first=$3 jobs=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scenes_per_job=$(((scenes + jobs - 1) / jobs))
pids=
job=0
while [ $((job * scenes_per_job)) -lt "$scenes" ]; do
    scenes_left=$((scenes - job * scenes_per_job))
    VOLERY_PASSIVE=$((scenes_left < scenes_per_job ? scenes_left : scenes_per_job)) VOLERY_PASSIVE_FIRST=$((first + job * scenes_per_job)) \
        "$build/tests/test_passive" >"$folder/$job" 2>&1 &
    pids="$pids $!"
    job=$((job + 1))
done
failed=0
for pid in $pids; do wait "$pid" || failed=1; done
cat "$folder"/* | grep '^scene ' || true
[ "$failed" = 0 ] || {
    cat "$folder"/*
    echo "law: a process failed"
    exit 1
}
cat "$folder"/* | awk -v scenes="$scenes" '
    /^of [0-9]+ passive scenes/ {
        gsub(/[^0-9 ]/, "")
        count += $1; broken += $2; ends += $3; gains += $4; overlaps += $5; still += $6; touch += $7
    }
    END {
        printf "law: of %d passive scenes %d break it: %d end, %d gain energy, %d overlap, %d stand still; %d touch\n", count, broken, ends, gains, overlaps, still, touch
        exit count != scenes || 100 * broken > scenes || 10 * touch < 9 * scenes
    }'
