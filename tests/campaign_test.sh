#!/bin/bash
# campaign_test.sh BUILD - campaigns as people run them: on one core and two, in pieces, killed and resumed, with a case
# that kills its process, with results of another plan.
set -euo pipefail
build=$(cd "$1" && pwd)
docs=$(cd "$(dirname "$0")/../docs" && pwd)
volery=$build/volery
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cd "$temp"
unset SLURM_PROCID SLURM_ARRAY_TASK_ID OMPI_COMM_WORLD_RANK PMI_RANK
failures=0

# check WHAT COMMAND...: the command must succeed.
check() {
    local what=$1
    shift
    if "$@"; then echo "ok: $what"; else
        echo "FAILED: $what"
        failures=$((failures + 1))
    fi
}
hash_of() { "$volery" campaign merge "$1" -o "$2" --json | grep -o '"hash": *"[0-9a-f]*"' || true; }
is_equal() { [ -n "$1" ] && [ "$1" = "$2" ]; }
# says EXIT TEXT COMMAND...: the command ends with this status, and TEXT is in what it prints.
says() {
    local exit=$1 text=$2 printed got=0
    shift 2
    printed=$("$@" 2>&1) || got=$?
    if [ "$got" -ne "$exit" ] || ! grep -qF -- "$text" <<<"$printed"; then
        printf 'exit %s: %s\n' "$got" "$printed"
        return 1
    fi
}

# kill_when N DIR COMMAND...: start the command, kill it with -9 once DIR has N shards (it may also have ended by then).
kill_when() {
    local count=$1 folder=$2 pid
    shift 2
    "$@" &
    pid=$!
    while kill -0 "$pid" 2>/dev/null && [ "$(count_shards "$folder")" -lt "$count" ]; do sleep 0.02; done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}
count_shards() { find "$1" -name '*.vyshard' 2>/dev/null | wc -l; }
# The files of shards that are whole, with what tells a file from one written anew in its place.
list_shards() { find "$1/shards" -name '*.vyshard' -printf '%f %i %C@\n' | sort; }
# has_all A B: every line of A is in B.
has_all() { [ -s "$1" ] && [ -z "$(comm -23 "$1" "$2")" ]; }

cat >hover.yaml <<'END'
volery: 1
duration: 0.3 s
world: {wind: {constant: [0, 0, 0]}}
drones: [{name: alpha, vehicle: crazyflie2x}]
expect: [{quantity: position_error, at: end, max: 1 cm}]
END
cat >plan.yaml <<'END'
volery: 1
campaign: hovers
scenario: hover.yaml
cases: 700
vary:
  - {key: drones.alpha.vehicle.mass, from: 25 g, to: 32 g}
  - {key: "world.wind.constant[0]", distribution: normal, mean: 0, deviation: 2}
END
# The same flights one by one: an expectation at every step keeps them out of the lanes.
sed 's/at: end/at: throughout/' hover.yaml >slow.yaml
sed 's/hover.yaml/slow.yaml/' plan.yaml >slow-plan.yaml

check "check prints the first cases and the cost" says 0 "700 cases of hover.yaml" "$volery" campaign check plan.yaml
says 1 "complete, 700 cases" "$volery" campaign run plan.yaml -o one -j1 || failures=$((failures + 1))
one=$(hash_of plan.yaml one)
"$volery" campaign run plan.yaml -o two -j2 --shards 9 -q || true
check "two cores and other shards have the hash of one core" is_equal "$one" "$(hash_of plan.yaml two)"

# In pieces, in any order, by number and by what Slurm, mpirun and srun say.
"$volery" campaign run plan.yaml -o pieces --shards 5 --shard 3 -q
check "missing names what is missing, as sbatch takes it" says 1 "0-2,4" "$volery" campaign missing plan.yaml -o pieces
check "merge refuses what is not complete" says 1 "4 of 5 shards are missing" "$volery" campaign merge plan.yaml -o pieces
SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MAX=4 "$volery" campaign run plan.yaml -o pieces -q
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=0 "$volery" campaign run plan.yaml -o pieces -q
PMI_RANK=0 PMI_SIZE=2 "$volery" campaign run plan.yaml -o pieces -q
SLURM_PROCID=2 SLURM_NTASKS=4 "$volery" campaign run plan.yaml -o pieces -q
check "pieces have the hash of the whole" is_equal "$one" "$(hash_of plan.yaml pieces)"
check "there is no shard beyond the last" says 2 "there is no shard 5" "$volery" campaign run plan.yaml -o pieces --shard 5
check "the number of shards stays" says 2 "was started with 5 shards" "$volery" campaign run plan.yaml -o pieces --shards 6
# Two ranks start a folder at the same moment.
for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$volery" campaign run plan.yaml -o ranks -q & done
wait
check "ranks started together have the hash" is_equal "$one" "$(hash_of plan.yaml ranks)"

