"""The answer of an experiment that asks for time and memory."""

import dataclasses

from tests.workflow.report_example import make_experiment, rich_view, view_of
from workflow.lib.report.answer import answer_lines
from workflow.lib.report.page import build
from workflow.lib.report.time_answer import time_told


def timed(experiment, seconds, repeats=3):
    """Timing records of given median processor seconds by (task, method); None for a failure."""
    return [
        {
            "task": task.name,
            "method": method,
            "repeat": repeat,
            "status": "error" if seconds[task.name, method] is None else "ok",
            "cpu_seconds": (seconds[task.name, method] or 0) + 0.1 * (repeat - 1),
            "added_mb": 100.0 * (seconds[task.name, method] or 0) + repeat,
        }
        for task in experiment.tasks
        for method in experiment.timing["methods"]
        for repeat in range(repeats)
    ]


def timing_view(seconds, **changed):
    tasks, methods = (list(dict.fromkeys(names)) for names in zip(*seconds, strict=True))
    asked = {"tasks": tasks, "methods": methods, "repeats": 3}
    pairs = [tuple(task.split("-")) for task in tasks]
    experiment = make_experiment(pairs, methods, timing=asked, **changed)
    scores = {(task, method): [0.9, 0.8] for task in tasks for method in methods}
    view = view_of(experiment, scores, 2)
    return dataclasses.replace(view, timing=timed(experiment, seconds))


SECONDS = {
    ("amazon-dslr", "sma"): 1.0,
    ("amazon-dslr", "fma_i"): 0.5,
    ("amazon-dslr", "fma_f"): 0.3,
    ("amazon-webcam", "sma"): 4.0,
    ("amazon-webcam", "fma_i"): 2.25,
    ("amazon-webcam", "fma_f"): None,
}


def test_an_experiment_that_times_all_of_its_tasks_answers_in_seconds_and_memory():
    lines = answer_lines(timing_view(SECONDS), None)
    assert [line.question for line in lines] == [
        "How long, and how much memory?",
        "Did everything run?",
    ]
    assert lines[0].answer == (
        "Processor seconds from a cold start (median of 3), each method on its slowest of 2 tasks: "
        "FMA-I 2.25 and SMA 4.00. Memory beyond the data: 227 MiB (FMA-I) to 402 MiB (SMA). No "
        "time on every task: FMA-F."
    )
    nothing = answer_lines(timing_view(dict.fromkeys(SECONDS)), None)
    assert nothing[0].answer == "Cannot be said: no method has a time on every task."


def test_its_page_has_the_times_and_nothing_of_scores(tmp_path):
    view = timing_view(SECONDS)
    for record in view.timing:
        record.update(seconds=1.0, peak_mb=200.0, n_samples=[5, 5], n_features=[2, 2])
    html = build(view, tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="example-figure-timing"' in html
    for absent in ("example-results", "example-tests", "figure-accuracy", "table-accuracy"):
        assert absent not in html


def test_a_table_of_scores_that_also_times_a_task_answers_by_its_scores(tmp_path):
    assert timing_view(SECONDS).experiment.asks_time
    assert not timing_view(SECONDS, audit={"columns": {}}).experiment.asks_time
    view = rich_view(tmp_path, trials=2)
    unaudited = dataclasses.replace(view.experiment, audit=None)
    assert unaudited.timing
    assert not unaudited.asks_time


def test_of_many_timed_methods_the_fastest_and_the_slowest_are_told(monkeypatch):
    monkeypatch.setattr("workflow.lib.report.time_answer._NAMED", 2)
    seconds = {("amazon-dslr", m): s for m, s in {"sma": 3.0, "fma_i": 1.0, "fma_f": 2.0}.items()}
    told = time_told(timing_view(seconds))
    assert "(median of 3): FMA-I 1.00 and 1 more, up to SMA 3.00." in told
    assert told.endswith("Memory beyond the data: 102 MiB (FMA-I) to 302 MiB (SMA).")
