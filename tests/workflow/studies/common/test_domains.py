"""A pair of domains, each prepared by itself."""

import numpy as np

from workflow.studies.common._domains import prepared_pair


def test_each_domain_is_prepared_by_itself():
    rng = np.random.default_rng(0)
    domains = {
        name: (rng.normal(shift, scale, size=(30, 4)), rng.integers(3, size=30))
        for name, shift, scale in (("d.a", 5, 1), ("d.b", -2, 7), ("d.c", 0, 1))
    }
    pair = {"source": "d.b", "target": "d.a", "label": "b→a"}
    Xs, ys = prepared_pair(domains, {**pair, "preprocess": ["zscore"]})
    for X in Xs:
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1)
    np.testing.assert_array_equal(ys[0], domains["d.b"][1])
    np.testing.assert_array_equal(ys[1], domains["d.a"][1])
    plain, _ = prepared_pair(domains, pair)
    np.testing.assert_array_equal(plain[1], domains["d.a"][0])