# Killed at some moments, resumed: only shards in flight are lost, and what a case is does not depend on how it was flown.
for count in 1 5 20; do
    kill_when "$count" killed "$volery" campaign run slow-plan.yaml -o killed -j2 -q
done
list_shards killed >before.txt
"$volery" campaign run slow-plan.yaml -o killed -j2 -q || true
list_shards killed >after.txt
check "what was whole is not flown again" has_all before.txt after.txt
"$volery" campaign run slow-plan.yaml -o whole -j1 -q || true
check "killed and resumed has the hash of one that was not" is_equal "$(hash_of slow-plan.yaml whole)" "$(hash_of slow-plan.yaml killed)"
# A plan that takes hours, stopped once its first shard is there. A job of its own: one in the background ignores SIGINT.
sed 's/cases: 700/cases: 1000000/' slow-plan.yaml >endless-plan.yaml
env --default-signal=INT "$volery" campaign run endless-plan.yaml -o stopped -j1 --shards 10000 -q &
pid=$!
until [ -n "$(ls stopped/shards 2>/dev/null)" ]; do sleep 0.05; done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
check "Ctrl-C ends with 130" [ "$status" -eq 130 ]
check "and keeps what was flown" says 1 "of 10000 shards are missing" "$volery" campaign merge endless-plan.yaml -o stopped
# What nohup has ignored does not stop it: after a hangup it flies on, until SIGTERM.
env --default-signal=TERM --ignore-signal=HUP "$volery" campaign run endless-plan.yaml -o stopped -j1 -q &
pid=$!
flown=$(count_shards stopped)
until [ "$(count_shards stopped)" -gt "$flown" ]; do sleep 0.05; done
kill -HUP "$pid"
flown=$(count_shards stopped)
until [ "$(count_shards stopped)" -gt $((flown + 2)) ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
kill -TERM "$pid" 2>/dev/null || true
status=0
wait "$pid" || status=$?
check "a hangup that nohup ignores does not stop it" [ "$status" -eq 143 ]

# A damaged shard is flown again; one of another plan is refused.
printf x | dd of=two/shards/000003.vyshard bs=1 seek=300 conv=notrunc 2>/dev/null
check "merge finds a damaged shard" says 2 "checksum" "$volery" campaign merge plan.yaml -o two
"$volery" campaign run plan.yaml -o two -q || true
check "a damaged shard is flown again" is_equal "$one" "$(hash_of plan.yaml two)"
sed 's/to: 32 g/to: 33 g/' plan.yaml >other.yaml
check "another plan is refused" says 2 "another plan" "$volery" campaign run other.yaml -o one
sed -i 's/1 cm/2 cm/' hover.yaml
check "another scenario is refused" says 2 "another plan, scenario" "$volery" campaign run plan.yaml -o one
sed -i 's/2 cm/1 cm/' hover.yaml

cp -r one old
sed -i 's/^version: .*/version: 0.0.1/' old/campaign.yaml
check "results of another version are refused" says 2 "old holds results of Volery 0.0.1, this is" "$volery" campaign run plan.yaml -o old
check "by merge, too" says 2 "old holds results of Volery 0.0.1, this is" "$volery" campaign merge plan.yaml -o old
cp one/campaign.yaml old/
sed -i 's/^physics: .*/physics: 1/' old/campaign.yaml
check "results of another physics revision are refused" says 2 "old holds results of physics revision 1, this program computes" \
    "$volery" campaign run plan.yaml -o old
cp one/campaign.yaml old/
printf '0.0.1\0\0\0' | dd of=old/shards/000003.vyshard bs=1 seek=8 conv=notrunc 2>/dev/null
check "a shard of another version is refused, not flown over" says 2 "results of Volery 0.0.1; this is" "$volery" campaign run plan.yaml -o old

# One case again: its log has the hash of its row, and replays.
check "fly" says 1 "case 5: expectation not met at 0.300 s" "$volery" campaign fly plan.yaml 5 -o case.mcap
check "a case's log replays" says 0 "identical" "$volery" replay case.mcap
check "no such case" says 2 "0 to 699" "$volery" campaign fly plan.yaml 700

# A case that kills its process is a result: here its controller does.
cat >killer.sh <<'END'
#!/bin/sh
# Its parent is the supervisor, whose parent has the world.
kill -SEGV "$(cut -d' ' -f4 /proc/$PPID/stat)"
END
cat >quiet.sh <<END
#!/bin/sh
exec "$volery" serve "$build/tests/plugin_controller.so"
END
chmod +x killer.sh quiet.sh
cat >process.yaml <<'END'
volery: 1
duration: 50 ms
drones: [{name: alpha, controller: {kind: process, command: ./quiet.sh}}]
END
cat >deaths.yaml <<'END'
volery: 1
campaign: deaths
scenario: process.yaml
sample: list
vary:
  - {key: drones.alpha.controller.command, distribution: values, values: [./quiet.sh, ./killer.sh, ./quiet.sh]}
END
check "a case that kills its process becomes a result" says 1 "each case in a process of its own" \
    "$volery" campaign run deaths.yaml -o deaths --shards 1
check "and is counted" says 1 '"completed": 2, "failures": 0, "ended_early": 0, "expectation_not_met": 0, "killed": 1' "$volery" campaign merge deaths.yaml -o deaths --json
{
    cat deaths.yaml
    echo 'keep: {logs: failures}'
} >keep-deaths.yaml
check "logs that are kept do not die of it" says 1 "case 1 has no log: it kills its process" \
    "$volery" campaign merge keep-deaths.yaml -o deaths
check "nor does check" says 0 "one of the first cases kills its process" "$volery" campaign check deaths.yaml
sed 's/sample: list/cases: 16/' deaths.yaml >search-deaths.yaml
check "nor a search" says 1 '"score": -3,' "$volery" campaign run search-deaths.yaml --search worst -o search-deaths --json
# A controller that never answers: the wall clock's verdict is counted and named, and is outside of the hash.
printf '#!/bin/sh\nexec sleep 1000\n' >late.sh
chmod +x late.sh
cat >late.yaml <<'END'
volery: 1
campaign: late
scenario: process.yaml
sample: list
vary:
  - key: drones.alpha.controller
    distribution: values
    values: ["{kind: process, command: ./quiet.sh}", "{kind: process, command: ./late.sh, boot: 0 s, deadline: 20 ms}", "{kind: process, command: ./quiet.sh}"]
END
check "a verdict of the wall clock is tier 1" says 1 "tier 1      ended by the wall clock, outside of the hash: 1" "$volery" campaign run late.yaml -o late
check "counted and named" says 1 '"wall_clock": 1, "wall_clock_cases": [1]' "$volery" campaign merge late.yaml -o late --json
check "on the page, too" grep -q '"wall_clock": 1, "wall_clock_cases": \[1\]' late/campaign.html
echo "# changed" >>quiet.sh
check "another controller program is refused" says 2 "controller program" "$volery" campaign run deaths.yaml -o deaths

# A full disk: nothing half-written counts.
(
    ulimit -f 8
    says 3 "" "$volery" campaign run plan.yaml -o full --shards 2 -q
) && check "a full disk leaves no shard" says 1 "0-1" "$volery" campaign missing plan.yaml -o full
"$volery" campaign run plan.yaml -o full -q || true
check "and is resumed" is_equal "$one" "$(hash_of plan.yaml full)"

# Answers: a bound with its confidence, and a stop rule that is done before all cases are flown.
sed 's/700/3200/; s/hovers/sure/' plan.yaml >sure.yaml
sed -i 's/hover.yaml/calm.yaml/' sure.yaml
sed 's/1 cm/1 m/; s/0.3 s/20 ms/' hover.yaml >calm.yaml
check "no failure in 3,200 shows less than 1 in 1,068" says 0 "fails in less than 1 in 1,068 with 95 % confidence" \
    "$volery" campaign run sure.yaml -o sure --junit sure.xml
check "the answer as JUnit" grep -q 'failures="0".*' sure.xml
check "the page is small" [ "$(wc -c <sure/campaign.html)" -lt 100000 ]
check "the page has the answer" grep -q "fails in less than 1 in 1,068" sure/campaign.html
check "the table is a Parquet file" [ "$(head -c4 sure/results.parquet)" = PAR1 ]
{ cat sure.yaml; echo 'stop: {limit: 0.01, looks: [600, 1200, 3000]}'; } >stop.yaml
check "a stop rule stops" says 0 "fails in less than 1 in 100 with 95 % confidence" "$volery" campaign run stop.yaml -o stop --shards 64 -j1
check "at a listed size" says 0 '"cases": 600,' "$volery" campaign merge stop.yaml -o stop --json
check "and leaves the rest" says 1 "-63" "$volery" campaign missing stop.yaml -o stop
{ sed 's/calm/hover/' sure.yaml; echo 'stop: {limit: 0.01, looks: [600, 1200]}'; } >bad-stop.yaml
check "a limit that is not undercut ends with 1" says 1 "it is not shown that it fails in less than 1 in 100" \
    "$volery" campaign run bad-stop.yaml -o bad-stop --junit bad.xml
check "and fails in JUnit" grep -q 'failures="1"' bad.xml
sed 's/cases: 700/cases: 700\nsample: latin/' plan.yaml >latin.yaml
check "Latin hypercubes have a bound by their replicates" says 1 "with 95 % confidence" "$volery" campaign run latin.yaml -o latin
sed 's/cases: 700/cases: 700\nsample: latin\nreplicates: 2/' plan.yaml >two-latin.yaml
check "two replicates have none" says 1 "no interval: it takes 10 replicates" "$volery" campaign run two-latin.yaml -o two-latin
sed 's/cases: 700/cases: 700\nrepeat: 2/' plan.yaml >repeated.yaml
check "nor have repetitions" says 1 "no interval: these cases are not independent draws" "$volery" campaign run repeated.yaml -o repeated

# Two campaigns on the same cases, compared by pairs.
{ sed 's/hovers/soft/' plan.yaml; echo 'set: ["drones.alpha.controller.gains.rate=15"]'; } >soft.yaml
"$volery" campaign run soft.yaml -o soft -q || true
check "two campaigns are compared by pairs" says 0 "exact McNemar test" "$volery" campaign compare plan.yaml soft.yaml -o one --other soft
check "only on the same cases" says 2 "do not have the same cases" "$volery" campaign compare plan.yaml latin.yaml -o one --other latin

# The worst keep their logs, and a page each where the program has pages.
{ cat plan.yaml; echo 'keep: {logs: worst, count: 2}'; } >keep.yaml
"$volery" campaign run keep.yaml -o keep -q || true
check "the worst keep their logs" [ "$(find keep/logs -name '*.mcap' | wc -l)" -eq 2 ]
check "which replay" says 0 "identical" "$volery" replay "$(find keep/logs -name '*.mcap' | head -1)"

# The search for the worst: killed and resumed it goes the same way.
sed 's/700/200/; s/deviation: 2/deviation: 4, from: -9, to: 9/' plan.yaml >search.yaml
sed -i 's/max: 1 cm/max: 4 cm/' hover.yaml
"$volery" campaign run search.yaml -o found --search worst -q -j1 || true
kill_when 3 again "$volery" campaign run search.yaml -o again --search worst -q -j2
"$volery" campaign run search.yaml -o again --search worst -q -j2 || true
search_hash() { "$volery" campaign merge search.yaml -o "$1" --search worst --json | grep -o '"hash": *"[0-9a-f]*"' || true; }
check "a search on two cores that was killed goes the way of one core" is_equal "$(search_hash found)" "$(search_hash again)"
check "a search has no interval" says 1 "not independent draws" "$volery" campaign merge search.yaml -o found --search worst
worst=$( ("$volery" campaign merge search.yaml -o found --search worst | sed -n 's/.*fly search.yaml \([0-9]*\).*/\1/p' || true) | head -1)
check "its worst case is flown again" says 1 "case $worst: expectation not met" \
    "$volery" campaign fly search.yaml "$worst" --search worst --other found -o worst.mcap
check "a search is mixed with nothing else" says 2 "another plan" "$volery" campaign run search.yaml -o found

check "compare needs two plans" says 2 "compare needs two plans" "$volery" campaign compare plan.yaml
# The plan that the documentation begins with.
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^```yaml$/,/^```$/p' "$docs/campaigns.md" | sed '/^```/d' >wind.yaml
check "the documentation's plan is a plan" says 0 "20000 cases of hover.yaml" "$volery" campaign check wind.yaml
check "bad usage" says 2 "usage: volery campaign" "$volery" campaign fry plan.yaml
printf 'volery: 1\ncampaign: x\nscenario: hover.yaml\ncases: 4\nvray: []\n' >bad.yaml
check "a mistake has its line and column" says 2 "bad.yaml:5:1: unknown key \"vray\"; did you mean vary?" "$volery" campaign check bad.yaml
[ "$failures" -eq 0 ] || exit 1
echo "campaign: all passed"
