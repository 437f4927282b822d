"""Which data settings were searched on, against what the configuration says of every search."""

import re

import pandas as pd
import pytest

from tests.workflow.board_example import made_board, suite, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.results.untouched import SEARCHED_ON, compare_untouched, searched_on

# Words by which a search says whose numbers it looked at, and the experiments that have them.
WHOSE = {
    "Office–Caltech10": (),
    "Table 1 of the FMA paper": ("fma_table1",),
    "Table 3 of its paper": ("kema_table3",),
    "the trials of that table": ("fma_table1",),
    "the same printed means": ("fma_table1_full_source", "kema_table3_baselines"),
    "the same runs": ("mmdt_table",),
}


def searches():
    """What was tried for methods of boards and for their candidates."""
    for entry in suite().methods.values():
        if "search" in entry:
            yield from entry.get("found_by_search", {}).values()
            yield from entry["search"].get("found_by_search", {}).values()


def test_every_search_was_on_the_data_sets_that_are_left_out():
    """A search on other data has to be known here, or a board would call them untouched."""
    told = {" ".join(text.split()) for text in searches()}
    assert told
    for text in told:
        assert any(words in text for words in WHOSE), text
        assert not re.search("gas|COIL|MNIST|USPS|Amazon|Newsgroups|Reuters|Office-31", text), text
    for name in {name for names in WHOSE.values() for name in names}:
        targets = {task.target.dataset for task in suite().experiments[name].tasks}
        assert targets <= {*SEARCHED_ON}, name


@pytest.mark.parametrize(
    ("name", "method", "dataset"),
    [
        ("tuned_no_labels_coil", "jda", "coil20"),  # a setting of coil.yaml
        ("tuned_no_labels_coil", "gfk", "coil20"),  # its reading
        ("tuned_no_labels_mnist_usps", "meda", "mnist_usps"),  # of fma_table4_full_source.yaml
    ],
)
def test_a_search_for_a_paper_counts_for_the_methods_that_it_was_for(name, method, dataset):
    gains = {"source_only": 0.0, "coral": 0.1}
    assert searched_on(made_board("no_target_labels", name, gains=gains)) == []
    with_it = made_board("no_target_labels", name, gains={**gains, method: 0.1})
    assert searched_on(with_it) == [dataset]


def test_studies_bring_settings_along_and_search_on_none_of_their_data():
    """`mmdt_figure1_time` measures LS-MMDT on Office-31 with what was found on Office–Caltech10."""
    gains = {"target_only": 0.0, "ls_mmdt": 0.1}
    assert "ls_mmdt" in suite().experiments["mmdt_figure1_time"].found_by_search
    office31 = made_board("heterogeneous", "tuned_heterogeneous_office31", gains=gains)
    assert searched_on(office31) == ["office31_surf"]  # for its images, not for this study


def test_the_comparison_is_that_of_the_other_data_sets():
    board = made_board()
    assert searched_on(board) == ["office_caltech_surf"]  # none of its methods on the digits
    found = compare_untouched(board)
    assert set(found.by_dataset) == {*board.datasets} - {"office_caltech_surf"}
    pd.testing.assert_series_equal(
        found.by_dataset.loc["coral"],
        board.comparison.by_dataset.loc["coral"][found.by_dataset.columns],
    )
    mean = found.by_dataset.loc["coral"].mean()
    assert found.effects[0].effect == pytest.approx(mean)


def test_data_that_a_setting_was_searched_on_for_a_paper_are_left_out():
    """COIL-20 is left out where JDA is, and no other board's data."""
    gains = {"source_only": 0.0, "jda": 0.1}
    views = [tuned_view(f"tuned_no_labels_{n}", gains, trials=2) for n in ("coil", "gas")]
    board = board_of("no_target_labels", views)
    assert searched_on(board) == ["coil20"]
    assert list(compare_untouched(board).by_dataset) == ["gas_drift"]


def test_the_best_baseline_is_that_of_the_other_data_sets():
    by = {("pca", "office_caltech_surf"): 0.6}
    board = made_board(by_dataset=by)
    assert board.comparison.reference == "pca"
    assert compare_untouched(board).reference == "source_only"
