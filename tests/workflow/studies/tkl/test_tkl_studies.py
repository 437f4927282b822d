"""The studies of TKL on small domains: what they measure, and that figures and tables are drawn."""

import numpy as np
import pytest

from workflow.lib.report.tables.model import to_csv
from workflow.studies.tkl import scaling as tkl_scaling
from workflow.studies.tkl import sensitivity as tkl_sensitivity
from workflow.studies.tkl import solvers as tkl_solvers

PAIR = {"source": "d.a", "target": "d.b", "label": "a→b"}


@pytest.fixture(scope="module")
def domains():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return {
        name: (2 * np.eye(3, 40)[y] + rng.normal(size=(60, 40)) + shift, y)
        for name, shift in (("d.a", 0.0), ("d.b", 0.3))
    }


def check_names(module, records, arrays):
    figures, tables = module.figures(records, arrays), module.tables(records, arrays)
    assert list(figures) == list(module.FIGURES)
    assert list(tables) == list(module.TABLES)
    for draw in figures.values():
        draw().canvas.draw()
    for name, table in tables.items():
        assert table.name == name
        assert len(to_csv(table).splitlines()) == len(table.rows) + 1


def test_solvers_agree(domains):
    records, arrays = tkl_solvers.run(domains, PAIR, sizes=[10, 20], zetas=[1.0, 2.0], repeats=1)
    assert len(records) == 2 * 2 * 4
    assert all(record["error"] is None for record in records)
    assert all(abs(record["gap"]) < 1e-7 and record["kkt"] < 1e-6 for record in records)
    check_names(tkl_solvers, records, arrays)


def test_a_solver_that_fails_is_a_record(domains, monkeypatch):
    from domain_alignment.kernel_learning import _spectrum_qp

    monkeypatch.setitem(_spectrum_qp.SOLVER_OPTIONS["osqp"], "max_iter", 1)
    records, arrays = tkl_solvers.run(
        domains, PAIR, sizes=[20], zetas=[1.1], solvers=["nnls", "clarabel"], repeats=1
    )
    Q, r = np.eye(3), np.ones(3)
    failed = tkl_solvers.timed(Q, r, 1.1, "osqp", 1, 0)
    assert failed["seconds"] is None
    assert "osqp" in failed["error"]
    place = {"size": 20, "zeta": 1.1, "solver": "osqp", "gap": None}
    check_names(tkl_solvers, [*records, {**place, **failed}], arrays)


def test_more_unknowns_than_the_rank_are_named(domains):
    with pytest.raises(ValueError, match="sizes: 1000; the target's kernel has rank"):
        tkl_solvers.run(domains, PAIR, sizes=[1000])


def test_sensitivity_finds_the_geometric_spectrum(domains):
    records, arrays = tkl_sensitivity.run(
        domains, [PAIR, {**PAIR, "label": "again", "preprocess": ["zscore"]}], n_eigen=[5, 30]
    )
    learned = {
        r["zeta"]: r["n_learned"] for r in records if r["task"] == "a→b" and r["n_eigen"] == 30
    }
    assert learned[1.0] > learned[10.0] == 1
    geometric = arrays["a→b/4"] / arrays["a→b/4"][0]
    np.testing.assert_allclose(geometric, 4.0 ** -np.arange(30), rtol=1e-12)
    relaxed = [r for r in records if r["zeta"] == 1.0]
    assert all(r["transfer_error"] <= r["nystrom_error"] for r in relaxed)
    check_names(tkl_sensitivity, records, arrays)


@pytest.mark.parametrize(
    ("spectrum", "zeta", "expected"),
    [
        ([4.0, 2.0, 1.0], 2.0, 1),  # geometric
        ([9.0, 2.0, 1.0], 2.0, 2),
        ([9.0, 3.0, 1.0], 2.0, 3),
        ([2.0, 1.0, 0.0], 1.0, 2),  # the last is at its bound
        (2.0 ** -np.arange(0, 2000, 2.0), 4.0, 1),  # underflows
    ],
)
def test_numbers_learned_are_the_slack_constraints(spectrum, zeta, expected):
    assert tkl_sensitivity.numbers_learned(np.asarray(spectrum), zeta) == expected


def test_scaling_measures_both_versions(domains):
    records, arrays = tkl_scaling.run(
        domains, PAIR, sizes=[20, 40, 60], exact_up_to=40, landmarks=[10, 30], n_eigen=10
    )
    done = [(r["n"], r["landmarks"]) for r in records]
    assert done == [(20, 10), (40, 10), (40, 30), (60, 10), (60, 30), (20, None), (40, None)]
    assert all(r["seconds"] > 0 and r["memory"] > 0 and r["resident"] > 10 for r in records)
    exact = records[-1]
    assert all(exact[stage] > 0 for stage in tkl_scaling.STAGES)
    check_names(tkl_scaling, records, arrays)


def test_a_rate_is_the_exponent_between_the_two_largest():
    records = [{"n": 100}, {"n": 200}, {"n": 400}]
    assert tkl_scaling.rate(records, [9.0, 1.0, 8.0]) == pytest.approx(3.0)
    assert tkl_scaling.rate(records[:1], [1.0]) is None


def test_sizes_beyond_the_domain_are_named(domains):
    with pytest.raises(ValueError, match="sizes: 61; the smaller domain has 60"):
        tkl_scaling.run(domains, PAIR, sizes=[61])
