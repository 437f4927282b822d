"""The solvers of TKL on the text tasks of its Table 1: they agree, and errors keep their order.

Needs the data mirror in ``ALIGNMENT_MIRROR`` (a folder). The 12 pairs of SURF features are in
tests/methods/kernel_learning/test_tkl_published.py.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from domain_alignment.kernel_learning._spectrum_qp import (
    kkt_residual,
    solve_eigenspectrum,
    spectrum_objective,
)
from domain_alignment.kernel_learning._tkl import TKL

from workflow.loaders import files_of, load_described

ROOT = Path(__file__).parents[4]
DATASETS = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())["datasets"]
MIRROR = os.environ.get("ALIGNMENT_MIRROR", "")
TASKS = {
    "orgs_people": "reuters_transfer",
    "orgs_places": "reuters_transfer",
    "people_places": "reuters_transfer",
    "comp_rec": "newsgroups",
    "comp_sci": "newsgroups",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(MIRROR, "text").is_dir(), reason="ALIGNMENT_MIRROR has no text"),
]


@pytest.fixture(scope="module", params=TASKS)
def system(request):
    """The eigensystem of a task, as in config/experiments/tkl_table1.yaml."""
    name = TASKS[request.param]
    entry = DATASETS[name]
    Xs = []
    for role in ("source", "target"):
        domain = f"{request.param}_{role}"
        files = files_of(entry, domain)
        paths = {file: Path(MIRROR, entry["files"][file]["mirror"]) for file in files}
        Xs.append(load_described(name, entry, domain, paths)[0])
    tkl = TKL(kernel="cosine", landmarks=1300, solver="nnls", random_state=0)
    return tkl.fit(Xs).eigensystem_


@pytest.mark.parametrize("zeta", [1.0, 1.1, 1.5, 2.0, 4.0])
def test_nnls_is_clarabel(system, zeta):
    Q, r = system.quadratic, system.linear
    exact, other = (solve_eigenspectrum(Q, r, zeta, solver) for solver in ("nnls", "clarabel"))
    best = spectrum_objective(exact, Q, r)
    assert kkt_residual(exact, Q, r, zeta) < 1e-12
    assert abs(spectrum_objective(other, Q, r) - best) < 1e-7 * abs(best)
    if zeta == 4:
        np.testing.assert_allclose(exact, exact[0] * zeta ** -np.arange(len(r)), rtol=1e-12)
    if zeta == 1:
        assert system.transfer_error(exact) <= system.nystrom_error()
