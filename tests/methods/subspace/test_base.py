import numpy as np
import pytest
from domain_alignment.distribution._meda import MEDA
from domain_alignment.exceptions import AlignmentError
from domain_alignment.subspace._gfk import GFK
from domain_alignment.subspace._grassmann import PrincipalAxes
from domain_alignment.subspace._sgf import SGF
from domain_alignment.subspace._subspace_alignment import SubspaceAlignment
from domain_alignment.utils.validation import labelled_source_rows
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

METHODS = {
    "gfk": GFK(3),
    "gfk_pls": GFK(3, "pls"),
    "gfk_unit": GFK(3, unit_rows=True, source_rows="labelled"),
    "sgf": SGF(3, n_scores=3),
    "sgf_plain": SGF(3, basis="pca", n_scores=None),
    "subspace_alignment": SubspaceAlignment(3),
    "meda": MEDA(3, n_neighbors=4),
}


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def distances(Zs):
    Z = np.vstack(Zs)
    return np.linalg.norm(Z[:, None] - Z, axis=2)


def test_capabilities_are_true(method, make_domains):
    able = method.capabilities
    assert (able.max_domains, able.heterogeneous, able.needs_pairs) == (2, False, False)
    assert able.embeds_new_samples
    assert not able.invertible
    Xs, ys = make_domains()
    embeddings = method.fit(Xs, ys).embeddings_
    for domain, X in enumerate(Xs):
        np.testing.assert_allclose(method.transform(X[3:6], domain), embeddings[domain][3:6])
    blind = [None, None] if able.labels == "none" else [ys[0], None]
    for one, other in zip(embeddings, method.fit(Xs, blind).embeddings_, strict=True):
        np.testing.assert_array_equal(one, other)
    if able.labels == "source":
        with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled"):
            method.fit(Xs)
    # Linear means: the middle of two samples is mapped to the middle of their images.
    a, b = Xs[1][:5], Xs[1][5:10]
    middle = (method.transform(a, 1) + method.transform(b, 1)) / 2
    assert np.allclose(method.transform((a + b) / 2, 1), middle) == (not able.nonlinear)


def test_order_of_samples_names_of_classes_and_rotations(method, make_domains):
    Xs, ys = make_domains()
    expected = distances(method.fit(Xs, ys).embeddings_)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(len(X)) for X in Xs]
    moved = method.fit(
        [X[o] for X, o in zip(Xs, orders, strict=True)],
        [y[o] for y, o in zip(ys, orders, strict=True)],
    ).embeddings_
    undone = [Z[np.argsort(o)] for Z, o in zip(moved, orders, strict=True)]
    np.testing.assert_allclose(distances(undone), expected, atol=1e-7)
    names = np.array([9, 4, 7, -1])
    renamed = method.fit(Xs, [names[y] for y in ys]).embeddings_
    np.testing.assert_allclose(distances(renamed), expected, atol=1e-7)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    turned = method.fit([X @ turn for X in Xs], ys).embeddings_
    np.testing.assert_allclose(distances(turned), expected, atol=1e-7)


def test_sparse_samples_give_the_same(method):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    Xs = [rng.poisson(0.5 + 2 * np.eye(4, 12)[y]).astype(float) + np.eye(1, 12) for _ in range(2)]
    dense = method.fit(Xs, [y, None]).embeddings_
    thin = method.fit([sparse.csr_array(X) for X in Xs], [y, None]).embeddings_
    for one, other in zip(dense, thin, strict=True):
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(one, other, atol=1e-7)
    np.testing.assert_allclose(
        method.transform(sparse.csr_array(Xs[1][:4]), 1), dense[1][:4], atol=1e-7
    )


# Partial least squares and PCA see different subspaces of one domain.
@pytest.mark.parametrize("name", ["gfk", "gfk_unit", "sgf_plain", "subspace_alignment", "meda"])
def test_identical_domains_are_embedded_alike(name, make_domains):
    (X, _), (y, _) = make_domains()
    source, target = METHODS[name].fit([X, X], [np.abs(y), None]).embeddings_
    np.testing.assert_allclose(source, target, atol=1e-7)


def test_fewer_samples_than_dimensions(method, make_domains):
    Xs, ys = make_domains(((12, 40), (9, 40)), n_visible=4)
    for Z in method.fit(Xs, ys).embeddings_:
        assert np.isfinite(Z).all()


def test_too_many_components_are_said(method, make_domains):
    Xs, ys = make_domains(((30, 5), (30, 5)))
    greedy = type(method)(**{**method.get_params(), "n_components": 50})
    with pytest.warns(ConvergenceWarning, match="n_components=50, but the domains have 5 and 5"):
        greedy.fit(Xs, ys)


def test_a_model_prepared_before_changes_no_digit(method, make_domains):
    Xs, ys = make_domains()
    plain = method.fit(Xs, ys).embeddings_
    prepared = [method.prepare(X) for X in Xs]
    for _ in range(2):  # the second time with what the first has computed
        for one, other in zip(plain, method.fit(Xs, ys, prepared).embeddings_, strict=True):
            np.testing.assert_array_equal(one, other)
    # One model serves any number of components.
    assert type(method)(**{**method.get_params(), "n_components": 2}).accepts(prepared[0], Xs[0])


def test_wrong_models_and_domains_are_named(method, make_domains):
    Xs, ys = make_domains()
    with pytest.raises(ValueError, match="domain 1: prepared model is a str, not a PrincipalAxes"):
        method.fit(Xs, ys, [None, "model"])
    with pytest.raises(ValueError, match=r"domain 0: has shape \(60, 8\), its prepared model"):
        method.fit(Xs, ys, [PrincipalAxes(Xs[1], "X"), None])
    with pytest.raises(ValueError, match="domain 1: has 7 features, domain 0 has 8"):
        method.fit([Xs[0], Xs[1][:, :7]], ys)
    with pytest.raises(AlignmentError, match="domain 1: its 50 samples are all equal"):
        method.fit([Xs[0], np.ones_like(Xs[1])], ys)


def test_labelled_rows_alone_are_the_source_if_asked(make_domains):
    Xs, ys = make_domains()
    seen = ys[0] >= 0
    for kind in (GFK, SubspaceAlignment):
        part = kind(3, source_rows="labelled").fit(Xs, ys)
        alone = kind(3).fit([Xs[0][seen], Xs[1]])
        np.testing.assert_allclose(part.embeddings_[0][seen], alone.embeddings_[0], atol=1e-12)
        np.testing.assert_allclose(part.embeddings_[1], alone.embeddings_[1], atol=1e-12)
        everything = kind(3, source_rows="labelled").fit(Xs, [np.abs(ys[0]), None])
        np.testing.assert_array_equal(everything.embeddings_[1], kind(3).fit(Xs).embeddings_[1])


def test_labelled_rows_of_the_source():
    np.testing.assert_array_equal(labelled_source_rows(np.array([-1, 3, -1, 0])), [1, 3])
    with pytest.raises(ValueError, match="domain 0: none of its 2 samples is labelled, and the"):
        labelled_source_rows(np.array([-1, -1]))
