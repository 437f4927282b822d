"""Slopes against a textbook formula, costs in tables, failures as records."""

import numpy as np
import pytest
from scipy.stats import linregress

from workflow.lib.report.figures.style import render
from workflow.studies.fma import growth as study

SIZES = {"samples": [150, 240], "at_features": 12, "features": [10, 30], "at_samples": 160}

FMA_ENTRY = {
    "label": "FMA-I",
    "estimator": "domain_alignment:FMA",
    "params": {"n_components": 6, "n_neighbors": 5},
    "claims": {"samples": {"time": "O(n²)", "memory": "O(n)"}},
}


def record(method, against, size, cpu_seconds, status="ok", **more):
    sizes = {"samples": 100, "features": 10, against: size}
    costs = {"cpu_seconds": cpu_seconds, "seconds": cpu_seconds, "added_mb": 2.0 * size}
    costs |= {"peak_mb": 100.0}
    claims = {"claimed_time": "O(n²)", "claimed_memory": "O(n)"}
    common = {"method": method, "label": method.upper(), "against": against, **sizes, **claims}
    return {**common, "status": status, "error": None, **(costs if status == "ok" else {}), **more}


def test_slope_and_standard_error_are_those_of_regression():
    rng = np.random.default_rng(0)
    sizes = np.array([100.0, 200, 400, 800, 1600])
    costs = 1e-6 * sizes**2.4 * np.exp(0.1 * rng.normal(size=5))
    known = linregress(np.log(sizes), np.log(costs))
    assert study.slope(sizes, costs) == pytest.approx((known.slope, known.stderr))
    assert study.slope(sizes[:2], sizes[:2] ** 3) == (pytest.approx(3), None)
    assert study.slope(sizes[:1], costs[:1]) is None
    # A cost of nothing has no logarithm.
    assert study.slope(sizes, np.array([0, *sizes[1:]]))[0] == pytest.approx(1)


def test_a_curve_takes_medians_of_the_fits_that_succeeded():
    records = [record("a", "samples", 200, t) for t in (4.0, 1.0, 2.0)]
    records += [record("a", "samples", 100, 0.5), record("a", "samples", 400, 0, "timeout")]
    records += [record("b", "samples", 100, 9.0), record("a", "features", 20, 9.0)]
    sizes, costs = study.curve(records, "a", "samples", "cpu_seconds")
    np.testing.assert_array_equal(sizes, [100, 200])
    np.testing.assert_array_equal(costs, [0.5, 2.0])


def test_tables_and_figure_of_known_costs():
    records = [
        record(method, against, size, 1e-5 * size**power)
        for method, power in (("a", 2), ("b", 3))
        for against in study.AXES
        for size in (100, 200, 400)
    ]
    failed = record("b", "features", 800, 0, "timeout") | {"error": "exceeded the limit of 1 s"}
    records.append(failed)
    tables = study.tables(records, {})
    assert tuple(tables) == study.TABLES
    slopes = tables["slopes"].rows
    assert [row[3].value for row in slopes] == pytest.approx([2, 2, 3, 3])
    assert [row[4].value for row in slopes] == pytest.approx([2, 2, 3, 3])
    assert [row[6].value for row in slopes] == pytest.approx([1, 1, 1, 1])
    assert slopes[3][2].text == "100–800 at 100 samples"
    assert slopes[0][5].text == "O(n²)"
    assert tables["measurements"].rows[-1][-1].text == "exceeded the limit of 1 s"
    assert list(study.figures(records, {})) == list(study.FIGURES)
    assert render(study.figures(records, {})["growth"], "svg").startswith(b"<?xml")
    assert render(study.figures([failed], {})["growth"], "svg").startswith(b"<?xml")


@pytest.mark.parametrize(
    ("claim", "samples", "features"),
    [
        ("O(n p² + p³)", 1, 3),
        ("O((2n)³)", 3, 0),
        ("O(n²), the graph; else O(n)", 2, 0),
        ("O(n p min(n, p)), the axes", 2, 2),
    ],
)
def test_the_power_of_a_claim(claim, samples, features):
    assert study.claimed_power(claim, "samples") == samples
    assert study.claimed_power(claim, "features") == features


def test_the_finding_compares_slopes_with_claims_and_counts_failures():
    records = [
        record(method, "samples", size, 1e-5 * size**power)
        for method, power in (("a", 2), ("b", 3))
        for size in (100, 200, 400)
    ]
    alone = records[:3]
    assert study.finding(alone, {}) == (
        "The slopes of log cost on log size are 2.00 (A) for time against samples per domain and "
        "1.00 (A) for memory against samples per domain. Of 2 claims that can be checked (on three "
        "sizes or more), the slope exceeds none by more than two standard errors."
    )
    told = study.finding([*records, record("b", "samples", 800, 0, "timeout")], {})
    assert "2.00 (A) to 3.00 (B) for time against samples per domain" in told
    assert told.endswith(
        "Of 4 claims that can be checked (on three sizes or more), the slope exceeds 1 by more "
        "than two standard errors: B, time against samples per domain (3.00, claimed 2). 1 of 7 "
        "fits failed."
    )
    failed = study.finding([record("b", "samples", 800, 0, "timeout")], {})
    assert failed.startswith("Nothing can be said of the growth: no method has two sizes.")
    assert failed.endswith("1 of 1 fit failed.")


@pytest.mark.whole_run
def test_a_run_measures_every_method_at_every_size_in_processes_of_their_own():
    entry = {**FMA_ENTRY, "sizes": {"samples": [150], "features": []}}
    wrong = {**FMA_ENTRY, "label": "wrong", "params": {"n_neighbors": -1}}
    wrong["sizes"] = {"samples": [], "features": [10]}
    records, arrays = study.run({}, {"fma_i": entry, "wrong": wrong}, SIZES)
    assert not arrays
    good, bad = records
    shape = ("method", "against", "samples", "features")
    assert [good[key] for key in shape] == ["fma_i", "samples", 150, 12]
    assert [bad[key] for key in shape] == ["wrong", "features", 160, 10]
    assert good["status"] == "ok"
    assert good["cpu_seconds"] > 0
    assert good["added_mb"] < good["peak_mb"]
    assert [good["claimed_time"], bad["claimed_time"]] == ["O(n²)", ""]
    assert bad["status"] == "error"
    assert "n_neighbors" in bad["error"]
    study.tables(records, arrays)


def test_a_fit_that_takes_too_long_is_a_record():
    found = study.measured(FMA_ENTRY, {"samples": 150, "features": 12}, 0, limit_seconds=0.05)
    assert found == {"status": "timeout", "error": "exceeded the limit of 0.05 s"}
