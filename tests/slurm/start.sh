#!/bin/bash
# Start a SLURM cluster of one node on this machine, for tests: no systemd, no accounting database.
# Needs root and Debian's packages slurm-wlm and munge. Usage: tests/slurm/start.sh FOLDER
set -euo pipefail

folder=$(realpath -m "$1")
host=$(hostname -s)
mkdir -p "$folder"/{ctld,spool,log} /run/munge /etc/slurm
memory=$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) / 1024 - 512))

# The jobs' own `srun` looks for the configuration in this place only.
cat >/etc/slurm/slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$folder/ctld
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/ctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
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
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory State=UNKNOWN
PartitionName=debug Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF

chown munge: /run/munge
[[ -S /run/munge/munge.socket.2 ]] || runuser -u munge -- munged
slurmctld
slurmd -N "$host"
for _ in $(seq 100); do
    if sinfo --noheader --format=%T 2>/dev/null | grep -q idle; then
        exit 0
    fi
    sleep 0.2
done
echo "SLURM did not start; see $folder/log" >&2
exit 1
