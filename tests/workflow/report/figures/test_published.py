"""Published numbers beside ours: a dumbbell per row, or per column where there are many."""

import dataclasses

import pytest

from tests.workflow.report_example import make_experiment, rich_view, view_of
from workflow.lib.report.figures import published
from workflow.lib.report.figures.looks import looks_of
from workflow.lib.report.figures.published import published_figure
from workflow.lib.report.figures.style import render
from workflow.lib.results.audit import audit
from workflow.lib.results.columns import Row
from workflow.lib.results.verdicts import CLOSE, OFF, REPRODUCED


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=4)


def dumbbells(axes):
    """(published, ours) of each row, from the line that joins them."""
    joins = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_zorder() == 2]
    return [tuple(float(x) for x in line.get_xdata()) for line in joins]


def test_a_panel_per_column_has_its_judged_rows_and_their_mean(view):
    columns = [column for column in audit(view).columns if column.judged]
    figure = published_figure(view)
    titles = [axes.get_title().removesuffix(" †") for axes in figure.axes]
    assert titles == [column.label for column in columns]
    for axes, column in zip(figure.axes, columns, strict=True):
        rows = [*column.judged, column.mean]
        assert sorted(dumbbells(axes)) == sorted((row.published, row.ours) for row in rows)
        widths = [round(float(bar.get_width()), 6) for bar in axes.patches]
        assert (widths.count(2), widths.count(6)) == (len(rows), len(rows))


def test_ours_has_the_look_of_its_method(view):
    axes = published_figure(view).axes[0]
    shades = {line.get_color() for line in axes.lines if line.get_zorder() == 4}
    names = {view.method_label(method): method for method in view.methods}
    assert shades == {looks_of(view)[names[axes.get_title()]].colour}


def test_many_columns_are_shown_by_their_means(view, monkeypatch):
    monkeypatch.setattr(published, "_MOST_COLUMNS", 1)
    columns = [column for column in audit(view).columns if column.judged]
    (axes,) = published_figure(view).axes
    assert dumbbells(axes) == [(column.mean.published, column.mean.ours) for column in columns]
    assert axes.get_xlabel() == "Accuracy (%), mean over the rows that are compared"


def test_a_pointer_sees_both_numbers_and_the_verdict(view):
    svg = render(lambda: published_figure(view), "svg").decode()
    row = audit(view).columns[-1].judged[0]
    assert f"published {row.published:.1f}, ours {row.ours:.1f}" in svg
    assert f"; {row.verdict}</title>" in svg


def test_nothing_compared_is_said(view):
    gone = {"status": "data_unavailable", "error": "gone"}
    audited = {**view.experiment.audit, "columns": {"fma_i": {"method": "fma_i"}}}
    experiment = make_experiment([("amazon", "dslr")], ("fma_i",), audit=audited)
    empty = view_of(experiment, {("amazon-dslr", "fma_i"): [gone] * 2}, 2, root=view.root)
    (text,) = published_figure(empty).texts
    assert "No published column could be compared" in text.get_text()


def texts_of(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_what_was_found_by_search_has_its_mark_and_is_not_called_reproduced(view, monkeypatch):
    marked = [c.found_by_search for c in audit(view).columns if c.judged]
    assert any(marked)
    assert not all(marked)
    figure = published_figure(view)
    assert [axes.get_title().endswith(" †") for axes in figure.axes] == marked
    assert f"{OFF[REPRODUCED]} (reproduced if TOST agrees; †: matched after search)" in texts_of(
        figure
    )
    monkeypatch.setattr(published, "_MOST_COLUMNS", 1)
    figure = published_figure(view)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [label.endswith(" †") for label in labels] == marked
    assert f"{OFF[CLOSE]} (close; †: matched after search)" in texts_of(figure)


def test_without_a_search_nothing_says_so(view, monkeypatch):
    columns = {"fma_i": {"method": "fma_i"}}
    plain = dataclasses.replace(
        view.experiment, audit={**view.experiment.audit, "columns": columns}
    )
    figure = published_figure(dataclasses.replace(view, experiment=plain))
    assert [axes.get_title() for axes in figure.axes] == ["FMA-I"]
    assert f"{OFF[REPRODUCED]} (reproduced if TOST agrees)" in texts_of(figure)
    monkeypatch.setattr(Row, "untested", "untested: one trial")
    told = f"{OFF[REPRODUCED]} (reproduced if TOST agrees, untested with one trial)"
    assert told in texts_of(published_figure(dataclasses.replace(view, experiment=plain)))


def test_if_all_was_found_by_search_nothing_is_called_reproduced(view):
    columns = {"fma_i": {"method": "fma_i", "found_by_search": True, "readings_tried": "two"}}
    found = dataclasses.replace(
        view.experiment, audit={**view.experiment.audit, "columns": columns}
    )
    figure = published_figure(dataclasses.replace(view, experiment=found))
    assert f"{OFF[REPRODUCED]} (†: matched after search)" in texts_of(figure)
