import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from workflow.lib.results.domain_jackknife import (
    TaskDomains,
    errors_of_dataset,
    mean_over_datasets,
)
from workflow.lib.results.effects import (
    COLUMNS,
    UncomparableError,
    compare,
)
from workflow.lib.results.significance import holm

GAINS = {"none": 0.0, "small": 0.01, "large": 0.2, "worse": -0.15, "twin": 0.2}


def made(datasets=(4, 3), n_trials=5, methods=GAINS, seed=0):
    """Scores of methods with given gains on all pairs of domains; "twin" equals "large"."""
    rng = np.random.default_rng(seed)
    rows = []
    for number, n_domains in enumerate(datasets):
        names = "ABCDEFGH"[:n_domains]
        level = dict(zip(names, rng.normal(0.5, 0.1, n_domains), strict=True))
        for source, target in itertools.permutations(names, 2):
            own = {m: gain + 0.02 * rng.normal() for m, gain in methods.items()}
            for trial in range(n_trials):
                shared = level[target] + 0.05 * rng.normal()
                scores = {m: shared + own[m] + 0.01 * rng.normal() for m in methods}
                if "twin" in methods:
                    scores["twin"] = scores["large"]
                place = (f"set{number}", source, target, f"{source}-{target}", trial)
                rows += [(*place, method, score) for method, score in scores.items()]
    return pd.DataFrame(rows, columns=COLUMNS)


def effect_of(found, method):
    return next(effect for effect in found.effects if effect.method == method)


def slow_effect(scores, method, reference):
    """Mean over data sets of the mean over tasks of the mean over trials, loop in loop."""
    by_dataset = []
    for _, one_set in scores.groupby("dataset"):
        by_task = []
        for _, task in one_set.groupby("task"):
            by_trial = []
            for _, trial in task.groupby("trial"):
                value = trial.set_index("method")["value"]
                by_trial.append(value[method] - value[reference])
            by_task.append(np.mean(by_trial))
        by_dataset.append(np.mean(by_task))
    return np.mean(by_dataset)


def slow_errors(scores, method, reference):
    parts = []
    for _, one_set in scores.groupby("dataset"):
        tasks, differences = [], []
        for _, task in one_set.groupby("task"):
            wide = task.pivot(index="trial", columns="method", values="value")
            tasks.append(
                TaskDomains(tuple(task["source"].iloc[0].split("+")), task["target"].iloc[0])
            )
            differences.append((wide[method] - wide[reference]).to_numpy()[:, None])
        parts.append(errors_of_dataset(tasks, differences))
    return mean_over_datasets(parts)


def test_effects_are_those_of_slow_loops():
    scores = made()
    # Data sets weigh alike, whatever their number of tasks; so do tasks with fewer trials.
    scores = scores[~((scores["task"] == "A-B") & (scores["trial"] > 1))]
    found = compare(scores, "none")
    assert (found.reference, found.n_tasks) == ("none", 18)
    for effect in found.effects:
        total = slow_errors(scores, effect.method, "none")
        assert effect.effect == pytest.approx(slow_effect(scores, effect.method, "none"))
        assert effect.standard_error == pytest.approx(total.variance[0] ** 0.5)
        assert effect.freedom == pytest.approx(total.freedom[0])
        t = scipy.stats.t(effect.freedom)
        assert effect.high - effect.effect == pytest.approx(t.ppf(0.975) * effect.standard_error)
        assert effect.effect - effect.low == pytest.approx(effect.high - effect.effect)
        assert effect.p == pytest.approx(2 * t.sf(abs(effect.effect) / effect.standard_error))
        level = 0.05 / len(found.effects)
        # A test that size would pass in 80 % of runs: so the t of the true difference is beyond.
        shifted = scipy.stats.nct(effect.freedom, effect.detectable / effect.standard_error)
        assert shifted.sf(t.ppf(1 - level / 2)) == pytest.approx(0.8)
    assert [e.p_holm for e in found.effects] == pytest.approx(holm([e.p for e in found.effects]))
    assert found.by_dataset.mean(axis=1).tolist() == pytest.approx(
        [effect.effect for effect in found.effects]
    )


