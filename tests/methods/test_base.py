import pickle

import numpy as np
import pandas as pd
import pytest
from domain_alignment import CORAL, Aligner, AlignerSearchCV, Capabilities, NoAdaptation
from domain_alignment.base import ClassScoresMixin
from domain_alignment.exceptions import AlignmentError
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError


class Centred(Aligner):
    """Subtract the mean: the smallest method with a label-free part."""

    @property
    def capabilities(self):
        return Capabilities(labels="none", heterogeneous=True, invertible=True)

    def _prepare(self, X, name):
        return X.mean(axis=0)

    def _check_model(self, model, X, name):
        if len(model) != X.shape[1]:
            raise ValueError(f"{name}: wrong model")

    def _fit(self, Xs, ys, models):
        self.means_ = models
        return [X - mean for X, mean in zip(Xs, models, strict=True)]

    def _transform(self, X, domain):
        return X - self.means_[domain]

    def _inverse_transform(self, Z, domain):
        return Z + self.means_[domain]


class Unprepared(Centred):
    def _prepare(self, X, name):
        return None

    _check_model = Aligner._check_model

    def _fit(self, Xs, ys, models):
        return Xs


def test_the_package_exports_its_public_names():
    import domain_alignment

    for name in domain_alignment.__all__:
        assert getattr(domain_alignment, name).__name__ == name
        assert name in dir(domain_alignment)
    with pytest.raises(AttributeError, match="no attribute 'FMB'"):
        domain_alignment.FMB  # noqa: B018


def test_fit_stores_what_the_interface_promises():
    Xs = [np.eye(3), np.ones((4, 3))]
    aligner = Centred()
    assert aligner.fit(Xs) is aligner
    assert aligner.n_features_in_ == [3, 3]
    assert aligner.n_components_ == 3
    assert aligner.get_feature_names_out().tolist() == ["centred0", "centred1", "centred2"]
    found = aligner.fit_transform(Xs)
    assert all(Z is own for Z, own in zip(found, aligner.embeddings_, strict=True))


def test_prepared_models_replace_the_work():
    Xs = [np.eye(3), np.ones((4, 3))]
    model = pickle.loads(pickle.dumps(Centred().prepare(Xs[1]))) - 2.0  # not what a fit would find
    first, second = Centred().fit_transform(Xs, prepared=[None, model])
    np.testing.assert_array_equal(first, Centred().fit_transform(Xs)[0])
    np.testing.assert_array_equal(second, Xs[1] - model)


def test_models_of_lists_are_known_too():
    X = [[1.0, 0.0], [0.0, 1.0]]
    for method in (Centred(), CORAL(), AlignerSearchCV(CORAL(), {})):
        model = method.prepare(X)
        assert method.accepts(model, X)
        assert not method.accepts(model, [row[:1] for row in X])
        assert not method.accepts(model, [[1.0, 0.0], [0.0]])


def test_the_last_domain_is_the_target_and_minus_one():
    aligner = Centred().fit([np.zeros((2, 1)), np.ones((2, 1))])
    np.testing.assert_array_equal(aligner.transform([[3.0]], -1), aligner.transform([[3.0]], 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.transform(np.ones((1, 2)), 2), "domain 2 does not exist; fitted: 0 to 1"),
        (lambda a: a.transform(np.ones((1, 2)), "x"), "domain 'x' does not exist"),
        (lambda a: a.transform(np.ones((1, 5)), 1), "X has 5 features; domain 1 was fitted with 2"),
        (lambda a: a.fit([np.eye(2)] * 3), "Xs holds 3 domains; Centred aligns at most 2"),
        (lambda a: a.fit([np.eye(2)] * 2, prepared=[None]), "prepared holds 1 models for 2"),
        (lambda a: a.fit([np.eye(2)] * 2, prepared=[None, [1]]), "domain 1: wrong model"),
    ],
)
def test_wrong_calls(call, message):
    aligner = Centred().fit([np.eye(2), np.ones((3, 2))])
    with pytest.raises(ValueError, match=message):
        call(aligner)


class Homogeneous(Centred):
    """The same, declared for equal features only; it checks nothing itself."""

    capabilities = Capabilities(labels="none")
    _features_reason = "one mean is subtracted"


def test_what_is_declared_homogeneous_gets_equal_features():
    Xs = [np.eye(3), np.ones((4, 2))]
    Centred().fit(Xs)
    with pytest.raises(
        ValueError, match="domain 1: has 2 features, domain 0 has 3; one mean is subtracted"
    ):
        Homogeneous().fit(Xs)


def test_what_is_declared_invertible_has_an_inverse():
    Xs = [np.eye(3), np.ones((4, 3))]
    centred = Centred().fit(Xs)
    np.testing.assert_allclose(centred.inverse_transform(centred.embeddings_[0], 0), Xs[0])
    with pytest.raises(ValueError, match="Z has 2 columns; the embedding has 3"):
        centred.inverse_transform(np.ones((1, 2)), 0)
    with pytest.raises(ValueError, match="domain 5 does not exist"):
        centred.inverse_transform(np.ones((1, 3)), 5)
    assert not hasattr(Homogeneous(), "inverse_transform")
    with pytest.raises(NotFittedError):
        Centred().inverse_transform(np.eye(3), 0)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("method", [NoAdaptation(), CORAL()])
def test_what_is_embedded_as_it_is_is_not_the_callers_own(method, form):
    Xs = [np.random.default_rng(seed).normal(size=(9, 3)) for seed in (0, 1)]
    method.fit(Xs)
    given = form(Xs[1])
    for ask in (method.transform, method.inverse_transform):
        found = ask(given, 1)
        found *= 2
        kept = given.toarray() if sparse.issparse(given) else np.asarray(given)
        np.testing.assert_array_equal(kept, Xs[1])


