"""Times of every method, and the dense problem of Eq. 6."""

import numpy as np

from tests.workflow.studies.parts import complete
from workflow.loaders.kema_toys import realisation
from workflow.studies.kema import time as kema_time
from workflow.studies.kema._aligners import fit, make_aligner, training_set


def test_times_of_every_method_and_the_dense_problem():
    records, arrays = kema_time.run(
        {}, n_samples=300, landmarks=[20, 40], random_features=[20, 40], n_realisations=2
    )
    complete(kema_time, records, arrays)
    assert {r["method"] for r in records} == set(kema_time.METHODS)
    assert all(r["cpu_seconds"] >= 0 for r in records)
    seconds = {"dense": 2.0, "kema": 1.0, "rekema": 0.5, "rkema": 3.0}
    timed = [{**r, "cpu_seconds": seconds[r["method"]]} for r in records]
    n_samples = records[0]["n_samples"]
    assert kema_time.finding(timed, arrays) == (
        f"With {n_samples} samples, the dense eigenproblem takes 2.000 s of CPU time and KEMA, "
        "which is exact too, 1.000 s (0.50 times as long). REKEMA takes 0.50 (r = 20) to 0.50 "
        "(r = 40) times as long as KEMA; rKEMA takes 3.00 (m = 20) to 3.00 (m = 40) times as long "
        "as KEMA."
    )
    fewer = [r for r in timed if r["method"] != "rkema"]
    assert kema_time.finding(fewer, arrays).endswith("(r = 40) times as long as KEMA.")
    sizes = {None: 1.0, 20: 0.9, 40: 0.5}
    uneven = [{**r, "cpu_seconds": sizes[r["size"]]} for r in fewer]
    assert "REKEMA takes 0.50 (r = 40) to 0.90 (r = 20) times" in kema_time.finding(uneven, arrays)


def test_the_dense_problem_is_the_one_that_kema_solves():
    Xs, ys = training_set(realisation(1, 0))
    left, right = kema_time.dense_problem(make_aligner("rbf_1", 2), Xs, ys)
    kema = fit(make_aligner("rbf_1", 2), Xs, ys)
    alpha = np.vstack(kema.dual_coef_)
    np.testing.assert_allclose(alpha.T @ right @ alpha, np.eye(2), atol=1e-6)
    values = np.diag(kema.eigenvalues_)
    np.testing.assert_allclose(alpha.T @ left @ alpha, values, atol=1e-6 * values.max())
