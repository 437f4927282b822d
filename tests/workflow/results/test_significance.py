import itertools

import numpy as np
import pandas as pd
import pytest

from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.results.significance import (
    comparable,
    critical_difference,
    friedman_nemenyi,
    holm,
    shared_domains,
    wilcoxon_holm,
)
from workflow.lib.results.standings import task_means


def table(values, methods):
    return pd.DataFrame(values, index=[f"t{i}" for i in range(len(values))], columns=list(methods))


@pytest.fixture
def means():
    rng = np.random.default_rng(3)
    shift = np.array([0.0, 0.02, 0.05, 0.06])
    return table(0.5 + shift + 0.03 * rng.standard_normal((9, 4)), "abcd")


def exact_p(differences):
    """Two-sided p by going through every pattern of signs, with mid-ranks for ties."""
    sizes = np.abs(differences)
    ranks = pd.Series(sizes).rank().to_numpy()
    observed = ranks[differences > 0].sum()
    sums = [
        ranks[np.array(signs)].sum()
        for signs in itertools.product([True, False], repeat=len(ranks))
    ]
    centre = ranks.sum() / 2
    return np.mean(np.abs(np.array(sums) - centre) >= abs(observed - centre) - 1e-9)


def test_wilcoxon_equals_the_enumeration_of_signs(means):
    for test in wilcoxon_holm(means, "a"):
        differences = (means[test.method] - means["a"]).to_numpy()
        assert test.p == pytest.approx(exact_p(differences))
        assert (test.better + test.equal + test.worse, test.how) == (9, "exact")
        assert test.better == (differences > 0).sum()


def test_ties_are_exact_and_zeros_are_dropped():
    differences = np.array([0.1, 0.1, -0.1, 0.3, 0.3, 0.2, 0.0])
    means = table(np.column_stack([np.zeros(7), differences]), "ab")
    (test,) = wilcoxon_holm(means, "a")
    assert test.how == "exact, ties"
    assert test.p == pytest.approx(exact_p(differences[differences != 0]))
    assert (test.better, test.equal, test.worse) == (5, 1, 1)


def test_rounding_noise_is_a_tie():
    means = table([[0.5, 0.5 + 1e-16]] * 4, "ab")
    (test,) = wilcoxon_holm(means, "a")
    assert (test.p, test.equal, test.how) == (None, 4, "equal on every task")


def test_all_better_on_five_tasks_has_the_smallest_possible_p():
    means = table([[0.1, 0.2 + 0.01 * i] for i in range(5)], "ab")
    (test,) = wilcoxon_holm(means, "a")
    assert test.p == pytest.approx(2 / 2**5)


def test_holm_by_hand():
    # Sorted 0.01, 0.03, 0.04 times 3, 2, 1 = 0.03, 0.06, 0.04; the last may not fall below 0.06.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_friedman_and_nemenyi_equal_scikit_posthocs(means):
    import scikit_posthocs as posthocs

    result = friedman_nemenyi(means)
    ranks = means.rank(axis=1, ascending=False)
    n, k = means.shape
    by_hand = 12 * n / (k * (k + 1)) * ((ranks.mean() ** 2).sum() - k * (k + 1) ** 2 / 4)
    assert result.statistic == pytest.approx(by_hand)
    theirs = posthocs.posthoc_nemenyi_friedman(means.to_numpy()).to_numpy()
    rank = result.mean_ranks[list(means)].to_numpy()
    apart = np.abs(np.subtract.outer(rank, rank)) > result.critical_difference
    np.testing.assert_array_equal(apart, theirs < 0.05)
    assert apart.any()


def test_critical_difference_of_demsar():
    # Demšar 2006, Section 3.2.3: four classifiers, 14 data sets, q = 2.569 gives 1.25.
    assert critical_difference(4, 14) == pytest.approx(2.569 * (4 * 5 / (6 * 14)) ** 0.5, abs=1e-3)


def test_groups_are_maximal_runs_within_the_critical_difference():
    # Eight tasks with the same order a > b > c > d > e: ranks 1..5, critical difference 2.16.
    means = table([[5, 4, 3, 2, 1]] * 8, "abcde")
    result = friedman_nemenyi(means)
    assert list(result.mean_ranks) == [1, 2, 3, 4, 5]
    assert 2 < result.critical_difference < 3
    assert result.groups == (("a", "b", "c"), ("b", "c", "d"), ("c", "d", "e"))


@pytest.mark.parametrize(("n_methods", "shown"), [(10, True), (11, False)])
def test_the_critical_difference_is_shown_of_ten_methods_at_most(n_methods, shown):
    means = table([list(range(n_methods))] * 4, "abcdefghijk"[:n_methods])
    assert friedman_nemenyi(means).is_shown == shown


@pytest.mark.parametrize(
    ("shape", "words"),
    [((2, 4), "2 common tasks"), ((5, 2), "2 methods complete"), ((0, 0), "0 common tasks")],
)
def test_too_few_give_a_sentence(shape, words):
    means = table(np.random.default_rng(0).random(shape), "abcdef"[: shape[1]])
    assert words in friedman_nemenyi(means)


