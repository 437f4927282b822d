#!/bin/sh
# submit.sh SPOOL SCRIPT: run a job's script as a process in an empty folder; print its number.
set -eu
spool=$1
script=$2
job=$(mktemp -d "$spool/job.XXXXXX")
mkdir "$job/node"
cd "$job/node"
nohup sh -c "sh '$script'; echo \$? >'$job/status'" >"$job/log" 2>&1 &
basename "$job"
