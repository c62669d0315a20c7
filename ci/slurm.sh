#!/usr/bin/env bash
# Runs the batch scripts in packaging/slurm with a Slurm of one node, and compares the result with one index.
#
#   ci/slurm.sh [SCANNS]     the command to test [default: target/debug/scanns]
#
# Needs root, and slurm-wlm and munge of Debian. Without them it prints SKIPPED. Slurm's own files are in a temporary
# directory; nothing is left running.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
root=$PWD

scanns=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/debug/scanns}")
[ -x "$scanns" ] || skip "$scanns is not built"
[ "$(id -u)" = 0 ] || skip "it needs root"
debian slurmctld slurmd slurm-client munge
PATH=$(dirname "$scanns"):$PATH:/usr/sbin
place=$(mktemp -d)
pids=()
end() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$place"
}
trap end EXIT

# Munge and Slurm with files and ports of their own.
mkdir -p "$place"/{munge,state,spool,log,work}
chmod 755 "$place" "$place/munge"
dd if=/dev/urandom of="$place/key" bs=1 count=1024 status=none
chmod 400 "$place/key"
munged --foreground --force --key-file="$place/key" --socket="$place/munge/socket" --pid-file="$place/munge/pid" \
    --log-file="$place/log/munge" --seed-file="$place/munge/seed" 2>"$place/log/munged" &
pids+=($!)
host=$(hostname -s)
cat > "$place/slurm.conf" <<CONF
ClusterName=scanns
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
CredType=cred/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldLogFile=$place/log/slurmctld
SlurmdLogFile=$place/log/slurmd
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=1 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$place/slurm.conf
for _ in $(seq 50); do [ -S "$place/munge/socket" ] && break; sleep 0.1; done
slurmctld -D 2>/dev/null &
pids+=($!)
slurmd -D 2>/dev/null &
pids+=($!)
up() { sinfo -h -o %T 2>/dev/null | grep -Eq 'idle|mix|alloc'; }
for _ in $(seq 60); do up && break; sleep 0.5; done
up || { tail -n 20 "$place"/log/*; skip "Slurm does not start here"; }

cd "$place/work"
mkdir data
for name in a b c d; do
    seq 1 5000 | sed "s/.*/{\"name\": \"$name\", \"number\": &}/" > "data/$name.jsonl"
done
scanns index -o one.scanns --records jsonl --quiet data
scanns plan -o plan.json --shards 7 --records jsonl --chunk-size 4KiB --quiet data
cp "$root"/packaging/slurm/*.sbatch .
# One node with little memory: no limits here.
small=(--cpus-per-task=1 --mem=0)
submit() { sbatch --parsable "${small[@]}" "$@"; }
array=$(submit --array=0-6%2 build-shards.sbatch plan.json)
# A task that is killed is run again by hand, as the status says.
sleep 1
scancel "${array}_3" || true
while squeue -h -j "$array" 2>/dev/null | grep -q .; do sleep 0.5; done
# The exit code is 1 while a shard is missing.
missing=$({ scanns plan --status plan.json || true; } | sed -n 's/^missing: .*namely //p')
if [ -n "$missing" ]; then
    array=$(submit --array="$missing" build-shards.sbatch plan.json)
fi
last=$(submit --dependency="afterok:$array" assemble.sbatch plan.json)
while squeue -h -j "$last" 2>/dev/null | grep -q .; do sleep 0.5; done
cat slurm-*.out
scanns plan --status plan.json
documents() { for index in "$@"; do scanns export "$index" --fields name,number --format csv | tail -n +2; done | sort; }
cmp <(documents one.scanns) <(documents plan.scanns/shard-*)
[ "$(documents plan.scanns/shard-* | wc -l)" = 20000 ]
echo "the shards that Slurm built have the documents of one index"
