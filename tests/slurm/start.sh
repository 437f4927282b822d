#!/bin/bash
# Start a SLURM cluster of two nodes on this machine, for tests: no systemd, no accounting database.
# Needs root and Debian's packages slurm-wlm and munge. Usage: tests/slurm/start.sh FOLDER
# Everything lies in FOLDER but the link /etc/slurm/slurm.conf; stop.sh FOLDER ends and removes it all.
set -euo pipefail

folder=$(realpath -m "$1")
conf=/etc/slurm/slurm.conf
patience=120 # seconds, on a machine that has other things to do
if found=$("$(dirname "$0")/configured.sh"); then
    echo "$found: a SLURM is configured on this machine; the tests start none beside it" >&2
    exit 3
fi
export SLURM_CONF=$folder/slurm.conf

fail() {
    trap - ERR
    set +e
    echo "SLURM has not started (${1:-a command failed}). Nodes and logs:" >&2
    timeout 20 sinfo --Node >&2
    tail -n 20 "$folder"/log/* >&2
    exit 1
}
trap fail ERR

host=$(hostname -s)
cpus=$(nproc)
memory=$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) / 1024 / 2 - 512))
mkdir -p "$folder"/{ctld,spool,log,munge,scratch} /etc/slurm
chmod 711 "$folder" "$folder/munge"
chmod 700 "$folder/ctld"

# Two daemons on two ports are two nodes; each claims half of the memory, and all cores (one where
# OMP_NUM_THREADS is 1, which `nproc` obeys, and which `make slurm-test` sets). A job that
# is put back into the queue waits `cred_expire` seconds. SLURM looks at once for what can run, by
# default some seconds later. What holds more memory than it asked for is ended within a second; this
# way takes no cgroups, which a container may lack. The time-outs are for a machine that has other
# things to do: by default a node whose job takes a minute to end is drained.
cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=20
CredType=cred/munge
SlurmctldPort=16817
StateSaveLocation=$folder/ctld
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$folder/scratch.sh
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SwitchType=switch/none
MpiDefault=none
ReturnToService=1
MinJobAge=3600
KillWait=5
MessageTimeout=60
TCPTimeout=20
BatchStartTimeout=120
UnkillableStepTimeout=600
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=16818 CPUs=$cpus RealMemory=$memory State=UNKNOWN
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=16819 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=debug Nodes=one,two Default=YES MaxTime=INFINITE State=UP
CONF
# The jobs' own `srun` looks for the configuration in this place only.
ln -sfn "$folder/slurm.conf" "$conf"

# A scratch that belongs to the node and to the job: no other node and no later job may need it.
cat >"$folder/scratch.sh" <<SCRATCH
#!/bin/sh
scratch=$folder/scratch/\$SLURMD_NODENAME/\$SLURM_JOB_ID
mkdir -p "\$scratch" && echo "export TMPDIR=\$scratch"
SCRATCH
chmod +x "$folder/scratch.sh"

dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
chmod 400 "$folder/munge/key"
munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" \
    --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" \
    --log-file="$folder/log/munged.log" 2>>"$folder/log/munged.err"
slurmctld
slurmd -N one
slurmd -N two
while ((SECONDS < patience)); do
    if [[ $(sinfo --noheader --Node --format=%T 2>/dev/null | grep -c idle) == 2 ]]; then
        exit 0
    fi
    sleep 0.2
done
fail "its nodes were not idle within $patience s"
