#!/bin/bash
# End the cluster that start.sh FOLDER has started, by the numbers of its own processes.
set -u

folder=$(realpath -m "$1")
conf=/etc/slurm/slurm.conf
if [[ $(readlink "$conf") == "$folder/slurm.conf" ]]; then
    scancel --quiet --user=root 2>/dev/null
    sleep 1
fi
for note in "$folder"/slurmd.*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
    [[ -f $note ]] && kill "$(<"$note")" 2>/dev/null
done
# Every later call of Snakemake would ask the dead cluster, and wait.
if [[ $(readlink "$conf") == "$folder/slurm.conf" ]]; then
    rm "$conf"
fi
exit 0
