"""Eigenvectors are found up to their signs, of which each has one: over all rows and domains."""

import numpy as np


def assert_equal_up_to_sign(found, expected, **tolerance):
    """Compare columns of a matrix, or of domains below each other, with one sign for each."""
    found, expected = (M if hasattr(M, "shape") else np.vstack(list(M)) for M in (found, expected))
    signs = np.where(np.sum(found * expected, axis=0) < 0, -1, 1)
    np.testing.assert_allclose(signs * found, expected, **tolerance)
