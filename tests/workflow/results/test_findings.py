"""Findings on made-up records: each condition true and false, its numbers, what was not run."""

import dataclasses

import numpy as np
import pytest
import scipy.stats

from tests.workflow.board_example import GAPS, made_board, tuned_view
from tests.workflow.report_example import shared_curves, undefined_curves
from tests.workflow.shift_example import EQUAL, shift_view
from workflow.lib.report.board_answer import answers
from workflow.lib.report.board_page import board_of
from workflow.lib.results import findings as module
from workflow.lib.results.best_way import best_way, pair_of
from workflow.lib.results.findings import finding, findings
from workflow.lib.results.material import (
    ANY_WAY,
    CORRELATION,
    LARGEST,
    LESS,
    MORE,
    SECONDS,
    SMALLEST,
    Material,
    sorted_out,
)
from workflow.lib.results.power import detectable_difference
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.text import signed

pytestmark = pytest.mark.whole_run

HELPS = {"source_only": 0.0, "pca": -0.02, "coral": 0.1, "tca": -0.15}
HARMS = {"source_only": 0.0, "coral": -0.1, "tca": -0.2}
SAME = dict.fromkeys(("source_only", "coral", "tca"), 0.0)
SEVERAL = {"source_only": 0, "coral": 0.1, "tca": 0.15, "gfk": 0.2, "jda": 0.25, "ot_exact": 0.3}


def material(**changed):
    return sorted_out([made_board(**changed)])


def one(name, of):
    return finding(getattr(module, name), of)


def labelled(without, few):
    """Boards without and with few target labels, of two data sets of which one is common."""
    names = [("no", "surf"), ("no", "coil"), ("few", "surf")]
    views = {
        name: tuned_view(
            f"tuned_{name[0]}_labels_{name[1]}", without if name[0] == "no" else few, trials=2
        )
        for name in names
    }
    boards = (("no", "no_target_labels"), ("few", "few_target_labels"))
    return sorted_out(
        board_of(board, [view for place, view in views.items() if place[0] == kind])
        for kind, board in boards
    )


def test_twelve_at_most_each_once_with_a_condition():
    found = findings(material())
    assert len(found) == len({finding.name for finding in found}) == 12
    assert all(getattr(module, finding.name).__doc__ for finding in found)


def test_nothing_run_decides_nothing():
    assert all(finding.holds is None for finding in findings(Material(())))
    assert not any(finding.numbers for finding in findings(Material(())))


def test_alignment_helps_or_does_not():
    board = made_board()
    found = one("alignment_helps", sorted_out([board]))
    number, untuned, way = found.numbers
    best = board.comparison.effects[0]
    assert found.holds
    own = board.aligning(board.compared_by("default"))[0]
    assert (untuned.about, untuned.value) == ((own.method, "source_only", "default"), own.effect)
    assert number.about == ("coral", "source_only")
    assert (number.value, number.low, number.high) == (best.effect, best.low, best.high)
    assert number.counts == (2, 1, 1, 1)
    worse = one("alignment_helps", material(gains=HARMS))
    assert not worse.holds
    assert worse.numbers[0].counts == (2, 0, 0, 2)
    assert one("alignment_helps", material(gains=SAME, noise=0.05)).holds is False
    ways = best_way(board)
    assert way.value == ways.sure[0].effect
    assert way.about == (
        *pair_of(ways.sure[0]),
        ways.baseline,
        ways.baseline_choice,
        ANY_WAY,
    )
    assert way.counts == (ways.n_pairs, len(ways.sure))
    assert worse.numbers[-1].value == best_way(made_board(gains=HARMS)).best.effect
    alone = one("alignment_helps", material(gains={"source_only": 0.0, "pca": 0.1}))
    assert alone.holds is None


