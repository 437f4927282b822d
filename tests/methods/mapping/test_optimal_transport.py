import pickle
import sys
import warnings

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.mapping._optimal_transport import _HELD_BY_POT, _median
from domain_alignment.mapping._optimal_transport import ClassRegularizedOT as OT  # noqa: N814
from measure import peak_bytes
from ot import da
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from tests.methods.office_caltech import needs_surf, shares

EXACT = {"reg_e": 0.5, "max_sinkhorn_iter": 2000, "tol": 1e-13}


@pytest.fixture
def pair():
    """A source with labels and a moved target without."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    source = 3 * np.eye(3, 5)[y] + rng.normal(size=(24, 5))
    target = 3 * np.eye(3, 5)[np.repeat([0, 1, 2], 10)] + rng.normal(size=(30, 5)) + 1
    return [source, target], [y, None]


def objective(model, Xs, y):
    """The problem as the docstring states it, with loops."""
    plan = model.coupling_
    cost = np.square(Xs[0][:, None] - Xs[1]).sum(axis=2) / model.cost_scale_
    group = sum(
        np.sqrt(plan[y == c, j].sum() + 1e-3) for j in range(plan.shape[1]) for c in np.unique(y)
    )
    entropy = np.sum(plan * np.log(plan))
    return np.sum(plan * cost) + model.reg_e * entropy + model.reg_cl * group


@pytest.mark.parametrize("norm", ["median", "max", None])
def test_the_plan_of_pot(pair, norm):
    Xs, ys = pair
    peer = da.SinkhornLpl1Transport(reg_e=0.7, reg_cl=0.8, norm=norm)
    mapped = peer.fit_transform(Xs=Xs[0], ys=ys[0], Xt=Xs[1])
    model = OT(reg_e=0.7, reg_cl=0.8, cost_scaling=norm).fit(Xs, ys)
    np.testing.assert_allclose(model.coupling_, peer.coupling_, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(model.embeddings_[0], mapped, rtol=1e-8)
    new = Xs[0][:4] + 0.1
    np.testing.assert_allclose(model.transform(new, 0), peer.transform(new), rtol=1e-8)


def test_the_log_domain_gives_the_same_plan(pair):
    plain = OT(n_iterations=2, **EXACT).fit(*pair).coupling_
    log = OT(n_iterations=2, solver="sinkhorn_log", **EXACT).fit(*pair).coupling_
    np.testing.assert_allclose(log, plain, rtol=1e-7, atol=1e-12)


def test_majorisation_lowers_the_objective(pair):
    Xs, ys = pair
    values = [objective(OT(n_iterations=n, **EXACT).fit(Xs, ys), Xs, ys[0]) for n in range(1, 6)]
    assert np.all(np.diff(values) <= 1e-9)
    assert values[-1] < values[0]


def test_the_last_plan_is_stationary(pair):
    """At the fixed point the objective's gradient is a sum of a row's and a column's number."""
    Xs, ys = pair
    model = OT(n_iterations=25, reg_cl=0.5, **EXACT).fit(Xs, ys)
    plan, y = model.coupling_, ys[0]
    mass = np.array([[plan[y == c, j].sum() for j in range(plan.shape[1])] for c in y])
    cost = np.square(Xs[0][:, None] - Xs[1]).sum(axis=2) / model.cost_scale_
    gradient = cost + 0.5 * np.log(plan) + 0.25 / np.sqrt(mass + 1e-3)
    centred = gradient - gradient.mean(axis=0) - gradient.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(centred + gradient.mean(), 0, atol=1e-7)


def test_marginals_and_barycentres(pair):
    Xs, ys = pair
    model = OT(**EXACT).fit(Xs, ys)
    np.testing.assert_allclose(model.coupling_.sum(axis=1), 1 / 24, rtol=1e-12)
    np.testing.assert_allclose(model.coupling_.sum(axis=0), 1 / 30, rtol=1e-8)
    assert model.marginal_error_ < 1e-10
    np.testing.assert_allclose(model.embeddings_[0], 24 * model.coupling_ @ Xs[1], rtol=1e-10)
    np.testing.assert_array_equal(model.embeddings_[1], Xs[1])


@pytest.mark.parametrize("scaling", ["median", "max"])
def test_the_unit_of_the_features_does_not_matter(pair, scaling):
    Xs, ys = pair
    model = OT(cost_scaling=scaling)
    plan = model.fit(Xs, ys).coupling_
    other = model.fit([1000 * X + 7 for X in Xs], ys).coupling_
    np.testing.assert_allclose(other, plan, rtol=1e-6, atol=1e-12)


