"""Measured errors of random features beside their bounds."""

from tests.workflow.studies.parts import complete
from workflow.studies.kema import bounds as kema_bounds


def test_errors_of_random_features_stay_below_the_bounds():
    records, arrays = kema_bounds.run(
        {}, n_samples=[30, 60], n_features=[20, 320], fixed_samples=40, n_realisations=20
    )
    complete(kema_bounds, records, arrays)
    assert all(r["spectral"] <= r["bound"] <= r["proved"] for r in records)
    said = kema_bounds.finding(records, arrays)
    power = f"m^−{-kema_bounds.exponent(records, 'm', 'spectral'):.2f}"
    assert said.startswith("The mean error in the spectral norm goes as n^0.")
    assert f" and as {power} with the random features m. The bound of Eq. 21 is " in said
    assert said.endswith(" times the mean error; no draw exceeds it.")
    low = [{**r, "spectral": 10.0, "bound": 5.0 if r["seed"] < 2 else 20.0} for r in records]
    assert kema_bounds.finding(low, arrays).endswith(
        "with the random features m. The bound of Eq. 21 is 0.5 times the mean error; 8 of "
        "80 draws exceed it."
    )
    assert -0.7 < kema_bounds.exponent(records, "m", "spectral") < -0.3