def test_an_inverse_that_is_declared_only_is_named():
    class Declared(Aligner):
        capabilities = Capabilities(labels="none", invertible=True)

        def _fit(self, Xs, ys, models):
            return Xs

        def _transform(self, X, domain):
            return X

    with pytest.raises(NotImplementedError, match="Declared declares invertible=True; implement"):
        Declared().fit([np.eye(2)] * 2).inverse_transform(np.eye(2), 0)


def test_a_model_for_a_method_without_one():
    with pytest.raises(
        ValueError, match=r"domain 0: Unprepared has no label-free part.* must be None"
    ):
        Unprepared().fit([np.eye(2)] * 2, prepared=[3, None])
    assert Unprepared().prepare(np.eye(2)) is None


def test_unfitted():
    with pytest.raises(NotFittedError):
        Centred().transform(np.eye(2), 0)
    with pytest.raises(NotFittedError):
        Centred().get_feature_names_out()


def test_by_default_a_linear_map_of_two_domains_with_the_same_features():
    assert Capabilities("source") == Capabilities(
        labels="source",
        max_domains=2,
        needs_pairs=False,
        heterogeneous=False,
        nonlinear=False,
        embeds_new_samples=True,
        invertible=False,
    )


def test_capabilities_are_frozen():
    with pytest.raises(AttributeError):
        Centred().capabilities.labels = "source"


class Signed(ClassScoresMixin, BaseEstimator):
    """Scores of the target are those of the source with the other sign."""

    def fit(self):
        self.classes_, self.n_components_ = np.array([3, 7]), 1
        return self

    def _class_scores(self, X, domain):
        return np.column_stack([-X, X]) if domain == 0 else np.column_stack([X, -X])


def test_the_class_of_the_largest_score_under_its_own_name():
    X = np.array([1.0, -2.0, 0.5])
    model = Signed().fit()
    np.testing.assert_array_equal(model.predict(X, domain=0), [7, 3, 7])
    np.testing.assert_array_equal(model.predict(X), [3, 7, 3])
    np.testing.assert_array_equal(model.decision_function(X)[:, 0], X)


def test_classes_only_when_fitted():
    for ask in (Signed().predict, Signed().decision_function):
        with pytest.raises(NotFittedError, match="Signed"):
            ask(np.ones(2))


@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, sparse.csr_array, sparse.csr_matrix])
def test_embeddings_do_not_change_with_the_data(kind):
    Xs = [kind(np.eye(3)), kind(np.ones((2, 3)))]
    embeddings = Unprepared().fit(Xs).embeddings_
    before = pickle.dumps(embeddings)
    for X in Xs:
        X[0, 0] = 7.0
    assert pickle.dumps(embeddings) == before


class Answer(Centred):
    """A method whose parts return, or raise, what they are told to."""

    def __init__(self, at_prepare=None, at_fit=None, at_transform=None):
        self.at_prepare, self.at_fit, self.at_transform = at_prepare, at_fit, at_transform

    def _prepare(self, X, name):
        return _say(self.at_prepare, X)

    def _fit(self, Xs, ys, models):
        return [_say(self.at_fit, X) for X in Xs]

    def _transform(self, X, domain):
        return _say(self.at_transform, X)


def _say(answer, X):
    if isinstance(answer, Exception):
        raise answer
    return 2 * X if answer is None else answer


@pytest.mark.parametrize("part", ["prepare", "fit", "transform"])
def test_a_failed_decomposition_is_an_alignment_error(part):
    answer = Answer(**{f"at_{part}": np.linalg.LinAlgError("SVD did not converge")})
    with pytest.raises(
        AlignmentError, match=r"Answer: .* \(SVD did not converge\); .* standardise"
    ):
        answer.fit([np.eye(2)] * 2).transform(np.eye(2), 0)
    if part == "prepare":
        with pytest.raises(AlignmentError, match="SVD did not converge"):
            answer.prepare(np.eye(2))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_an_embedding_that_is_not_finite_is_none(convert):
    spoilt = convert(np.array([[1.0, np.nan]]))
    with pytest.raises(AlignmentError, match=r"domain 0: .* NaN or infinity; .* standardise"):
        Answer(at_fit=spoilt).fit([np.eye(2)] * 2)
    with pytest.raises(AlignmentError, match=r"X: .* NaN or infinity; .* standardise"):
        Answer(at_transform=spoilt).fit([np.eye(2)] * 2).transform(np.eye(2), 0)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_squares_beyond_float64_are_refused(convert):
    ordinary, large, small = (convert(scale * np.eye(2)) for scale in (1.0, -1e160, 1e-160))
    with pytest.raises(
        AlignmentError, match=r"domain 1: the squares .* too large .* scale it down"
    ):
        Centred().fit([ordinary, large])
    with pytest.raises(AlignmentError, match=r"domain 0: the squares .* too small .* scale it up"):
        Centred().fit([small, ordinary])
    for scale in (large, small):
        with pytest.raises(AlignmentError, match=r"X: the squares"):
            Centred().prepare(scale)
    fitted = Answer().fit([ordinary, ordinary])
    with pytest.raises(AlignmentError, match=r"X: the squares .* too large"):
        fitted.transform(large, 0)
    fitted.transform(small, 0)  # near the origin, like a sample of zeros
    Answer().fit([convert(np.zeros((2, 2))), ordinary])
