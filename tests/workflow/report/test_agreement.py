"""Tables, figures, the answer box and MLflow give the same means and the same words."""

import pytest

from tests.workflow.report_example import rich_view
from workflow.lib.report.answer import duel
from workflow.lib.report.figures.ranked import ranked_figure
from workflow.lib.report.tables.scores import all_tables
from workflow.lib.results.standings import FAILED, FINISHED, PARTIAL, outcome, standings
from workflow.lib.tracking.runs import method_metrics


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    """Failures, a task without data, a method that does not apply everywhere; two classifiers."""
    root = tmp_path_factory.mktemp("root")
    return rich_view(root, trials=4, classifiers=("logistic", "one_nn"))


@pytest.mark.whole_run
@pytest.mark.parametrize("classifier", ["logistic", "one_nn"])
def test_everybody_shows_the_same_means(view, classifier):
    found = standings(view.records, classifier, view.methods)
    expected = {m: 100 * s.mean for m, s in found.items() if s.mean is not None}
    assert len(expected) > 1

    tables = all_tables(view)
    accuracy = tables[f"accuracy_{classifier}"]
    footer = dict(zip(view.methods, accuracy.footer[0][1:], strict=True))
    assert {m: c.value for m, c in footer.items() if c.value is not None} == pytest.approx(expected)

    labels = {view.method_label(method): method for method in view.methods}
    for name in ("measures", "tests"):
        rows = tables[f"{name}_{classifier}"].rows
        assert {labels[row[0].text]: row[1].value for row in rows} == pytest.approx(expected)

    axes = ranked_figure(view, classifier).axes[0]
    bars = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "|"]
    assert sorted(bars) == pytest.approx(sorted(expected.values()))

    box = {method: 100 * mean for method, mean in duel(view, classifier).means.items()}
    assert box == pytest.approx(expected)

    logged = method_metrics(view.records)
    for method, mean in expected.items():
        assert logged[method, classifier, None]["accuracy"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("statuses", "word"),
    [
        (["ok", "ok"], FINISHED),
        (["ok", "timeout"], PARTIAL),
        (["ok", "not_applicable"], PARTIAL),
        (["error", "not_applicable"], FAILED),
        (["not_applicable"] * 2, "not applicable"),
        (["data_unavailable"] * 2, "data not available"),
    ],
)
def test_one_word_for_what_became_of_a_method(statuses, word):
    assert outcome(statuses) == word


def test_cells_and_standings_use_the_same_words(view):
    for task in view.experiment.tasks:
        for method in view.methods:
            cell = view.cell(task.name, method, "logistic")
            word = outcome(cell.statuses.elements())
            assert (word == cell.absent) == (cell.absent is not None)
            assert (word == FINISHED) == cell.complete
            assert (word == FAILED) == (cell.mean is None and cell.absent is None)


def test_counts_add_up(view):
    found = standings(view.records, "logistic", view.methods)
    assert sum(s.n_asked for s in found.values()) == len(view.records) // 2
    assert sum(s.n_failed for s in found.values()) == view.n_failures // 2
