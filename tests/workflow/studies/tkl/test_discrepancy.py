"""Discrepancies under the plain and the learned kernel, and the bound on the Nyström error."""

import json

import numpy as np
import pytest

from tests.workflow.studies.parts import complete
from workflow.studies.tkl import discrepancy as tkl_discrepancy


def test_errors_stay_below_the_bound_and_the_learned_error_below_nystroms(domains, pair):
    records, arrays = tkl_discrepancy.run(domains, [pair], zetas=[1.0, 2.0], n_eigen=60)
    tables = complete(tkl_discrepancy, records, arrays)
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert len(tables["discrepancy"].rows) == 2 * 3
    for kernel in ("cosine", "rbf"):
        plain, relaxed, damped = (r for r in records if r["kernel"] == kernel)
        assert plain["bound"] is None or plain["error"] <= plain["bound"]
        assert relaxed["error"] <= min(plain["error"], damped["error"]) + 1e-9
    plain, *learned = (r for r in records if r["kernel"] == "rbf")
    printed = [f"{r['discrepancy']:.3f}" for r in learned]
    closer = sum(float(text) < round(plain["discrepancy"], 3) for text in printed)
    told = tkl_discrepancy.finding(records, arrays)
    assert (
        f"{closer} of 2 with the rbf kernel ({min(printed)} to {max(printed)}, plain "
        f"{plain['discrepancy']:.3f}). The error"
    ) in told
    assert (
        f"The bound on the relative Nyström error is finite in 1 of 2: {plain['bound']:,.0f}, "
        f"where the error is {plain['error']:.3f}."
    ) in told
    # 60 samples of 40 features: the kernel of the cosine is singular.
    shown = {row[1].text: row[-1].text for row in reversed(tables["discrepancy"].rows)}
    assert shown["cosine"] == "infinite"
    assert float(shown["rbf"].replace(",", "")) > 0


def test_the_finding_follows_the_records():
    place = {"task": "a→b", "discrepancy": 0.4, "error": 0.25}
    records = [
        {**place, "kernel": "cosine", "zeta": None, "bound": None},
        {**place, "kernel": "cosine", "zeta": 1.0, "discrepancy": 0.4 - 1e-9, "error": 0.3},
        {**place, "kernel": "cosine", "zeta": 2.0, "discrepancy": 0.1},
        {**place, "kernel": "rbf", "zeta": None, "bound": None},
    ]
    head = (
        "The learned kernel has a smaller discrepancy than the plain one in these cases (task and "
        "ζ): "
    )
    assert tkl_discrepancy.finding(records, {}) == (
        f"{head}1 of 2 with the cosine kernel (0.100 to 0.400, plain 0.400) and none was learned "
        "from the rbf kernel. The error of the learned spectrum is at most that of the target’s "
        "own, which the report calls obvious, in 1 of 2 cases. The bound on the "
        "relative Nyström error is finite in 0 of 2."
    )
    records[2]["discrepancy"] = 0.5
    assert tkl_discrepancy.finding(records, {}).startswith(f"{head}0 of 2 with the cosine kernel")


def test_the_discrepancy_has_no_scale():
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(9, 3)), rng.normal(size=(7, 3)) + 1
    found = tkl_discrepancy.discrepancy(source, target)
    assert tkl_discrepancy.discrepancy(5 * source, 5 * target) == pytest.approx(found)
    assert tkl_discrepancy.discrepancy(source, source) == 0
