import numpy as np
import pytest
from domain_alignment.subspace._subspace_alignment import SubspaceAlignment
from sklearn.decomposition import PCA


def fitted(Xs, d):
    return [PCA(d, svd_solver="full").fit(X) for X in Xs]


@pytest.mark.parametrize("shapes", [((60, 8), (50, 8)), ((12, 40), (30, 40))])
def test_the_formula_with_the_pca_of_scikit_learn(make_domains, shapes):
    Xs, _ = make_domains(shapes)
    source, target = fitted(Xs, 3)
    model = SubspaceAlignment(3).fit(Xs)
    turned = source.components_ @ target.components_.T
    expected = [source.transform(Xs[0]) @ turned, target.transform(Xs[1])]
    signs = np.sign(np.sum(expected[1] * model.embeddings_[1], axis=0))
    for Z, other in zip(model.embeddings_, expected, strict=True):
        np.testing.assert_allclose(Z, other * signs, atol=1e-9)


def test_the_map_is_the_nearest_one(make_domains):
    Xs, _ = make_domains()
    start, end = (pca.components_.T for pca in fitted(Xs, 3))
    model = SubspaceAlignment(3).fit(Xs)
    best = np.linalg.norm(model.coef_[0] - model.coef_[1])
    rng = np.random.default_rng(0)
    least = start @ np.linalg.lstsq(start, end)[0] - end
    assert best == pytest.approx(np.linalg.norm(least))
    for _ in range(20):
        other = model.coef_[0] + start @ (0.1 * rng.normal(size=(3, 3)))
        assert np.linalg.norm(other - model.coef_[1]) > best


def test_centring_moves_each_domain_by_a_constant(make_domains):
    Xs, _ = make_domains()
    centred, plain = (SubspaceAlignment(3, center=c).fit(Xs) for c in (True, False))
    for domain, X in enumerate(Xs):
        moved = plain.embeddings_[domain] - centred.embeddings_[domain]
        np.testing.assert_allclose(moved, np.tile(moved[0], (len(X), 1)), atol=1e-12)
        np.testing.assert_allclose(centred.embeddings_[domain].mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(centred.means_[domain], X.mean(axis=0))
        np.testing.assert_array_equal(plain.means_[domain], 0)


def test_all_dimensions_change_nothing_but_the_basis(make_domains):
    Xs, _ = make_domains()
    source, target = SubspaceAlignment(8, center=False).fit(Xs).embeddings_
    np.testing.assert_allclose(source @ target.T, Xs[0] @ Xs[1].T, atol=1e-10)


@pytest.mark.parametrize("params", [{"n_components": 0}, {"center": 1}])
def test_wrong_parameters(make_domains, params):
    with pytest.raises(ValueError, match=next(iter(params))):
        SubspaceAlignment(**params).fit(make_domains()[0])
