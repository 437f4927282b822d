"""One contract for every entry of config/methods.yaml: what each method promises, run."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from claimed_cost import claims, cost_paragraph, power
from domain_alignment.exceptions import AlignmentError
from growth import reading
from scipy import sparse
from sklearn.base import clone

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import load_suite

SUITE = load_suite(Path(__file__).parents[2])
ENTRIES = SUITE.methods
SMALL = {"n_components": 8, "n_neighbors": 5, "landmarks": 20}


def make(name):
    """The entry's estimator, with what depends on the size of the data made smaller."""
    entry = ENTRIES[name]
    estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
    given = estimator.get_params()
    return estimator.set_params(**{key: SMALL[key] for key in SMALL if given.get(key) is not None})


def domains(n_domains=2, widths=(6, 6), seed=0):
    """Three classes, each domain a shifted and turned copy of the same clusters."""
    rng = np.random.default_rng(seed)
    Xs, ys = [], []
    for d in range(n_domains):
        y = np.repeat([0, 1, 2], 15 + d)
        turn = np.linalg.qr(rng.normal(size=(widths[d % 2], widths[d % 2])))[0]
        centres = 4 * np.eye(3, widths[d % 2])
        Xs.append((centres[y] + rng.normal(size=(len(y), widths[d % 2]))) @ turn + d)
        ys.append(np.where(np.arange(len(y)) % (15 + d) < 4, y, -1))
    return Xs, ys


def needs_counts(name):
    """Whether the entry's kernel is defined on non-negative features alone."""
    return ENTRIES[name].get("params", {}).get("kernel") == "chi2"


def domains_of(name, *args, **options):
    """The same for an entry, moved above zero where it needs that."""
    Xs, ys = domains(*args, **options)
    return [X - X.min() for X in Xs] if needs_counts(name) else Xs, ys


@pytest.fixture(params=ENTRIES)
def name(request):
    return request.param


def test_labels_seen_are_those_declared(name):
    assert make(name).capabilities.labels == ENTRIES[name]["sees_labels"]


def test_fit_gives_one_embedding_per_domain(name):
    Xs, ys = domains_of(name)
    method = make(name).fit(Xs, ys)
    assert [Z.shape for Z in method.embeddings_] == [(len(X), method.n_components_) for X in Xs]
    assert all(np.isfinite(Z).all() for Z in method.embeddings_)
    assert len(method.get_feature_names_out()) == method.n_components_


