import warnings

import numpy as np
import pytest
from domain_alignment.manifold._kernel_params import (
    check_kernels,
    check_own_kernel,
    check_widths,
    choose_landmarks,
    one_per_domain,
)
from sklearn.exceptions import ConvergenceWarning


def draw(landmarks, sizes, seed=0):
    return choose_landmarks(landmarks, sizes, np.random.RandomState(seed))


def test_one_value_serves_all_domains_and_a_list_must_fit():
    assert one_per_domain("rbf", 3, "kernel") == ["rbf"] * 3
    assert one_per_domain(("rbf", "linear"), 2, "kernel") == ["rbf", "linear"]
    with pytest.raises(ValueError, match="sigma holds 2 entries for 3 domains"):
        one_per_domain([1, 2], 3, "sigma")


def test_kernels_are_known_or_functions():
    check_kernels(["rbf", "precomputed", max])
    with pytest.raises(ValueError, match=r"domain 1: unknown kernel 'gauss'. Known: linear, rbf"):
        check_kernels(["rbf", "gauss"])


@pytest.mark.parametrize("sigma", [0, -1.0, np.nan, np.inf, True, "mean", "0*median", None])
def test_widths_are_positive_numbers_or_rules(sigma):
    check_widths([1, 0.5, "median", None], ["rbf", "chi2", "rbf", "linear"])
    with pytest.raises(ValueError, match="domain 1: sigma is"):
        check_widths([1.0, sigma], ["rbf"] * 2)


@pytest.mark.parametrize(
    ("total", "sizes", "expected"),
    [
        (10, [50, 50], [5, 5]),
        (2, [99, 1], [1, 1]),
        (3, [1000, 1, 1], [1, 1, 1]),
        (100, [99, 1], [99, 1]),
        (7, [10, 20, 30], [1, 2, 4]),
        (6, [500, 3, 3], [4, 1, 1]),
    ],
)
def test_landmarks_are_shared_out_by_size(total, sizes, expected):
    chosen = draw(total, sizes)
    assert [rows.size for rows in chosen] == expected
    for rows, size in zip(chosen, sizes, strict=True):
        assert np.unique(rows).size == rows.size
        assert set(rows) <= set(range(size))


def test_every_number_of_landmarks_can_be_shared_out():
    for total in range(3, 71):
        assert sum(rows.size for rows in draw(total, [60, 7, 3])) == total


def test_landmarks_are_drawn_from_the_seed():
    first, again, other = draw(10, [50, 50], 0), draw(10, [50, 50], 0), draw(10, [50, 50], 1)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        (1, "landmarks=1 for 2 domains"),
        (31, "at most 30, all samples"),
        ([[0]], "landmarks holds 1 entries for 2 domains"),
        ([[0], []], "domain 1: landmarks have shape"),
        ([[0], [0.5]], "domain 1: .* dtype float64"),
        ([[0, 20], [0]], "domain 0: landmark rows are 0 to 20 of 20 samples"),
        ([[-1], [0]], "count from 0"),
        ([[3, 3], [0]], "domain 0: a landmark row is repeated"),
    ],
)
def test_impossible_landmarks(landmarks, message):
    with pytest.raises(ValueError, match=message):
        draw(landmarks, [20, 10])


def test_no_landmarks():
    assert draw(None, [20, 10]) is None


def test_own_kernels_are_symmetric_and_should_be_semi_definite():
    X = np.random.default_rng(0).normal(size=(8, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_own_kernel(X @ X.T, "domain 0")  # rank 3 of 8: rounding below zero is no matter
    with pytest.warns(ConvergenceWarning, match="domain 1: .*not positive semi-definite"):
        check_own_kernel(X @ X.T - np.eye(8), "domain 1")
    with pytest.raises(ValueError, match="domain 1: the kernel is not symmetric"):
        check_own_kernel(np.arange(9.0).reshape(3, 3), "domain 1")