def test_tuning_alone_helps_or_does_not():
    board = made_board()
    found = one("tuning_alone_helps", sorted_out([board]))
    (number,) = found.numbers
    row = next(row for row in board.rows if row.method == "source_only")
    assert found.holds
    assert number.value == pytest.approx(row.scores["accuracy"] - row.by_choice["default"])
    assert number.surely_above
    assert number.about == ("source_only", "source_only")
    worse = one("tuning_alone_helps", material(gaps={**GAPS, "default": 0.0}))
    assert not worse.holds
    assert worse.numbers[0].high < 0


def test_tuning_alone_is_told_alike_by_the_board_and_by_the_findings():
    """On the tasks that the board compares, though the baseline has scores on one more."""
    tasks = [task.name for task in tuned_view().experiment.tasks]
    lacking = {("coral", tasks[0], None): range(9)}
    board = made_board(lacking=lacking, noise=0.05)
    assert [task for _, task in board.comparison.tasks_left_out] == tasks[:1]
    (number,) = one("tuning_alone_helps", sorted_out([board])).numbers
    told = dict(answers(board))["What does tuning alone give?"]
    assert f"{signed(100 * number.value)} points" in told


def test_where_the_board_cannot_tell_what_tuning_alone_gives_the_findings_do_not():
    task = tuned_view().experiment.tasks[0].name
    gone = {(name, task, "default"): range(9) for name in ("source_only", "pca")}
    board = made_board(lacking=gone)
    assert "Cannot be told" in dict(answers(board))["What does tuning alone give?"]
    assert one("tuning_alone_helps", sorted_out([board])).holds is None


def test_labels_end_the_gain_or_do_not():
    found = one("labels_end_the_gain", labelled(HELPS, HARMS))
    assert found.holds
    assert [number.place for number in found.numbers] == ["no_target_labels", "few_target_labels"]
    assert [number.counts[2] for number in found.numbers] == [1, 0]
    both = labelled(HELPS, HELPS)
    assert not one("labels_end_the_gain", both).holds
    common = [board.scores(board.chosen_by) for board in both.boards]
    mine = common[0][common[0]["dataset"] == "office_caltech_surf"]
    gain = np.mean([
        mine[mine["method"] == "coral"].groupby("task")["value"].mean().mean()
        - mine[mine["method"] == "source_only"].groupby("task")["value"].mean().mean()
    ])  # fmt: skip
    found = one("labels_end_the_gain", both)
    assert found.numbers[0].value == pytest.approx(gain), "on the common data set alone"
    assert one("labels_end_the_gain", material()).holds is None, "the boards were not run"


def test_each_number_of_labels_has_the_best_gain_with_it():
    curve = shared_curves(trials=5)  # its quantity stands for the labels
    found = one("labels_end_the_gain", Material((), (), (curve,)))
    assert not found.holds
    assert [number.counts for number in found.numbers] == [(x,) for x in curve.settings]
    last = curve.records[curve.records["setting"] == 1]
    means = last.groupby("method")["accuracy"].mean()
    assert found.numbers[-1].about == (means.idxmax(),)
    assert found.numbers[-1].value == pytest.approx(means.max() - means["plain"])
    assert found.numbers[-1].surely_above
    assert not found.numbers[0].surely_above
    alike = one("labels_end_the_gain", Material((), (), (curves_of(curve, 0.1),)))
    assert alike.holds, "where labels are few nobody is surely above"


def test_one_label_per_class_has_a_gain_by_the_criterion_that_is_left():
    found = one("labels_end_the_gain", Material((), (), (undefined_curves(),)))
    assert [number.counts for number in found.numbers] == [(1,), (3,)]
    assert [number.about for number in found.numbers] == [
        ("fma_i", "source_accuracy"),
        ("fma_i",),
    ]


def curves_of(view, setting):
    """The same where no more than one value was tried."""
    records = view.records[view.records["setting"] == setting]
    vary = {**view.experiment.vary, "values": [setting]}
    experiment = dataclasses.replace(view.experiment, vary=vary)
    return dataclasses.replace(view, experiment=experiment, records=records)


