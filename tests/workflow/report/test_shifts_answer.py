"""Sentences on kinds of shift: who wins back what, who harms, and where nobody does."""

import dataclasses

import pytest

from tests.workflow.shift_example import BARRED, EQUAL, shift_view, two_plain_view
from workflow.lib.report.shifts_answer import _taken, answers
from workflow.lib.results.shifts import Shifts, harms
from workflow.lib.results.text import interval, signed


def told(**changed):
    return dict(answers(Shifts(shift_view(**changed))))


def test_a_shift_that_is_undone_names_who_does():
    shifts = Shifts(shift_view())
    kind = shifts.kinds[0]
    line = dict(answers(shifts))["Rotation"]
    best = kind.full[0]
    assert f"No adaptation loses {100 * kind.loss.effect:.1f} points." in line
    assert f"Use SMA: +{100 * best.effect:.1f} points" in line
    assert f"{100 * best.effect / kind.loss.effect:.0f} % of the loss" in line
    assert line.endswith("FMA-I surely gains too.")


def test_where_another_is_best_under_the_shift_both_are_named_with_their_accuracy():
    shifts = Shifts(two_plain_view())
    kind, line = shifts.kinds[0], dict(answers(shifts))["Rotation"]
    curves = shifts.curves("rotation")
    first, last = curves["source_only"].iloc[0], curves["target_only"].iloc[-1]
    assert line.startswith(
        f"The best without adaptation loses {100 * kind.loss.effect:.1f} points: "
        f"{100 * first:.1f} % without the shift (No adaptation), {100 * last:.1f} % under all of "
        "it (No adaptation (target)). "
    )
    assert 100 * (first - last) == pytest.approx(100 * kind.loss.effect)


def test_a_shift_that_nobody_undoes_says_so():
    line = told()["Moved concept"]
    assert "No method surely undoes any of it; the best, FMA-I: " in line
    assert line.endswith("SMA surely harms.")


def test_where_nothing_is_lost_there_is_harm_alone():
    line = told()["Label shift"]
    gain = -100 * Shifts(shift_view()).kinds[2].loss.effect
    assert line.startswith(
        f"No adaptation loses nothing: with the shift it is {gain:.1f} points better. "
    )
    assert "FMA-I" in line.rpartition("; the best")[2]
    assert line.endswith(" FMA-I surely harms. SMA harms, not surely.")


def test_a_loss_that_is_not_sure_is_told_with_its_interval():
    shifts = Shifts(shift_view())
    kind = shifts.kinds[0]
    loss = dataclasses.replace(kind.loss, p_holm=0.2)
    line = _taken(shifts, dataclasses.replace(kind, loss=loss))
    ends = interval(loss.low, loss.high, plus=False)
    assert f"loses {100 * loss.effect:.1f} points, not surely ({ends}; p = 0.200)." in line
    assert "+" not in line
    none = dataclasses.replace(loss, effect=-0.0001)
    unmoved = _taken(shifts, dataclasses.replace(kind, loss=none, full=()))
    assert unmoved.endswith(" loses nothing.")


def test_more_than_the_loss_is_all_of_it():
    shares = {"source_only": {}, "sma": {"rotation": 0.4, "concept": 0.0, "label": 0.0}}
    assert ", all of the loss." in told(shares=shares)["Rotation"]


def test_over_all_kinds():
    lines = answers(Shifts(shift_view()))
    assert lines[0] == (
        "Over all kinds",
        "SMA and FMA-I are surely above the best baseline on 1 of 3 kinds each, more than any "
        "other method. Every method is surely below no adaptation on some kind.",
    )
    good = {"source_only": {}, "sma": {"rotation": 0.2, "concept": 0.1, "label": 0.1}}
    assert told(shares=good)["Over all kinds"] == (
        "SMA is surely above the best baseline on 3 of 3 kinds, more than any other method. SMA "
        "harms on none."
    )


def test_harm_on_none_is_said_of_the_kinds_on_which_a_method_ran():
    failed = [("fma_i", kind, 0) for kind in ("concept", "label")]
    over_all = told(failed=failed)["Over all kinds"]
    assert over_all.endswith("FMA-I (1) harms on none of the kinds on which it could be compared.")
    good = {"source_only": {}, "sma": {}, "fma_i": {}}
    good["sma"] = good["fma_i"] = {"rotation": 0.2, "concept": 0.1, "label": 0.1}
    assert told(failed=failed, shares=good)["Over all kinds"].endswith(
        " SMA harms on none. FMA-I (1) harms on none of the kinds on which it could be compared."
    )


