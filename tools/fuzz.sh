#!/bin/sh
# fuzz.sh BUILD RUNS SECONDS [TARGET...] - run every fuzz target of a build, or these, so many times from its corpus, FUZZ_JOBS (2)
# targets at a time, but no longer than SECONDS each; a tenth of the runs for fuzz_command, whose runs are whole commands, a hundredth for fuzz_passive, whose runs are flights.
# A target NAME starts from fuzz/corpus/NAME (less fuzz_) where there is one; what it finds, and an input that breaks it, stay in BUILD/NAME.d. The same RUNS is the same walk, whatever the machine's
# speed, unless the seconds end it first, which is said. FUZZ_SEED (1) picks another walk: 0 a new one every time, going
# on from what earlier ones found, for long hunts.
set -eu
build=$(cd "$1" && pwd)
all_runs=$2
seconds=$3
seed=${FUZZ_SEED:-1}
shift 3
named_targets=$*
cd "$(dirname "$0")/.."

targets=$named_targets
[ -n "$targets" ] || targets=$(find "$build" -name 'fuzz_*' -type f -perm -u+x -exec basename {} \; | sort)
[ -n "$targets" ] || { echo "fuzz: no targets"; exit 0; }

# libFuzzer learns from the operands of comparisons, pointers too: a walk repeats only where addresses do.
fixed_addresses=
if setarch -R true 2>/dev/null; then fixed_addresses="setarch -R"; else echo "fuzz: addresses are random here: no run repeats"; fi

fuzz_one() {
    runs=$all_runs
    case $1 in
    fuzz_command) runs=$((runs / 10)) ;;
    fuzz_passive) runs=$((runs / 100)) ;;
    esac
    name=$1 findings=$build/$1.d log=$build/$1.log corpus=fuzz/corpus/${1#fuzz_}
    [ "$seed" = 0 ] || rm -rf "$findings" # what an earlier run found would make another walk of this one
    mkdir -p "$findings"
    [ -d "$corpus" ] || corpus=
    # shellcheck disable=SC2086 # none or one, twice
    if ! $fixed_addresses "$build/fuzz/$name" -runs="$runs" -max_total_time="$seconds" -seed="$seed" -reload=0 -timeout=300 \
        -artifact_prefix="$findings/" "$findings" $corpus >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "$name: FAILED, the input is in $findings"
        return 1
    fi
    # Not the last line: the leak sanitizer writes after it.
    runs_done=$(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1/p' "$log")
    # The run that last reached code which none had reached before: "#123 NEW cov: 45 ...".
    reached=$(awk -v runs="${runs_done:-0}" '/^#[0-9]+/ { for (i = 2; i < NF; ++i) if ($i == "cov:" && $(i + 1) > most) { most = $(i + 1); at = substr($1, 2) + 0 } }
        END { printf "%d branches, the last new one at run %d: none in the last %.0f %%", most, at, (runs > at ? 100 - 100 * at / runs : 0) }' "$log")
    case $runs_done in
    '') echo "$name: FAILED, it ended without a count: $log"; return 1 ;;
    "$runs") echo "$name: $runs_done runs, $reached" ;;
    *) echo "$name: $runs_done runs of $runs, ended by $seconds s, $reached" ;;
    esac
}

# shellcheck disable=SC2086 # a list of words
set -- $targets
if [ $# -eq 1 ]; then
    fuzz_one "$1"
else # each by this script, which then has but one
    printf '%s\n' "$@" | xargs -n 1 -P "${FUZZ_JOBS:-2}" tools/fuzz.sh "$build" "$all_runs" "$seconds"
fi
