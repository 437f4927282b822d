import pickle
import sys
import types

import numpy as np
import pytest
from domain_alignment.baselines._external import ExternalAligner
from domain_alignment.exceptions import AlignmentError
from domain_alignment.mapping._optimal_transport import ClassRegularizedOT
from ot import da
from scipy import sparse
from sklearn.base import clone


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    source = 3 * np.eye(3, 5)[y] + rng.normal(size=(30, 5))
    target = 3 * np.eye(3, 5)[np.repeat([0, 1, 2], 8)] + rng.normal(size=(24, 5)) + 1
    return [source, target], [y, np.full(24, -1)]


class Mapping:
    """skada's interface: the mean of each domain is subtracted, rows as `order` wants them."""

    order = staticmethod(lambda sample_domain: np.arange(len(sample_domain)))

    def fit_transform(self, X, y=None, *, sample_domain=None):
        self.y = y
        self.means = {d: X[sample_domain == d].mean(axis=0) for d in np.unique(sample_domain)}
        Z = self.transform(X, sample_domain=sample_domain)
        return Z[self.order(sample_domain)]

    def transform(self, X, y=None, *, sample_domain=None, allow_source=False):
        return X - np.array([self.means[d] for d in sample_domain])


class TargetFirst(Mapping):
    """The fault that the check is there for, in the order that it does bite."""

    order = staticmethod(lambda sample_domain: np.argsort(sample_domain, kind="stable"))


class Reweighting(Mapping):
    def fit_transform(self, X, y=None, *, sample_domain=None):
        return X, {"sample_weight": np.ones(len(X))}


class Broken(Mapping):
    def fit_transform(self, X, y=None, *, sample_domain=None):
        return np.full_like(X, np.nan)


class Raising(Mapping):
    def fit_transform(self, X, y=None, *, sample_domain=None):
        raise KeyError("no such thing")


class Refusing(Mapping):
    def fit_transform(self, X, y=None, *, sample_domain=None):
        raise ValueError("not these: " + "1.0 " * 9999)


class Lacking(Mapping):
    def fit_transform(self, X, y=None, *, sample_domain=None):
        import a_package_that_nobody_has  # noqa: F401


class Shift:
    """POT's interface: the source is moved by a number, which may be NaN."""

    def __init__(self, by=1.0):
        self.by = by

    def fit(self, Xs=None, ys=None, Xt=None, yt=None):
        return self

    def transform(self, Xs=None):
        return Xs + self.by


class Shortened(Shift):
    """A fault of the same interface: the first sample is lost."""

    def transform(self, Xs=None):
        return Xs[1:]


@pytest.fixture(autouse=True)
def package(monkeypatch):
    """A package that needs no installation."""
    module = types.ModuleType("a_package")
    for cls in (
        Mapping,
        TargetFirst,
        Reweighting,
        Broken,
        Raising,
        Refusing,
        Lacking,
        Shift,
        Shortened,
    ):
        setattr(module, cls.__name__, cls)
    monkeypatch.setitem(sys.modules, "a_package", module)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("EMDTransport", {}),
        ("SinkhornTransport", {"reg_e": 0.5, "norm": "median"}),
        ("LinearTransport", {}),
        ("SinkhornLpl1Transport", {"reg_e": 0.5, "reg_cl": 0.3, "norm": "max"}),
        ("EMDLaplaceTransport", {"max_iter": 5}),
    ],
)
def test_estimators_of_pot(pair, name, params):
    Xs, ys = pair
    aligner = ExternalAligner(f"ot.da:{name}", params).fit(Xs, ys)
    peer = getattr(da, name)(**params).fit(Xs=Xs[0], ys=ys[0], Xt=Xs[1])
    np.testing.assert_allclose(aligner.embeddings_[0], peer.transform(Xs[0]))
    np.testing.assert_array_equal(aligner.embeddings_[1], Xs[1])
    new = Xs[0][:3] + 0.1
    np.testing.assert_allclose(aligner.transform(new, 0), peer.transform(new))
    np.testing.assert_array_equal(aligner.transform(new, -1), new)
    again = pickle.loads(pickle.dumps(aligner))
    np.testing.assert_allclose(again.transform(new, 0), peer.transform(new))


def without_mass(X):
    """Weights of samples, of which the first has none."""
    return np.r_[0.0, np.full(len(X) - 1, 1 / (len(X) - 1))]


class Halved(da.EMDTransport):
    """A map of its own by an exact plan."""

    def transform(self, Xs=None, ys=None, Xt=None, yt=None, batch_size=128):
        return super().transform(Xs) / 2


class Spoiled(da.EMDTransport):
    """A plan that is no number somewhere."""

    def fit(self, Xs, ys=None, Xt=None, yt=None):
        super().fit(Xs, ys, Xt, yt)
        self.coupling_[2, 3] = np.nan
        return self


