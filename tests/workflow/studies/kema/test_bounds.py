"""Measured errors of random features beside their bounds."""

from tests.workflow.studies.parts import complete
from workflow.studies.kema import bounds as kema_bounds


def test_errors_of_random_features_stay_below_the_bounds():
    records, arrays = kema_bounds.run(
        {}, n_samples=[30, 60], n_features=[20, 320], fixed_samples=40, n_realisations=20
    )
    complete(kema_bounds, records, arrays)
    assert all(r["spectral"] <= r["bound"] <= r["proved"] for r in records)
    assert -0.7 < kema_bounds.exponent(records, "m", "spectral") < -0.3
