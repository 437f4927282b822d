"""Digits: the thirds of scikit-learn's images and what is done to each."""

import numpy as np
import pytest

from tests.workflow.loaders.entries import DATASETS
from workflow.loaders import digits, load_described


@pytest.mark.parametrize("domain", DATASETS["digits"]["domains"])
def test_domains_are_as_stated_and_the_same_each_time(domain):
    X, y, _ = load_described("digits", DATASETS["digits"], domain, {})
    again, *_ = load_described("digits", DATASETS["digits"], domain, {})
    assert np.array_equal(X, again)
    assert np.bincount(y).min() >= 50
    assert y.dtype == np.int64


def test_digits_share_no_image():
    from sklearn.datasets import load_digits

    images = load_digits().data
    full, _ = digits.load("full", {})
    half, _ = digits.load("half", {})
    plain, _ = digits.load("scanner", {}, rotation=0.0, blur=0.0)
    assert np.array_equal(np.vstack([full, plain]), np.vstack([images[:599], images[1198:]]))
    assert np.array_equal(half[0], images[599].reshape(4, 2, 4, 2).mean(axis=(1, 3)).ravel())


def test_scanner_turns_anticlockwise_and_keeps_the_range():
    turned = digits._scan(np.eye(8)[None, 1].repeat(8, 0)[None] * 16, 90.0, 0.0)[0]
    assert turned[6].min() > 15  # column 1 has become the row before the last
    blurred, _ = digits.load("scanner", {})
    assert blurred.min() >= 0
    assert blurred.max() <= 16


def test_unknown_domain_is_named():
    with pytest.raises(ValueError, match=r"no domain 'ful'\. Did you mean 'full'\? Known: full, h"):
        digits.load("ful", {})
