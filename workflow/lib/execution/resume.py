"""`make resume`: continue a run that was killed, also with -9.

Such a run leaves its jobs behind as orphans that go on writing, locks on the folder, and files
half-written. This ends the orphans, unlocks, and starts Snakemake again for the same targets.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

# Written by the Snakefile when a run starts: {"targets": [...], "cores": n, "config": {...}}.
LAST_RUN = Path(".snakemake/last_run.json")

_CONFIG = Path(".snakemake/resumed_config.json")
_JOB_SCRIPTS = ".snakemake/scripts/"
_WORKER = ["-m", "workflow.lib.execution.worker"]
_INTERPRETERS = ("python", "bash", "sh")
_PATIENCE_SECONDS = 5


class ResumeError(RuntimeError):
    """The run cannot be continued; the message says why and what to do."""


def live_runs(folder: Path) -> list[psutil.Process]:
    """Snakemake processes that work in ``folder``."""
    return [process for process in _processes_in(folder) if _is_snakemake(process)]


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
    """What the last run was asked for; empty if it left no note."""
    try:
        run = json.loads((folder / LAST_RUN).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return run if isinstance(run, dict) else {}


def command(run: dict, folder: Path, cores: int | None = None) -> list[str]:
    """Snakemake's command line for continuing ``run``."""
    line = [*_snakemake(run), *run.get("targets", [])]
    line += ["--cores", str(cores or run.get("cores") or "all"), "--rerun-incomplete"]
    if run.get("config"):
        # As a file, because nested values do not survive a command line.
        path = folder / _CONFIG
        path.write_text(json.dumps(run["config"]), encoding="utf-8")
        line += ["--configfile", str(_CONFIG)]
    return line


def resume(folder: Path, cores: int | None = None) -> int:
    """Continue the last run in ``folder``; return Snakemake's exit status.

    Raises
    ------
    ResumeError
        If a run is still at work there, or an orphan cannot be ended.
    """
    folder = folder.resolve()
    if running := live_runs(folder):
        raise ResumeError(
            f"{folder}: a run is at work here (process {running[0].pid}). "
            f"Wait for it, or stop it first: kill {running[0].pid}"
        )
    run = last_run(folder)
    if left := orphans(folder):
        print(f"Ending {len(left)} processes that the killed run left behind.", flush=True)
        end(left)
    subprocess.run([*_snakemake(run), "--unlock"], cwd=folder, check=True)
    targets = " ".join(run.get("targets", [])) or "the default target"
    print(f"Continuing: {targets}", flush=True)
    return subprocess.run(command(run, folder, cores), cwd=folder, check=False).returncode


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
    is_worker = any(words[i : i + 2] == _WORKER for i in range(len(words)))
    return is_worker or any(_JOB_SCRIPTS in word for word in words[1:])


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
        alive = [process for process in alive if _is_alive(process)]
    return alive


def _is_alive(process: psutil.Process) -> bool:
    # In a container nobody may collect an ended orphan: it stays a zombie, which writes nothing.
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _quietly(signal) -> None:
    try:
        signal()
    except psutil.NoSuchProcess:
        return  # it has ended by itself


def main() -> int:
    parser = argparse.ArgumentParser(prog="make resume", description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, help="by default those of the killed run")
    arguments = parser.parse_args()
    try:
        return resume(Path.cwd(), arguments.cores)
    except ResumeError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode  # snakemake --unlock has said why


if __name__ == "__main__":
    sys.exit(main())
