"""Discrepancies under the plain and the learned kernel, and the bound on the Nyström error."""

import json

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

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
        f"{plain['discrepancy']:.3f}; by the norm "
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
    place = {"task": "a→b", "discrepancy": 0.4, "by_norm": 0.3, "error": 0.25}
    records = [
        {**place, "kernel": "cosine", "zeta": None, "bound": None},
        {
            **place,
            "kernel": "cosine",
            "zeta": 1.0,
            "discrepancy": 0.4 - 1e-9,
            "by_norm": 0.2,
            "error": 0.3,
        },
        {**place, "kernel": "cosine", "zeta": 2.0, "discrepancy": 0.1},
        {**place, "kernel": "rbf", "zeta": None, "bound": None},
    ]
    head = (
        "The learned kernel has a smaller discrepancy than the plain one, relative to the samples’ "
        "spread, in these cases (task and ζ): "
    )
    assert tkl_discrepancy.finding(records, {}) == (
        f"{head}1 of 2 with the cosine kernel (0.100 to 0.400, plain 0.400; by the norm 1) and "
        "none was learned from the rbf kernel. The error of the learned spectrum is at most that "
        "of the target’s own, which the report calls obvious, in 1 of 2 cases. The bound on the "
        "relative Nyström error is finite in 0 of 2."
    )
    records[2]["discrepancy"] = 0.5
    assert tkl_discrepancy.finding(records, {}).startswith(f"{head}0 of 2 with the cosine kernel")


def test_the_discrepancies_have_no_scale():
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(9, 3)), rng.normal(size=(7, 3)) + 1
    found = tkl_discrepancy.discrepancies(source, target)
    assert tkl_discrepancy.discrepancies(5 * source, 5 * target) == pytest.approx(found)
    assert set(tkl_discrepancy.discrepancies(source, source).values()) == {0.0}


def test_moving_all_samples_to_one_point_brings_no_domains_together():
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(9, 3)), rng.normal(size=(7, 3)) + 1
    found = tkl_discrepancy.discrepancies(source, target)
    far = tkl_discrepancy.discrepancies(source + 100, target + 100)
    assert far["discrepancy"] == pytest.approx(found["discrepancy"])
    assert far["by_norm"] < found["by_norm"] / 20


@pytest.mark.parametrize("kernel", ["cosine", "rbf"])
def test_the_spread_of_the_plain_kernel_is_that_of_its_feature_space(kernel):
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(9, 3)), rng.normal(size=(7, 3)) + 1]
    K = pairwise_kernels(
        np.vstack(Xs), metric=kernel, **({"gamma": 0.3} if kernel == "rbf" else {})
    )
    values, vectors = np.linalg.eigh(K)
    embedded = vectors * np.sqrt(values.clip(0))
    centred = [Z - Z.mean(axis=0) for Z in np.split(embedded, [9])]
    spread = np.sqrt((np.vstack(centred) ** 2).sum(axis=1).mean())
    gamma = 0.3 if kernel == "rbf" else None
    assert tkl_discrepancy.plain_spread(Xs, kernel, gamma) == pytest.approx(spread)
