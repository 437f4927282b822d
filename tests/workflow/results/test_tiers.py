import itertools

import numpy as np
import pytest
import scipy.stats

from workflow.lib.results.tiers import RULE, one_sided_p, tiers

NAN = float("nan")


def same(error, freedom=20.0):
    return lambda one, other: (error, freedom)


def slow_tiers(scores, error_of, alpha):
    """The rule as its words say it."""
    rest, found = set(scores), []
    while rest:
        beaten = set()
        for loser in rest:
            for winner in rest - {loser}:
                error, freedom = error_of(winner, loser)
                t = (scores[winner] - scores[loser]) / error
                if scipy.stats.t.sf(t, freedom) < alpha / (len(rest) - 1):
                    beaten.add(loser)
        found.append(rest - beaten)
        rest = beaten
    return found


def test_tiers_are_those_of_the_rule_in_every_order():
    rng = np.random.default_rng(0)
    scores = {
        name: float(value) for name, value in zip("abcdefgh", rng.normal(size=8), strict=True)
    }
    pairs = {frozenset(pair): rng.uniform(0.05, 0.6) for pair in itertools.combinations(scores, 2)}

    def error_of(one, other):
        return pairs[frozenset((one, other))], 12.0

    expected = slow_tiers(scores, error_of, 0.05)
    assert len(expected) > 2
    for _ in range(20):
        names = rng.permutation(list(scores)).tolist()
        found = tiers(names, [scores[name] for name in names], error_of, 0.05)
        assert [set(tier) for tier in found] == expected
        assert all(list(tier) == sorted(tier, key=scores.get, reverse=True) for tier in found)


def test_the_level_is_divided_by_the_rivals():
    error, freedom = 0.1, 20
    just = scipy.stats.t.isf(0.05 / 2, freedom) * error
    names, scores = ["best", "middle", "last"], [1.0, 0.99, 1.0 - just - 1e-6]
    assert tiers(names, scores, same(error), 0.05) == (("best", "middle"), ("last",))
    scores[2] += 2e-6
    assert tiers(names, scores, same(error), 0.05) == (("best", "middle", "last"),)


def test_ties_equal_methods_and_unknown_errors_are_not_told_apart():
    assert tiers(["b", "a"], [0.5, 0.5], same(0.0), 0.05) == (("a", "b"),)
    assert tiers(["b", "a"], [0.5, 0.5 + 1e-15], same(0.0), 0.05) == (("a", "b"),)
    assert tiers(["b", "a"], [0.5, 0.4], same(NAN, NAN), 0.05) == (("b", "a"),)
    assert tiers(["b", "a"], [0.5, 0.4], same(0.0), 0.05) == (("b", "a"),)
    assert tiers(["b", "a"], [0.5, 0.4], same(1e-9), 0.05) == (("b",), ("a",))
    assert tiers(["a"], [0.5], same(0.1), 0.05) == (("a",),)


def test_the_best_is_in_the_first_tier_as_often_as_the_rule_says():
    # Four methods of equal truth: each is a best one, and the first stands for them.
    rng, n_runs, n_tasks = np.random.default_rng(1), 2000, 12
    kept = 0
    for _ in range(n_runs):
        scores = rng.normal(size=(n_tasks, 4))

        def error_of(one, other, scores=scores):
            return (scores[:, one] - scores[:, other]).std(ddof=1) / n_tasks**0.5, n_tasks - 1

        kept += 0 in tiers(range(4), scores.mean(axis=0).tolist(), error_of, 0.05)[0]
    # At least 95 %, with two standard errors of 2000 runs; and not for want of separating.
    assert 0.94 < kept / n_runs < 0.98


@pytest.mark.parametrize(
    ("gain", "error", "p"), [(0.2, 0.0, 1.0), (0.2, NAN, 1.0), (0.0, 0.1, 0.5)]
)
def test_one_sided_p(gain, error, p):
    assert one_sided_p(gain, error, 5) == p


def test_the_rule_names_its_level():
    assert "below 5 % divided" in RULE.format(alpha=5, sure=95)


def test_the_level_of_a_tier_is_shared_among_those_that_are_left():
    just = scipy.stats.t.isf(0.05 / 1.5, 20) * 0.1
    found = tiers(list("abc"), [9.0, 1.0, 1.0 - just], same(0.1), 0.05)
    assert found == (("a",), ("b",), ("c",))
