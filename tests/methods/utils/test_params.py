from functools import partial
from numbers import Integral, Real

import numpy as np
import pytest
from domain_alignment import SSTCA
from domain_alignment.distribution._joint_features import JointParams
from domain_alignment.utils._params import (
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    TWO_OR_MORE,
    ZERO_OR_MORE,
    Interval,
    StrOptions,
    python_numbers,
    same_params,
)


@pytest.mark.parametrize(
    ("allowed", "right", "wrong"),
    [
        (POSITIVE, (1e-300, 1, 2.5), (0, 0.0, -1.0, np.inf, np.nan, None, "1")),
        (NOT_NEGATIVE, (0, 0.0, 2.5), (-1e-300, -1, np.inf, np.nan, None, "0")),
        (FINITE, (-2.5, 0, 1e300), (-np.inf, np.inf, np.nan, None, "0")),
        (ZERO_OR_MORE, (0, np.uint8(3)), (-1, 1.0, None, "1")),
        (COUNT, (1, 2, np.int64(3)), (0, -1, 1.0, None, "1")),
        (TWO_OR_MORE, (2, 10**9), (1, 2.0, None, "2")),
    ],
)
def test_ranges(allowed, right, wrong):
    assert [value for value in right if not allowed[0].is_satisfied_by(value)] == []
    assert [value for value in wrong if allowed[0].is_satisfied_by(value)] == []


@pytest.mark.parametrize("kind", [Integral, Real])
@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_bool_is_no_number(kind, value):
    assert not Interval(kind, 0, 1, closed="both").is_satisfied_by(value)


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(1), np.float32(1), np.float64(1)])
def test_a_number_becomes_the_python_number_of_equal_value(value):
    gamma = [StrOptions({"median"}), *POSITIVE]
    assert repr(python_numbers({"gamma": value}, {"gamma": gamma})) == "{'gamma': 1.0}"
    if isinstance(value, Integral):
        converted = python_numbers({"rank": value}, {"rank": COUNT})
        assert repr(converted) == ("{}" if type(value) is int else "{'rank': 1}")


def test_what_is_no_number_or_has_the_type_already_is_left_alone():
    params = {"gamma": "median", "mu": 1.0, "n": 3, "flag": True, "unknown": np.float32(1)}
    gamma = [StrOptions({"median"}), *POSITIVE]
    allowed = {"gamma": gamma, "mu": POSITIVE, "n": COUNT, "flag": ["boolean"]}
    assert python_numbers(params, allowed) == {}


def product(X, Y, scale=1.0):
    return scale * X @ Y.T


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (("rbf", 5), ("rbf", 5), True),
        (("rbf", 5), ("rbf", 5, None), False),
        ([1, 2.0], [1.0, 2], True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        (partial(product, scale=2.0), partial(product, scale=2.0), True),
        (partial(product, scale=2.0), partial(product, scale=3.0), False),
        (partial(product), partial(len), False),
        (partial(product, np.eye(2)), partial(product, np.eye(2)), True),
        (np.random.RandomState(3), np.random.RandomState(3), True),
        (np.random.RandomState(3), np.random.RandomState(4), False),
        (JointParams("dual", partial(product), 1.0, True, True),
         JointParams("dual", partial(product), 1.0, True, True), True),
        (JointParams("dual", partial(product), 1.0, True, True),
         JointParams("dual", partial(product), 2.0, True, True), False),
        (None, None, True),
        (None, "rbf", False),
    ],
)  # fmt: skip
def test_equal_parameters(one, other, equal):
    assert same_params(one, other) is equal
    assert same_params(other, one) is equal


def test_parameters_keep_their_values_in_a_fit():
    rng = np.random.default_rng(0)
    sstca = SSTCA(n_components=np.uint8(2), mu=1, laplacian=np.float32(0.1), label_share=0)
    given = sstca.get_params()
    sstca.fit([rng.normal(size=(20, 3)) for _ in range(2)])
    assert sstca.get_params() == given
    assert (type(sstca.mu), type(sstca.laplacian), type(sstca.n_components)) == (float, float, int)
