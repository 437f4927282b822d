import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from workflow.lib.results.equivalence import Error, average, of_sample, tost, total


def error_of(sample):
    return Error(np.std(sample, ddof=1) / np.sqrt(len(sample)), len(sample) - 1)


def test_one_sample_is_scipys_t_test_twice():
    sample = np.random.default_rng(0).normal(50, 4, 20)
    difference = sample.mean() - 49
    above = ttest_1samp(sample, 49 - 3, alternative="greater").pvalue
    below = ttest_1samp(sample, 49 + 3, alternative="less").pvalue
    assert tost(difference, error_of(sample), 3) == pytest.approx(max(above, below))


def test_the_error_of_a_sample_is_that_of_its_mean():
    sample = np.random.default_rng(2).normal(0, 3, 12)
    error, expected = of_sample(sample), error_of(sample)
    assert error.standard_error == pytest.approx(expected.standard_error)
    assert error.freedom == expected.freedom
    assert of_sample([1.0]) is None


def test_two_samples_are_welchs_test_twice():
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(50, 4, 20), rng.normal(51, 2, 10)
    error = total([error_of(ours), error_of(theirs)])
    above = ttest_ind(ours + 3, theirs, equal_var=False, alternative="greater").pvalue
    below = ttest_ind(ours - 3, theirs, equal_var=False, alternative="less").pvalue
    assert tost(ours.mean() - theirs.mean(), error, 3) == pytest.approx(max(above, below))


def test_the_error_of_an_average():
    error = average([Error(3.0, 19), Error(4.0, 19)])
    assert error.standard_error == pytest.approx(2.5)
    assert error.freedom == pytest.approx(25**2 / ((3**4 + 4**4) / 19))


@pytest.mark.parametrize(("difference", "p"), [(2.9, 0.0), (-2.9, 0.0), (3.0, 1.0), (-4.0, 1.0)])
def test_without_any_spread_the_difference_decides(difference, p):
    assert tost(difference, total([Error(0.0, 19)]), 3) == p
