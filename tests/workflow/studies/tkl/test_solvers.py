"""Solvers of TKL's quadratic programme agree, and failures are records."""

import numpy as np
import pytest

from tests.workflow.studies.parts import complete
from workflow.studies.tkl import solvers as tkl_solvers


def test_solvers_agree(domains, pair):
    records, arrays = tkl_solvers.run(domains, pair, sizes=[10, 20], zetas=[1.0, 2.0], repeats=1)
    assert len(records) == 2 * 2 * 4
    assert all(record["error"] is None for record in records)
    assert all(abs(record["gap"]) < 1e-7 and record["kkt"] < 1e-6 for record in records)
    complete(tkl_solvers, records, arrays)


def test_a_solver_that_fails_is_a_record(domains, pair, monkeypatch):
    from domain_alignment.kernel_learning import _spectrum_qp

    monkeypatch.setitem(_spectrum_qp.SOLVER_OPTIONS["osqp"], "max_iter", 1)
    records, arrays = tkl_solvers.run(
        domains, pair, sizes=[20], zetas=[1.1], solvers=["nnls", "clarabel"], repeats=1
    )
    Q, r = np.eye(3), np.ones(3)
    failed = tkl_solvers.timed(Q, r, 1.1, "osqp", 1, 0)
    assert failed["seconds"] is None
    assert "osqp" in failed["error"]
    place = {"size": 20, "zeta": 1.1, "solver": "osqp", "gap": None}
    complete(tkl_solvers, [*records, {**place, **failed}], arrays)


def test_more_unknowns_than_the_rank_are_named(domains, pair):
    with pytest.raises(ValueError, match="sizes: 1000; the target's kernel has rank"):
        tkl_solvers.run(domains, pair, sizes=[1000])
