"""A process that has imported the heavy libraries once, from which the guarded workers are forked.

Importing SciPy and scikit-learn takes longer than most blocks take to compute, and every job would
pay for it. One fork server serves one run of Snakemake on this machine: the Snakefile starts it,
jobs find it by an environment variable, and it ends when the run does. Where there is none (another
node of a cluster, a job started by hand, a system other than Linux) the guard starts a process of
its own instead.
"""

import contextlib
import importlib
import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import sys
import traceback
from pathlib import Path

from workflow.lib.execution import worker

ADDRESS = "ALIGNMENT_FORK_SERVER"
WARM = ("workflow.lib.trials.align", "sklearn.linear_model")
_PID = struct.Struct("i")
_PEER = struct.Struct("3i")  # process, user, group
_ANSWER_SECONDS = 120.0  # the first answer waits for the imports
_started: list[subprocess.Popen] = []


def start() -> subprocess.Popen | None:
    """Start the fork server of this run and tell the jobs where it is; called by the Snakefile."""
    if sys.platform != "linux":
        return None  # its sockets are files elsewhere, and a killed server would leave them
    address = os.environ[ADDRESS] = f"alignment-{os.getpid()}-{secrets.token_hex(8)}"
    # One BLAS thread: libraries read this when they are loaded, which is here and not in the job.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    server = subprocess.Popen(
        [sys.executable, "-m", "workflow.lib.execution.forkserver", address],
        stdin=subprocess.PIPE,
        env={**os.environ, **threads},
        start_new_session=True,
    )
    _started.append(server)  # it ends when this object, and with it the pipe, is let go
    return server


def fork_worker(spec: Path, stdin: int, events: int) -> int:
    """Number of a process that the fork server has forked to supervise the block of ``spec``.

    Raises
    ------
    OSError
        If there is no fork server, or it does not answer.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_ANSWER_SECONDS)
        line.connect(_name(os.environ.get(ADDRESS, "")))
        if not _is_ours(line):
            raise ConnectionError("the fork server is another user's")
        socket.send_fds(line, [os.fsencode(spec)], [stdin, 1, events])
        answer = line.recv(_PID.size, socket.MSG_WAITALL)
    if len(answer) < _PID.size:
        raise ConnectionError("the fork server did not answer")
    return _PID.unpack(answer)[0]


def _name(address: str) -> str:
    """A name of Linux's own space, not of a file: it goes with the server, however that ends."""
    if not address:
        raise ConnectionError("there is no fork server")
    return f"\0{address}"


def _is_ours(line: socket.socket) -> bool:
    """Whether the other end is this user's: such a name, unlike a file, is open to everybody."""
    peer = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return _PEER.unpack(peer)[1] == os.getuid()


class _Server:
    """Forks a supervised worker per request."""

    def __init__(self, address: str):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(_name(address))
        self.listener.listen(64)
        self.selector = selectors.DefaultSelector()
        for source in (sys.stdin, self.listener):
            self.selector.register(source, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks us how a worker has ended

    def serve(self) -> None:
        """Until the run ends: its end of our standard input closes, however it was killed."""
        while True:
            for source in [key.fileobj for key, _ in self.selector.select()]:
                if source is sys.stdin:
                    if not os.read(0, 1):
                        return
                elif source is self.listener:
                    self._accept()
                else:
                    self._answer(source)

    def _accept(self) -> None:
        line, _ = self.listener.accept()
        if _is_ours(line):
            # Its request is read when it is there: who connects and is silent delays nobody.
            self.selector.register(line, selectors.EVENT_READ)
        else:
            line.close()

    def _answer(self, line: socket.socket) -> None:
        self.selector.unregister(line)
        descriptors = []
        with line, contextlib.suppress(OSError):  # the job is gone, or no process can be forked
            spec, descriptors, _, _ = socket.recv_fds(line, 4096, 3)
            if len(descriptors) == 3 and not _has_closed(line):
                line.sendall(_PID.pack(self._fork(os.fsdecode(spec), descriptors)))
        for descriptor in descriptors:
            os.close(descriptor)

    def _fork(self, spec: str, descriptors: list[int]) -> int:
        for module in WARM:
            importlib.import_module(module)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _become_worker(self.selector, spec, descriptors)
        return pid


def _has_closed(line: socket.socket) -> bool:
    """Whether the job has given up and started a process of its own."""
    try:
        return not line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False


def _become_worker(selector: selectors.BaseSelector, spec: str, descriptors: list[int]) -> None:
    """In the forked child: take over the job's descriptors and run its block; never returns."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for key in list(selector.get_map().values()):
            if key.fileobj is not sys.stdin:
                key.fileobj.close()
        selector.close()
        stdin, output, events = descriptors
        for descriptor, targets in ((stdin, (0,)), (output, (1, 2))):
            for target in targets:
                os.dup2(descriptor, target)
            os.close(descriptor)
        worker.main(spec, events)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _Server(sys.argv[1]).serve()