def test_order_of_samples_and_names_of_classes(pair):
    Xs, ys = pair
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(24), rng.permutation(30)
    plan = OT(**EXACT).fit(Xs, ys).coupling_
    other = OT(**EXACT).fit([Xs[0][rows], Xs[1][columns]], [np.array([5, 2, 9])[ys[0]][rows], None])
    np.testing.assert_allclose(other.coupling_, plan[np.ix_(rows, columns)], rtol=1e-7, atol=1e-13)


def test_one_class_is_entropic_transport(pair):
    Xs, _ = pair
    ys = [np.zeros(24, dtype=int), None]
    with_classes = OT(**EXACT).fit(Xs, ys).coupling_
    without = OT(reg_cl=0.0, **EXACT).fit(Xs, ys).coupling_
    np.testing.assert_allclose(with_classes, without, rtol=1e-7)
    peer = da.SinkhornTransport(reg_e=0.5, norm="median", max_iter=2000, tol=1e-13)
    np.testing.assert_allclose(without, peer.fit(Xs=Xs[0], Xt=Xs[1]).coupling_, rtol=1e-7)


def test_unlabelled_and_new_samples(pair):
    Xs, ys = pair
    full = OT().fit(Xs, ys)
    extra = Xs[0][[3, 10]] + 1e-3
    y = np.concatenate([[-1], ys[0], [-1]])
    model = OT().fit([np.vstack([extra[0], Xs[0], extra[1]]), Xs[1]], [y, None])
    np.testing.assert_array_equal(model.labelled_rows_, np.arange(1, 25))
    np.testing.assert_allclose(model.coupling_, full.coupling_)
    np.testing.assert_allclose(model.embeddings_[0][1:-1], full.embeddings_[0])
    np.testing.assert_allclose(
        model.embeddings_[0][[0, -1]], full.embeddings_[0][[3, 10]] + 1e-3, rtol=1e-9
    )
    np.testing.assert_allclose(model.transform(Xs[0], 0), full.embeddings_[0])
    np.testing.assert_array_equal(model.transform(extra, -1), extra)


def test_a_common_offset_changes_no_plan(pair):
    Xs, ys = pair
    near, far = OT().fit(Xs, ys), OT().fit([X + 1e9 for X in Xs], ys)
    np.testing.assert_allclose(far.coupling_, near.coupling_, rtol=1e-4)
    new = Xs[0] + 0.01  # nearest to the sample it is made of
    moved = far.transform(new + 1e9, 0) - 1e9
    np.testing.assert_allclose(moved, near.transform(new, 0), atol=1e-4)


def test_labels_of_the_target_are_not_used(pair):
    Xs, ys = pair
    one = OT().fit(Xs, ys).coupling_
    np.testing.assert_array_equal(OT().fit(Xs, [ys[0], np.arange(30)]).coupling_, one)


def test_equal_samples_of_different_classes_keep_their_barycentres(pair):
    Xs, ys = pair
    Xs[0][8] = Xs[0][0]
    model = OT().fit(Xs, ys)
    assert np.linalg.norm(model.embeddings_[0][0] - model.embeddings_[0][8]) > 0.01


