"""Costs of the primal and the dual, and the dense primal of Eq. 1."""

import numpy as np
import pytest

from tests.workflow.studies.kema.made_up_images import subject
from tests.workflow.studies.parts import complete
from workflow.studies.kema import primal_dual as kema_primal_dual
from workflow.studies.kema._aligners import fit, make_aligner


def test_the_dense_primal_is_run_up_to_its_limit_only():
    domains = {name: subject(seed) for seed, name in enumerate("abc")}
    records, arrays = kema_primal_dual.run(domains, factors=[0.5, 1, 2], shape=(8, 8), limit=200)
    tables = complete(kema_primal_dual, records, arrays)
    orders = [r["features"] for r in records if r["method"] == "dense"]
    assert orders == [48, 192, 768]
    done = [r["cpu_seconds"] is not None for r in records if r["method"] == "dense"]
    assert done == [True, True, False]
    assert tables["cost"].rows[-1][1].text == "not run"
    cost = {"cpu_seconds": 0.5, "peak_mb": 2.0}
    timed = [{**r, **cost} if r["cpu_seconds"] is not None else r for r in records]
    costs = "SSMA 0.500 s and 2.0 MiB; KEMA, linear 0.500 s and 2.0 MiB."
    assert kema_primal_dual.finding(timed, arrays) == (
        f"With 768 features, a fit takes: {costs} The dense primal was solved up to 192 features "
        "(0.500 s); with 768 its matrices alone would take 9 MiB."
    )
    small = [r for r in timed if r["features"] < 768]
    assert kema_primal_dual.finding(small, arrays) == (
        f"With 192 features, a fit takes: Primal, dense (Eq. 1) 0.500 s and 2.0 MiB; {costs}"
    )
    large = [r for r in timed if r["features"] == 768]
    assert "The dense primal was solved at no size;" in kema_primal_dual.finding(large, arrays)


def test_images_are_resized_by_blocks():
    X = np.arange(8.0).reshape(1, 8)
    np.testing.assert_allclose(kema_primal_dual.resized(X, (2, 4), 0.5), [[2.5, 4.5]])
    larger = kema_primal_dual.resized(X, (2, 4), 2).reshape(4, 8)
    np.testing.assert_allclose(larger[:2, :2], 0)
    np.testing.assert_allclose(larger[2:, -2:], 7)


def test_the_dense_primal_has_the_eigenvalues_of_ssma():
    """Where the labelled samples span all features, and there is no range to choose."""
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(40, 3)) + 5, rng.normal(size=(40, 2)) - 5]
    ys = [np.arange(40) % 3, np.arange(40) % 3]
    aligner = make_aligner("ssma", 2)
    dense = kema_primal_dual.dense_primal(aligner, Xs, ys)
    np.testing.assert_allclose(dense, fit(aligner, Xs, ys).eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize("n_labelled", [1, 3])
def test_the_first_labels_of_each_class_are_visible(n_labelled):
    y = np.array([1, 0, 1, 1, 0, 0])
    seen = kema_primal_dual.visible(y, n_labelled)
    assert np.bincount(seen[seen >= 0]).tolist() == [n_labelled, n_labelled]
