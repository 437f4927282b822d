"""An end of the run that is asked for from outside: ``kill``, ``timeout``, a batch system."""

import signal
import threading
from collections.abc import Callable


def end_from_a_thread(ask: Callable[[], None]) -> None:
    """Have SIGTERM ask for the end from a thread of its own.

    Snakemake's handler (9.27) takes the lock of its scheduler, which the interrupted thread may
    hold, as it does while it selects jobs: the run then stands still for ever.

    Parameters
    ----------
    ask : callable
        Snakemake's own handler; running jobs end first.
    """

    def handle(number: int, frame: object) -> None:
        threading.Thread(target=ask, daemon=True).start()

    if signal.getsignal(signal.SIGTERM) == ask:
        signal.signal(signal.SIGTERM, handle)