def test_too_few_tasks_give_a_sentence_for_wilcoxon():
    assert "2 tasks" in wilcoxon_holm(table([[0.1, 0.2]] * 2, "ab"), "a")
    assert "too few complete tasks itself" in wilcoxon_holm(table([[0.1]] * 5, "b"), "a")
    assert "no second method" in wilcoxon_holm(table([[0.1]] * 5, "a"), "a")


def test_equal_methods_give_a_sentence():
    assert "equal on every task" in friedman_nemenyi(table([[0.5] * 3] * 4, "abc"))


def test_only_complete_cells_enter():
    experiment = make_experiment(
        [("webcam", "dslr"), ("dslr", "webcam")], ("plain", "sma", "fma_i")
    )
    late = {"status": "timeout", "error": "late"}
    scores = {
        ("webcam-dslr", "plain"): [0.5, 0.7],
        ("webcam-dslr", "sma"): [0.9, late],
        ("webcam-dslr", "fma_i"): [0.2, 0.4],
        ("dslr-webcam", "plain"): [0.1, 0.1],
        ("dslr-webcam", "sma"): [late, late],
        ("dslr-webcam", "fma_i"): [late, 0.4],
    }
    view = view_of(experiment, scores, 2)
    means = task_means(view.records, "logistic", view.methods)
    np.testing.assert_allclose(
        means.to_numpy(), [[0.6, np.nan, 0.3], [0.1, np.nan, np.nan]], equal_nan=True
    )
    common = comparable(means)
    assert list(common.means.columns) == ["plain", "fma_i"]
    assert list(common.means.index) == ["webcam-dslr"]
    assert common.methods_left_out == ("sma",)
    assert common.tasks_left_out == ("dslr-webcam",)


def test_a_task_without_any_score_does_not_cost_a_method_its_place():
    means = table([[1.0, 2.0], [np.nan, np.nan], [np.nan, np.nan], [np.nan, np.nan]], "ab")
    common = comparable(means)
    assert list(common.means.columns) == ["a", "b"]
    assert len(common.means) == 1
    assert comparable(means.iloc[1:]).means.empty


def table_of(*rows):
    """Means of methods a, b, ... ; a dot is a missing one."""
    values = [[np.nan if mark == "." else 0.5 for mark in row] for row in rows]
    return pd.DataFrame(values, columns=list("abcdefgh"[: len(rows[0])]))


@pytest.mark.parametrize(
    ("rows", "methods", "n_tasks"),
    [
        (["xxx", "xxx", "xx."], "abc", 2),  # one of a few stays
        (["xxxx"] * 2 + ["xxx."] * 2, "abcd", 2),  # 6 pairs on 2 tasks, 3 on 4: nobody goes
        (["xxxxxxxx"] * 3 + ["xxxxxxx."] * 3, "abcdefg", 6),  # one of many goes
        (["xxxxxxxx"] * 3 + ["xxxxxx.."] * 3, "abcdef", 6),  # together, as one gains nothing
        (["xxxx", "xxxx", "xxxx", "x..."], "abcd", 3),  # a task that one method has alone
        # One step after the other.
        (["xxxxxxxx"] * 4 + ["xxxxxxx."] * 3 + [".xxxxxxx"] * 3, "bcdefg", 10),
    ],
)
def test_the_widest_comparison(rows, methods, n_tasks):
    found = comparable(table_of(*rows), widest=True)
    assert "".join(found.means) == methods
    assert len(found.means) == n_tasks
    assert not found.means.isna().any(axis=None)


def test_scores_do_not_decide_what_is_compared():
    means = table_of("xxxxxxxx", "xxxxxxx.", "xxxxxxx.", "xxxxxxxx")
    other = means * np.arange(8)
    one, two = (comparable(table, widest=True) for table in (means, other))
    assert one.methods_left_out == two.methods_left_out == ("h",)
    assert one.tasks_left_out == two.tasks_left_out == ()


def test_shared_domains():
    assert shared_domains([("a", "b"), ("b", "c")])
    assert not shared_domains([("a", "b"), ("c", "d")])


def test_the_median_is_no_mean():
    means = table([[0.0, 0.1], [0.0, 0.2], [0.0, 0.9]], "ab")
    (test,) = wilcoxon_holm(means, "a")
    assert test.median_difference == pytest.approx(0.2)


def test_rounding_is_a_tie_of_ranks():
    means = table([[0.3, 0.1 + 0.2, 0.9], [0.1 + 0.2, 0.3, 0.9]] * 2, "abc")
    means["b"] += [1e-16, 1e-16] * 2
    assert friedman_nemenyi(means).mean_ranks.to_dict() == {"c": 1, "a": 2.5, "b": 2.5}


def test_three_tasks_are_enough():
    (test,) = wilcoxon_holm(table([[0.1, 0.2 + 0.01 * i] for i in range(3)], "ab"), "a")
    assert test.p == pytest.approx(2 / 2**3)


def test_one_task_of_equals_forbids_no_test():
    means = table([[0.5] * 3, *[[0.1, 0.2, 0.3]] * 4], "abc")
    assert friedman_nemenyi(means).n_tasks == 5