def test_prepared_domains_give_exactly_the_same(name):
    Xs, ys = domains_of(name)
    method = make(name)
    prepared = [method.prepare(X) for X in Xs]
    for one, other in zip(
        clone(method).fit(Xs, ys).embeddings_,
        clone(method).fit(Xs, ys, prepared=prepared).embeddings_,
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_what_predicts_says_which_classes(name):
    method = make(name)
    if hasattr(method, "predict"):
        Xs, ys = domains_of(name)
        predicted = method.fit(Xs, ys).predict(Xs[1])
        np.testing.assert_array_equal(method.classes_, [0, 1, 2])
        assert set(predicted) <= set(method.classes_)


def test_rows_alone_are_predicted_as_among_all(name):
    method = make(name)
    if hasattr(method, "predict"):
        Xs, ys = domains_of(name)
        method.fit(Xs, ys)
        for d, X in enumerate(Xs):
            every = method.predict(X, domain=d)
            np.testing.assert_array_equal(method.predict(X[::4], domain=d), every[::4])


def test_domains_that_are_said_not_to_move_are_embedded_as_they_are(name):
    Xs, ys = domains_of(name)
    method = make(name).fit(Xs, ys)
    for domain in method.unmoved_domains:
        np.testing.assert_array_equal(method.embeddings_[domain], Xs[domain])
        new = Xs[domain][::2] + 0.5
        np.testing.assert_array_equal(method.transform(new, domain), new)


def test_sparse_domains_that_are_said_not_to_move_are_embedded_as_they_are(name):
    Xs, ys = domains_of(name)
    method = make(name).fit(Xs, ys)
    if not method.unmoved_domains:
        return
    method.fit([sparse.csr_array(X) for X in Xs], ys)
    for domain in method.unmoved_domains:
        np.testing.assert_array_equal(method.embeddings_[domain], Xs[domain])


def test_the_same_data_give_the_same_answer(name):
    Xs, ys = domains_of(name)
    for one, other in zip(
        make(name).fit(Xs, ys).embeddings_, make(name).fit(Xs, ys).embeddings_, strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_fit_leaves_its_input_alone(name):
    Xs, ys = domains_of(name)
    before = [X.copy() for X in Xs], [y.copy() for y in ys]
    make(name).fit(Xs, ys)
    for one, other in zip([*Xs, *ys], [*before[0], *before[1]], strict=True):
        np.testing.assert_array_equal(one, other)


def test_numpys_global_generator_is_left_alone(name):
    Xs, ys = domains_of(name)
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    make(name).fit(Xs, ys).transform(Xs[0], 0)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


def test_labels_that_may_not_be_seen_change_nothing(name):
    seen = make(name).capabilities.labels
    Xs, ys = domains_of(name)
    hidden = [
        y if seen == "source+target" or (seen == "source" and d == 0) else np.full_like(y, -1)
        for d, y in enumerate(ys)
    ]
    for one, other in zip(
        make(name).fit(Xs, ys).embeddings_, make(name).fit(Xs, hidden).embeddings_, strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_heterogeneous_features_work_or_are_refused(name):
    Xs, ys = domains_of(name, widths=(6, 4))
    method = make(name)
    if method.capabilities.heterogeneous:
        method.fit(Xs, ys)
        assert [Z.shape for Z in method.embeddings_] == [(len(X), method.n_components_) for X in Xs]
    else:
        with pytest.raises(ValueError, match="features"):
            method.fit(Xs, ys)


def test_more_domains_than_two_work_or_are_refused(name):
    Xs, ys = domains_of(name, n_domains=3)
    method = make(name)
    limit = method.capabilities.max_domains
    if limit is None or limit >= 3:
        assert len(method.fit(Xs, ys).embeddings_) == 3
    else:
        with pytest.raises(ValueError, match=f"at most {limit}"):
            method.fit(Xs, ys)


def test_new_samples_are_embedded_or_refused(name):
    Xs, ys = domains_of(name)
    method = make(name).fit(Xs, ys)
    new = Xs[1][:3] + 0.01
    if method.capabilities.embeds_new_samples:
        assert method.transform(new, domain=1).shape == (3, method.n_components_)
    else:
        with pytest.raises(AlignmentError):
            method.transform(new, domain=1)


def test_an_invertible_method_maps_back_and_no_other_offers_to(name):
    Xs, ys = domains_of(name)
    method = make(name).fit(Xs, ys)
    assert hasattr(method, "inverse_transform") == method.capabilities.invertible
    if not method.capabilities.invertible:
        return
    maps_back = 0
    for domain, (X, Z) in enumerate(zip(Xs, method.embeddings_, strict=True)):
        try:
            back = method.inverse_transform(Z, domain)
        except AlignmentError:  # this domain has none
            continue
        assert back.shape == X.shape
        # What the embedding leaves out is left out once: the way there and back changes nothing.
        np.testing.assert_allclose(method.transform(back, domain), Z, atol=1e-6 * np.abs(Z).max())
        maps_back += 1
    assert maps_back


def test_a_fitted_method_survives_pickling(name):
    Xs, ys = domains_of(name)
    method = make(name).fit(Xs, ys)
    again = pickle.loads(pickle.dumps(method))
    for one, other in zip(method.embeddings_, again.embeddings_, strict=True):
        np.testing.assert_array_equal(one, other)


def numbers(method, kind):
    """The parameters whose value is a float, say, and the values of theirs that are allowed."""
    given = {key: value for key, value in method.get_params().items() if type(value) is kind}
    ranges = {key: method._parameter_constraints.get(key, [kind]) for key in given}
    return {key: (value, ranges[key]) for key, value in given.items()}


def outcome(method, name):
    """The embeddings that a fit gives, or its refusal."""
    Xs, ys = domains_of(name)
    try:
        return np.vstack(method.fit(Xs, ys).embeddings_)
    except (ValueError, AlignmentError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", [int, np.int64, np.float32, np.float64])
def test_a_number_is_its_value_whatever_its_type(name, kind):
    values = {}
    for key, (value, ranges) in numbers(make(name), float).items():
        if issubclass(kind, int | np.integer):  # 1 where it is allowed, else 0
            value = any(getattr(allowed, "right", None) is None for allowed in ranges)
        values[key] = kind(value)
    as_given = make(name).set_params(**values)
    as_floats = make(name).set_params(**{key: float(value) for key, value in values.items()})
    found = outcome(as_given, name)
    assert kind is not np.float64 or not isinstance(found, str), f"its own numbers: {found}"
    np.testing.assert_array_equal(found, outcome(as_floats, name))
    assert as_given.get_params() == as_floats.get_params()


def test_a_bool_is_no_number(name):
    for kind in (int, float):
        for key in numbers(make(name), kind):
            if key != "random_state":  # which may be what scikit-learn accepts
                with pytest.raises(ValueError, match=f"'{key}' parameter"):
                    make(name).set_params(**{key: True}).prepare(domains()[0][0])


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda Xs, ys: Xs[1].__setitem__((4, 2), np.nan), r"domain 1.*NaN or infinity.*row 4"),
        (lambda Xs, ys: ys.__setitem__(0, ys[0][:-1]), "domain 0"),
        (lambda Xs, ys: (Xs.pop(), ys.pop()), r"Xs holds 1 domain\(s\)"),
    ],
    ids=["NaN", "length of labels", "one domain"],
)
def test_wrong_input_is_named(name, spoil, expected):
    Xs, ys = domains_of(name)
    spoil(Xs, ys)
    with pytest.raises(ValueError, match=expected):
        make(name).fit(Xs, ys)


def test_the_docstring_states_the_cost(name):
    """In O(), which the growth board reads beside what it measures."""
    told = claims(cost_paragraph(type(make(name))))
    assert told, "its Cost paragraph, in the Notes, has no O()"
    claimed, _ = reading(ENTRIES[name])
    of_entry = claimed({"samples": 1000, "features": 200, "kind": "dense"})
    assert of_entry.time, "its Cost paragraph has no O() of time for these parameters"
    assert of_entry.memory, "its Cost paragraph has no O() of memory for these parameters"
    assert all(0 <= power(claim) <= 3 for claim in told)
