import numpy as np
import pytest
from domain_alignment.manifold._kema import KEMA
from domain_alignment.manifold._ssma import SSMA
from scipy import sparse

from tests.methods import published_kema
from tests.methods.signs import assert_equal_up_to_sign


@pytest.mark.parametrize(
    "shapes", [((60, 8), (50, 8)), ((60, 3), (50, 5)), ((40, 30), (30, 60)), ((40, 4),) * 3]
)
@pytest.mark.parametrize("parameters", [{}, {"mu": 9.0, "ridge": 0.1}])
def test_it_is_the_published_recipe(make_domains, shapes, parameters):
    Xs, ys = make_domains(shapes)
    values, vectors, scores = published_kema.ssma(Xs, ys, n_neighbors=6, **parameters)
    expected = published_kema.coordinates([part[:, :8] for part in scores], ys)
    ssma = SSMA(8, n_neighbors=6, **parameters).fit(Xs, ys)
    assert ssma.rank_ == len(values)
    np.testing.assert_allclose(ssma.eigenvalues_, values[:8], rtol=1e-9)
    assert_equal_up_to_sign(ssma.coef_, np.vstack([V[:, :8] for V in vectors]), atol=1e-8)
    for Z, exact in zip(ssma.embeddings_, expected, strict=True):
        np.testing.assert_allclose(Z, exact, atol=1e-7)


def test_it_equals_the_linear_kernel_where_the_range_is_everything(make_domains):
    Xs, ys = make_domains(((60, 8), (50, 6)))  # 24 labels, 14 features
    ssma, kema = SSMA(14, n_neighbors=6), KEMA(14, "linear", n_neighbors=6)
    for Z, dual in zip(ssma.fit_transform(Xs, ys), kema.fit_transform(Xs, ys), strict=True):
        np.testing.assert_allclose(Z, dual, atol=1e-7)
    np.testing.assert_allclose(ssma.eigenvalues_, kema.eigenvalues_, rtol=1e-9)
    for X, V, alpha in zip(Xs, ssma.coef_, kema.dual_coef_, strict=True):
        np.testing.assert_allclose(V, X.T @ alpha, atol=1e-8)


def test_columns_of_zeros_do_not_part_the_two(make_domains):
    Xs, ys = make_domains(((60, 8), (50, 6)))
    Xs[0][:, 3] = 0
    first, dual = SSMA(9, n_neighbors=6).fit(Xs, ys), KEMA(9, "linear", n_neighbors=6).fit(Xs, ys)
    assert first.rank_ == dual.rank_ == 13
    np.testing.assert_allclose(first.eigenvalues_, dual.eigenvalues_, rtol=1e-9)


def test_with_more_features_than_labels_the_two_range_rules_differ(make_domains):
    Xs, ys = make_domains(((40, 30), (30, 60)))  # 24 labels, 90 features
    ssma, kema = SSMA(5, n_neighbors=6).fit(Xs, ys), KEMA(5, "linear", n_neighbors=6).fit(Xs, ys)
    assert ssma.rank_ == kema.rank_ == 23
    assert np.all(np.abs(ssma.eigenvalues_ - kema.eigenvalues_) > 1e-4 * ssma.eigenvalues_)
    # Each is confined to the range of its own right-hand side.
    _, B = published_kema.sides(Xs, ys, 6)
    Z = np.block([[Xs[0], np.zeros((40, 60))], [np.zeros((30, 30)), Xs[1]]])
    K = Z @ Z.T
    for V, spans in ((np.vstack(ssma.coef_), Z.T @ B), (np.vstack(kema.dual_coef_), K @ B)):
        residual = V - spans @ np.linalg.lstsq(spans, V, rcond=1e-12)[0]
        assert np.abs(residual).max() < 1e-8 * np.abs(V).max()


def test_sparse_equals_dense(make_domains):
    Xs, ys = make_domains(((60, 12), (50, 40)))
    Xs = [np.where(np.abs(X) > 1, X, 0) for X in Xs]
    expected = SSMA(5, n_neighbors=6).fit(Xs, ys)
    found = SSMA(5, n_neighbors=6).fit([sparse.csr_array(X) for X in Xs], ys)
    for domain in (0, 1):
        np.testing.assert_allclose(
            found.embeddings_[domain], expected.embeddings_[domain], atol=1e-7
        )
        given = sparse.csr_array(Xs[domain][:5])
        assert isinstance(found.transform(given, domain), np.ndarray)


def test_rotating_one_domains_features_changes_nothing(make_domains):
    Xs, ys = make_domains()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    ssma = SSMA(6, n_neighbors=6)
    expected = ssma.fit_transform(Xs, ys)
    for Z, exact in zip(ssma.fit_transform([Xs[0], Xs[1] @ rotation], ys), expected, strict=True):
        np.testing.assert_allclose(Z, exact, atol=1e-7)


def test_capabilities_are_true(make_domains):
    Xs, ys = make_domains(((60, 5), (50, 7), (40, 9)))
    able = SSMA().capabilities
    ssma = SSMA(4, n_neighbors=6).fit(Xs, ys)
    assert able.max_domains is None
    assert able.heterogeneous
    assert not able.needs_pairs
    assert not able.nonlinear
    for domain in range(3):
        # Affine in the features: a midpoint is embedded at the midpoint.
        middle = ssma.transform((Xs[domain][:10] + Xs[domain][10:20]) / 2, domain)
        Z = ssma.embeddings_[domain]
        np.testing.assert_allclose(middle, (Z[:10] + Z[10:20]) / 2, atol=1e-9)
    assert able.embeds_new_samples
    assert able.invertible
    assert ssma.map_to(Xs[2], 2, 0).shape == (40, 5)
    assert able.labels == "source+target"
    other = SSMA(4, n_neighbors=6).fit(Xs, [ys[0], ys[1], np.where(ys[2] < 0, -1, 2 - ys[2])])
    assert not np.allclose(other.embeddings_[2], ssma.embeddings_[2])
