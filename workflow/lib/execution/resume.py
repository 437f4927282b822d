"""`make resume`: continue a run that was killed, also with -9.

Such a run leaves its jobs behind as orphans that go on writing, locks on the folder, and files
half-written. This ends the orphans, unlocks, and starts Snakemake again for the same targets.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from workflow.lib.execution.cluster_queue import QueueError, clear_queue
from workflow.lib.execution.process_tree import is_alive
from workflow.lib.execution.run_note import LAST_RUN, hosts_of, read_last_run
from workflow.lib.storage.artifacts import CorruptArtifact

_CONFIG = Path(".snakemake/resumed_config.json")
_LOCKS = Path(".snakemake/locks")
_JOB_SCRIPTS = ".snakemake/scripts/"
_MODULES = tuple(f"workflow.lib.execution.{name}" for name in ("worker", "forkserver"))
_INTERPRETERS = ("python", "bash", "sh")
_PATIENCE_SECONDS = 5


class ResumeError(RuntimeError):
    """The run cannot be continued; the message says why and what to do."""


def live_runs(folder: Path) -> list[psutil.Process]:
    """Runs of Snakemake in ``folder``; a job of a cluster, of which this may be a node, is none."""
    found = [process for process in _processes_in(folder) if _is_snakemake(process)]
    return [process for process in found if "--mode remote" not in " ".join(_words(process))]


def orphans(folder: Path) -> list[psutil.Process]:
    """Processes of jobs in ``folder`` that no live Snakemake waits for."""
    return [
        process
        for process in _processes_in(folder)
        if _is_job(process) and not any(_is_snakemake(parent) for parent in _parents(process))
    ]


def end(processes: Sequence[psutil.Process]) -> None:
    """End the processes and what they have started: politely first, then for good."""
    family = {child.pid: child for process in processes for child in _children(process)}
    family |= {process.pid: process for process in processes}
    for process in family.values():
        _quietly(process.terminate)
        _quietly(process.resume)  # a suspended process would not notice
    for process in _alive_after(_PATIENCE_SECONDS, family.values()):
        _quietly(process.kill)
    if alive := _alive_after(_PATIENCE_SECONDS, family.values()):
        numbers = ", ".join(str(process.pid) for process in alive)
        raise ResumeError(f"process {numbers}: it cannot be ended. End it by hand and try again.")


def last_run(folder: Path) -> dict:
    """What the last run was asked for.

    Raises
    ------
    ResumeError
        If it left no note, or one that cannot be read: any other target would be a guess.
    """
    again = (
        "start the run that you want again, e.g. make benchmark EXPERIMENT=<name>; finished jobs "
        "are not repeated"
    )
    try:
        return read_last_run(folder)
    except FileNotFoundError as error:
        raise ResumeError(f"{folder / LAST_RUN}: no run was started here; {again}.") from error
    except (CorruptArtifact, ValueError, OSError) as error:
        raise ResumeError(
            f"{error}\nWhat the last run was asked for, {LAST_RUN.name}, cannot be read: {again}."
        ) from error


def command(run: dict, folder: Path, cores: int | None = None) -> list[str]:
    """Snakemake's command line for continuing ``run``."""
    if run.get("arguments") is not None:
        more = ["--rerun-incomplete", *(["--cores", str(cores)] if cores else [])]
        words = run["arguments"]
        # Behind `--` there are targets only.
        end = words.index("--") if "--" in words else len(words)
        return [*_snakemake({}), *words[:end], *more, *words[end:]]
    line = [*_snakemake(run), *run.get("targets", [])]
    line += ["--cores", str(cores or run.get("cores") or "all"), "--rerun-incomplete"]
    if run.get("config"):
        # As a file, because nested values do not survive a command line.
        path = folder / _CONFIG
        path.write_text(json.dumps(run["config"]), encoding="utf-8")
        line += ["--configfile", str(_CONFIG)]
    return line


def check_host(folder: Path) -> None:
    """Refuse where a run of another machine holds the folder: nobody here sees whether it lives.

    Raises
    ------
    ResumeError
        If the last run, or one that was being planned, was started elsewhere, and the folder is
        locked.
    """
    others = sorted(hosts_of(folder) - {socket.gethostname()})
    if others and _is_locked(folder):
        raise ResumeError(
            f"{folder}: a run was started on {' and '.join(others)} and may be at work there. Run "
            "`make resume` on that machine, or, where you know that it has ended: "
            f"{sys.executable} -m workflow.lib.execution.resume --other-host-is-down"
        )


