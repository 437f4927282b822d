"""What every script of a rule does first: send its output to the rule's log."""

import os
import sys
from pathlib import Path
from typing import TextIO


def log_to(path: str) -> TextIO:
    """Send stdout and stderr of this process and its children to ``path``.

    Returns
    -------
    TextIO
        The terminal (the former stderr), for the few lines that a person should see.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    terminal = os.fdopen(os.dup(2), "w", buffering=1)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    return terminal
