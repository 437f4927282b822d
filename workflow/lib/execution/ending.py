"""An end of the run that is asked for from outside: Ctrl-C, `kill`, `timeout`, batch systems."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

from workflow.lib.execution import forkserver


def end_from_a_thread(ask: Callable[[], None]) -> None:
    """Have SIGTERM, and SIGINT too, ask for the end from a thread of its own.

    Snakemake's handler of SIGTERM (9.27) takes the lock of its scheduler, which the interrupted
    thread may hold, as it does while it selects jobs: the run then stands still for ever. And its
    log swallows the exception of a SIGINT that arrives while it writes a line: the run goes on. A
    job that begins at the moment of a SIGINT does not get it from the terminal, and is told here.

    Parameters
    ----------
    ask : callable
        Snakemake's own handler of SIGTERM; running jobs end first.
    """

    def terminated(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=ask, daemon=True).start()

    def interrupted(number: int, frame: FrameType | None) -> None:
        forkserver.interrupt()
        terminated(number, frame)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGTERM) == ask:
        signal.signal(signal.SIGTERM, terminated)
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
