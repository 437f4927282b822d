#!/bin/bash
# Say which SLURM this machine belongs to, and succeed; fail if to none. SLURM's programs obey SLURM_CONF
# before all files. In /run is what a node has fetched from elsewhere; where a program fetches it itself,
# the answer tells, be the controller up or down. A link into nothing, which a killed test has left, is none.
if [[ -n ${SLURM_CONF:-} ]]; then
    echo "SLURM_CONF=$SLURM_CONF"
    exit 0
fi
for file in /etc/slurm/slurm.conf /run/slurm/conf/slurm.conf; do
    if [[ -e $file ]]; then
        echo "$file"
        exit 0
    fi
done
timeout 20 scontrol ping 2>/dev/null | grep -m 1 "^Slurmctld("