def test_data_sets_differ_or_do_not():
    board = made_board(by_dataset={("coral", "office_caltech_surf"): 0.4})
    found = one("data_sets_differ", sorted_out([board]))
    roles = {role: number for number in found.numbers for role in number.about[2:]}
    most, least = roles[LARGEST], roles[SMALLEST]
    assert most.about == ("office_caltech_surf", "coral", LARGEST, MORE)
    assert roles[LESS].about[0] == "mnist_usps", "whose tasks do not all have one source"
    by_dataset = board.comparison.by_dataset.loc["coral"]
    assert (most.value, least.value) == (by_dataset.max(), by_dataset.min())
    assert least.about[0] == by_dataset.idxmin()
    assert one("data_sets_differ", material(gains=SAME, noise=0.05)).holds is False
    assert most.counts[:2] == (3, 3)
    single = sorted_out([made_board("no_target_labels", "tuned_no_labels_coil")])
    assert one("data_sets_differ", single).holds is None


def test_a_data_set_whose_tasks_have_one_source_is_not_told_apart():
    """Drift has one batch as the source of all tasks, and what that batch adds is in no error."""
    gains, lost = {"source_only": 0.0, "coral": 0.02}, {("coral", "gas_drift"): -0.3}
    view = tuned_view(gains=gains, by_dataset=lost)
    task = next(t for t in view.experiment.tasks if t.target.dataset == "mnist_usps")
    mine = (view.records["method"] == "coral") & (view.records["task"] == task.name)
    view.records.loc[mine, "accuracy"] += 0.5
    numbers = one("data_sets_differ", sorted_out([board_of("quick", [view])])).numbers
    assert [(number.about[0], number.about[2:]) for number in numbers] == [
        ("mnist_usps", (LARGEST,)),
        ("gas_drift", (SMALLEST,)),
    ]
    assert [number.counts for number in numbers] == [(2, 3, 1), (2, 3, 2)]


def test_a_method_never_harms_or_none_does():
    found = one("never_harms", material())
    assert found.holds
    assert [number.about for number in found.numbers] == [("coral",)]
    assert found.numbers[0].counts == (0, 9)
    expected = scipy.stats.binomtest(0, 9).proportion_ci()
    assert (found.numbers[0].low, found.numbers[0].high) == (expected.low, expected.high)
    chance = scipy.stats.t.cdf(-1, 2)
    p = scipy.stats.binomtest(0, 9, chance).pvalue
    assert found.numbers[0].of == pytest.approx(chance)
    assert found.numbers[0].p == pytest.approx(p), "TCA's is smaller"
    both = one("never_harms", material(gains={**HELPS, "tca": 0.1}))
    assert [number.p for number in both.numbers] == pytest.approx([2 * p, 2 * p])
    assert found.numbers[0].place == "quick"
    boards = [made_board(), made_board("no_target_labels", "tuned_no_labels_coil", gains=HARMS)]
    several = one("never_harms", sorted_out([boards[0]]))
    assert several.holds
    of_both = one("never_harms", Material(tuple(boards)))
    assert not of_both.holds, "a board with harm is not made good by another without"
    (best,) = [number for number in of_both.numbers if not number.value]
    assert best.place == "quick"
    assert best.p == pytest.approx(p), "corrected for the methods of its own board"
    worse = one("never_harms", material(gains=HARMS))
    assert not worse.holds
    assert worse.numbers[0].value == 1.0
    assert one("never_harms", material(trials=1)).holds is None, "one trial cannot tell"


def test_choice_costs_more_than_alignment_gains_or_less():
    board = made_board()
    found = one("choice_costs_more_than_alignment_gains", sorted_out([board]))
    gaps = {e.method: -e.effect for e in board.selection.comparison.effects}
    chosen, blind = found.numbers
    assert not found.holds
    assert (chosen.value, blind.value) == (gaps["circular"], gaps["average"])
    assert chosen.low < chosen.value < chosen.high
    costly = material(gains={"source_only": 0, "coral": 0.02}, gaps={**GAPS, "circular": 0.2})
    assert one("choice_costs_more_than_alignment_gains", costly).holds


