"""REKEMA beside SSMA and KEMA on a small run."""

import numpy as np

from tests.workflow.studies.parts import complete
from workflow.studies.kema import rekema as kema_rekema


def test_rekema_with_all_samples_stands_beside_fewer():
    records, arrays = kema_rekema.run(
        {}, shares=[0.1, 1.0], n_realisations=2, labelled_per_class=20, unlabelled=30
    )
    tables = complete(kema_rekema, records, arrays)
    assert [row[0].text for row in tables["accuracy"].rows] == [
        "SSMA",
        "REKEMA",
        "KEMA",
        "rKEMA",
    ]
    full, ssma = (
        np.mean(kema_rekema.accuracies(records, *fit, "linear_svm"))
        for fit in (("rekema", 1.0), ("ssma", None))
    )
    assert full > ssma + 10
    said = kema_rekema.finding(records, arrays)
    assert said.startswith("The smallest share of the 180 samples from which on REKEMA's mean ")
    assert f"with 100 % of the samples {full:.1f} %, SSMA {ssma:.1f} %) and " in said
    levels = {0.1: 50.0, 1.0: 90.0, None: 70.0}
    fixed = [{**r, "accuracy": levels[r["share"]]} for r in records]
    assert "is 100 % for the Linear SVM (90.0 % accuracy" in kema_rekema.finding(fixed, arrays)
    level = [{**r, "accuracy": 90.0} for r in records]
    assert "is 10 % for the Linear SVM (90.0 % accuracy" in kema_rekema.finding(level, arrays)


def test_both_approximations_solve_problems_of_the_same_order():
    rekema, rkema = (kema_rekema._aligner(name, 0.1, 300, 0) for name in ("rekema", "rkema"))
    assert rekema.landmarks == 2 * rkema.random_features == 30
