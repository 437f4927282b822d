"""Methods that go wrong, each in its own way, for the tests of whole runs."""

import os
import time
from pathlib import Path

import numpy as np
from domain_alignment.base import Aligner, Capabilities


class Identity(Aligner):
    """Leaves the features alone."""

    capabilities = Capabilities("source+target", None, False, True, False, True, False)

    def _fit(self, Xs, ys, prepared):
        self.misbehave(ys)
        return [np.asarray(X)[:, :4] for X in Xs]

    def _transform(self, X, domain):
        return np.asarray(X)[:, :4]

    def misbehave(self, ys):
        pass


class Raises(Identity):
    def misbehave(self, ys):
        raise ArithmeticError("no answer on a Friday")


class Hangs(Identity):
    def misbehave(self, ys):
        time.sleep(3600)


class EatsMemory(Identity):
    def misbehave(self, ys):
        hoard = []
        while True:
            hoard.append(np.ones(2**21))


class ReturnsNaN(Identity):
    def _fit(self, Xs, ys, prepared):
        return [np.full((len(X), 2), np.nan) for X in Xs]


class Slow(Identity):
    def misbehave(self, ys):
        time.sleep(1.5)


class TellsThreads(Identity):
    """Fails with the number of threads that BLAS and numba take, which the record then says."""

    def misbehave(self, ys):
        import numba
        from threadpoolctl import threadpool_info

        A = np.ones((500, 500))
        A @ A  # BLAS has started what it was allowed to
        blas = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        raise ArithmeticError(f"BLAS {max(blas)}, numba {numba.get_num_threads()}")


class TellsProcess(Identity):
    """Fails with the command line of its process, which the record then says."""

    def misbehave(self, ys):
        raise ArithmeticError(Path("/proc/self/cmdline").read_text().replace("\0", " "))


class Waits(Identity):
    """Until a file of its name says go."""

    def misbehave(self, ys):
        while not Path(f"{type(self).__name__.lower()}.go").exists():
            time.sleep(0.2)


class Late(Waits):
    pass


class Outgrows(Identity):
    """Holds two gigabytes; the first time in a job of SLURM, until it is ended."""

    def misbehave(self, ys):
        begun = Path("outgrows.begun")
        is_first = "SLURM_JOB_ID" in os.environ and not begun.exists()
        begun.touch()
        hoard = np.ones(2**28)
        if is_first:
            time.sleep(120)
        del hoard


class Grows(Identity):
    """Takes 900 MB once a file says so."""

    def misbehave(self, ys):
        if Path("grows.go").exists():
            hoard = np.ones(900 * 2**17)
            time.sleep(1)
            del hoard
