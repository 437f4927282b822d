"""Any state of numbers, text and known objects comes back as it was; nothing else is written."""

import json
from collections import Counter, OrderedDict
from functools import partial

import numpy as np
import pytest
from domain_alignment.exceptions import SavedModelError
from domain_alignment.kernels._tiled import Kernel
from domain_alignment.persistence._state import Decoder, Encoder
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC


def there_and_back(value, **trust):
    encoder = Encoder(**trust)
    node = json.loads(json.dumps(encoder.encode(value), allow_nan=False))
    return Decoder(encoder.arrays, **trust).decode(node)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2**80,
        0.1,
        -0.0,
        5e-324,
        float("inf"),
        "ä\n\ud800$",
        [1, [2.5, None]],
        (1, (2,), []),
        {"a": 1, 2: "b", None: (3,)},
        {"$array": "a0"},  # a dictionary that looks like a form
        slice(1, None, 2),
        np.dtype("<f4"),
        np.float64,
        float,
    ],
    ids=repr,
)
def test_plain_values(value):
    again = there_and_back(value)
    assert again == value
    assert type(again) is type(value)
    assert repr(again) == repr(value)  # tells 0.0 from -0.0


def test_not_a_number():
    assert np.isnan(there_and_back(float("nan")))


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "u1", "?", "U5", "S3", "c16", "M8[D]"])
def test_arrays_and_numpys_numbers(kind):
    values = np.arange(6).astype(kind if kind != "M8[D]" else "i8").astype(kind).reshape(2, 3)
    for given in (values, values[0, 1], values[:0], np.array(values[1, 2])):
        again = there_and_back(given)
        np.testing.assert_array_equal(again, given)
        assert (type(again), again.dtype, again.shape) == (type(given), given.dtype, given.shape)


def test_arrays_of_objects():
    values = np.array([["a", None], [float("nan"), 3]], dtype=object)
    again = there_and_back(values)
    assert (again.shape, again[0].tolist(), again[1, 1]) == ((2, 2), ["a", None], 3)
    assert np.isnan(again[1, 0])


def test_the_order_in_memory_stays_and_with_it_every_digit_of_a_product():
    square = np.random.default_rng(0).normal(size=(40, 40))
    for given in (square, square.T, square[:, :20], square.T[:20], square[::2, ::-1]):
        again = there_and_back(given)
        np.testing.assert_array_equal(
            square[:7, : len(given)] @ again, square[:7, : len(given)] @ given
        )
    assert there_and_back(square.T).flags.f_contiguous


@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array]
)
def test_sparse_matrices(form):
    given = form(np.diag([1.0, 0.0, 2.0])[:2])
    again = there_and_back(given)
    assert type(again) is form
    np.testing.assert_array_equal(again.toarray(), given.toarray())


def test_what_is_shared_is_written_once():
    values = np.eye(3)
    encoder = Encoder()
    encoder.encode({"a": values, "b": [values], "c": values.copy()})
    assert len(encoder.arrays) == 2


def test_frozen_data_classes():
    kernel = Kernel("rbf", 0.5)
    assert there_and_back(kernel) == kernel


@pytest.mark.parametrize("n_drawn", [0, 3])  # an odd number of normal ones leaves one over
def test_generators_go_on_where_they_were(n_drawn):
    generator = np.random.RandomState(7)
    generator.normal(size=n_drawn)
    again = there_and_back({"random_state": generator})["random_state"]
    np.testing.assert_array_equal(again.normal(size=5), generator.normal(size=5))


TABLE = np.array([["a", 1.0], ["b", np.nan], [None, 3.0], ["a", 4.0]] * 5, dtype=object)
NUMBERS = np.random.default_rng(0).normal(size=(20, 3))
HOLES = np.where(NUMBERS > 1, np.nan, NUMBERS)
MIXED = ColumnTransformer(
    [
        ("text", make_pipeline(SimpleImputer(missing_values=None, strategy="most_frequent"),
                               OneHotEncoder(handle_unknown="ignore")), [0]),
        ("number", make_pipeline(SimpleImputer(), StandardScaler()), [1]),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("transformer", "X"),
    [
        (MIXED, TABLE),
        (KNNImputer(n_neighbors=2), HOLES),
        (SimpleImputer(strategy="median", add_indicator=True), HOLES),
        (RobustScaler(), NUMBERS),
        (PowerTransformer(), NUMBERS),
        (QuantileTransformer(n_quantiles=5), NUMBERS),
        (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), NUMBERS),
        (OrdinalEncoder(), TABLE[:2, :1]),
        (FunctionTransformer(), NUMBERS),
        (make_pipeline(StandardScaler(), "passthrough"), sparse.csr_matrix(NUMBERS).toarray()),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_transformers(transformer, X):
    expected = transformer.fit(X).transform(X)
    found = there_and_back(transformer).transform(X)
    if sparse.issparse(expected):
        expected, found = expected.toarray(), found.toarray()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "classifier",
    [
        KNeighborsClassifier(3, algorithm="kd_tree"),
        KNeighborsClassifier(3, algorithm="ball_tree", metric="manhattan"),
        KNeighborsClassifier(3, algorithm="brute"),
        SVC(kernel="rbf"),
        LinearSVC(),
        GaussianNB(),
        NearestCentroid(),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_classifiers(classifier, dtype):
    X = NUMBERS.astype(dtype)
    classifier.fit(X, np.where(NUMBERS[:, 0] > 0, "yes", "no"))
    new = X + dtype(0.1)
    again = there_and_back(classifier)
    np.testing.assert_array_equal(again.predict(new), classifier.predict(new))
    scores = "predict_proba" if hasattr(classifier, "predict_proba") else "decision_function"
    np.testing.assert_array_equal(getattr(again, scores)(new), getattr(classifier, scores)(new))


def circle():
    values = []
    values.append([values])
    return values


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Kernel(lambda X, Y: X @ Y.T), r"a function .* is part of the model"),
        ([circle()], r"model\[0\].* holds itself"),
        (np.random.RandomState(np.random.PCG64(0)), "model: .*PCG64.*an int as random_state"),
        (np.random.default_rng(0), "a numpy.*Generator holds more than its attributes"),
        ({"a": np.ma.masked_array([1.0])}, r"model\['a'\].*MaskedArray"),
        (np.zeros(2, dtype=[("a", int)]), "dtype"),
        (sparse.dok_matrix((2, 2)), "form dok"),
        ({"kind": dict}, "the class dict"),
        (np.matrix([1.0]), "is a matrix"),
    ],
)
def test_anything_else_is_refused(value, message):
    with pytest.raises(SavedModelError, match=message):
        Encoder().encode(value)


@pytest.mark.parametrize(
    "node",
    [{"$eval": "1"}, {"array": "a0"}, {}, {"$object": "os:system", "state": {}},
     {"$random_state": {}}, {"$function": "os:system"},
     {"$object": "ot.da:distribution_estimation_uniform", "state": {}}],
)  # fmt: skip
def test_forms_that_nothing_writes_are_refused(node):
    with pytest.raises(SavedModelError):
        Decoder({}).decode(node)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (OrderedDict(a=1), "collections.OrderedDict"),
        (Counter("aab"), "collections.Counter"),
        (np.log1p, "numpy.ufunc"),
        (partial(np.add, 1), "functools.partial"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_more_than_its_attributes_is_refused_though_it_is_trusted(value, kind):
    """Its attributes alone would come back, without a word."""
    with pytest.raises(SavedModelError, match=f"a {kind} holds more than its attributes"):
        Encoder(trusted=[kind.replace(".", ":")]).encode(value)