class Moved(da.EMDTransport):
    """A plan between samples that it changed."""

    def fit(self, Xs, ys=None, Xt=None, yt=None):
        return super().fit(Xs + 1, ys, Xt, yt)


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")
@pytest.mark.parametrize(
    "params", [{}, {"metric": "cityblock"}, {"distribution_estimation": without_mass}]
)
@pytest.mark.parametrize("labels", ["none", "source"])
def test_an_exact_plan_moves_samples_as_pot_does(pair, params, labels, monkeypatch):
    """Without the product with all of its entries; a sample without mass is moved to zero."""
    Xs, ys = pair
    expected = da.EMDTransport(**params).fit(Xs=Xs[0], Xt=Xs[1]).transform(Xs[0])
    monkeypatch.setattr(da.BaseTransport, "transform", lambda *args, **kwargs: 1 / 0)
    found = ExternalAligner(params=params, labels=labels).fit(Xs, ys).embeddings_[0]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    assert found.flags.c_contiguous
    assert (found[0] == 0).all() == ("distribution_estimation" in params)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_a_row_that_is_no_number_moves_its_sample_to_zero_as_in_pot(pair, monkeypatch):
    monkeypatch.setattr(sys.modules["a_package"], "Spoiled", Spoiled, raising=False)
    expected = Spoiled().fit(Xs=pair[0][0], Xt=pair[0][1]).transform(pair[0][0])
    found = ExternalAligner("a_package:Spoiled").fit(*pair).embeddings_[0]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(found[2], 0)


@pytest.mark.parametrize("kind", [Halved, Moved])
def test_other_maps_by_an_exact_plan_are_their_own(pair, kind, monkeypatch):
    Xs, ys = pair
    monkeypatch.setattr(sys.modules["a_package"], kind.__name__, kind, raising=False)
    expected = kind().fit(Xs=Xs[0], Xt=Xs[1]).transform(Xs[0])
    found = ExternalAligner(f"a_package:{kind.__name__}").fit(Xs, ys).embeddings_[0]
    np.testing.assert_allclose(found, expected)


def test_any_class_with_pots_interface(pair):
    Xs, ys = pair
    aligner = ExternalAligner("a_package:Shift", {"by": 2.0}).fit(Xs, ys)
    np.testing.assert_array_equal(aligner.embeddings_[0], Xs[0] + 2)
    np.testing.assert_array_equal(aligner.embeddings_[1], Xs[1])


def test_one_address_for_otlab(pair):
    params = {"reg_e": 0.5, "reg_cl": 0.3, "norm": "median", "tol": 1e-8}
    foreign = ExternalAligner("ot.da.SinkhornLpl1Transport", params).fit(*pair)
    ours = ClassRegularizedOT(reg_e=0.5, reg_cl=0.3).fit(*pair)
    np.testing.assert_allclose(foreign.embeddings_[0], ours.embeddings_[0], rtol=1e-7)


def test_skadas_interface(pair):
    Xs, ys = pair
    aligner = ExternalAligner("a_package:Mapping").fit(Xs, ys)
    for a, X in enumerate(Xs):
        np.testing.assert_allclose(aligner.embeddings_[a], X - X.mean(axis=0))
        np.testing.assert_allclose(aligner.transform(X[:4], a), X[:4] - X.mean(axis=0))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("none", None), ("source", [0, 2, -1, -1]), ("source+target", [0, 2, 1, -1])],
)
def test_labels_handed_over(labels, expected):
    Xs = [np.array([[0.0], [1.0], [5.0]]), np.array([[2.0], [4.0]])]
    aligner = ExternalAligner("a_package:Mapping", labels=labels)
    aligner.fit(Xs, [[0, 2, -1], [1, -1]])
    assert aligner.capabilities.labels == labels
    if expected is None:
        assert aligner.estimator_.y is None
    else:
        np.testing.assert_array_equal(aligner.estimator_.y, expected)
    # The unlabelled source sample has no part in the mean, and is mapped all the same.
    mean = 2.0 if labels == "none" else 0.5
    np.testing.assert_allclose(aligner.embeddings_[0], Xs[0] - mean)


def test_rows_in_another_order_are_found_out(pair):
    with pytest.raises(AlignmentError, match=r"domain 0: .*TargetFirst disagree.*order of rows"):
        ExternalAligner("a_package:TargetFirst").fit(*pair)


@pytest.mark.parametrize("name", ["TransferComponentAnalysisAdapter", "SubspaceAlignmentAdapter"])
def test_adapters_of_skada(pair, name):
    Xs, ys = pair
    aligner = ExternalAligner(f"skada:{name}", {"n_components": 3}, labels="none").fit(Xs, ys)
    # Its TCA takes eigenvectors of a matrix that is not symmetric, which depend on the order of the
    # samples within a domain; that is kept.
    order = np.argsort(np.concatenate([np.arange(30), np.arange(24)]), kind="stable")
    mixed, sample_domain = np.vstack(Xs)[order], np.repeat([1, -2], [30, 24])[order]
    peer = clone(aligner.estimator_)
    peer.fit_transform(mixed, sample_domain=sample_domain)
    for a, (X, domain) in enumerate(zip(Xs, (1, -2), strict=True)):
        np.testing.assert_allclose(aligner.transform(X, a), aligner.embeddings_[a], atol=1e-9)
        alone = peer.transform(X, sample_domain=np.full(len(X), domain), allow_source=True)
        np.testing.assert_allclose(abs(alone), abs(aligner.embeddings_[a]), atol=1e-7)