def test_sparse_features(pair):
    Xs, ys = pair
    counts = [np.where(X > 0.5, X, 0) for X in Xs]
    dense = OT().fit(counts, ys)
    thin = OT().fit([sparse.csr_array(X) for X in counts], ys)
    for one, other in zip(thin.embeddings_, dense.embeddings_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
    new = sparse.csr_array(counts[0][:3])
    np.testing.assert_allclose(thin.transform(new, 0), dense.embeddings_[0][:3], atol=1e-8)
    np.testing.assert_array_equal(thin.transform(new, 1), counts[0][:3])


def test_identical_domains_and_more_features_than_samples():
    X = np.random.default_rng(0).normal(size=(6, 20))
    model = OT(reg_e=0.01).fit([X, X], [np.arange(6), None])
    np.testing.assert_allclose(model.embeddings_[0], X, atol=1e-6)


def test_a_cost_without_a_scale_underflows_aloud():
    rng = np.random.default_rng(0)
    Xs = [100 * rng.normal(size=(20, 5)), 100 * rng.normal(size=(20, 5)) + 50]
    ys = [np.arange(20) % 2, None]
    with pytest.raises(AlignmentError, match=r"underflows at reg_e=0\.1 .*cost_scaling=None"):
        OT(cost_scaling=None).fit(Xs, ys)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        log = OT(cost_scaling=None, solver="sinkhorn_log", n_iterations=2).fit(Xs, ys)
    np.testing.assert_allclose(log.coupling_.sum(axis=1), 1 / 20)


def test_far_target_samples_are_no_reason_to_underflow(pair):
    """Here POT's own class stops at its first iteration, with a plan that means nothing."""
    Xs, ys = pair
    Xs[1][0] += 100
    model = OT(reg_e=50.0, cost_scaling=None, reg_cl=0.1, max_sinkhorn_iter=2000).fit(Xs, ys)
    np.testing.assert_allclose(model.coupling_.sum(axis=1), 1 / 24)
    np.testing.assert_allclose(model.coupling_.sum(axis=0), 1 / 30, rtol=1e-4)
    log = model.set_params(solver="sinkhorn_log").fit(Xs, ys)
    np.testing.assert_allclose(log.coupling_.sum(axis=0), 1 / 30, rtol=1e-4)
    peer = da.SinkhornLpl1Transport(reg_e=50.0, reg_cl=0.1)
    with pytest.warns(UserWarning, match="numerical errors at iteration 0"):
        peer.fit(Xs=Xs[0], ys=ys[0], Xt=Xs[1])


def test_a_plan_that_is_not_done_warns(pair):
    with pytest.warns(ConvergenceWarning, match=r"target's marginal is off by .*% of the mass"):
        OT(max_sinkhorn_iter=1, reg_e=0.01).fit(*pair)


@pytest.mark.parametrize("scaling", ["median", "max"])
def test_equal_samples_have_no_scale(scaling):
    with pytest.raises(AlignmentError, match=f"the {scaling} of their squared distances is 0"):
        OT(cost_scaling=scaling).fit([np.ones((3, 2))] * 2, [np.zeros(3, dtype=int), None])


def test_equal_samples_without_a_scale_stay():
    model = OT(cost_scaling=None).fit([np.ones((3, 2))] * 2, [np.zeros(3, dtype=int), None])
    np.testing.assert_allclose(model.embeddings_[0], 1)


def test_wrong_input(pair):
    Xs, _ = pair
    with pytest.raises(ValueError, match="domain 0: none of its 24 samples is labelled"):
        OT().fit(Xs)
    with pytest.raises(ValueError, match="domain 1: has 3 features, domain 0 has 5"):
        OT().fit([Xs[0], Xs[1][:, :3]], [np.zeros(24, dtype=int), None])
    with pytest.raises(ValueError, match="ClassRegularizedOT aligns at most 2"):
        OT().fit([*Xs, Xs[1]])
    with pytest.raises(ValueError, match="'cost_scaling' parameter"):
        OT(cost_scaling="mean").fit(Xs)


def test_the_log_domain_alone_needs_pot(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    OT().fit(*pair)
    with pytest.raises(ImportError, match=r'sinkhorn_log"\) needs the package POT; install it'):
        OT(solver="sinkhorn_log").fit(*pair)


@pytest.mark.parametrize("form", ["continuous", "ties", "equal", "ordered"])
@pytest.mark.parametrize("shape", [(30, 41), (600, 701)])
def test_the_median_of_many_entries_is_the_median(form, shape):
    A = np.random.default_rng(0).gamma(0.5, size=shape)
    made = {"continuous": A, "ties": np.floor(2 * A), "equal": np.ones(shape)}
    A = made.get(form, np.sort(A.ravel()).reshape(shape))
    assert _median(A) == np.median(A)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_matrix_is_held():
    """The squared distances become the kernel and that the plan, rows in any order of classes."""
    rng = np.random.default_rng(0)
    Xs, ys = list(rng.normal(size=(2, 1500, 5))), [rng.integers(3, size=1500), None]
    model = OT(reg_e=1.0, n_iterations=3)
    model.fit([X[:100] for X in Xs], [ys[0][:100], None])  # imports
    assert peak_bytes(model.fit, Xs, ys) < 1.4 * 8 * 1500**2
    model.set_params(solver="sinkhorn_log", n_iterations=2, max_sinkhorn_iter=2)
    held = peak_bytes(model.fit, Xs, ys) / (8 * 1500**2)
    assert 0.8 * _HELD_BY_POT < held < 1.2 * _HELD_BY_POT


def test_pickle(pair):
    model = pickle.loads(pickle.dumps(OT().fit(*pair)))
    np.testing.assert_array_equal(model.transform(pair[0][0], 0), model.embeddings_[0])


@needs_surf
def test_dslr_to_webcam():
    """78.2 % of the whole target, the mean of 20 draws of 8 dslr images per class.

    So did a prototype on POT's class. KEMA's Table 3 prints 84.2 for draws that are not known.
    """
    (X, y), (X_target, y_target) = shares("dslr"), shares("webcam")
    accuracy = []
    for seed in range(20):
        rng = np.random.RandomState(seed)  # the draws of the prototype
        rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:8] for c in np.unique(y)])
        Z, Z_target = OT().fit_transform([X[rows], X_target], [y[rows], None])
        nearest = pairwise_distances_argmin(Z_target, Z)
        accuracy.append(100 * np.mean(y[rows][nearest] == y_target))
    assert np.mean(accuracy) == pytest.approx(78.2, abs=0.3)
