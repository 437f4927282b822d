"""What TCA, SSTCA and JDA promise alike."""

import pickle

import numpy as np
import pytest
from domain_alignment.distribution._jda import JDA
from domain_alignment.distribution._sstca import SSTCA
from domain_alignment.distribution._tca import TCA
from domain_alignment.exceptions import AlignmentError
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from tests.methods.signs import assert_equal_up_to_sign

METHODS = [TCA, SSTCA, JDA]
FORMS = [
    {"formulation": "primal"},
    {"formulation": "dual"},
    {"formulation": "dual", "kernel": "rbf"},
    {"formulation": "dual", "kernel": "cosine", "unit_rows": False},
    {"formulation": "primal", "unit_rows": False},
]


@pytest.fixture(params=METHODS, ids=lambda method: method.__name__)
def method(request):
    return request.param


@pytest.fixture(params=[((40, 6), (30, 6)), ((14, 30), (12, 30))], ids=["tall", "wide"])
def domains(request, make_domains):
    return make_domains(request.param, n_visible=100)


@pytest.mark.parametrize("form", FORMS)
def test_training_samples_transform_to_their_embeddings(method, domains, form):
    Xs, ys = domains
    aligner = method(n_components=4, **form).fit(Xs, ys)
    for domain, X in enumerate(Xs):
        np.testing.assert_allclose(aligner.transform(X, domain), aligner.embeddings_[domain])
        np.testing.assert_allclose(
            aligner.transform(X[3:5], domain), aligner.embeddings_[domain][3:5]
        )
        lengths = np.linalg.norm(aligner.embeddings_[domain], axis=1)
        assert np.allclose(lengths, 1) == aligner.unit_rows
    new = np.random.default_rng(5).normal(size=(4, Xs[0].shape[1]))
    np.testing.assert_array_equal(aligner.transform(new, 0), aligner.transform(new, 1))
    assert (aligner.coef_ is None) == (aligner.kernel != "linear")
    assert (aligner.dual_coef_ is None) == (aligner.kernel == "linear")
    assert (aligner.gamma_ is None) == (aligner.kernel != "rbf")
    again = pickle.loads(pickle.dumps(aligner))
    np.testing.assert_array_equal(again.transform(new, 0), aligner.transform(new, 0))


@pytest.mark.parametrize("form", FORMS[:3])
def test_the_order_of_samples_does_not_matter(method, domains, form):
    Xs, ys = domains
    orders = [np.random.default_rng(a).permutation(len(X)) for a, X in enumerate(Xs)]
    embeddings = method(n_components=4, **form).fit_transform(Xs, ys)
    moved = method(n_components=4, **form).fit_transform(
        [X[order] for X, order in zip(Xs, orders, strict=True)],
        [y[order] for y, order in zip(ys, orders, strict=True)],
    )
    both = np.vstack([Z[order] for Z, order in zip(embeddings, orders, strict=True)])
    assert_equal_up_to_sign(both, np.vstack(moved))


@pytest.mark.parametrize("form", FORMS[:3])
def test_names_of_classes_do_not_matter(method, domains, form):
    Xs, ys = domains
    embeddings = method(n_components=4, **form).fit_transform(Xs, ys)
    renamed = method(n_components=4, **form).fit_transform(Xs, [(7 - 3 * ys[0]) % 11, ys[1]])
    assert_equal_up_to_sign(np.vstack(embeddings), np.vstack(renamed))


@pytest.mark.parametrize("form", FORMS[:3])
def test_rotations_of_the_features_do_not_matter(method, domains, form):
    Xs, ys = domains
    rotation, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(Xs[0].shape[1],) * 2))
    embeddings = method(n_components=4, **form).fit_transform(Xs, ys)
    turned = method(n_components=4, **form).fit_transform([X @ rotation for X in Xs], ys)
    assert_equal_up_to_sign(np.vstack(embeddings), np.vstack(turned))


@pytest.mark.parametrize("form", FORMS)
def test_sparse_is_dense(method, domains, form):
    Xs, ys = domains
    Xs = [np.where(np.abs(X) > 0.5, X, 0) for X in Xs]
    dense = method(n_components=4, **form).fit(Xs, ys)
    for stored in ([sparse.csr_array(X) for X in Xs], [Xs[0], sparse.csr_array(Xs[1])]):
        other = method(n_components=4, **form).fit(stored, ys)
        np.testing.assert_allclose(
            np.vstack(other.embeddings_), np.vstack(dense.embeddings_), atol=1e-8
        )
        np.testing.assert_allclose(
            other.transform(sparse.csr_array(Xs[1][:3]), 1), dense.embeddings_[1][:3], atol=1e-8
        )


@pytest.mark.parametrize("form", FORMS[:3])
def test_unlabelled_source_samples_can_be_left_out(method, domains, form):
    Xs, ys = domains
    seen = np.arange(len(ys[0])) % 4 > 0
    hidden = np.where(seen, ys[0], -1)
    aligner = method(n_components=3, source_rows="labelled", **form).fit(Xs, [hidden, None])
    alone = method(n_components=3, **form).fit([Xs[0][seen], Xs[1]], [ys[0][seen], None])
    np.testing.assert_allclose(aligner.embeddings_[1], alone.embeddings_[1], atol=1e-9)
    np.testing.assert_allclose(aligner.embeddings_[0], alone.transform(Xs[0], 0), atol=1e-9)
    assert aligner.capabilities.labels == "source"


