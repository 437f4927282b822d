"""Words that the pages of the reference run share."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from workflow.lib.report.tables.setup import search_readings
from workflow.lib.results.computed import processors_in_words, versions_in_words
from workflow.lib.results.environment import describe
from workflow.lib.results.run_log import RunLog
from workflow.lib.results.text import count, moment
from workflow.lib.results.views import ExperimentView

# Heads of a table with a row per run, as `run_row` gives them, and how they are aligned.
RUNS = (
    "Run (its end)",
    "Last command",
    "From first to last",
    "Jobs",
    "Most memory of a trial (studies are not measured)",
    "Failed records",
    "Versions",
)
ALIGNED = (":---",) * len(RUNS)
# A run of studies alone: nobody notes their memory.
_UNMEASURED = "not measured"


def told(log: RunLog, counts: Mapping[str, str]) -> str:
    """What a run took, and on what; `counts` of its trials among it."""
    rows = {
        "Began": moment(log.start),
        "Ended": moment(log.end),
        **_cost(log),
        "Most memory at one time": _at_once(log),
        **counts,
        "Versions": _versions(log),
    }
    return "\n".join(["| | |", "| :--- | :--- |", *map(row, rows.items())])


def run_row(log: RunLog) -> str:
    """The same in one row, for the table of several runs."""
    took, jobs, memory = _cost(log).values()
    took += f", begun {moment(log.start)}"
    if log.peak_in_all_mb:
        memory += f" (of the whole run: {log.peak_in_all_mb:,.0f} MB)"
    elif log.peak_mb:
        memory += f" (of all at one time: at most {log.peak_at_once_mb:,.0f} MB)"
    failed = f"{log.failed:,} of {log.records:,}"
    code = f"commit {log.commit}, " if log.commit else ""
    cells = [moment(log.end), f"`{log.command}`", took, jobs, memory, failed, code + _versions(log)]
    return row(cells)


def run_words(log: RunLog) -> str:
    """The run, by the time at which it ended."""
    return f"run that ended {moment(log.end)}"


def _cost(log: RunLog) -> dict[str, str]:
    cores = count(log.cores, "core") if log.cores else "the cores of a cluster"
    machine = f"{cores} ({_machine(log)})"
    return {
        "From first to last": f"{duration(log.end - log.start)} on {machine}",
        "Jobs": f"{log.jobs:,}, {duration(log.job_seconds)} in all",
        "Most memory of a trial": f"{log.peak_mb:,.0f} MB" if log.peak_mb else _UNMEASURED,
    }


def _at_once(log: RunLog) -> str:
    if log.peak_in_all_mb:
        return f"{log.peak_in_all_mb:,.0f} MB, by Snakemake and all processes under it"
    if not log.peak_mb:
        return _UNMEASURED
    return (
        f"of trials at most {log.peak_at_once_mb:,.0f} MB, the sum of what each of the jobs that "
        "ran together needed at its own peak"
    )


def _machine(log: RunLog) -> str:
    """Processors of the results, where these say; else this machine."""
    if any(log.computed_with):
        return processors_in_words(log.computed_with)
    here = describe()
    return f"{here['cpu']}, {here['memory_gb']:g} GB"


def _versions(log: RunLog) -> str:
    """Of the results, where these say; else those that are installed here."""
    if any(log.computed_with):
        return versions_in_words(log.computed_with)
    environment = describe()
    packages = ("numpy", "scipy", "scikit-learn", "snakemake")
    versions = ", ".join(f"{name} {environment['packages'][name]}" for name in packages)
    return f"Python {environment['python']}, {versions}"


def whence(log: RunLog) -> str:
    """What a page was made from, and by what."""
    return (
        f"Records of one folder (the last command there: `{log.command}`), written by `make "
        "reference`, not by hand."
    )


def searched(views: Iterable[ExperimentView], methods: Collection[str] = ()) -> list[str]:
    """A section on the settings that were found by searching, with what was tried; or nothing.

    Of the methods that are named; of all by default.
    """
    readings = search_readings(*views, methods=methods)
    said = "\n".join(f"- {reading}" for reading in readings)
    return ["## Settings found by searching", said] if readings else []


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def duration(seconds: float | None) -> str:
    """``40 s``, ``12 min``, ``3.5 h``."""
    if seconds is None:
        return ""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
