import numpy as np
import pandas as pd
import pytest

from workflow.lib.results.standings import outcome, standings, task_means


def records(scores):
    """Two trials per (task, method); a score of None is a timeout."""
    return pd.DataFrame(
        [
            {
                "task": task,
                "method": method,
                "classifier": "1nn",
                "setting": np.nan,
                "trial": trial,
                "status": "ok" if score is not None else "timeout",
                "accuracy": score,
            }
            for (task, method), pair in scores.items()
            for trial, score in enumerate(pair)
        ]
    )


SCORES = {
    ("easy", "a"): (0.9, 0.9),
    ("easy", "b"): (0.8, 0.8),
    ("hard", "a"): (0.3, 0.3),
    ("hard", "b"): (0.99, None),
}


def test_failing_on_a_hard_task_lifts_no_method():
    found = standings(records(SCORES), "1nn", ["a", "b"])
    assert found["a"].mean == pytest.approx(0.9)
    assert found["b"].mean == pytest.approx(0.8)
    assert (found["a"].rank, found["b"].rank) == (1.0, 2.0)
    assert (found["b"].n_tasks, found["b"].n_failed) == (1, 1)


def test_means_that_differ_by_rounding_share_a_rank():
    scores = {("one", "a"): (0.1, 0.7), ("one", "b"): (0.4, 0.4), ("one", "c"): (0.2, 0.2)}
    assert sum(scores["one", "a"]) / 2 < 0.4, "by the last digit"
    found = standings(records(scores), "1nn", ["a", "b", "c"])
    assert [found[name].rank for name in "abc"] == [1.5, 1.5, 3.0]


def test_a_partial_cell_has_no_mean():
    means = task_means(records(SCORES), "1nn", ["b", "a"])
    assert list(means) == ["b", "a"]
    assert np.isnan(means.loc["hard", "b"])


def test_a_cell_without_a_number_in_some_trial_has_no_mean():
    table = records(SCORES).assign(log_loss=[1.0, 2.0, np.nan, 3.0] + [np.nan] * 4)
    means = task_means(table, "1nn", ["a", "b"], "log_loss")
    assert means.loc["easy", "a"] == 1.5
    assert np.isnan(means.loc["easy", "b"])


@pytest.mark.parametrize(
    ("statuses", "word"),
    [
        (["ok", "ok"], "finished"),
        (["ok", "timeout"], "partial"),
        (["error", "not_applicable"], "failed"),
        (["not_applicable"] * 2, "not applicable"),
        (["data_unavailable"], "data not available"),
    ],
)
def test_outcomes(statuses, word):
    assert outcome(statuses) == word
