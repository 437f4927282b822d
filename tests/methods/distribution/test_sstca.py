"""SSTCA against the problem as printed, solved densely; and on SURF features if they are there."""

import numpy as np
import pytest
from domain_alignment.distribution import _joint_features
from domain_alignment.distribution._jda import nearest_labels
from domain_alignment.distribution._scatter_eigenproblem import Scatter
from domain_alignment.distribution._sstca import (
    SSTCA,
    LabelledScatter,
    class_sums,
    mean_distance,
    neighbor_laplacian,
)
from domain_alignment.distribution._tca import TCA
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import kernel_matrix
from domain_alignment.utils import _memory
from measure import peak_bytes
from scipy import linalg, sparse

from tests.methods.distribution.test_tca import stacked
from tests.methods.office_caltech import needs_surf, shares
from tests.methods.signs import assert_equal_up_to_sign


def laplacian_by_loops(X, n_neighbors):
    n = len(X)
    apart = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    width = apart.sum() / (n * (n - 1))
    W = np.zeros((n, n))
    for i in range(n):
        others = [j for j in np.argsort(apart[i], kind="stable") if j != i]
        for j in others[:n_neighbors]:
            W[i, j] = W[j, i] = np.exp(-(apart[i, j] ** 2) / (2 * width**2))
    return np.diag(W.sum(axis=1)) - W


def as_printed(features, X, y, params):
    """All eigenpairs, with every matrix of the paper written out."""
    n, n_source = len(X), len(y)
    e = np.r_[np.full(n_source, 1 / n_source), np.full(n - n_source, -1 / (n - n_source))]
    H = np.eye(n) - np.ones((n, n)) / n
    Kyy = np.zeros((n, n))
    Kyy[:n_source, :n_source] = (y[:, None] == y) & (y[:, None] >= 0)
    Kyy = params["label_share"] * Kyy + (1 - params["label_share"]) * np.eye(n)
    weight = params["laplacian"] / (n**2 if params["laplacian_scale"] == "paper" else 1)
    inner = np.outer(e, e) + weight * laplacian_by_loops(X, params["n_neighbors"])
    ridge = np.eye(features.shape[1])
    left = features.T @ inner @ features
    left = (
        left + params["mu"] * ridge
        if params["mu_weighs"] == "norm"
        else ridge + params["mu"] * left
    )
    values, W = linalg.eigh(features.T @ H @ Kyy @ H @ features, left)
    return values[::-1], W[:, ::-1] / np.linalg.norm(W[:, ::-1], axis=0)


@pytest.mark.parametrize("shapes", [((40, 6), (30, 6)), ((14, 30), (12, 30))])
@pytest.mark.parametrize("scale", ["paper", "toolbox"])
@pytest.mark.parametrize("mu_weighs", ["norm", "discrepancy"])
@pytest.mark.parametrize(
    "form",
    [
        {"formulation": "dual"},
        {"formulation": "dual", "kernel": "rbf", "gamma": 0.5},
        {"formulation": "primal"},
    ],
)
def test_the_problem_of_the_paper(make_domains, shapes, scale, mu_weighs, form):
    Xs, ys = make_domains(shapes, n_visible=3)  # some of the source is unlabelled
    params = {
        "mu": 0.4,
        "mu_weighs": mu_weighs,
        "laplacian": 2.0,
        "laplacian_scale": scale,
        "label_share": 0.3,
        "n_neighbors": 4,
    }
    sstca = SSTCA(n_components=4, **params, **form).fit(Xs, [ys[0], None])
    X = stacked(Xs, True)
    kernel = form.get("kernel", "linear")
    features = X if form["formulation"] == "primal" else kernel_matrix(X, X, kernel, 0.5)
    values, W = as_printed(features, X, ys[0], params)
    factor = 1 if mu_weighs == "norm" else 1 / params["mu"]
    np.testing.assert_allclose(sstca.ratios_, values[:4] / factor, rtol=1e-7)
    expected, found = W[:, :4], sstca.dual_coef_
    if kernel == "linear":
        found = sstca.coef_
        expected = expected if form["formulation"] == "primal" else X.T @ expected
    assert_equal_up_to_sign(found, expected, atol=1e-6)


def test_without_labels_and_neighbours_it_is_tca(make_domains):
    Xs, ys = make_domains()
    for kernel in ("linear", "rbf"):
        params = {"n_components": 4, "mu": 0.3, "kernel": kernel}
        sstca = SSTCA(label_share=0.0, laplacian=0.0, **params).fit(Xs, ys)
        tca = TCA(**params).fit(Xs)
        np.testing.assert_allclose(sstca.ratios_, tca.ratios_, rtol=1e-9)
        np.testing.assert_allclose(sstca.embeddings_[1], tca.embeddings_[1], atol=1e-7)
    assert sstca.capabilities.labels == "none"
    SSTCA(n_components=2, label_share=0.0).fit(Xs)


