#!/bin/sh
# status.sh SPOOL NUMBER: what became of a job, in the words of the plugin.
if ! [ -f "$1/$2/status" ]; then
    echo running
elif [ "$(cat "$1/$2/status")" = 0 ]; then
    echo success
else
    echo failed
fi
