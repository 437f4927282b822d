"""TKL on the SURF features of Office-Caltech10: the solvers agree, and the gain over the SVM.

Needs the data mirror in ``ALIGNMENT_MIRROR`` (a folder). The gain is a regression check and nothing
else: kernel, C and zeta were found on scored labels. The report's own accuracies are not reproduced
by any reading tried.
"""

import os
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.kernel_learning._spectrum_qp import (
    kkt_residual,
    solve_eigenspectrum,
    spectrum_objective,
)
from domain_alignment.kernel_learning._tkl import TKL
from domain_alignment.kernel_learning._transfer_eigensystem import TransferEigensystem
from scipy.io import loadmat
from sklearn.preprocessing import normalize, scale
from sklearn.svm import SVC

MIRROR = Path(os.environ.get("ALIGNMENT_MIRROR", ""))
FEATURES = MIRROR / "office_caltech/surf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "ALIGNMENT_MIRROR" not in os.environ or not FEATURES.is_dir(),
        reason="ALIGNMENT_MIRROR is not set to a folder with the Office-Caltech10 files",
    ),
]


@pytest.fixture(scope="module")
def domains():
    """Features (rows at sum 1, then z-scored), labels and model of each domain."""
    read = {}
    for path in sorted(FEATURES.glob("*_SURF_L10.mat")):
        content = loadmat(path)
        X = scale(normalize(content["fts"].astype(float), "l1"))
        read[path.stem] = X, content["labels"].ravel(), TKL(kernel="cosine").prepare(X)
    assert len(read) == 4
    return list(read.values())


@pytest.mark.parametrize("zeta", [1.0, 1.1, 1.5, 2.0, 4.0])
def test_nnls_is_clarabel(domains, zeta):
    for source, target in permutations(domains, 2):
        system = TransferEigensystem.of(source[2], target[2], 500)
        Q, r = system.quadratic, system.linear
        exact, other = (solve_eigenspectrum(Q, r, zeta, solver) for solver in ("nnls", "clarabel"))
        best = spectrum_objective(exact, Q, r)
        assert kkt_residual(exact, Q, r, zeta) < 1e-12
        assert abs(spectrum_objective(other, Q, r) - best) < 1e-7 * abs(best)
        if zeta >= 2:
            np.testing.assert_allclose(exact, exact[0] * zeta ** -np.arange(len(r)), rtol=1e-12)
        if zeta == 1:
            assert system.transfer_error(exact) <= system.nystrom_error()


def test_mean_gain_over_the_svm(domains):
    gains = []
    for (Z, y, model), (X, y_target, other) in permutations(domains, 2):
        tkl = TKL(kernel="cosine", zeta=1.1, solver="nnls").fit([Z, X], prepared=[model, other])
        source, target = tkl.embeddings_
        plain = SVC(kernel="linear", C=10).fit(normalize(Z), y).score(normalize(X), y_target)
        gains.append(SVC(kernel="linear", C=10).fit(source, y).score(target, y_target) - plain)
    assert 100 * np.mean(gains) == pytest.approx(4.0, abs=1.0)
