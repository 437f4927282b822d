#!/bin/bash
# Start a SLURM cluster of two nodes on this machine, for tests: no systemd, no accounting database.
# Needs root and Debian's packages slurm-wlm and munge. Usage: tests/slurm/start.sh FOLDER
# Everything lies in FOLDER but the link /etc/slurm/slurm.conf; stop.sh FOLDER ends and removes it all.
set -euo pipefail

folder=$(realpath -m "$1")
conf=/etc/slurm/slurm.conf
if [[ -e $conf || -L $conf ]]; then
    echo "$conf: a SLURM is configured on this machine; the tests start none beside it" >&2
    exit 3
fi

host=$(hostname -s)
cpus=$(nproc)
memory=$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) / 1024 / 2 - 512))
mkdir -p "$folder"/{ctld,spool,log,munge} /etc/slurm
chmod 711 "$folder" "$folder/munge"
chmod 700 "$folder/ctld"

# Two daemons on two ports are two nodes; each claims half of the memory, and all cores.
cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
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
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MinJobAge=3600
KillWait=5
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=16818 CPUs=$cpus RealMemory=$memory State=UNKNOWN
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=16819 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=debug Nodes=one,two Default=YES MaxTime=INFINITE State=UP
CONF
# The jobs' own `srun` looks for the configuration in this place only.
ln -s "$folder/slurm.conf" "$conf"

dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
chmod 400 "$folder/munge/key"
munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" \
    --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" \
    --log-file="$folder/log/munged.log" 2>>"$folder/log/munged.err"
slurmctld
slurmd -N one
slurmd -N two
for _ in $(seq 150); do
    if [[ $(sinfo --noheader --Node --format=%T 2>/dev/null | grep -c idle) == 2 ]]; then
        exit 0
    fi
    sleep 0.2
done
echo "SLURM did not start; see $folder/log" >&2
exit 1
