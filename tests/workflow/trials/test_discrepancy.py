"""The critic: nothing without a shift, a bound with one, undefined where it must be."""

import numpy as np
import pytest
from scipy import sparse

from workflow.lib.trials.discrepancy import N_DIMENSIONS, critic_space
from workflow.lib.trials.discrepancy import disagreement as shares


def disagreement(source, target, *predicted, by_domain=False):
    return shares(critic_space(source, target, by_domain), *predicted)


def domain(seed, turn=0.0, n=400, width=6):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, width))
    X[np.arange(n), y] += 4
    cosine, sine = np.cos(turn), np.sin(turn)
    X[:, [0, 3]] = X[:, [0, 3]] @ np.array([[cosine, sine], [-sine, cosine]])
    return X, y


def nearest(X):
    return X[:, :3].argmax(axis=1)


def bound(turn):
    (S, _), (T, y) = domain(0), domain(1, turn)
    on_target, on_source = disagreement(S, T, nearest(S), nearest(T))
    return on_target - on_source, np.mean(nearest(T) != y)


def test_without_a_shift_the_critic_contradicts_both_domains_alike():
    difference, _ = bound(0.0)
    assert abs(difference) < 0.06


@pytest.mark.parametrize("turn", [0.8, 1.2, 1.5])
def test_the_bound_holds_under_a_shift(turn):
    difference, error = bound(turn)
    (S, y), _ = domain(0), None
    assert error <= np.mean(nearest(S) != y) + difference + 0.03
    assert difference > 0.05


def test_the_order_of_the_rows_and_the_scale_of_the_columns_decide_little():
    S, T = domain(0)[0], domain(1, 1.0)[0]
    one = disagreement(S, T, nearest(S), nearest(T))
    scale = np.array([1e-3, 1, 1e3, 1, 1, 1])
    other = disagreement(S * scale, T * scale, nearest(S), nearest(T))
    np.testing.assert_allclose(one, other, atol=0.01)


def test_a_shift_of_mean_and_scale_alone_is_none_for_each_domain_by_itself():
    S = domain(0)[0]
    T = domain(1)[0]
    h = nearest(S), nearest(T)
    moved = 3 * T + 7
    on_target, on_source = disagreement(S, moved, *h, by_domain=True)
    assert abs(on_target - on_source) < 0.06
    on_target, on_source = disagreement(S, moved, *h)
    assert on_target - on_source > 0.2


def test_rows_without_a_prediction_are_left_out():
    """They have a part in the scale of the space alone."""
    S, T = domain(0)[0], domain(1, 1.0)[0]
    h = nearest(S)
    source, target = critic_space(np.vstack([S, S[:5]]), T)
    found = shares((source, target), np.r_[h, np.full(5, -1)], nearest(T))
    np.testing.assert_array_equal(found, shares((source[: len(S)], target), h, nearest(T)))


def test_sparse_and_wide_embeddings():
    S, T = domain(0, width=N_DIMENSIONS + 20)[0], domain(1, width=N_DIMENSIONS + 20)[0]
    parts = sparse.csr_array(S), sparse.csr_array(T)
    found = disagreement(*parts, nearest(S), nearest(T))
    np.testing.assert_allclose(found, disagreement(S, T, nearest(S), nearest(T)), atol=0.02)


def test_undefined_for_one_class_or_too_few_rows():
    S, T = domain(0)[0], domain(1)[0]
    assert disagreement(S, T, np.zeros(400, dtype=int), nearest(T)) is None
    assert disagreement(S, T[:3], nearest(S), nearest(T[:3])) is None


def test_the_critic_is_judged_on_rows_that_it_did_not_learn():
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(2, 60, 40))
    on_target, on_source = disagreement(source, target, *rng.integers(2, size=(2, 60)))
    assert abs(on_target - on_source) < 0.3


def test_the_number_of_rows_of_a_domain_is_no_weight():
    (source, _), (target, _) = domain(0, n=120), domain(1, 1.2, n=1200)
    many, few = (
        disagreement(source, X, nearest(source), nearest(X)) for X in (target, target[:120])
    )
    np.testing.assert_allclose(many, few, atol=0.1)
