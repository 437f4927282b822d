"""The answer of an experiment that asks for time and memory, from its timing records alone."""

from workflow.lib.report.tables.setup import seconds_cell
from workflow.lib.results.text import listed, some
from workflow.lib.results.views import ExperimentView

# Methods that the answer names before it counts the others.
_NAMED = 8


def time_told(view: ExperimentView) -> str:
    """Seconds of each method, the fastest first, and the memory of the least and the most.

    Of the task on which a method is slowest, or needs most: it is the one that a reader has to wait
    for. A method without a time on some task cannot be compared and is named.
    """
    seconds = {m: view.timed(m, "cpu_seconds") for m in view.experiment.timing["methods"]}
    known = sorted((m for m in seconds if seconds[m]), key=lambda m: max(seconds[m]))
    lacking = [view.method_label(method) for method in seconds if not seconds[method]]
    if not known:
        return "Cannot be said: no method has a time on every task."
    told = [
        f"{view.method_label(method)} {seconds_cell(max(seconds[method])).text}" for method in known
    ]
    without = f" No time on every task: {some(lacking, _NAMED, 'method')}." if lacking else ""
    n_tasks = len(view.experiment.timing["tasks"])
    on = f", each method on its slowest of {n_tasks} tasks" if n_tasks > 1 else ""
    median = f"median of {view.experiment.timing['repeats']}"
    return (
        f"Processor seconds from a cold start ({median}){on}: {_some(told)}. Memory beyond the "
        f"data: {_memory(view, known)}.{without}"
    )


def _some(told: list[str]) -> str:
    """All, or of many the first and the last, between which the table has the others."""
    if len(told) <= _NAMED:
        return listed(told)
    rest = len(told) - _NAMED
    return f"{', '.join(told[: _NAMED - 1])} and {rest:,} more, up to {told[-1]}"


def _memory(view: ExperimentView, methods: list[str]) -> str:
    added = {m: max(view.timed(m, "added_mb")) for m in methods}
    ends = sorted({min(added, key=added.get), max(added, key=added.get)}, key=added.get)
    return " to ".join(f"{added[m]:,.0f} MiB ({view.method_label(m)})" for m in ends)