def test_the_order_of_samples_does_not_matter(pair):
    Xs, ys = pair
    aligner = ExternalAligner("ot.da:SinkhornTransport", {"norm": "median", "reg_e": 0.5})
    Z = aligner.fit(Xs, ys).embeddings_[0]
    order = np.random.default_rng(1).permutation(30)
    moved = clone(aligner).fit([Xs[0][order], Xs[1]], [ys[0][order], ys[1]]).embeddings_[0]
    np.testing.assert_allclose(moved, Z[order], rtol=1e-7)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": "a_package:Raising"}, r"a_package:Raising failed with KeyError"),
        ({"estimator": "a_package:Broken"}, "returned non-finite values"),
        (
            {"estimator": "a_package:Shift", "params": {"by": np.nan}},
            "a_package:Shift returned non-finite values",
        ),
        (
            {"estimator": "ot.da:SinkhornLpl1Transport", "params": {"reg_e": 1e-3}},
            r"numerical errors.*norm='median'",
        ),
        (
            {"estimator": "ot.da:SinkhornLpl1Transport", "labels": "none"},
            r"check whether it needs labels \(labels='none'\)",
        ),
    ],
)
def test_failures_of_the_estimator(pair, params, message):
    Xs, ys = pair
    with pytest.raises(AlignmentError, match=message):
        ExternalAligner(**params).fit([10 * Xs[0], 10 * Xs[1] + 30], ys)


def test_long_messages_are_cut(pair):
    with pytest.raises(AlignmentError, match="a_package:Refusing failed with ValueError") as caught:
        ExternalAligner("a_package:Refusing").fit(*pair)
    assert len(str(caught.value)) < 600


def test_what_the_estimator_cannot_import_is_said_as_that(pair):
    with pytest.raises(ImportError, match="a_package_that_nobody_has"):
        ExternalAligner("a_package:Lacking").fit(*pair)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": "nothing"}, "'nothing' is not an address; give 'package.module:Class'"),
        ({"estimator": "ot.da:Teleport"}, "module ot.da has no 'Teleport'"),
        ({"estimator": "ot.nothing:Teleport"}, "'ot.nothing' of 'ot.nothing:Teleport' cannot be"),
        ({"params": {"reg": 1}}, r"ot.da:EMDTransport cannot be constructed with \{'reg': 1\}"),
        ({"estimator": "sklearn.decomposition:PCA"}, "has neither fit.*Adapter classes; give"),
        ({"estimator": "a_package:Reweighting"}, "returned a tuple for 54 samples"),
        ({"estimator": "a_package:Shortened"}, r"returned shape \(29, 5\) for 30 samples"),
        ({"labels": "target"}, "'labels' parameter of ExternalAligner"),
    ],
)
def test_wrong_parameters(pair, params, message):
    with pytest.raises(ValueError, match=message):
        ExternalAligner(**params).fit(*pair)


def test_wrong_domains(pair):
    Xs, ys = pair
    with pytest.raises(ValueError, match="domain 0: none of its 30 samples is labelled"):
        ExternalAligner().fit(Xs)
    with pytest.raises(ValueError, match="domain 1: is sparse; POT and skada"):
        ExternalAligner().fit([Xs[0], sparse.csr_array(Xs[1])], ys)
    with pytest.raises(ValueError, match="domain 1: has 3 features, domain 0 has 5"):
        ExternalAligner().fit([Xs[0], Xs[1][:, :3]], ys)
    with pytest.raises(ValueError, match="aligns at most 2"):
        ExternalAligner().fit([*Xs, Xs[0]])


def test_sparse_features_are_made_dense_if_asked(pair):
    Xs, ys = pair
    expected = ExternalAligner().fit(Xs, ys)
    found = ExternalAligner(densify=True).fit([sparse.csr_array(X) for X in Xs], ys)
    for Z, Z_expected in zip(found.embeddings_, expected.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, Z_expected)
    new = Xs[0][:4] + 0.1
    moved = found.transform(sparse.csr_array(new), 0)
    np.testing.assert_array_equal(moved, expected.transform(new, 0))


def test_without_the_package(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    monkeypatch.delitem(sys.modules, "ot.da", raising=False)
    with pytest.raises(ImportError, match=r"needs the package POT; .*\.\[ot\]"):
        ExternalAligner().fit(*pair)
    with pytest.raises(ImportError, match="needs the package no_such_package; install it"):
        ExternalAligner("no_such_package.part:Class").fit(*pair)
