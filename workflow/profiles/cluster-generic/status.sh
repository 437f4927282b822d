#!/bin/sh
# status.sh NUMBER: what became of a job, in the words of Snakemake's plugin. A job that ends by
# itself notes its exit status (see `cluster-generic-submit-cmd` in config.yaml); one that is no
# longer there and has noted none was ended by somebody.
note=logs/cluster/$1.exit
if ! [ -s "$note" ]; then
    told=$(qstat "$1" 2>&1)
    # "C": Torque shows a job that has ended for some minutes. A server that does not answer says
    # nothing about the job.
    if ! echo "$told" | grep -q -e "Unknown Job" -e "has finished" -e " C [^ ]* *$"; then
        echo running
        exit
    fi
    # The note may have been written on a node a moment ago.
    for _ in 1 2 3 4 5; do
        [ -s "$note" ] && break
        sleep 1
    done
fi
if [ "$(cat "$note" 2>/dev/null)" = 0 ]; then
    echo success
else
    echo failed
fi
