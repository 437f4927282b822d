"""TCA against the problem as printed, solved densely; and on SURF features if they are there."""

import numpy as np
import pytest
from domain_alignment.distribution._jda import nearest_labels
from domain_alignment.distribution._tca import TCA, mean_difference, ridge_of
from domain_alignment.kernels._pairwise import kernel_matrix
from measure import peak_bytes
from scipy import linalg

from tests.methods.office_caltech import needs_surf, shares
from tests.methods.signs import assert_equal_up_to_sign


def as_printed(features, n_source, left_ridge, weight=1.0, scale=1.0):
    """All generalised eigenpairs of (ridge I + weight F'ee'F, F'HF), largest ratio first."""
    n = len(features)
    e = np.r_[np.full(n_source, 1 / n_source), np.full(n - n_source, -1 / (n - n_source))]
    L = np.outer(e, e) / scale
    H = np.eye(n) - np.ones((n, n)) / n
    left = weight * features.T @ L @ features + left_ridge * np.eye(features.shape[1])
    values, vectors = linalg.eigh(features.T @ H @ features, left)
    vectors = vectors[:, ::-1] / np.linalg.norm(vectors[:, ::-1], axis=0)
    return values[::-1], vectors


def stacked(Xs, unit):
    X = np.vstack(Xs)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X


SHAPES = [((40, 6), (30, 6)), ((14, 30), (12, 30)), ((150, 5), (110, 5))]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", lambda A, B: (1 + A @ B.T) ** 2])
@pytest.mark.parametrize("mu", [0.01, 1.0, 30.0])
def test_the_dual(make_domains, shapes, unit, kernel, mu):
    Xs, _ = make_domains(shapes)
    tca = TCA(n_components=4, mu=mu, kernel=kernel, gamma=0.1, unit_rows=unit).fit(Xs)
    X = stacked(Xs, unit)
    K = kernel_matrix(X, X, kernel, 0.1)
    values, W = as_printed(K, len(Xs[0]), mu)
    np.testing.assert_allclose(tca.ratios_, values[:4], rtol=1e-7)
    scores = K @ W[:, :4]
    scores = scores / np.linalg.norm(scores, axis=1, keepdims=True) if unit else scores
    scale = np.abs(scores).max()
    assert_equal_up_to_sign(np.vstack(tca.embeddings_) / scale, scores / scale, atol=1e-6)
    if kernel == "linear":
        assert_equal_up_to_sign(tca.coef_, X.T @ W[:, :4], atol=1e-6 * np.abs(X.T @ W[:, :4]).max())
    else:
        assert_equal_up_to_sign(tca.dual_coef_, W[:, :4], atol=1e-6)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("mu", [0.01, 1.0, 30.0])
def test_the_primal(make_domains, shapes, mu):
    Xs, _ = make_domains(shapes)
    tca = TCA(n_components=4, mu=mu, formulation="primal").fit(Xs)
    sizes = [len(X) for X in Xs]
    X = stacked(Xs, True)
    values, A = as_printed(X, sizes[0], mu, scale=1 / sizes[0] + 1 / sizes[1])
    np.testing.assert_allclose(tca.ratios_, values[:4], rtol=1e-8)
    assert_equal_up_to_sign(tca.coef_, A[:, :4])


def test_both_places_of_mu(make_domains):
    Xs, _ = make_domains(((40, 6), (30, 6)))
    X = stacked(Xs, True)
    for mu in (0.1, 10.0):
        tca = TCA(n_components=3, mu=mu, mu_weighs="discrepancy").fit(Xs)
        values, W = as_printed(X @ X.T, 40, 1.0, weight=mu)
        assert_equal_up_to_sign(tca.coef_, X.T @ W[:, :3], atol=1e-6)
        np.testing.assert_allclose(tca.ratios_ / mu, values[:3], rtol=1e-8)
        other = TCA(n_components=3, mu=1 / mu).fit(Xs)
        np.testing.assert_allclose(tca.embeddings_[0], other.embeddings_[0], atol=1e-9)
    assert ridge_of(4.0, "norm") == 4.0
    assert ridge_of(4.0, "discrepancy") == 0.25


def test_primal_and_dual_differ_on_a_linear_kernel(make_domains):
    Xs, _ = make_domains(((40, 6), (30, 6)))
    grams = []
    for formulation in ("primal", "dual"):
        Z = np.vstack(TCA(n_components=3, formulation=formulation).fit_transform(Xs))
        grams.append(Z @ Z.T / np.linalg.norm(Z @ Z.T))
    assert np.sum(grams[0] * grams[1]) < 0.999


def test_without_a_difference_of_means_it_is_pca(make_domains):
    Xs, _ = make_domains(((40, 6), (30, 6)))
    Xs = [X - X.mean(axis=0) for X in Xs]
    tca = TCA(n_components=3, formulation="primal", unit_rows=False).fit(Xs)
    principal = linalg.svd(np.vstack(Xs))[2][:3].T
    assert_equal_up_to_sign(tca.coef_, principal)
    assert not np.allclose(mean_difference(np.vstack(Xs)[::2], 20), 0)