def test_methods_stand_by_effect_and_in_tiers():
    found = compare(made(), "none")
    assert [effect.method for effect in found.effects][:2] == ["large", "twin"]
    assert found.tiers[0] == ("large", "twin")
    assert found.tiers[1] == ("small", "none") or found.tiers[1] == ("none", "small")
    assert found.tiers[2] == ("worse",)
    assert (found.tier("twin"), found.tier("worse")) == (1, 3)
    assert effect_of(found, "worse").harm == 1


def test_surely_is_a_p_below_five_percent_after_holm_with_its_sign():
    found = compare(made(), "none").effects
    told = {e.method: (e.surely_above, e.surely_below) for e in found}
    assert told["large"] == (True, False)
    assert told["worse"] == (False, True)
    for effect in found:
        assert effect.differs == (effect.p_holm < 0.05)
        barely = dataclasses.replace(effect, p=0.01, p_holm=0.051)
        assert not barely.differs
        assert not barely.surely_above


def test_the_order_of_rows_and_methods_changes_nothing():
    scores, rng = made(), np.random.default_rng(0)
    expected = compare(scores, "none")
    for _ in range(5):
        found = compare(scores.iloc[rng.permutation(len(scores))], "none")
        assert found.effects == expected.effects
        assert found.tiers == expected.tiers
        pd.testing.assert_frame_equal(found.by_dataset, expected.by_dataset)


def test_another_reference_turns_the_sign_and_keeps_the_tiers():
    scores = made()
    one, other = compare(scores, "none"), compare(scores, "large")
    assert effect_of(other, "none").effect == pytest.approx(-effect_of(one, "large").effect)
    assert effect_of(other, "none").p == pytest.approx(effect_of(one, "large").p)
    assert one.tiers == other.tiers


def test_the_best_of_several_baselines_is_the_reference():
    scores = made()
    assert compare(scores, ["worse", "none"]).reference == "none"
    assert compare(scores, ["twin", "large"]).reference == "large", "ties by name"
    with pytest.raises(UncomparableError, match="none of unknown has"):
        compare(scores, ["unknown"])


def test_identical_methods_differ_by_nothing():
    twin = effect_of(compare(made(), "large"), "twin")
    assert (twin.effect, twin.standard_error, twin.p, twin.detectable) == (0, 0, 1, 0)
    assert (twin.low, twin.high, twin.standardised) == (0, 0, None)
    assert (twin.n_harmed, twin.harm) == (0, 0)


@pytest.mark.parametrize("trials", [1, 2])
def test_differences_that_are_equal_by_chance_are_sure_of_nothing(trials):
    """Accuracies are multiples of one over the number of samples: two may agree."""
    scores = made(methods={"none": 0.0, "other": 0.0})
    tasks = list(dict.fromkeys(scores["task"]))[: 3 - trials]
    scores = scores[scores["task"].isin(tasks) & (scores["trial"] < trials)]
    scores = scores.assign(value=np.where(scores["method"] == "other", 0.55, 0.5))
    found = compare(scores, "none")
    (effect,) = found.effects
    assert effect.effect == pytest.approx(0.05)
    assert (effect.low, effect.p, effect.p_holm) == (None, None, None)
    assert not effect.surely_above
    assert found.tiers == (("other", "none"),)


def test_differences_that_cancel_between_data_sets_are_no_equality():
    scores = made(methods={"none": 0.0, "other": 0.0})
    gain = scores["dataset"].map({"set0": 0.1, "set1": -0.1})
    scores = scores.assign(value=np.where(scores["method"] == "other", 0.5 + gain, 0.5))
    (effect,) = compare(scores, "none").effects
    assert effect.effect == 0
    assert (effect.low, effect.p, effect.p_holm) == (None, None, None)
    assert effect.n_harmed > 0