def test_the_constraint_in_factors(make_domains):
    Xs, ys = make_domains()
    F, y = np.vstack(Xs), ys[0]
    n, H = len(F), np.eye(len(F)) - np.ones((len(F), len(F))) / len(F)
    Y = np.zeros((n, 3))
    for label in range(3):
        Y[: len(y), label] = y == label
    sums = class_sums(F, len(y), y)
    np.testing.assert_allclose(sums, F.T @ H @ Y, atol=1e-10)
    scatter = LabelledScatter(Scatter.of(F), sums, 0.25)
    expected = F.T @ H @ (0.25 * Y @ Y.T + 0.75 * np.eye(n)) @ H @ F
    assert scatter.order == 8
    np.testing.assert_allclose(scatter @ np.eye(8), expected, atol=1e-8)
    np.testing.assert_allclose(scatter @ np.eye(8)[0], expected[0], atol=1e-8)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_graph(stored, monkeypatch):
    X = np.random.default_rng(0).normal(size=(25, 4))
    found = neighbor_laplacian(stored(X), 3).toarray()
    np.testing.assert_allclose(found, laplacian_by_loops(X, 3), atol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    apart = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(25, 1)]
    for rows in (500, 4):
        monkeypatch.setattr("domain_alignment.distribution._sstca._BATCH_ROWS", rows)
        assert mean_distance(stored(X)) == pytest.approx(apart.mean())
    assert mean_distance(X + 1e9) == pytest.approx(apart.mean(), rel=1e-5)
    assert mean_distance(X[:1]) == pytest.approx(0, abs=1e-7)


def test_labels_move_the_embedding(make_domains):
    Xs, ys = make_domains(n_visible=100)
    plain, labelled = (
        SSTCA(n_components=2, label_share=share).fit_transform(Xs, ys)[0] for share in (0.0, 0.9)
    )

    def between_over_all(Z):
        means = np.array([Z[ys[0] == label].mean(axis=0) for label in range(3)])
        return means.var(axis=0).sum() / Z.var(axis=0).sum()

    assert between_over_all(labelled) > between_over_all(plain)


def test_errors(make_domains):
    Xs, ys = make_domains()
    with pytest.raises(ValueError, match="n_neighbors"):
        SSTCA(n_neighbors=110).fit(Xs, ys)
    with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled, and SSTCA"):
        SSTCA().fit(Xs)
    with pytest.raises(AlignmentError, match="both domains: all samples are equal"):
        neighbor_laplacian(np.ones((6, 2)), 2)
    for wrong in ({"label_share": 1.0}, {"laplacian": -1.0}, {"laplacian_scale": "n"}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of SSTCA"):
            SSTCA(**wrong).fit(Xs, ys)


@needs_surf
@pytest.mark.parametrize(
    ("scale", "expected"), [("paper", [87.5, 90.5]), ("toolbox", [88.8, 87.9])]
)
def test_surf_with_all_source_labels(scale, expected):
    found = []
    for source, target in (("dslr", "webcam"), ("webcam", "dslr")):
        (X, y), (X_target, y_target) = shares(source), shares(target)
        sstca = SSTCA(laplacian_scale=scale).fit([X, X_target], [y, None])
        found.append(
            100 * np.mean(nearest_labels(sstca.embeddings_[1], sstca.embeddings_[0], y) == y_target)
        )
    np.testing.assert_allclose(found, expected, atol=0.1)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((1000, 20), "and the distances of 500 to all of 2000 x 520 numbers takes"),
        ((300, 2000), "and a copy of half their precision of 600 x 3000 numbers takes"),
    ],
)
def test_what_the_graph_takes_is_asked_for_first_and_is_no_more_than_is_held(
    shape, said, monkeypatch
):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=shape[0])
    Xs = [np.eye(3, shape[1])[y] + rng.normal(size=shape) for _ in range(2)]
    sstca = SSTCA(n_components=3)
    sstca.fit([X[:50] for X in Xs], [y[:50], None])  # imports
    peak = peak_bytes(sstca.fit, Xs, [y, None])
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: peak)
    sstca.fit(Xs, [y, None])
    columns = shape[1] + max(shape[1] // 2, 500)
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: 8 * 2 * shape[0] * columns - 1)
    SSTCA(n_components=3, laplacian=0).fit(Xs, [y, None])  # no graph
    monkeypatch.setattr(_joint_features, "unit_rows", None)  # nothing is copied before
    for source in (Xs[0], sparse.csr_array(Xs[0])):  # becomes dense beside a dense target
        with pytest.raises(AlignmentError, match=said):
            sstca.fit([source, Xs[1]], [y, None])
