"""The dense routes against the library."""

import numpy as np
from domain_alignment.manifold._fma import FMA
from domain_alignment.manifold._sma import SMA

from tests.methods.signs import assert_equal_up_to_sign
from workflow.studies.common._dense import DenseAlignment
from workflow.studies.common._measure import generated_domains


def test_the_dense_routes_have_the_eigenvalues_of_the_library():
    Xs, ys = generated_domains(120, 12, seed=0)
    settings = {"n_components": 8, "n_neighbors": 10}
    fma = FMA(**settings).fit(Xs, ys)
    dense = DenseAlignment(**settings).fit(Xs, ys)
    assert abs(dense.eigenvalues_[0]) < 1e-9  # the trivial one
    np.testing.assert_allclose(dense.eigenvalues_[1:], fma.eigenvalues_, atol=1e-9)
    found = [Z[:, 1:] for Z in dense.embeddings_]
    assert_equal_up_to_sign(found, fma.embeddings_, rtol=1e-5, atol=1e-7)
    sma = SMA(**settings).fit(Xs, ys)
    dense = DenseAlignment(joint=True, **settings).fit(Xs, ys)
    np.testing.assert_allclose(dense.eigenvalues_[1:], sma.eigenvalues_[:7], atol=1e-9)