def test_what_is_not_separated():
    effect = effect_of(compare(made(), "none"), "large")
    assert not effect.not_separated
    assert dataclasses.replace(effect, p=0.2).not_separated
    # Without an error only what is equal.
    assert not dataclasses.replace(effect, p=None).not_separated
    assert dataclasses.replace(effect, p=None, effect=0.0).not_separated


def test_one_task_varies_by_trial_and_one_trial_of_one_task_not_at_all():
    scores = made((2,), methods={"none": 0.0, "large": 0.2})
    scores = scores[scores["task"] == "A-B"]
    (effect,) = compare(scores, "none").effects
    wide = scores.pivot(index="trial", columns="method", values="value")
    difference = wide["large"] - wide["none"]
    assert effect.standard_error == pytest.approx(scipy.stats.sem(difference))
    assert (effect.freedom, effect.standardised) == (4, None)
    found = compare(scores[scores["trial"] == 0], "none")
    assert found.tiers == (("large", "none"),)
    (effect,) = found.effects
    assert effect.effect > 0.1
    told = (effect.standard_error, effect.low, effect.p, effect.p_holm, effect.detectable)
    assert told == (None,) * 5
    assert (effect.n_judged, effect.harm) == (0, None)


def test_the_standardised_effect_is_hedges_g_over_the_tasks():
    scores = made((4,), methods={"none": 0.0, "large": 0.2})
    (effect,) = compare(scores, "none").effects
    wide = scores.pivot_table(index="task", columns="method", values="value")
    difference = wide["large"] - wide["none"]
    g = difference.mean() / difference.std(ddof=1) * (1 - 3 / (4 * 11 - 1))
    assert effect.standardised == pytest.approx(g)


def test_data_sets_of_any_size_weigh_alike_in_the_standardised_effect():
    """NumPy's weighted variance, and as many tasks as would be in data sets of one size."""
    scores = made((4, 2), methods={"none": 0.0, "large": 0.2})
    scores.loc[(scores["dataset"] == "set1") & (scores["method"] == "large"), "value"] -= 0.15
    (effect,) = compare(scores, "none").effects
    wide = scores.pivot_table(index=["dataset", "task"], columns="method", values="value")
    difference = (wide["large"] - wide["none"]).to_numpy()
    weights = np.repeat([1 / 24, 1 / 4], [12, 2])
    n_tasks = 1 / (weights**2).sum()
    mean, variance = weights @ difference, np.cov(difference, aweights=weights)
    g = mean / np.sqrt(variance) * (1 - 3 / (4 * (n_tasks - 1) - 1))
    assert effect.standardised == pytest.approx(g)


def test_harm_is_judged_by_the_error_over_the_trials():
    scores = made((3,), methods={"none": 0.0, "other": 0.0})
    gains = {"A-B": [-0.1, -0.1], "A-C": [-0.1, 0.09], "B-A": [0.1, 0.1], "B-C": [-0.3, -0.1]}
    scores = scores[scores["trial"] < 2].assign(value=0.5)
    for task, pair in gains.items():
        rows = (scores["task"] == task) & (scores["method"] == "other")
        scores.loc[rows, "value"] += pair
    (effect,) = compare(scores, "none").effects
    assert (effect.n_harmed, effect.n_judged, effect.harm) == (2, 6, pytest.approx(1 / 3))


def test_what_is_missing_is_left_out_and_named():
    scores = made()
    gone = (scores["method"] == "small") & (scores["dataset"] == "set0")
    gone |= (scores["method"] == "large") & (scores["task"] == "A-B") & (scores["trial"] == 2)
    found = compare(scores[~gone], "none")
    assert found.methods_left_out == {"small": "complete on 6 of 18 tasks"}
    assert found.tasks_left_out == {
        ("set0", "A-B"): ("large",),
        ("set1", "A-B"): ("large",),
    }
    assert found.n_tasks == 16
    kept = scores[(scores["task"] != "A-B") & (scores["method"] != "small")]
    assert found.effects == compare(kept, "none").effects
    as_nan = scores.assign(value=scores["value"].mask(gone))
    assert compare(as_nan, "none").effects == found.effects


