#!/bin/bash
# run.sh BUILD - one campaign on a Slurm of two nodes, started here from Debian's packages: with a task cancelled, a slurmd
# killed with -9, and a full disk; then by mpirun, GNU parallel and, where its package can be had, Dask with a worker killed.
# Every way must end complete, no case twice, with the hash that one core has. Needs root; ports 17000 to 17002 of 127.0.0.1.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
volery=$build/volery
if [ "$(id -u)" -ne 0 ]; then
    echo "slurm: skipped, the daemons need root"
    exit 0
fi
temp=$(mktemp -d)
cluster=$temp/cluster
host=$(hostname -s)
export SLURM_CONF=$cluster/slurm.conf
unset SLURM_PROCID SLURM_ARRAY_TASK_ID OMPI_COMM_WORLD_RANK PMI_RANK

stop() { # everything that was started, by its process id
    for file in "$cluster"/*.pid "$cluster"/munge/*.pid; do
        [ -s "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null
    done
    mountpoint -q "$temp/small" && umount -l "$temp/small"
    rm -rf "$temp"
    return 0
}
trap stop EXIT
fail() {
    echo "FAILED: $*"
    tail -5 "$cluster"/log/* 2>/dev/null || true
    exit 1
}

start_cluster() {
    mkdir -p "$cluster"/{spool,state,log,munge}
    chmod 711 "$cluster/munge" "$temp"
    head -c 1024 /dev/urandom >"$cluster/munge/key"
    chmod 400 "$cluster/munge/key"
    munged --key-file="$cluster/munge/key" --socket="$cluster/munge/munge.socket" --pid-file="$cluster/munge/munged.pid" \
        --log-file="$cluster/munge/munged.log" --seed-file="$cluster/munge/seed" --force 2>/dev/null
    cat >"$SLURM_CONF" <<END
ClusterName=volery
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17000
AuthInfo=socket=$cluster/munge/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/log/slurmctld.log
SlurmdLogFile=$cluster/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AccountingStorageType=accounting_storage/none
MpiDefault=none
MaxArraySize=20001
ReturnToService=2
SlurmdTimeout=10
KillWait=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17001 CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17002 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=60 State=UP
END
    slurmctld -f "$SLURM_CONF"
    slurmd -N n1 -f "$SLURM_CONF"
    slurmd -N n2 -f "$SLURM_CONF"
    for _ in $(seq 240); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null | head -1)" = 2 ] && return
        sleep 0.5
    done
    fail "the two nodes did not become idle"
}

wait_for_jobs() { # at most a quarter of an hour: machines may be slow or busy
    for _ in $(seq 1800); do
        [ -z "$(squeue -h 2>/dev/null)" ] && return
        sleep 0.5
    done
    squeue
    fail "jobs do not end"
}
count_shards() { find "$1/shards" -name '*.vyshard' 2>/dev/null | wc -l; }
hash_of() { "$volery" campaign merge plan.yaml -o "$1" --json 2>/dev/null | grep -o '"hash": "[0-9a-f]*"' || true; }
same_hash() { [ "$(hash_of "$1")" = "$reference" ] || fail "$2 has the hash $(hash_of "$1"), one core has $reference"; }

cd "$temp"
cat >scenario.yaml <<'END'
volery: 1
duration: 20 s
drones: [{name: alpha, vehicle: crazyflie2x}]
disturbances: [{kind: noise, force: [1.5 mN, 1.5 mN, 1 mN], frequency: 0.5 Hz}]
expect: [{quantity: position_error, at: throughout, max: 20 cm}]
END
cat >plan.yaml <<'END'
volery: 1
campaign: slurm
scenario: scenario.yaml
cases: 600
vary: [{key: drones.alpha.vehicle.mass, from: 25 g, to: 32 g}]
END
"$volery" campaign run plan.yaml -o local -j1 -q || true
reference=$(hash_of local)
[ -n "$reference" ] || fail "no hash of one core"
start_cluster
echo "ok: two nodes are idle"

"$volery" campaign submit plan.yaml -o out --slurm --shards 30 >job.txt
job=$(grep -o '[0-9]*$' job.txt)
for _ in $(seq 3000); do
    [ "$(count_shards out)" -ge 2 ] && break
    sleep 0.1
done
scancel "${job}_28" "${job}_29" || fail "scancel" # the last ones: they cannot have ended yet
kill -9 "$(cat "$cluster/slurmd.n2.pid")"
sleep 1
slurmd -N n2 -f "$SLURM_CONF"
wait_for_jobs
missing=$("$volery" campaign missing plan.yaml -o out || true)
[ -n "$missing" ] || fail "two tasks were cancelled, and no shard is missing"
"$volery" campaign merge plan.yaml -o out -q 2>/dev/null && fail "merge took what is not complete"
echo "ok: a task cancelled and a slurmd killed with -9: shards $missing are missing, and merge says so"
"$volery" campaign submit plan.yaml -o out --slurm >/dev/null
wait_for_jobs
same_hash out "Slurm, resubmitted,"
[ "$(count_shards out)" -eq 30 ] || fail "$(count_shards out) shards, and not 30"
"$volery" campaign submit plan.yaml -o out --slurm | grep -q "nothing to submit" || fail "a complete campaign was submitted"
echo "ok: submitted again: complete, none twice, the hash of one core"

mkdir small
mount -t tmpfs -o size=100k none small
"$volery" campaign submit plan.yaml -o small/out --slurm --shards 30 --sbatch=--output=/dev/null >/dev/null
wait_for_jobs
full=$(count_shards small/out)
[ "$full" -lt 30 ] || fail "the disk did not become full"
mount -o remount,size=4m small
"$volery" campaign submit plan.yaml -o small/out --slurm --sbatch=--output=/dev/null >/dev/null
wait_for_jobs
same_hash small/out "Slurm after a full disk"
echo "ok: a full disk after $full of 30 shards, then room: complete, the same hash"

srun -n 2 "$volery" campaign run plan.yaml -o srun -q || true
same_hash srun srun
echo "ok: srun -n 2: the same hash"
if command -v mpirun >/dev/null; then
    env -u SLURM_CONF mpirun --allow-run-as-root --oversubscribe -n 2 "$volery" campaign run plan.yaml -o mpi -q || true
    same_hash mpi mpirun
    echo "ok: mpirun -n 2: the same hash"
fi
if command -v parallel >/dev/null; then
    seq 0 9 | parallel -j2 "$volery" campaign run plan.yaml -o parallel --shards 10 --shard {} -q || true
    same_hash parallel "GNU parallel"
    echo "ok: GNU parallel: the same hash"
fi
python=${VOLERY_DASK_PYTHON:-python3}
if "$python" -c 'import distributed' 2>/dev/null; then
    PYTHONPATH=$here/../../python/volery PYTHONDONTWRITEBYTECODE=1 timeout 900 "$python" "$here/dask_check.py" "$volery" plan.yaml "$(echo "$reference" | grep -o '[0-9a-f]\{16\}')"
else
    echo "skipped: Dask, which is not installed (pip install 'dask[distributed]', then VOLERY_DASK_PYTHON=that python)"
fi
echo "slurm: all passed"
