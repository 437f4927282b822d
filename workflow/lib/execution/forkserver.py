"""A process that has imported the heavy libraries once, from which the guarded children are forked.

Importing SciPy and scikit-learn takes longer than most blocks take to compute, and every job would
pay for it. One fork server serves one run of Snakemake on this machine: the Snakefile starts it,
jobs find it by an environment variable, and it ends when the run does. Where there is none (another
node of a cluster, a job started by hand) the guard starts a process of its own instead.
"""

import importlib
import os
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from workflow.lib.execution import worker

ADDRESS = "ALIGNMENT_NURSERY"
WARM = ("workflow.lib.trials.align", "sklearn.linear_model")
_CODE = struct.Struct("i")
_started: list[subprocess.Popen] = []


def start() -> subprocess.Popen:
    """Start the fork server of this run and tell the jobs where it is; called by the Snakefile."""
    folder = tempfile.mkdtemp(prefix="alignment-")  # readable for this user only
    os.environ[ADDRESS] = f"{folder}/forkserver"
    # One BLAS thread: libraries read this when they are loaded, which is here and not in the job.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    server = subprocess.Popen(
        [sys.executable, "-m", "workflow.lib.execution.forkserver", folder],
        stdin=subprocess.PIPE,
        env={**os.environ, **threads},
        start_new_session=True,
    )
    _started.append(server)  # it ends when this object, and with it the pipe, is let go
    return server


class Child:
    """A child forked by the fork server; the part of `subprocess.Popen` that the guard uses.

    Raises
    ------
    OSError
        If there is no fork server, or it does not answer.
    """

    def __init__(self, spec: Path, events: int):
        self.returncode = None
        stdin, self._alive = os.pipe()
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._line.connect(os.environ.get(ADDRESS, ""))
            descriptors = [stdin, os.dup(1), os.dup(2), events]
            socket.send_fds(self._line, [os.fsencode(spec)], descriptors)
            for descriptor in descriptors[1:3]:
                os.close(descriptor)
            self.pid = self._receive()
        except OSError:
            self.close()
            raise
        finally:
            os.close(stdin)

    def wait(self) -> int:
        """Wait for the child to end; its exit code, negative for a signal."""
        if self.returncode is None:
            try:
                self.returncode = self._receive()
            except OSError:
                self.returncode = -signal.SIGKILL  # the fork server itself is gone
        return self.returncode

    def close(self) -> None:
        """Let go of the child: it ends by itself if it still runs."""
        os.close(self._alive)
        self._line.close()

    def _receive(self) -> int:
        content = self._line.recv(_CODE.size, socket.MSG_WAITALL)
        if len(content) < _CODE.size:
            raise ConnectionError("the fork server did not answer")
        return _CODE.unpack(content)[0]


class _Nursery:
    """Forks a child per request and reports how each ended."""

    def __init__(self, folder: Path):
        self.lines: dict[int, socket.socket] = {}
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(folder / "forkserver"))
        self.listener.listen(64)
        self.signals, self.wake = socket.socketpair()
        self.wake.setblocking(False)
        signal.set_wakeup_fd(self.wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the run ends: its end of our standard input closes, however it was killed."""
        with selectors.DefaultSelector() as selector:
            for source in (sys.stdin, self.listener, self.signals):
                selector.register(source, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if sys.stdin in ready and not os.read(0, 1):
                    return
                if self.signals in ready:
                    self.signals.recv(4096)
                    self._reap()
                if self.listener in ready:
                    self._fork()

    def _fork(self) -> None:
        line, _ = self.listener.accept()
        spec, descriptors, _, _ = socket.recv_fds(line, 4096, 4)
        if not spec:
            line.close()  # a job that was killed before it said what it wants
            return
        for module in WARM:
            importlib.import_module(module)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for own in (self.listener, self.signals, self.wake, *self.lines.values(), line):
                own.close()
            _become_worker(os.fsdecode(spec), descriptors)
        # A group of its own before the guard knows its number: the guard kills groups.
        os.setpgid(pid, pid)
        for descriptor in descriptors:
            os.close(descriptor)
        self.lines[pid] = line
        self._tell(line, pid)

    def _reap(self) -> None:
        for pid, line in list(self.lines.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._tell(line, os.waitstatus_to_exitcode(status))
                self.lines.pop(pid).close()

    @staticmethod
    def _tell(line: socket.socket, code: int) -> None:
        try:
            line.sendall(_CODE.pack(code))
        except OSError:
            return  # the guard is gone; its child ends by itself


def _become_worker(spec: str, descriptors: list[int]) -> None:
    """In the forked child: take over the job's descriptors and run its block; never returns."""
    code = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        *standard, events = descriptors
        for target, descriptor in enumerate(standard):
            os.dup2(descriptor, target)
            os.close(descriptor)
        worker.main(spec, events)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main(folder: str) -> None:
    try:
        _Nursery(Path(folder)).serve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
