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
    told = tkl_solvers.finding(records, arrays)
    assert told.startswith("CPU time of a programme of 20 unknowns at ζ of 1 and 2: NNLS ")
    assert "The others end at a spectrum in 12 of 12 programmes, with an objective within" in told


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
    told = tkl_solvers.finding([*records, {**place, **failed}], arrays)
    assert " and OSQP no spectrum. " in told
    assert "The others end at a spectrum in 1 of 2 programmes, " in told


def test_the_finding_is_of_the_largest_programme():
    nnls = {"size": 20, "zeta": 1.1, "solver": "nnls", "seconds": 0.002, "gap": 0.0}
    scs = {**nnls, "solver": "scs", "seconds": 0.01, "gap": -3e-8}
    head = "CPU time of a programme of 20 unknowns at ζ of 1.1: NNLS 2.0"
    assert tkl_solvers.finding([{**nnls, "size": 10, "seconds": 1.0}, nnls, scs], {}) == (
        f"{head} ms and SCS 10.0 ms. The others end at a spectrum in 1 of 1 programme, with an "
        "objective within 3e−08 of that of NNLS, relative."
    )
    lost = {**scs, "seconds": None, "gap": None}
    assert tkl_solvers.finding([nnls, {**nnls, "seconds": 0.003}, lost], {}) == (
        f"{head} to 3.0 ms and SCS no spectrum. No other solver ended at a spectrum."
    )
    assert tkl_solvers.finding([nnls], {}) == f"{head} ms. No other solver was run."


def test_more_unknowns_than_the_rank_are_named(domains, pair):
    with pytest.raises(ValueError, match="sizes: 1000; the target's kernel has rank"):
        tkl_solvers.run(domains, pair, sizes=[1000])