def resume(
    folder: Path,
    cores: int | None = None,
    queue_is_clear: bool = False,
    other_host_is_down: bool = False,
) -> int:
    """Continue the last run in ``folder``; return Snakemake's exit status.

    Jobs that the killed run left in a cluster's queue are cancelled first, unless the user says
    that there are none: they would write what the continued run computes anew.

    Raises
    ------
    ResumeError
        If a run is still at work there, or may be on another machine, an orphan cannot be ended,
        or it is not known which run.
    QueueError
        If the queue of a cluster cannot be asked, or a job in it does not end.
    """
    folder = folder.resolve()
    if running := live_runs(folder):
        raise ResumeError(
            f"{folder}: a run is at work here (process {running[0].pid}). "
            f"Wait for it, or stop it first: kill {running[0].pid}"
        )
    if not other_host_is_down:
        check_host(folder)
    if left := orphans(folder):
        print(f"Ending {len(left)} processes that the killed run left behind.", flush=True)
        end(left)
    if not queue_is_clear:
        clear_queue(folder)
    try:
        run = last_run(folder)
    except ResumeError:
        _unlock({}, folder)  # so that it can be started again
        raise
    _unlock(run, folder)
    asked = run.get("targets") or run.get("arguments") or ["the default target"]
    print(f"Continuing: {' '.join(asked)}", flush=True)
    # Paths of a command line count from the folder of the call; another has the note alone.
    place = run.get("called_in") if run.get("arguments") is not None else None
    return _run(command(run, folder, cores), Path(place or folder))


def _unlock(run: dict, folder: Path) -> None:
    if _is_locked(folder) and (code := _run([*_snakemake(run), "--unlock"], folder)):
        raise subprocess.CalledProcessError(code, "snakemake --unlock")


def _is_locked(folder: Path) -> bool:
    return any((folder / _LOCKS).glob("*"))


def _run(line: list[str], folder: Path) -> int:
    return subprocess.run(line, cwd=folder, check=False).returncode


def _snakemake(run: dict) -> list[str]:
    line = [sys.executable, "-m", "snakemake"]
    return [*line, "--snakefile", run["snakefile"]] if "snakefile" in run else line


def _processes_in(folder: Path) -> Iterable[psutil.Process]:
    """This user's processes whose working folder is ``folder``."""
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and Path(process.cwd()) == folder.resolve():
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue  # it has just ended, or belongs to somebody else


def _is_snakemake(process: psutil.Process) -> bool:
    words = _words(process)[:3]
    return words[1:] == ["-m", "snakemake"] or any(Path(word).name == "snakemake" for word in words)


def _is_job(process: psutil.Process) -> bool:
    words = _words(process)
    if not words or not Path(words[0]).name.startswith(_INTERPRETERS):
        return False  # an editor or a pager that shows one of these files
    return any(word in _MODULES or _JOB_SCRIPTS in word for word in words[1:])


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return []


def _parents(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.parents()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _alive_after(seconds: float, processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended within ``seconds``."""
    deadline = time.monotonic() + seconds
    alive = list(processes)
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = [process for process in alive if is_alive(process)]
    return alive


def _quietly(signal) -> None:
    try:
        signal()
    except psutil.NoSuchProcess:
        return  # it has ended by itself


def main() -> int:
    parser = argparse.ArgumentParser(prog="make resume", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(),
        help="of the run, where it was started with --directory; by default that of the call",
    )
    parser.add_argument("--cores", type=int, help="by default those of the killed run")
    parser.add_argument(
        "--queue-is-clear",
        action="store_true",
        help="the cluster has no job of the killed run any more; do not ask it",
    )
    parser.add_argument(
        "--other-host-is-down",
        action="store_true",
        help="the run was started on another machine and is at work there no more",
    )
    arguments = parser.parse_args()
    try:
        return resume(**vars(arguments))
    except (ResumeError, QueueError) as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode  # snakemake --unlock has said why


if __name__ == "__main__":
    sys.exit(main())
