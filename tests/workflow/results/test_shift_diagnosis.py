"""The diagnosis finds the kind of shift that was put in."""

import numpy as np
import pytest

from workflow.lib.results.shift_diagnosis import (
    class_shares,
    feature_shifts,
    separation,
    spectrum,
    worth_labelling,
)

pytestmark = pytest.mark.whole_run


def sample(seed, n=200, width=5, move=0.0):
    X = np.random.default_rng(seed).normal(size=(n, width))
    X[:, 2] += move
    return X


def test_equal_domains_cannot_be_told_apart():
    found = separation(sample(0), sample(1))
    assert not found.found
    assert found.auc < 0.6


def test_a_shift_is_found_and_grows():
    small, large = (separation(sample(0), sample(1, move=move)) for move in (1.0, 4.0))
    assert small.found
    assert 0.5 < small.auc < large.auc
    assert large.a_distance > 1.7


def test_a_test_at_5_percent_is_wrong_in_about_5_percent(monkeypatch):
    """Whatever the number of trees: the level is that of the ranks of their answers."""
    monkeypatch.setattr("workflow.lib.results.shift_diagnosis.N_TREES", 50)
    wrong = [separation(sample(2 * s, 60), sample(2 * s + 1, 60)).found for s in range(8)]
    assert sum(wrong) <= 2


def test_class_shares_are_found_where_nothing_else_has_changed():
    rng = np.random.default_rng(0)

    def predicted(y):
        return np.where(rng.random(len(y)) < 0.8, y, (y + 1) % 3)

    source, target = rng.integers(0, 3, 5000), rng.choice(3, 5000, p=[0.7, 0.2, 0.1])
    found = class_shares(source, predicted(source), predicted(target), 3)
    np.testing.assert_allclose(found.target, [0.7, 0.2, 0.1], atol=0.03)
    assert abs(found.predicted - [0.7, 0.2, 0.1]).max() > 0.05


def test_a_classifier_that_knows_one_class_says_nothing_of_shares():
    found = class_shares(np.arange(30) % 3, np.zeros(30, dtype=int), np.zeros(9, dtype=int), 3)
    assert found.target is None
    assert "singular" in found.why_not


def test_the_feature_that_moved_comes_first():
    found, n_shifted = feature_shifts(sample(0), sample(1, move=2.0), list("abcde"))
    assert found[0].name == "c"
    assert n_shifted == 1
    assert found[0].target_median > found[0].source_median + 1
    with pytest.raises(ValueError, match="5 and 4 features"):
        feature_shifts(sample(0), sample(0)[:, 1:], list("abcd"))


def test_principal_angles_of_a_turned_plane():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    X[:, 1] = X[:, 0]
    found = spectrum(X, X[:, [2, 3, 0, 1]], 1)
    assert found.angles[0] == pytest.approx(90, abs=5)
    assert spectrum(X, X, 2).angles == pytest.approx([0, 0], abs=1e-3)
    assert spectrum(X, X[:, :3], 2).angles is None


def test_the_row_that_methods_disagree_on_among_others_comes_first():
    features = np.r_[np.random.default_rng(0).normal(size=(50, 2)), [[40.0, 40.0]]]
    votes = np.zeros((4, 51), dtype=int)
    votes[:2, [3, 50]] = 1
    assert worth_labelling(votes, features, np.ones(51, dtype=bool)).tolist() == [3, 50]
    known = np.arange(51) != 3
    assert worth_labelling(votes, features, known).tolist() == [50]


def test_a_row_alone_is_worth_a_label_if_methods_disagree_on_it():
    one, asked = np.zeros((1, 2)), np.ones(1, dtype=bool)
    assert worth_labelling(np.array([[0], [1]]), one, asked).tolist() == [0]
    assert worth_labelling(np.array([[1], [1]]), one, asked).tolist() == []


def test_a_value_beyond_single_precision_ends_no_diagnosis():
    source, target = np.random.default_rng(0).normal(size=(2, 40, 3))
    target = target + 5
    expected = separation(source, target)
    target[0, 0] = -1.797e308
    assert separation(source, target).auc == pytest.approx(expected.auc, abs=0.05)
