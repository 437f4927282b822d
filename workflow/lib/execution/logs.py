"""What every script of a rule does first: send its output to the rule's log."""

import os
import select
import sys
from pathlib import Path

_LONGEST = 4000  # bytes of a line; a pipe that takes any takes 4096 at once


class Terminal:
    """The terminal, for the few lines that a person should see.

    A line that it does not take at once is dropped: whoever was to read may be gone, or have
    stopped reading, and no computed result may be lost for that.
    """

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._patience = 1.0  # seconds

    def write(self, line: str) -> None:
        """Show a line."""
        content = line.encode("utf-8", "backslashreplace")
        if len(content) > _LONGEST:
            content = content[: _LONGEST - 4] + b"...\n"
        try:
            if select.select([], [self._descriptor], [], self._patience)[1]:
                os.write(self._descriptor, content)
            else:
                self._patience = 0.0  # wait for a reader once, not with every line
        except OSError:
            self._descriptor = os.open(os.devnull, os.O_WRONLY)


def log_to(path: str) -> Terminal:
    """Send stdout and stderr of this process and its children to ``path``; return the terminal."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    terminal = Terminal(os.dup(2))
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    return terminal