def test_the_fixed_selector_is_nearest_or_another():
    found = one("fixed_selector_is_nearest", material())
    assert not found.holds
    assert found.numbers[0].about == ("class_ami",)
    assert found.numbers[0].counts[0] == 2
    first = material(gaps={**GAPS, "circular": 0.0})
    assert one("fixed_selector_is_nearest", first).holds
    assert one("fixed_selector_is_nearest", first).numbers[0].counts[0] == 1


def test_what_is_nearer_than_every_selector_is_told():
    kept = material(gaps={**GAPS, "default": 0.0})
    nearest, *without = one("fixed_selector_is_nearest", kept).numbers
    assert nearest.counts
    assert ("default",) in [number.about for number in without]
    assert all(number.value < nearest.value and not number.counts for number in without)
    assert len(one("fixed_selector_is_nearest", material()).numbers) == 1


def test_a_selector_is_worse_than_no_tuning_or_none_is():
    found = one("selectors_below_untuned", material())
    assert found.holds
    assert found.numbers[0].about == ("entropy",), "the worst comes first"
    assert all(number.high < 0 for number in found.numbers)
    gaps = dict.fromkeys(made_board().selectors, 0.02) | {"default": 0.1}
    none = one("selectors_below_untuned", material(gaps={**GAPS, **gaps}))
    assert not none.holds
    assert len(none.numbers) == 1
    lacking = {(method, None, "default"): range(9) for method in HELPS}
    assert one("selectors_below_untuned", material(lacking=lacking)).holds is None


def test_the_order_untuned_differs_or_does_not():
    board = made_board(gains=SEVERAL)
    chosen = board.records["classifier"] == "default"
    worst = chosen & (board.records["method"] == "source_only")
    assert one("untuned_order_differs", sorted_out([board])).holds is False
    view = tuned_view(gains=SEVERAL)
    view.records.loc[worst, "accuracy"] += 0.4
    turned = board_of("quick", [view])
    found = one("untuned_order_differs", sorted_out([turned]))
    (number,) = found.numbers
    pairs = [(row.by_choice["default"], row.scores["accuracy"]) for row in turned.rows]
    assert found.holds
    assert number.about == ("source_only", "ot_exact")
    tier = turned.comparison.tier("source_only")
    of_tier = turned.comparison.tiers[tier - 1]
    assert number.counts == (6, 6, tier, len(of_tier))
    assert number.counts[2] > 1
    assert number.value == pytest.approx(scipy.stats.spearmanr(*zip(*pairs, strict=True)).statistic)
    assert number.low < number.value < number.high


def test_seconds_buy_accuracy_or_do_not():
    found = one("seconds_buy_accuracy", material())
    correlation, cheapest = found.numbers
    assert not found.holds
    assert (correlation.value, correlation.unit) == (-1.0, CORRELATION)
    assert (cheapest.about, cheapest.unit) == (("coral",), SECONDS)
    seconds = {"coral": 1, "tca": 2, "gfk": 4, "jda": 3, "ot_exact": 5, "subspace_alignment": 6}
    view = tuned_view(gains={**SEVERAL, "subspace_alignment": 0.35}, trials=2)
    view.records["seconds"] = view.records["method"].map(seconds).astype(float)
    found = one("seconds_buy_accuracy", sorted_out([board_of("quick", [view])]))
    assert found.holds
    assert found.numbers[0].value == pytest.approx(1 - 6 * 2 / (6 * 35))
    assert found.numbers[0].low > 0
    view.records["seconds"] = view.records["method"].map(seconds | {"gfk": 2.5}).astype(float)
    agreed = one("seconds_buy_accuracy", sorted_out([board_of("quick", [view])]))
    assert agreed.holds, "all ranks agree: there is no interval, and no doubt"
    assert (agreed.numbers[0].value, agreed.numbers[0].low) == (1.0, None)


