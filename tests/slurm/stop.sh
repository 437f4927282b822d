#!/bin/bash
# End the cluster that start.sh FOLDER has started, by the numbers of its own processes.
set -u

folder=$(realpath -m "$1")
conf=/etc/slurm/slurm.conf
if [[ $(readlink "$conf") == "$folder/slurm.conf" ]]; then
    scancel --quiet --user=root 2>/dev/null
    sleep 1
fi
started=()
for note in "$folder"/slurmd.*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
    [[ -f $note ]] && started+=("$(<"$note")")
done
for process in "${started[@]}"; do
    kill "$process" 2>/dev/null
done
# The next cluster takes the same ports. A zombie has let go of them; only its parent can remove it.
for process in "${started[@]}"; do
    for _ in $(seq 100); do
        state=$(ps -o stat= -p "$process") && [[ $state != Z* ]] || break
        sleep 0.2
    done
done
# Every later call of Snakemake would ask the dead cluster, and wait.
if [[ $(readlink "$conf") == "$folder/slurm.conf" ]]; then
    rm "$conf"
fi
exit 0
