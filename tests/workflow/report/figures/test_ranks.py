import pytest

from tests.workflow.report.figure_words import words_of
from tests.workflow.report_example import make_experiment, rich_view, view_of
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.figures import style
from workflow.lib.results import significance


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=4)


def test_ten_methods_have_a_diagram(view):
    assert significance.MOST_RANKED == 10
    drawn = score_figures.critical_difference_figure(view, "logistic")
    assert "critical difference" in words_of(drawn)


def test_more_methods_have_a_row_each_and_no_critical_difference(view, monkeypatch):
    monkeypatch.setattr(significance, "MOST_RANKED", 2)
    figure = score_figures.critical_difference_figure(view, "logistic")
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "FMA-F †"
    assert axes.get_xlabel() == "Mean rank (1 is best)"
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in style.MARKERS]
    assert drawn == sorted(drawn)
    assert len(drawn) == len(labels)
    assert "critical" not in words_of(figure)
    assert not axes.patches, "a band would be a critical difference"


def test_too_few_methods_give_a_figure_that_says_so():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "sma"))
    scores = {("amazon-dslr", "plain"): [0.5], ("amazon-dslr", "sma"): [0.6]}
    view = view_of(experiment, scores, 1)
    drawn = score_figures.critical_difference_figure(view, "logistic")
    assert "2 methods complete on 1 common task" in words_of(drawn)
    assert "one trial" in words_of(score_figures.trials_figure(view, "logistic"))
    for draw in score_figures.drawings(view).values():
        assert style.render(draw, "svg")
