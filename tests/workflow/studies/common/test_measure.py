"""One cold fit: its memory, and the domains that are generated for it."""

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph

from workflow.studies.common._measure import generated_domains, measure


def test_memory_is_what_the_fit_takes_beyond_its_data():
    spec = {"params": {}, "samples": 150, "features": 12, "seed": 0}
    name = "tests.workflow.studies.common.test_measure:TakesMemory"
    found = measure({**spec, "estimator": name})
    assert 60 < found["added_mb"] < 70


class TakesMemory:
    def fit(self, Xs, ys):
        self.taken = np.ones(2**23)  # 64 MiB


def test_generated_domains_are_of_full_rank_and_in_one_piece():
    Xs, ys = generated_domains(300, 40, seed=1)
    again, _ = generated_domains(300, 40, seed=1)
    np.testing.assert_array_equal(Xs[1], again[1])
    assert [np.bincount(y[y >= 0]).tolist() for y in ys] == [[20] * 5, [3] * 5]
    assert all(np.linalg.matrix_rank(X) == 40 for X in Xs)
    for X in Xs:
        assert connected_components(kneighbors_graph(X, 10), directed=False)[0] == 1
