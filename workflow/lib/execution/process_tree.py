"""A process tree with one owner: none of it outlives its root, its owner or its supervisor.

A method may start processes, leave them behind, and move them to a session of their own. So each
worker has a supervisor, to whom on Linux every process below it falls that loses its parent. The
supervisor computes nothing, hence always hears that the owner has let go (its standard input
closes, however the owner was killed), and then ends the whole tree. Between the two stands a
deputy, which does the same: it hears from the kernel that the supervisor was killed, and if the
deputy is killed the supervisor inherits what was below it.
"""

import contextlib
import ctypes
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

from workflow.lib.execution.bounded import BoundedOutput

_OWNER = 0  # the descriptor whose other end the owner holds
_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PATIENCE_SECONDS = 10.0
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36  # of Linux's prctl
_LOOSE = (
    "This system does not hold a method's processes together as Linux does: one that leaves its "
    "parent and its session may outlive a limit."
)


def supervise(
    work: Callable[[], object], output: BoundedOutput | None = None, grace: float = 0.0
) -> int:
    """Run ``work`` in a grandchild of this process, and end with nothing of its tree left.

    Parameters
    ----------
    work : callable
        What the grandchild does. An exception is printed, and makes its exit code 1.
    output : BoundedOutput, optional
        Where what the tree prints is passed on to; by default it prints where this process does.
    grace : float
        Seconds between asking the tree to end and ending it.

    Returns
    -------
    int
        Exit code of the grandchild, negative for a signal; ``-SIGKILL`` if the owner let go before.

    Notes
    -----
    To be called by the main thread of a process that does nothing else. Standard input must be
    a pipe whose other end the owner alone holds.
    """
    if not _prctl(_SET_CHILD_SUBREAPER, 1):
        print(_LOOSE, flush=True)
    wakened = _wake_on(*_SIGNALS)
    reader, writer = os.pipe() if output else (None, None)
    told, telling = os.pipe()  # how the work has ended: a deputy cannot end by a signal as it did
    supervisor = os.getpid()
    sys.stdout.flush()
    deputy = os.fork()
    if deputy == 0:
        wakened.close()
        os.close(told)
        _become(lambda: _deputise(work, supervisor, telling, grace), reader, writer)
    os.close(telling)
    if writer is not None:
        os.close(writer)
        os.set_blocking(reader, False)
    try:
        code = _wait(deputy, wakened, {_OWNER}, reader, output)
    finally:
        end_tree(deputy, grace)
        signal.set_wakeup_fd(-1)  # a late signal would be written to a socket that nobody reads
        if output:
            _pass_on(reader, output)
            output.close()
    if code is None:
        return -signal.SIGKILL
    with open(told, "rb") as stream:
        return int(stream.read() or code)


def _deputise(work: Callable[[], object], supervisor: int, telling: int, grace: float) -> None:
    """In the deputy: run the work, end what it leaves, and tell its exit code."""
    wakened = _wake_on(*_SIGNALS)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != supervisor:
        return  # it was killed before the kernel knew
    deputy = os.getpid()
    root = os.fork()
    if root == 0:
        wakened.close()
        os.close(telling)
        _become(lambda: _work_for(deputy, work))
    try:
        code = _wait(root, wakened, set())
    finally:
        end_tree(root, grace)
        signal.set_wakeup_fd(-1)
    if code is not None:
        os.write(telling, str(code).encode())


def _work_for(deputy: int, work: Callable[[], object]) -> None:
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() == deputy:  # else it was killed before the kernel knew
        work()


def end_tree(root: int, grace: float = 0.0) -> None:
    """End what is below this process and in the session of its child ``root``; collect the ends."""
    if grace:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(root, signal.SIGTERM)
        _until(lambda: not _left(root), grace)
    # Again and again: what was being started while it was looked for is found the next time.
    _until(lambda: not kill(_left(root)), _PATIENCE_SECONDS)


def kill(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Kill processes (those that have ended are left alone) and return them."""
    killed = list(processes)
    for process in killed:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return killed


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Processes below one, as Linux lists them by parent: psutil asks every process of the machine.

    For who looks again: while siblings end, the kernel may leave one out.
    """
    found = []
    try:
        numbers = _children(process.pid)
    except OSError:  # another system, or the process has ended
        with contextlib.suppress(psutil.NoSuchProcess):
            return process.children(recursive=True)
        return []
    for number in numbers:
        with contextlib.suppress(psutil.NoSuchProcess):
            child = psutil.Process(number)
            found += [child, *descendants(child)]
    return found


def _children(pid: int) -> list[int]:
    """Numbers of the children of every thread of a process."""
    numbers = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            numbers += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
    return numbers


def is_alive(process: psutil.Process) -> bool:
    """Whether a process runs. A zombie, which nobody may collect in a container, does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _left(root: int) -> list[psutil.Process]:
    _collect(root)
    below = psutil.Process().children(recursive=True)
    known = {process.pid for process in below}
    return [process for process in [*below, *_session(root, known)] if is_alive(process)]


def _session(root: int, known: set[int]) -> list[psutil.Process]:
    """Processes of the session that ``root`` has opened, other than those ``known``."""
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError, psutil.NoSuchProcess):
            if pid not in known and os.getsid(pid) == root:
                found.append(psutil.Process(pid))
    return found


def _until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def _wait(
    root: int,
    wakened: socket.socket,
    owners: set[int],
    reader: int | None = None,
    output: BoundedOutput | None = None,
) -> int | None:
    """Exit code of the root, or None if an owner has let go before or a signal said so."""
    with selectors.DefaultSelector() as selector:
        sources = {wakened.fileno(), *owners} | ({reader} - {None})
        for source in sources:
            selector.register(source, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if reader in ready and not _pass_on(reader, output):
                selector.unregister(reader)
            if wakened.fileno() in ready:
                if set(wakened.recv(4096)) - {signal.SIGCHLD}:
                    return None
                if (code := _collect(root)) is not None:
                    return code
            if any(not os.read(owner, 4096) for owner in owners & ready):
                return None


def _wake_on(*signals: int) -> socket.socket:
    """Socket on which the numbers of these signals arrive, instead of what they usually do."""
    wakened, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.detach(), warn_on_full_buffer=False)
    for number in signals:
        signal.signal(number, lambda *_: None)
    return wakened


def _collect(root: int) -> int | None:
    """Collect every child that has ended; the exit code of ``root`` if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):  # there is no child left
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == root:
                code = os.waitstatus_to_exitcode(ended[1])
    return code


def _pass_on(reader: int, output: BoundedOutput) -> bool:
    """Pass on what has been printed so far; whether more may come."""
    for _ in range(64):  # then look at the other sources, however much is printed
        try:
            chunk = os.read(reader, 1 << 16)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        output.write(chunk)
    return True


def _become(
    work: Callable[[], object], reader: int | None = None, writer: int | None = None
) -> None:
    """In a forked child: a session of its own, the usual signals and outputs, then ``work``."""
    code = 1
    try:
        os.setsid()
        os.close(signal.set_wakeup_fd(-1))
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        if writer is not None:
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            os.close(writer)
            os.close(reader)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # Nothing may return into the supervisor's code, whatever state the method left behind.
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _prctl(option: int, value: int) -> bool:
    """Call Linux's prctl; whether there is one and it did as asked."""
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0


def main(command: list[str], grace: float = 5.0) -> int:
    """Run a command as a tree that ends with whoever holds our standard input."""
    code = supervise(lambda: os.execvp(command[0], command), grace=grace)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
