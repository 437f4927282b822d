"""REKEMA beside SSMA and KEMA on a small run."""

import numpy as np

from tests.workflow.studies.parts import complete
from workflow.studies.kema import rekema as kema_rekema


def test_rekema_with_all_samples_stands_beside_fewer():
    records, arrays = kema_rekema.run(
        {}, shares=[0.1, 1.0], n_realisations=2, labelled_per_class=20, unlabelled=30
    )
    tables = complete(kema_rekema, records, arrays)
    assert [row[0].text for row in tables["accuracy"].rows] == ["SSMA", "REKEMA", "KEMA"]
    full = np.mean(kema_rekema.accuracies(records, 1.0, "linear_svm"))
    assert full > np.mean(kema_rekema.accuracies(records, None, "linear_svm")) + 10
