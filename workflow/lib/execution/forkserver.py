"""A process that has imported the heavy libraries once, from which the others of a run are forked.

Importing SciPy and scikit-learn takes longer than most blocks take to compute, and what Snakemake
and the guard import longer than the rest of most scripts; every job would pay for it. One fork
server serves one run of Snakemake on this machine: the Snakefile starts it and has it run the
rules' scripts, their guards find it by an environment variable, and it ends when the run does.
Where there is none (another node of a cluster, a job started by hand, a system other than Linux)
scripts and workers are processes of their own instead. It holds code and no data: what a script
reads, labels among it, is in its own fork alone.
"""

import atexit
import contextlib
import importlib
import json
import os
import runpy
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from workflow.lib.execution import worker

ADDRESS = "ALIGNMENT_FORK_SERVER"
# Whose packages it has: a job in an environment of its own, as with `--sdm conda`, is to use those.
PREFIX = "ALIGNMENT_FORK_SERVER_PREFIX"
WARM = ("workflow.lib.trials.align", "sklearn.linear_model")
_NUMBER = struct.Struct("i")
_PEER = struct.Struct("3i")  # process, user, group
_ANSWER_SECONDS = 120.0  # the first answer waits for the imports
_started: list[subprocess.Popen] = []
_interrupted = False


def start(warm: Sequence[str] = ()) -> subprocess.Popen | None:
    """Start the fork server of this run and tell the jobs where it is; called by the Snakefile.

    Parameters
    ----------
    warm : sequence of str
        Modules that it imports beside those of the workers.
    """
    if sys.platform != "linux":
        return None  # its sockets are files elsewhere, and a killed server would leave them
    address = os.environ[ADDRESS] = f"alignment-{os.getpid()}-{secrets.token_hex(8)}"
    os.environ[PREFIX] = sys.prefix
    # One BLAS thread: libraries read this when they are loaded, which is here and not in the job.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        # Here, so that who asks before the server is up waits for it.
        listener.bind(_name(address))
        listener.listen(64)
        # No session of its own: Ctrl-C is to reach the scripts.
        server = subprocess.Popen(
            [sys.executable, "-m", __name__, str(listener.fileno()), *warm],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            env={**os.environ, **threads},
        )
    _started.append(server)  # it ends when this object, and with it the pipe, is let go
    return server


def fork_worker(spec: Path, stdin: int, events: int) -> int:
    """Number of a process that the fork server has forked to supervise the block of ``spec``.

    Raises
    ------
    OSError
        If there is no fork server, it is of another environment, or it does not answer.
    """
    if os.environ.get(PREFIX, sys.prefix) != sys.prefix:
        raise ConnectionError(f"the fork server is of {os.environ[PREFIX]}, this is {sys.prefix}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        return _ask(line, {"spec": os.fspath(spec)}, [stdin, 1, events])


def interrupt() -> None:
    """After Ctrl-C: no further script begins, and one that is just beginning hears of it."""
    global _interrupted  # no Event: a second signal would wait for the lock of the first
    _interrupted = True


def run_script(path: str, scratch: str) -> int:
    """Exit code of a Python script, run in a process that the fork server has forked for it.

    It runs in the folder of the caller and prints where the caller prints.

    Parameters
    ----------
    path : str
    scratch : str
        Folder for its temporary files.

    Returns
    -------
    int
        ``-SIGKILL`` if the process was ended from outside, by whatever signal; ``-SIGINT`` if it
        was not begun because the run was interrupted.

    Raises
    ------
    OSError
        If there is no fork server, or it does not answer: nothing was run.
    """
    if _interrupted:
        return -signal.SIGINT
    request = {"script": path, "folder": os.getcwd(), "scratch": scratch}
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line,
        open(os.devnull, "rb") as nothing,
    ):
        number = _ask(line, request, [nothing.fileno(), 1, 2])
        if _interrupted:  # it may not have been there when the terminal told all others
            with contextlib.suppress(ProcessLookupError):  # told, and dead, in the meantime
                os.kill(number, signal.SIGINT)
        line.settimeout(None)
        with contextlib.suppress(OSError):
            if len(code := line.recv(_NUMBER.size, socket.MSG_WAITALL)) == _NUMBER.size:
                line.recv(1)  # until it has ended
                return _NUMBER.unpack(code)[0]
    return -signal.SIGKILL


