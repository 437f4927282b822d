"""Where the output goes: a job's to the rule's log, a run's to whoever reads it, or to nobody."""

import logging
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


def log_to(path: str, keep: bool = False) -> Terminal:
    """Send stdout and stderr of this process and its children to ``path``; return the terminal.

    With ``keep`` below what an earlier attempt has left there.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    terminal = Terminal(os.dup(2))
    begin = os.O_APPEND if keep else os.O_TRUNC
    log = os.open(path, os.O_WRONLY | os.O_CREAT | begin, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    return terminal


class _Outliving:
    """A stream whose reader may go: what nobody reads any more is dropped."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            return self._forget(len(text))

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._forget()

    def _forget(self, n_written: int = 0) -> int:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
        return n_written

    def __getattr__(self, name: str):
        return getattr(self._stream, name)


def outlive_readers(logger: logging.Logger) -> None:
    """Let this process go on when the reader of its output dies, as in ``snakemake 2>&1 | head``.

    Snakemake (9.27) prints a failed job in the thread that waited for it, before it wakes up its
    scheduler; a broken pipe ends that thread, and the scheduler waits for ever.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        outliving = _Outliving(stream)
        setattr(sys, name, outliving)
        for handler in logger.handlers:
            if getattr(handler, "stream", None) is stream:
                handler.stream = outliving
