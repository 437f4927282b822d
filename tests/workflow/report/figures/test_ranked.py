"""Many methods, one row each, ordered over the same tasks."""

from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.report.figures.scores import drawings
from workflow.lib.report.wording import figure_captions, record_sentences


def test_many_methods_are_drawn_one_row_each(crowd):
    figure = drawings(crowd)["accuracy"]()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["FMA-I (incomplete: A→W)", "No adaptation"]
    assert "over the tasks that are complete for all compared methods (bar)" in figure_captions(
        crowd, "accuracy"
    )
    assert "Not applicable to any task: SMA." in " ".join(record_sentences(crowd))


def marks_of(axes):
    """Marks by row: filled, hollow and the bars of the means, in percent."""
    kinds = {"filled": {}, "hollow": {}, "bar": {}}
    for line in axes.lines:
        hollow = line.get_markerfacecolor() == "none"
        kind = "bar" if line.get_marker() == "|" else "hollow" if hollow else "filled"
        for x, row in zip(line.get_xdata(), line.get_ydata(), strict=True):
            kinds[kind].setdefault(int(row), []).append(round(float(x), 6))
    return kinds


def test_a_partial_mean_is_hollow_and_enters_no_mean(crowd):
    marks = marks_of(drawings(crowd)["accuracy"]().axes[0])
    assert marks["filled"] == {0: [60, 60], 1: [30, 30, 30]}
    assert marks["hollow"] == {0: [50]}
    # Over D→W and D→A, which both have in full.
    assert marks["bar"] == {0: [60], 1: [30]}


def test_many_tasks_are_not_drawn_one_by_one_either(crowd, monkeypatch):
    monkeypatch.setattr("workflow.lib.results.views.MANY_METHODS", 20)
    assert crowd.too_many == ""
    assert len(drawings(crowd)["accuracy"]().axes[0].get_yticklabels()) == 3  # tasks
    monkeypatch.setattr("workflow.lib.results.views.MANY_TASKS", 2)
    assert crowd.too_many == "3 tasks"
    assert marks_of(drawings(crowd)["accuracy"]().axes[0])["bar"] == {0: [60], 1: [30]}
    assert "mean over the tasks" in figure_captions(crowd, "accuracy")
    (words,) = drawings(crowd)["trials"]().texts
    assert words.get_text().startswith("3 tasks are too many to draw trial by trial")


def test_the_order_of_many_methods_is_over_the_same_tasks(tmp_path, monkeypatch):
    """One easy task that a method has alone, or in part, does not put it on top."""
    monkeypatch.setattr("workflow.lib.results.views.MANY_METHODS", 2)
    pairs = [("amazon", "webcam"), ("dslr", "webcam"), ("dslr", "amazon")]
    tasks = [f"{source}-{target}" for source, target in pairs]
    late = {"status": "timeout", "error": "late"}
    by_method = {
        "plain": [[0.4, 0.4], [0.4, 0.4], [0.2, late]],
        "sma": [[0.5, 0.5], [0.5, 0.5], [0.1, 0.1]],
        "fma_i": [[0.3, 0.3], [0.3, 0.3], [0.9, 0.9]],
        "fma_f": [[0.99, late]] * 3,
    }
    scores = {
        (task, method): cells[place]
        for method, cells in by_method.items()
        for place, task in enumerate(tasks)
    }
    view = view_of(make_experiment(pairs, tuple(by_method)), scores, 2, root=tmp_path)
    axes = drawings(view)["accuracy"]().axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [
        "SMA",
        "No adaptation (incomplete: D→A)",
        "FMA-I",
        "FMA-F (incomplete: 3 tasks)",
    ]
    assert marks_of(axes)["bar"] == {0: [50], 1: [40], 2: [30]}