def test_little_ridge_closes_the_gap_of_the_means(make_domains):
    Xs, _ = make_domains(((40, 6), (30, 6)))
    Xs[1] += 5
    gaps = []
    for mu in (1e3, 1.0, 1e-3):
        source, target = TCA(
            n_components=3, mu=mu, formulation="primal", unit_rows=False
        ).fit_transform(Xs)
        gaps.append(np.linalg.norm(source.mean(axis=0) - target.mean(axis=0)))
    assert gaps[0] > gaps[1] > gaps[2]


def test_parameters(make_domains):
    Xs, _ = make_domains()
    for wrong in ({"mu": 0.0}, {"mu_weighs": "both"}, {"formulation": "trial"}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of TCA"):
            TCA(**wrong).fit(Xs)


@needs_surf
@pytest.mark.parametrize(
    ("formulation", "expected"), [("primal", [88.8, 91.1]), ("dual", [87.8, 90.5])]
)
def test_surf_with_all_source_labels(formulation, expected):
    found = []
    for source, target in (("dslr", "webcam"), ("webcam", "dslr")):
        (X, y), (X_target, y_target) = shares(source), shares(target)
        Z, Z_target = TCA(formulation=formulation).fit_transform([X, X_target])
        found.append(100 * np.mean(nearest_labels(Z_target, Z, y) == y_target))
    np.testing.assert_allclose(found, expected, atol=0.1)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_one_kernel_matrix_is_held(make_domains, kernel):
    Xs = make_domains(((800, 5), (800, 5)))[0]
    tca = TCA(4, kernel=kernel)
    tca.fit([X[:150] for X in Xs])  # imports
    assert peak_bytes(tca.fit, Xs) < 1.5 * 8 * 1600**2


@pytest.mark.parametrize("kernel", ["rbf", "cosine"])
def test_all_samples_as_landmarks_are_the_exact_kernel(make_domains, kernel):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    gamma = 0.3 if kernel == "rbf" else "median"
    exact = TCA(n_components=4, kernel=kernel, gamma=gamma).fit(Xs)
    tca = TCA(n_components=4, kernel=kernel, gamma=gamma, landmarks=70).fit(Xs)
    for one, other in zip(exact.embeddings_, tca.embeddings_, strict=True):
        assert_equal_up_to_sign(one, other)
    assert tca.landmark_error_ < 1e-9
    assert exact.landmarks_ is exact.landmark_error_ is None


def test_fewer_landmarks_solve_the_dual_of_the_approximated_kernel(make_domains):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    tca = TCA(n_components=3, kernel="rbf", gamma=0.3, mu=0.5, unit_rows=False, landmarks=25)
    tca.fit(Xs)
    X = np.vstack(Xs)
    C = kernel_matrix(X, X[tca.landmarks_], "rbf", 0.3)
    K = C @ np.linalg.pinv(C[tca.landmarks_], rcond=1e-10, hermitian=True) @ C.T
    e = np.r_[np.full(40, 1 / 40), np.full(30, -1 / 30)]
    centred = K - K.mean(axis=0)
    values, W = linalg.eigh(centred.T @ centred, np.outer(K @ e, K @ e) + 0.5 * np.eye(70))
    np.testing.assert_allclose(tca.ratios_, values[:-4:-1], rtol=1e-7)
    W = W[:, :-4:-1] / np.linalg.norm(W[:, :-4:-1], axis=0)
    assert_equal_up_to_sign(np.vstack(tca.embeddings_), K @ W)
    assert tca.dual_coef_.shape == (25, 3)
    for domain, Z in enumerate(tca.embeddings_):
        np.testing.assert_allclose(tca.transform(Xs[domain], domain), Z, atol=1e-9)


def test_landmarks_hold_no_matrix_of_all_pairs(make_domains):
    Xs, _ = make_domains([(1500, 6), (1500, 6)])
    tca = TCA(n_components=3, kernel="rbf", gamma=0.3, landmarks=50)
    assert peak_bytes(tca.fit, Xs) < 3000**2 * 8 / 4
    again = TCA(n_components=3, kernel="rbf", gamma=0.3, landmarks=50).fit(Xs)
    np.testing.assert_array_equal(tca.landmarks_, again.landmarks_)
    other = TCA(n_components=3, kernel="rbf", gamma=0.3, landmarks=50, random_state=1).fit(Xs)
    assert (tca.landmarks_ != other.landmarks_).any()


def test_a_linear_kernel_needs_no_landmarks(make_domains):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    with pytest.raises(ValueError, match="which a linear kernel does not need"):
        TCA(landmarks=10).fit(Xs)


@pytest.mark.parametrize(("n_categories", "n_times", "n"), [(50, 3, 20), (103, 2, 10)])
def test_categories_in_equal_numbers_have_as_many_components_as_asked(n_categories, n_times, n):
    X = np.tile(np.eye(n_categories), (n_times, 1))
    assert TCA(n_components=n, kernel="rbf").fit([X, X]).n_components_ == n
