"""Jobs that a killed run has left in the queue of a cluster: found by what Snakemake noted of them.

Snakemake (9.27) notes the number of a submitted job beside the files that the job makes, until the
job begins: it writes the note again, without a number. SLURM is asked by its own commands; of
another queue only these numbers are known, and the user is told them, and of jobs that had begun.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workflow.lib.execution.run_note import LAST_RUN
from workflow.lib.storage.artifacts import CorruptArtifact, read_json

INCOMPLETE = Path(".snakemake/incomplete")
_PATIENCE_SECONDS = 120  # SLURM itself waits half a minute before it kills what does not end
_PAUSE_SECONDS = 1
_SECONDS_PER_QUESTION = 60
# What the plugin writes beside each job: rule_<name>_wildcards_<...>.
_COMMENT = "rule_"

Ask = Callable[[Sequence[str]], str]


class QueueError(RuntimeError):
    """What the queue holds cannot be known or cleared; the message says what to do."""


def noted_jobs(folder: Path) -> set[str]:
    """Numbers of submitted jobs whose files are not known to be complete."""
    found = set()
    for path in (folder / INCOMPLETE).rglob("*"):
        try:
            found.add(json.loads(path.read_text(encoding="utf-8"))["external_jobid"])
        except (OSError, ValueError, LookupError, TypeError):
            continue  # a folder, or a note that was cut off
    return {str(number) for number in found if number}


def _run(words: Sequence[str]) -> str:
    return subprocess.run(
        words, check=True, capture_output=True, text=True, timeout=_SECONDS_PER_QUESTION
    ).stdout


def queued_jobs(folder: Path, noted: set[str], ask: Ask = _run) -> list[str]:
    """Numbers of this user's jobs in SLURM's queue that belong to a folder's runs.

    Also those that were submitted just before the run was killed, of which there is no note.
    """
    words = ["squeue", "--me", "--noheader", "--array", "--format=%i|%F|%k|%Z"]
    found = []
    for line in ask(words).splitlines():
        number, array, comment, place = line.strip().split("|", 3)
        is_noted = bool({number, array} & noted) or comment.startswith(_COMMENT)
        if is_noted and Path(place).resolve() == folder.resolve():
            found.append(number)
    return found


def clear_queue(folder: Path, ask: Ask = _run, has_slurm: bool | None = None) -> None:
    """Cancel the jobs that a killed run in ``folder`` left in the queue, and wait for their end.

    Raises
    ------
    QueueError
        If there may be such jobs and they cannot be asked for or ended.
    """
    noted = noted_jobs(folder)
    if has_slurm is None:
        has_slurm = shutil.which("squeue") is not None
    if not has_slurm:
        if noted or _had_begun(folder):
            raise QueueError(_by_hand(noted, "this machine has no `squeue` to ask for them"))
        return
    try:
        _cancel(folder, noted, ask)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        if noted or _had_begun(folder):  # otherwise the killed run was none on a cluster
            reason = str(getattr(error, "stderr", "") or error).strip()
            raise QueueError(_by_hand(noted, f"SLURM does not answer: {reason}")) from error


def _cancel(folder: Path, noted: set[str], ask: Ask) -> None:
    left = queued_jobs(folder, noted, ask)
    if not left:
        return
    print(f"Cancelling {len(left)} jobs that the killed run left in the queue.", flush=True)
    ask(["scancel", *left])
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while left := queued_jobs(folder, noted, ask):
        if time.monotonic() > deadline:
            raise QueueError(_by_hand(set(left), f"still there after {_PATIENCE_SECONDS} s"))
        time.sleep(_PAUSE_SECONDS)


def _had_begun(folder: Path) -> bool:
    """Whether files of a run without cores of its own, as on a cluster, are not complete."""
    try:
        on_cluster = read_json(folder / LAST_RUN).get("cores", 0) is None
    except (OSError, ValueError, CorruptArtifact):
        return False
    return on_cluster and any(path.is_file() for path in (folder / INCOMPLETE).rglob("*"))


def _by_hand(numbers: set[str], reason: str) -> str:
    named = ", ".join(sorted(numbers)) or "that had begun, whose numbers are noted no more"
    return (
        f"jobs {named}: the killed run may have left them in the queue of a "
        f"cluster ({reason}). Cancel them there, and run: "
        "python -m workflow.lib.execution.resume --queue-is-clear"
    )