def test_small_gains_stay_hidden_or_not():
    found = one("small_gains_stay_hidden", material())
    best, other = made_board().aligning()
    middle = max(best, other, key=lambda effect: effect.detectable)  # of two
    assert not found.holds
    (number,) = found.numbers
    assert (number.value, number.of) == (middle.detectable, best.effect)
    tails = [scipy.stats.chi2.ppf(tail, middle.freedom) for tail in (0.975, 0.025)]
    errors = [middle.standard_error * (middle.freedom / tail) ** 0.5 for tail in tails]
    n_tests = len(made_board().comparison.effects)
    ends = [detectable_difference(error, middle.freedom, n_tests) for error in errors]
    assert [number.low, number.high] == pytest.approx([ends[0], min(ends[1], 1)])
    assert one("small_gains_stay_hidden", material(gains=SAME, noise=0.05)).holds


def test_shifts_without_remedy_or_with():
    bent = Shifts(shift_view())
    found = one("shifts_without_remedy", Material((), (bent,)))
    assert found.holds
    assert [number.about for number in found.numbers] == [("concept", "fma_i", "source_only")]
    assert found.numbers[0].of == bent.kinds[1].loss.effect
    shares = {"source_only": {}, "sma": {"rotation": 0.2, "concept": 0.1, "label": 0.0}}
    undone = one("shifts_without_remedy", Material((), (Shifts(shift_view(shares=shares)),)))
    assert not undone.holds
    least = ("concept", "sma", "source_only")
    assert undone.numbers[0].about == least, "the least share is won back there"
    equal = one("shifts_without_remedy", Material((), (Shifts(shift_view(shares=EQUAL)),)))
    rotation = equal.numbers[0]
    assert rotation.about == ("rotation", "sma", "pca"), "PCA wins back as much"
    assert rotation.value == Shifts(shift_view(shares=EQUAL)).kinds[0].over_bar[0].effect


def test_shifts_that_surely_take_nothing_are_a_finding():
    bent = Shifts(shift_view(kinds={"label": 0.0}))
    found = one("shifts_without_remedy", Material((), (bent,)))
    assert found.holds is False
    (most,) = found.numbers
    assert (most.about, most.counts) == (("label", "source_only"), ())


def test_a_finding_of_all_boards_needs_all():
    good = made_board()
    bad = made_board("no_target_labels", "tuned_no_labels_coil", gains=HARMS)
    both = Material((good, bad))
    assert one("alignment_helps", Material((good,))).holds
    assert not one("alignment_helps", both).holds
    numbers = one("alignment_helps", both).numbers
    assert [number.place for number in numbers] == ["quick", "no_target_labels"] * 3


def test_the_best_gain_is_that_of_the_best_method_also_where_another_is_surely_above():
    view = tuned_view(
        gains={"source_only": 0.0, "coral": 0.02, "tca": 0.0},
        gaps={**GAPS, "circular": 0.04},
        noise=0.004,
    )
    for place, task in enumerate(view.experiment.tasks):  # TCA: high and low in turn
        rows = (view.records["method"] == "tca") & (view.records["task"] == task.name)
        view.records.loc[rows, "accuracy"] += 0.30 if place % 2 else -0.15
    of = Material((board_of("quick", [view]),))
    effects = {effect.method: effect for effect in of.boards[0].comparison.effects}
    assert effects["tca"].effect > effects["coral"].effect
    assert effects["coral"].surely_above
    assert not effects["tca"].surely_above
    helps = one("alignment_helps", of)
    assert helps.holds
    assert helps.numbers[0].about[0] == "tca"
    loss, *_ = one("choice_costs_more_than_alignment_gains", of).numbers
    assert effects["coral"].effect < loss.value < effects["tca"].effect
    assert loss.counts == (0,)


def test_a_kind_that_surely_hurts_and_has_no_method_to_compare_is_no_harmless_one():
    shares = {"source_only": {}, "pca": {"rotation": -0.1, "label": -0.1}}
    shifts = Shifts(shift_view(shares=shares, kinds={"rotation": 0.3, "label": 0.0}))
    assert [kind.hurts for kind in shifts.kinds] == [True, False]
    found = one("shifts_without_remedy", Material((), (shifts,)))
    assert (found.holds, found.numbers) == (None, ())