def test_a_gain_of_one_trial_is_no_loss():
    shifts = Shifts(shift_view())
    kind = shifts.kinds[2]
    loss = dataclasses.replace(kind.loss, effect=-0.008, p_holm=None)
    line = _taken(shifts, dataclasses.replace(kind, loss=loss))
    assert line.endswith("loses nothing: with the shift it is 0.8 points better.")


# Under a moved concept SMA is below by more than one standard error, and not surely.
DOUBTFUL = {
    "source_only": {},
    "sma": {"rotation": 0.2, "concept": -0.006, "label": 0.1},
    "fma_i": {"rotation": 0.1, "concept": -0.1, "label": -0.1},
}


def test_harm_that_is_not_sure_is_told_as_such_beside_its_chance():
    """Of five trials a method equal to the reference harms with P(t < -1) = 18.7 %."""
    shifts = Shifts(shift_view(shares=DOUBTFUL))
    effect = shifts.kinds[1].effect("sma")
    assert harms(effect)
    assert not effect.surely_below
    lines = dict(answers(shifts))
    assert lines["Over all kinds"].endswith(
        "Every method is below no adaptation by more than the error on some kind (by chance alone "
        "on 18.7 % of them); surely below on some: FMA-I."
    )
    assert lines["Moved concept"].endswith(" FMA-I surely harms. SMA harms, not surely.")
    said = told(shares={"source_only": {}, "sma": {**DOUBTFUL["sma"], "concept": -0.015}})
    assert said["Over all kinds"].endswith("surely below on some: none.")
    assert said["Moved concept"].endswith("SMA harms, not surely.")


def test_where_most_are_surely_below_the_others_are_named():
    shares = {**DOUBTFUL, "arc_t": DOUBTFUL["fma_i"]}
    said = told(shares=shares)["Over all kinds"]
    assert said.endswith("surely below on some: all but SMA.")


def test_what_only_equals_the_best_baseline_is_not_advised():
    """SMA wins back two thirds of the loss, and so does PCA, which aligns nothing."""
    shifts = Shifts(shift_view(shares=EQUAL))
    line, kind = dict(answers(shifts))["Rotation"], shifts.kinds[0]
    assert f"The best baseline, PCA: {signed(100 * kind.bar_gain.effect)} points (" in line
    assert "Use " not in line
    best = next(effect for effect in kind.over_bar if effect.method == "sma")
    told = f"No method is surely above it; the best, SMA: {signed(100 * best.effect)} points ("
    assert told in line
    assert ") against it, p = " in line
    assert line.endswith(
        "SMA and FMA-I surely gain over no adaptation; above the best baseline, not surely, is SMA "
        "alone."
    )
    concept = dict(answers(shifts))["Moved concept"]
    assert ". It is the best baseline. No method surely undoes any of it; the best, " in concept


def test_what_is_above_the_best_baseline_is_advised_by_what_it_has_more():
    shifts = Shifts(shift_view(shares=BARRED))
    line, kind = dict(answers(shifts))["Rotation"], shifts.kinds[0]
    lead, gain = kind.over_bar[0], kind.effect("sma")
    assert f"Use SMA: {signed(100 * lead.effect)} points (" in line
    share = f"{100 * gain.effect / kind.loss.effect:.0f} % of the loss."
    assert f") over it, {signed(100 * gain.effect)} over no adaptation, {share}" in line
    assert line.endswith(
        "FMA-I surely gains over no adaptation; none of them is above the best baseline."
    )
    shares = {**BARRED, "fma_i": {"rotation": 0.22, "concept": 0.0, "label": -0.1}}
    both = told(shares=shares)["Rotation"]
    assert both.endswith("SMA is surely above it too.")


def test_a_bar_that_lacks_baselines_of_the_boards_is_said_to_be_lower():
    barred, alone = Shifts(shift_view(shares=BARRED)), Shifts(shift_view())
    alone.view.suite.methods.update(barred.view.suite.methods)
    assert "not run here" not in dict(answers(barred))["Over all kinds"]
    assert dict(answers(alone))["Over all kinds"].endswith(
        "PCA was not run here: the best baseline is the best that adapts nothing, a lower bar than "
        "that of the boards."
    )


def test_one_trial_is_sure_of_nothing():
    lines = told(trials=1)
    assert lines["Over all kinds"] == (
        "No method is surely above the best baseline on any kind. One trial cannot tell harm."
    )
    assert "without an error to test it by" in lines["Rotation"]


def test_what_could_not_be_compared_is_said():
    failed = [("source_only", "rotation", trial) for trial in range(5)]
    assert told(failed=failed)["Rotation"].startswith("Nothing could be compared: none of")
    alone = told(shares={"source_only": {}, "sma": {}}, failed=[("sma", "rotation", 0)])
    assert alone["Rotation"].startswith("Nothing could be compared")
