"""Measurements of exact TKL and of its landmark version."""

import pytest

from tests.workflow.studies.parts import complete
from workflow.studies.tkl import scaling as tkl_scaling


def test_scaling_measures_both_versions(domains, pair):
    records, arrays = tkl_scaling.run(
        domains, pair, sizes=[20, 40, 60], exact_up_to=40, landmarks=[10, 30], n_eigen=10
    )
    done = [(r["n"], r["landmarks"]) for r in records]
    assert done == [(20, 10), (40, 10), (40, 30), (60, 10), (60, 30), (20, None), (40, None)]
    assert all(r["seconds"] > 0 and r["memory"] > 0 and r["resident"] > 10 for r in records)
    exact = records[-1]
    assert all(exact[stage] > 0 for stage in tkl_scaling.STAGES)
    complete(tkl_scaling, records, arrays)
    told = tkl_scaling.finding(records, arrays)
    assert told.startswith(
        f"Time and memory of a fit on 40 samples of each domain: exact {exact['seconds']:.2f} s ("
    )
    assert "MiB), with 10 landmarks " in told


def test_the_finding_is_of_the_largest_exact_fit():
    cost = {"seconds": 1.0, "memory": 1234.0}
    exact = [{"n": 100, "landmarks": None, **cost}, {"n": 200, "landmarks": None, **cost}]
    exact[1]["seconds"] = 8.0
    fast = [{"n": n, "landmarks": 10, **cost} for n in (200, 400)]
    assert tkl_scaling.finding([*fast, *exact], {}) == (
        "Time and memory of a fit on 200 samples of each domain: exact 8.00 s (1,234 MiB) and with "
        "10 landmarks 1.00 s (1,234 MiB). The exact time grows as n to the 3.0 between its two "
        "largest sizes."
    )
    assert tkl_scaling.finding([*fast, exact[0]], {}) == (
        "Time and memory of a fit on 100 samples of each domain: exact 1.00 s (1,234 MiB). No fit "
        "with landmarks has this size."
    )
    assert tkl_scaling.finding(fast, {}) == (
        "Time and memory of a fit on 400 samples of each domain: with 10 landmarks 1.00 s (1,234 "
        "MiB). No exact fit was made."
    )


def test_a_rate_is_the_exponent_between_the_two_largest():
    records = [{"n": 100}, {"n": 200}, {"n": 400}]
    assert tkl_scaling.rate(records, [9.0, 1.0, 8.0]) == pytest.approx(3.0)
    assert tkl_scaling.rate(records[:1], [1.0]) is None


def test_sizes_beyond_the_domain_are_named(domains, pair):
    with pytest.raises(ValueError, match="sizes: 61; the smaller domain has 60"):
        tkl_scaling.run(domains, pair, sizes=[61])
