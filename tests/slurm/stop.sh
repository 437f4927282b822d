#!/bin/bash
# End the cluster that start.sh FOLDER has started, by the numbers of its own processes.
set -u

folder=$(realpath -m "$1")
conf=/etc/slurm/slurm.conf
# With another one, scancel below would end the jobs of another cluster.
if [[ $(realpath -m "${SLURM_CONF:=$folder/slurm.conf}") != "$folder/slurm.conf" ]]; then
    echo "SLURM_CONF=$SLURM_CONF is not the cluster of $folder; nothing is ended" >&2
    exit 3
fi
export SLURM_CONF
if [[ $(readlink "$conf") == "$folder/slurm.conf" ]]; then
    timeout 20 scancel --quiet --user=root 2>/dev/null
    # What a job has started ends with it, not with the daemons.
    for _ in $(seq 30); do
        [[ -n $(timeout 20 squeue --noheader 2>/dev/null) ]] || break
        sleep 1
    done
fi

# A zombie has let go of its port; only its parent, which need not be here, can remove it.
is_alive() {
    local state
    state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
    [[ -n $state && $state != Z ]]
}

started=()
for note in "$folder"/slurmd.*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
    [[ -f $note ]] && started+=("$(<"$note")")
done
for process in "${started[@]}"; do
    kill "$process" 2>/dev/null
done
# The next cluster takes the same ports.
for process in "${started[@]}"; do
    for _ in $(seq 100); do
        is_alive "$process" || break
        sleep 0.2
    done
    is_alive "$process" && kill -KILL "$process"
done
# Every later call of Snakemake would ask the dead cluster, and wait.
if [[ $(readlink "$conf") == "$folder/slurm.conf" ]]; then
    rm "$conf"
fi
exit 0