@pytest.mark.parametrize("form", FORMS[:2])
def test_identical_domains_coincide(method, make_domains, form):
    (X, _), (y, _) = make_domains(n_visible=100)
    first, second = method(n_components=3, **form).fit_transform([X, X], [y, y])
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("form", FORMS[:3])
def test_scalings_differ_in_the_length_of_columns(method, domains, form):
    Xs, ys = domains
    params = {"n_components": 3, "unit_rows": False, **form}
    if method is JDA:
        params["n_iterations"] = 1  # later rounds depend on the scaling
    fitted = {
        scaling: method(scaling=scaling, **params).fit(Xs, ys)
        for scaling in ("unit", "constraint", "objective")
    }
    maps = {
        scaling: aligner.dual_coef_ if aligner.coef_ is None else aligner.coef_
        for scaling, aligner in fitted.items()
    }
    if params["formulation"] == "primal" or "kernel" in params:
        np.testing.assert_allclose(np.linalg.norm(maps["unit"], axis=0), 1)
    for scaling in ("constraint", "objective"):
        lengths = np.linalg.norm(maps[scaling], axis=0) / np.linalg.norm(maps["unit"], axis=0)
        np.testing.assert_allclose(maps[scaling], maps["unit"] * lengths, atol=1e-9)
    if method is not SSTCA:  # its constraint is more than the variance
        Z = np.vstack(fitted["constraint"].embeddings_)
        np.testing.assert_allclose(len(Z) * Z.var(axis=0), 1, rtol=1e-8)
    ratio = np.sum(maps["objective"] ** 2, axis=0) / np.sum(maps["constraint"] ** 2, axis=0)
    np.testing.assert_allclose(ratio, fitted["unit"].ratios_, rtol=1e-8)


def test_asking_for_more_than_there_is(method, make_domains):
    Xs, ys = make_domains(((20, 3), (15, 3)), n_visible=100)
    with pytest.warns(ConvergenceWarning, match=r"n_components=9 exceeds .* has 3 components"):
        aligner = method(n_components=9, formulation="primal").fit(Xs, ys)
    assert aligner.n_components_ == 3
    # Fewer samples than features: n - 1 directions.
    Xs, ys = make_domains(((6, 50), (5, 50)), n_visible=100)
    with pytest.warns(ConvergenceWarning, match=r"exceeds .* has 10 components"):
        aligner = method(n_components=50).fit(Xs, ys)
    assert aligner.embeddings_[0].shape == (6, 10)


def test_capabilities_are_true(method, make_domains):
    Xs, ys = make_domains(n_visible=100)
    for form in FORMS:
        aligner = method(n_components=3, **form).fit(Xs, ys)
        able = aligner.capabilities
        assert able.labels == ("none" if method is TCA else "source")
        assert (able.max_domains, able.needs_pairs, able.heterogeneous) == (2, False, False)
        assert able.embeds_new_samples
        assert not able.invertible
        one, other = Xs[0][:10], Xs[0][20:30]
        middle = aligner.transform((one + other) / 2, 0)
        expected = (aligner.transform(one, 0) + aligner.transform(other, 0)) / 2
        assert able.nonlinear != np.allclose(middle, expected)
        # Labels that it may not see change nothing.
        hidden = [None if able.labels == "none" else ys[0], None]
        for Z, expected in zip(
            method(n_components=3, **form).fit_transform(Xs, hidden),
            aligner.embeddings_,
            strict=True,
        ):
            np.testing.assert_array_equal(Z, expected)


def test_zero_rows_stay_at_the_origin(method, make_domains):
    Xs, ys = make_domains(n_visible=100)
    Xs[1][4] = 0
    aligner = method(n_components=3).fit(Xs, ys)
    assert not aligner.embeddings_[1][4].any()
    assert np.isfinite(aligner.embeddings_[1]).all()


def test_errors(method, make_domains):
    Xs, ys = make_domains(n_visible=100)
    with pytest.raises(ValueError, match="kernel='rbf' has no primal; use formulation=\"dual\""):
        method(formulation="primal", kernel="rbf").fit(Xs, ys)
    with pytest.raises(ValueError, match="domain 1: has 4 features, domain 0 has 8; one map"):
        method().fit([Xs[0], Xs[1][:, :4]], ys)
    with pytest.raises(ValueError, match="at most 2"):
        method().fit([*Xs, Xs[0]], [*ys, ys[0]])
    with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled"):
        method(source_rows="labelled").fit(Xs)
    for form in ({"formulation": "primal"}, {"formulation": "dual"}):
        with pytest.raises(AlignmentError, match="samples of both domains: all are equal"):
            method(**form).fit([np.ones((9, 3)), np.ones((8, 3))], [np.arange(9) % 2, None])
    for wrong in ({"scaling": "half"}, {"n_components": 0}, {"kernel": "spline"}, {"gamma": 0.0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of"):
            method(**wrong).fit(Xs, ys)