def test_what_cannot_be_compared_is_refused_in_words():
    scores = made()
    few = scores[(scores["method"] != "none") | (scores["dataset"] == "set1")]
    with pytest.raises(UncomparableError, match=r"none: .* \(complete on 6 of 18 tasks\)"):
        compare(few, "none")
    with pytest.raises(UncomparableError, match="no second method"):
        compare(scores[scores["method"] == "none"], "none")
    with pytest.raises(UncomparableError, match="no task"):
        compare(scores.assign(value=np.nan), "none")
    with pytest.raises(UncomparableError, match="no score"):
        compare(scores, "unknown")
    with pytest.raises(ValueError, match="no column trial"):
        compare(scores.drop(columns="trial"), "none")
    with pytest.raises(ValueError, match="stands twice"):
        compare(pd.concat([scores, scores.iloc[:1]]), "none")
    with pytest.raises(ValueError, match="two sources or targets"):
        compare(scores.assign(source=["A", "B"] * (len(scores) // 2)), "none")


def test_the_rules_are_printed_with_their_levels():
    effects, surely, tiers = compare(made(), "none").rules
    assert "95 %, Student's t" in effects
    assert "80 % of repetitions" in effects
    assert "p below 5 %, two-sided, after Holm's correction" in surely
    assert "below 5 % divided" in tiers


@pytest.mark.parametrize("size", [2 / 127, 1 / 3, 0.1])
@pytest.mark.parametrize("place", range(5))
def test_one_trial_that_differs_is_not_below_by_more_than_the_error(size, place):
    """Mean and standard error are the same then, whatever the last digit says."""
    scores = made((3,), methods={"none": 0.0, "other": 0.0}).assign(value=0.5)
    lower = (scores["method"] == "other") & (scores["trial"] == place)
    scores.loc[lower, "value"] -= size
    (effect,) = compare(scores, "none").effects
    assert (effect.n_harmed, effect.n_judged) == (0, 6)
    scores.loc[(scores["method"] == "other") & (scores["trial"] == (place + 1) % 5), "value"] -= (
        size
    )
    (effect,) = compare(scores, "none").effects
    assert effect.n_harmed == 6


def test_the_harm_of_chance_alone_is_that_of_students_t():
    """Counted on tasks where a method is equal to the reference, of five trials each."""
    rng = np.random.default_rng(0)
    shape, tasks = (200, 5), [f"t{k}" for k in range(200)]
    values = {name: rng.normal(size=shape) for name in ("base", "twin")}
    rows = [
        {"dataset": "d", "task": task, "source": f"s{k}", "target": f"g{k}", "trial": trial}
        | {"method": name, "value": scores[k, trial]}
        for name, scores in values.items()
        for k, task in enumerate(tasks)
        for trial in range(5)
    ]
    found = compare(pd.DataFrame(rows), "base")
    assert found.harmed_by_chance == pytest.approx(0.18695, abs=1e-5)
    assert found.effects[0].harm == pytest.approx(found.harmed_by_chance, abs=0.06)
    assert "harms by chance on 18.7 % of the tasks" in found.rules[0]
    single = compare(pd.DataFrame([row for row in rows if not row["trial"]]), "base")
    assert single.harmed_by_chance is None
    assert "by chance" not in single.rules[0]


def test_the_best_reference_is_that_over_data_sets_of_any_size():
    """One of them may have most of the tasks."""
    scores = made((4, 2), methods={"many": 0.0, "few": 0.0})
    few = scores["method"] == "few"
    scores.loc[few & (scores["dataset"] == "set1"), "value"] += 0.3
    scores.loc[few & (scores["dataset"] == "set0"), "value"] -= 0.1
    assert compare(scores, ["many", "few"]).reference == "few"
