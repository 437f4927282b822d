"""Tables of an answer: their numbers are those of the candidates."""

import dataclasses

import pytest

from tests.workflow.own_example import NAMES, own
from workflow.lib.report.own_tables import (
    agreement_table,
    classes_table,
    features_table,
    methods_table,
)


@pytest.fixture(scope="module")
def found():
    return own()


def values(table):
    return [[cell.value for cell in row] for row in table.rows]


def test_methods_stand_with_what_their_estimate_is_made_of(found):
    table = methods_table(found)
    assert [row[0].text for row in table.rows] == ["CORAL", "No adaptation (source)"]
    first = values(table)[0]
    assert first[2] == pytest.approx(94.5)
    assert first[3] < 92 < 97 < first[4]
    assert first[5:8] == pytest.approx([92, 97, 97])
    assert table.rows[1][0].kind == "baseline"


def test_a_method_whose_settings_were_searched_for_is_marked(found):
    assert not any("†" in note for note in methods_table(found).notes)
    table = methods_table(dataclasses.replace(found, searched=frozenset({"coral"})))
    assert [row[0].text for row in table.rows] == ["CORAL †", "No adaptation (source)"]
    assert table.notes[-1].startswith("† A setting was found by searching")


def test_methods_stand_in_the_order_of_what_chose_them(found):
    chosen = [row[1] for row in values(methods_table(found))]
    assert chosen == sorted(chosen, reverse=True)
    assert chosen[0] == pytest.approx(92)
    assert "by the lower bound" in methods_table(found).caption
    labelled = dataclasses.replace(
        found,
        answer=dataclasses.replace(found.answer, n_labels=9),
        candidates=[
            dataclasses.replace(one, selector=share)
            for one, share in zip(found.candidates, (0.75, 0.5), strict=True)
        ],
    )
    assert [row[1] for row in values(methods_table(labelled))] == [75, 50]
    assert "by the cross-validated accuracy" in methods_table(labelled).caption


def test_settings_begin_with_a_scaling_that_is_explained_below(found):
    shown = [row[-1].text.partition(";")[0] for row in methods_table(found).rows]
    assert set(shown) == {"standard"}
    assert methods_table(found).notes[-1].startswith("standard: each feature is scaled to mean 0")
    assert not any(note.startswith(("raw", "unit")) for note in methods_table(found).notes)


def test_agreement_is_symmetric_with_a_full_diagonal(found):
    rows = [row[1:] for row in values(agreement_table(found))]
    assert rows[0][0] == rows[1][1] == 100
    assert rows[0][1] == rows[1][0] == pytest.approx(100 * 41 / 90)


def test_shares_of_the_classes_sum_to_all(found):
    table = classes_table(found)
    assert [row[0].text for row in table.rows] == NAMES
    for column in (1, 2, 3, 4):
        assert sum(row[column] for row in values(table)) == pytest.approx(100)


def test_the_feature_that_moved_stands_first(found):
    assert features_table(found.shift).rows[0][0].text == "b"


def test_medians_have_the_digits_of_their_unit(found):
    one = found.shift.features[0]
    features = tuple(
        dataclasses.replace(one, source_median=low, target_median=high)
        for low, high in ((3.4e-5, 1.2e-4), (12345678.9, -20000.2), (1.5, 0.0))
    )
    rows = features_table(dataclasses.replace(found.shift, features=features)).rows
    assert [[cell.text for cell in row[3:]] for row in rows] == [
        ["3.4e−05", "0.00012"],
        ["12,345,679", "−20,000"],
        ["1.5", "0"],
    ]
