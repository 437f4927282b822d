"""Tables of kinds of shift: gains with their marks, what is lost."""

import dataclasses

import pytest

from tests.workflow.shift_example import shift_view, two_plain_view
from workflow.lib.report.tables.shifts import (
    HARM,
    gain_text,
    gains_table,
    losses_table,
    ranked,
    words,
)
from workflow.lib.results.shifts import Shifts, harms
from workflow.lib.results.text import signed


def test_cells_are_gains_marked_where_they_help_and_harm():
    shifts = Shifts(shift_view())
    for overall in (False, True):
        table = gains_table(shifts, overall)
        assert [row[0].text for row in table.rows] == ["SMA", "FMA-I"]
        for row, method in zip(table.rows, ranked(shifts), strict=True):
            for cell, kind in zip(row[1:], shifts.kinds, strict=True):
                effect = kind.effect(method, overall)
                assert cell.value == pytest.approx(100 * effect.effect)
                assert cell.bold == effect.surely_above
                assert (HARM in cell.text) == harms(effect) == (cell.kind == "failed")


def test_the_chance_of_the_mark_stands_below_the_table():
    """Of five trials P(t < -1) = 18.7 %."""
    told = "by chance on 18.7 % of the kinds"
    assert told in gains_table(Shifts(shift_view())).notes[0]


@pytest.mark.parametrize(
    ("points", "text"),
    [(-0.1, "−0.1"), (-0.04, "−0.04"), (-0.004, "−0.004"), (-12.34, "−12.3")],
)
def test_no_harm_is_printed_as_zero(points, text):
    effect = Shifts(shift_view()).kinds[0].full[0]
    below = dataclasses.replace(effect, effect=points / 100, n_harmed=1)
    assert gain_text(below) == f"{text} {HARM}"
    assert gain_text(dataclasses.replace(below, n_harmed=0)) == signed(points)


def test_methods_stand_by_their_mean_gain():
    shares = {"source_only": {}, "sma": {"rotation": 0.1}, "fma_i": {"rotation": 0.2}}
    assert ranked(Shifts(shift_view(shares=shares))) == ["fma_i", "sma"]


def test_what_is_missing_is_a_dash_with_its_reason():
    shifts = Shifts(shift_view(failed=[("sma", "rotation", 2)]))
    row = next(row for row in gains_table(shifts).rows if row[0].text == "SMA")
    assert (row[1].text, row[1].title) == ("–", "complete on 0 of 1 task")
    assert row[2].value is not None


def test_losses_by_severity():
    shifts = Shifts(shift_view())
    table = losses_table(shifts)
    labels = [column.label for column in table.columns]
    assert labels == [
        *("Kind", "Best without adaptation"),
        *("severity 0", "severity 0.4", "severity 1", "Loss"),
    ]
    for row, kind in zip(table.rows, shifts.kinds, strict=True):
        assert row[0].text == words(kind.name)
        assert row[2].value - row[4].value == pytest.approx(row[5].value)
        assert row[5].bold == kind.hurts


def test_losses_are_from_the_best_to_the_best():
    shifts = Shifts(two_plain_view())
    row = losses_table(shifts).rows[0]
    assert row[1].text == "No adaptation, then No adaptation (target)"
    assert row[2].value - row[4].value == pytest.approx(row[5].value)


def test_an_unknown_kind_keeps_its_name():
    assert words("mixed_up") == "mixed up"


def test_each_table_names_its_own_reference():
    view = shift_view(shares={"source_only": {}, "target_only": {"rotation": -0.1}, "sma": {}})
    records = view.records
    mild = (records["method"] == "target_only") & (records["target"] == "shifts.rotation_040")
    records.loc[mild, "accuracy"] += 0.5
    shifts = Shifts(view)
    for overall, method in ((False, "source_only"), (True, "target_only")):
        table, label = gains_table(shifts, overall), view.method_label(method)
        cells = {row[0].text: row[1].text for row in table.rows}
        assert table.columns[1].title == f"over {label}"
        assert len(cells) > 1
        assert label in cells or not overall
        references = [name for name, text in cells.items() if text == "reference"]
        assert references == [label] * (label in cells)