def _ask(line: socket.socket, request: dict, descriptors: list[int]) -> int:
    """Number of the process that was forked for a request."""
    line.settimeout(_ANSWER_SECONDS)
    line.connect(_name(os.environ.get(ADDRESS, "")))
    if not _is_ours(line):
        raise ConnectionError("the fork server is another user's")
    socket.send_fds(line, [json.dumps(request).encode()], descriptors)
    answer = line.recv(_NUMBER.size, socket.MSG_WAITALL)
    if len(answer) < _NUMBER.size:
        raise ConnectionError("the fork server did not answer")
    return _NUMBER.unpack(answer)[0]


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
    """Forks a supervised worker, or a process for a script, per request."""

    def __init__(self, listener: int, warm: Sequence[str]):
        self.listener, self.warm = socket.socket(fileno=listener), [*WARM, *warm]
        self.selector = selectors.DefaultSelector()
        for source in (sys.stdin, self.listener):
            self.selector.register(source, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks us how a process has ended
        # Ctrl-C is for the scripts, as far as it is for the run; that ends us.
        self.interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)

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
        # What can go wrong: it asks for nothing that we know, is gone, or no process can be forked.
        with line, contextlib.suppress(OSError, ValueError, TypeError):
            text, descriptors, _, _ = socket.recv_fds(line, 1 << 14, 3)
            if len(descriptors) == 3 and not _has_closed(line):
                self._fork(json.loads(text), descriptors, line)
        for descriptor in descriptors:
            os.close(descriptor)

    def _fork(self, request: dict, descriptors: list[int], line: socket.socket) -> None:
        for module in self.warm:
            importlib.import_module(module)
        sys.stdout.flush()
        # A Ctrl-C waits until the fork has a handler for it; ignored, as here, it would be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if os.fork() == 0:
            self._become(request, descriptors, line)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _become(self, request: dict, descriptors: list[int], line: socket.socket) -> None:
        """In the forked child: let go of what is the server's, do what is asked; never returns."""
        code = 1
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, self.interrupt)
            for key in list(self.selector.get_map().values()):
                if key.fileobj is not sys.stdin:
                    key.fileobj.close()
            self.selector.close()
            line.sendall(_NUMBER.pack(os.getpid()))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            if "script" in request:
                code = _become_script(request, descriptors, line)
            else:
                line.close()
                code = _become_worker(request["spec"], descriptors)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)


def _has_closed(line: socket.socket) -> bool:
    """Whether the job has given up and started a process of its own."""
    try:
        return not line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False


def _become_worker(spec: str, descriptors: list[int]) -> int:
    os.setsid()
    stdin, output, events = descriptors
    _take_over([stdin, output, output])
    worker.main(spec, events)
    return 0


def _become_script(request: dict, descriptors: list[int], line: socket.socket) -> int:
    _take_over(descriptors)
    path = request["script"]
    with contextlib.suppress(OSError):  # its name in a list of processes, e.g. that of `top`
        Path("/proc/self/comm").write_text(path.split(".")[-2])
    os.chdir(request["folder"])
    os.environ["TMPDIR"], tempfile.tempdir = request["scratch"], None
    sys.argv[:] = [path]
    code = _run_script(path)
    # What the interpreter does at its end, but for its taking apart of every module.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError):  # the run is gone
        line.sendall(_NUMBER.pack(code))
    return code


def _run_script(path: str) -> int:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _take_over(descriptors: Sequence[int]) -> None:
    """Make these the standard input, output and error output."""
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    for descriptor in set(descriptors):
        os.close(descriptor)


if __name__ == "__main__":
    _Server(int(sys.argv[1]), sys.argv[2:]).serve()
