"""Kinds of shift: gains by slow loops, the reference, what is lost, who is left out."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from tests.workflow.board_example import suite
from tests.workflow.shift_example import (
    BARRED,
    EQUAL,
    LOSSES,
    SEVERITIES,
    SHARES,
    shift_view,
    two_plain_view,
)
from workflow.lib.results.shifts import NONE, Shifts, harms, rule, why_nothing
from workflow.lib.results.significance import holm
from workflow.lib.results.views import ExperimentView


def slow(view, method, kind, severity):
    """Scores by trial of one method under one shift."""
    target = f"shifts.{kind}_{round(100 * severity):03d}" if severity else "shifts.none_000"
    rows = view.records[(view.records["target"] == target) & (view.records["method"] == method)]
    return rows.sort_values("trial")["accuracy"].to_numpy()


def kind_of(shifts, name):
    return next(kind for kind in shifts.kinds if kind.name == name)


def test_gains_are_those_of_slow_loops():
    view = shift_view()
    shifts = Shifts(view)
    assert [kind.name for kind in shifts.kinds] == list(LOSSES)
    for kind in shifts.kinds:
        assert kind.reference == "source_only"
        for method in ("sma", "fma_i"):
            gains = [
                slow(view, method, kind.name, level) - slow(view, "source_only", kind.name, level)
                for level in SEVERITIES
            ]
            full, overall = gains[-1], np.mean(gains, axis=0)
            effect = kind.effect(method)
            assert effect.effect == pytest.approx(full.mean())
            error = full.std(ddof=1) / np.sqrt(len(full))
            assert effect.standard_error == pytest.approx(error)
            assert (effect.freedom, effect.n_judged) == (4, 1)
            assert harms(effect) == (full.mean() < -error)
            assert kind.effect(method, overall=True).effect == pytest.approx(overall.mean())
            spread = overall.std(ddof=1) / np.sqrt(len(overall))
            assert kind.effect(method, overall=True).standard_error == pytest.approx(spread)


def test_the_loss_is_that_from_no_shift_to_the_highest():
    view = shift_view()
    kind = kind_of(Shifts(view), "rotation")
    lost = slow(view, "source_only", NONE, 0) - slow(view, "source_only", "rotation", 1.0)
    assert kind.loss.effect == pytest.approx(lost.mean())
    assert kind.hurts
    best = kind.effect("sma")
    assert kind.share(best) == pytest.approx(best.effect / lost.mean())
    unhurt = kind_of(Shifts(view), "label")
    assert unhurt.hurts is False
    assert unhurt.share(unhurt.effect("sma")) is None


def test_where_another_is_best_under_the_shift_the_loss_is_from_best_to_best():
    view = two_plain_view()
    shifts = Shifts(view)
    kind = kind_of(shifts, "rotation")
    assert (kind.unshifted, kind.reference) == ("source_only", "target_only")
    lost = slow(view, "source_only", NONE, 0) - slow(view, "target_only", "rotation", 1.0)
    assert kind.loss.effect == pytest.approx(lost.mean())
    assert kind.loss.standard_error == pytest.approx(lost.std(ddof=1) / np.sqrt(len(lost)))
    own = slow(view, "target_only", NONE, 0) - slow(view, "target_only", "rotation", 1.0)
    assert lost.mean() > own.mean() + 0.05
    concept = kind_of(shifts, "concept")
    assert (concept.unshifted, concept.reference) == ("source_only", "source_only")


def test_of_equals_without_the_shift_the_reference_loses():
    view = two_plain_view()
    first = view.records["target"].str.endswith("none_000")
    view.records.loc[first, "accuracy"] = 0.75
    kind = kind_of(Shifts(view), "rotation")
    assert kind.unshifted == kind.reference == "target_only"


def test_losses_are_corrected_for_the_number_of_kinds():
    losses = [kind.loss for kind in Shifts(shift_view()).kinds if kind.loss]
    assert len(losses) > 1
    assert [loss.p_holm for loss in losses] == pytest.approx(holm([loss.p for loss in losses]))
    assert any(loss.p_holm > loss.p for loss in losses)


def test_who_helps_and_who_harms():
    shifts = Shifts(shift_view())
    rotation, concept, label = (kind_of(shifts, name) for name in LOSSES)
    assert [e.method for e in rotation.full if e.surely_above] == ["sma", "fma_i"]
    assert not any(effect.surely_above for effect in concept.full)
    assert harms(concept.effect("sma"))
    assert harms(label.effect("fma_i"))
    assert not any(harms(effect) for effect in rotation.full)


def test_the_rule_says_how_often_a_method_equal_to_the_reference_harms():
    """P(t < -1) with n - 1 degrees of freedom: 18.7 % of five trials, 21.1 % of three."""
    five, three, one = (Shifts(shift_view(trials=trials)) for trials in (5, 3, 1))
    assert five.harmed_by_chance == pytest.approx(scipy.stats.t.cdf(-1, 4))
    told = (
        "Harm: below the reference by more than the standard error. A method that is "
        "equal to the reference harms by chance on {} % of the kinds. Best baseline: "
    )
    assert told.format("18.7") in rule([five])
    assert told.format("18.7") in rule([five, five])
    assert told.format("18.7 or 21.1") in rule([five, three])
    assert "by more than the standard error. Best baseline: " in rule([one])


def test_the_best_that_adapts_nothing_may_be_another_over_all_severities():
    view = shift_view(shares={"source_only": {}, "target_only": {"rotation": -0.1}, "sma": {}})
    records = view.records
    mild = (records["method"] == "target_only") & (records["target"] == "shifts.rotation_040")
    records.loc[mild, "accuracy"] += 0.5
    kind = kind_of(Shifts(view), "rotation")
    assert (kind.reference, kind.overall_reference) == ("source_only", "target_only")
    assert kind.effect("target_only", overall=True) is None
    assert kind.effect("source_only", overall=True).effect < 0


def test_the_order_of_methods_and_records_changes_nothing():
    view = shift_view()
    other = shift_view()
    other.records.sort_values(["method", "trial", "target"], ascending=False, inplace=True)
    for one, two in zip(Shifts(view).kinds, Shifts(other).kinds, strict=True):
        assert (one.full, one.overall, one.loss) == (two.full, two.overall, two.loss)


def test_the_best_that_adapts_nothing_is_the_reference_of_each_kind(monkeypatch):
    from tests.workflow import shift_example

    plain = shift_example.ENTRIES["source_only"]
    monkeypatch.setitem(shift_example.ENTRIES, "target_only", {**plain, "label": "Target alone"})
    shares = {"source_only": {}, "target_only": {"rotation": 0.25, "concept": -0.3, "label": -0.3},
              "sma": SHARES["sma"]}  # fmt: skip
    shifts = Shifts(shift_view(shares=shares))
    assert [kind.reference for kind in shifts.kinds] == ["target_only", "source_only",
                                                         "source_only"]  # fmt: skip
    assert shifts.plain == ["source_only", "target_only"]
    assert shifts.aligning == ["sma"]


def test_the_bar_is_the_best_of_all_baselines_of_each_kind():
    """PCA that wins back as much as a method does is what the method has to clear."""
    view = shift_view(shares=BARRED)
    rotation, concept, label = Shifts(view).kinds
    assert [kind.bar for kind in (rotation, concept, label)] == ["pca", *["source_only"] * 2]
    assert {kind.reference for kind in (rotation, concept, label)} == {"source_only"}
    assert (rotation.bar_gain.method, concept.bar_gain) == ("pca", None)
    over = {effect.method: effect for effect in rotation.over_bar}
    lead = slow(view, "sma", "rotation", 1.0) - slow(view, "pca", "rotation", 1.0)
    assert over["sma"].effect == pytest.approx(lead.mean())
    assert over["source_only"].effect == pytest.approx(-rotation.bar_gain.effect)
    assert (rotation.clears("sma"), rotation.clears("fma_i")) == (True, False)
    assert rotation.effect("fma_i").surely_above, "over no adaptation"
    assert concept.over_bar == concept.full, "no baseline is above no adaptation"
    equal = Shifts(shift_view(shares=EQUAL)).kinds[0]
    assert not any(equal.clears(method) for method in ("sma", "fma_i"))


def test_of_equal_baselines_the_reference_is_the_bar():
    """The first by its name, PCA, would be said to gain 0.0 points."""
    view = shift_view(noise=0.0, shares={**SHARES, "pca": dict.fromkeys(LOSSES, 0.0)})
    assert {kind.bar for kind in Shifts(view).kinds} == {"source_only"}


def test_baselines_of_the_boards_that_were_not_run_are_known():
    barred, alone = Shifts(shift_view(shares=BARRED)), Shifts(shift_view())
    alone.view.suite.methods.update(barred.view.suite.methods)
    assert (barred.not_run, alone.not_run) == ([], ["pca"])


@pytest.mark.parametrize("name", ["shifts", "shifts_few_labels"])
def test_on_the_page_every_baseline_that_applies_is_run(name):
    """Those of the target alone have nothing to learn from where it shows no label."""
    whole = suite().experiments[name]
    assert Shifts(ExperimentView(whole, suite(), pd.DataFrame())).not_run == []
    few = dataclasses.replace(whole, methods=("source_only", "fma_i"))
    lacking = ["pca", "kernel_pca"]
    if name == "shifts_few_labels":
        lacking += ["target_pca", "target_kernel_pca"]
    found = Shifts(ExperimentView(few, suite(), pd.DataFrame())).not_run
    assert sorted(found) == sorted(lacking)


def test_a_method_that_failed_is_left_out_of_that_kind_alone():
    shifts = Shifts(shift_view(failed=[("sma", "rotation", 2)]))
    rotation, concept, _ = shifts.kinds
    assert rotation.effect("sma") is None
    assert rotation.left_out == {"sma": "complete on 0 of 1 task"}
    assert rotation.effect("fma_i") is not None
    assert concept.effect("sma") is not None
    assert np.isnan(shifts.curves("rotation").loc[1.0, "sma"])


def test_a_kind_without_a_reference_says_why():
    failed = [("source_only", "rotation", trial) for trial in range(5)]
    shifts = Shifts(shift_view(failed=failed))
    assert shifts.kinds[0].why
    assert not shifts.kinds[0].full
    assert not shifts.kinds[1].why
    assert why_nothing([shifts]) == ""


def test_nothing_at_all_says_why():
    failed = [("source_only", kind, t) for kind in (*LOSSES, NONE) for t in range(5)]
    assert "none of source_only" in why_nothing([Shifts(shift_view(failed=failed))])
    assert why_nothing([]) == "no experiment has kinds of shift"


def test_one_trial_has_gains_and_no_certainty():
    kind = Shifts(shift_view(trials=1)).kinds[0]
    assert kind.effect("sma").effect == pytest.approx(0.2, abs=0.05)
    assert kind.effect("sma").low is None
    assert kind.hurts is None
    assert not any(effect.surely_above or harms(effect) for effect in kind.full)


def test_a_kind_may_have_its_own_unshifted_target():
    view = shift_view()
    own = view.records["target"] == "shifts.rotation_040"
    view.suite.datasets["shifts"]["domains"]["rotation_040"]["params"]["severity"] = 0.0
    shifts = Shifts(view)
    base = view.records[own & (view.records["method"] == "source_only")]["accuracy"].mean()
    assert shifts.curves("rotation").loc[0.0, "source_only"] == pytest.approx(base)
    assert list(shifts.curves("rotation").index) == [0.0, 1.0]
    assert list(shifts.curves("concept").index) == [0.0, 0.4, 1.0]


def test_a_method_that_failed_at_one_severity_has_no_gain_over_all():
    view = shift_view()
    records = view.records
    failed = (records["method"] == "sma") & (records["target"] == "shifts.rotation_040")
    assert failed.any()
    records.loc[failed, ["status", "accuracy"]] = ["timeout", None]
    kind = Shifts(view).kinds[0]
    assert kind.effect("sma") is not None
    assert kind.effect("sma", overall=True) is None
