"""The learned spectra: geometric ones, and how many numbers are learned."""

import numpy as np
import pytest

from tests.workflow.studies.parts import complete
from workflow.studies.tkl import sensitivity as tkl_sensitivity


def test_sensitivity_finds_the_geometric_spectrum(domains, pair):
    records, arrays = tkl_sensitivity.run(
        domains, [pair, {**pair, "label": "again", "preprocess": ["zscore"]}], n_eigen=[5, 30]
    )
    learned = {
        r["zeta"]: r["n_learned"] for r in records if r["task"] == "a→b" and r["n_eigen"] == 30
    }
    assert learned[1.0] > learned[10.0] == 1
    geometric = arrays["a→b/4"] / arrays["a→b/4"][0]
    np.testing.assert_allclose(geometric, 4.0 ** -np.arange(30), rtol=1e-12)
    relaxed = [r for r in records if r["zeta"] == 1.0]
    assert all(r["transfer_error"] <= r["nystrom_error"] for r in relaxed)
    complete(tkl_sensitivity, records, arrays)
    told = tkl_sensitivity.finding(records, arrays)
    assert told.startswith("With all eigenvectors and ζ of 1 to 10, the gain over the SVM")
    assert told.endswith("at ζ = 1 and 1 at ζ = 10.")


def test_the_finding_follows_the_records():
    def record(zeta, size, accuracy, learned):
        place = {"task": "a→b", "zeta": zeta, "n_eigen": size}
        return {**place, "accuracy": accuracy, "n_learned": learned}

    records = [
        record(None, None, 0.5, None),
        record(1.0, 5, 0.25, 3),
        record(1.0, 30, 0.4, 7),
        record(2.5, 5, 0.6, 1),
        record(2.5, 30, 0.625, 1),
    ]
    gains = (
        "With all eigenvectors and ζ of 1 to 2.5, the gain over the SVM in percentage points is "
        "−10.0 to 12.5 on a→b (highest at ζ = 2.5). "
    )
    learned = "Numbers learned of the spectrum: 7 at ζ = 1 and 1 at ζ = 2.5."
    assert tkl_sensitivity.finding(records, {}) == (
        f"{gains}At one ζ, their number changes the accuracy by up to 15.0 points. {learned}"
    )
    largest = [r for r in records if r["n_eigen"] != 5]
    assert tkl_sensitivity.finding(largest, {}) == (
        f"{gains}The number of eigenvectors was not varied. {learned}"
    )


@pytest.mark.parametrize(
    ("spectrum", "zeta", "expected"),
    [
        ([4.0, 2.0, 1.0], 2.0, 1),  # geometric
        ([9.0, 2.0, 1.0], 2.0, 2),
        ([9.0, 3.0, 1.0], 2.0, 3),
        ([2.0, 1.0, 0.0], 1.0, 2),  # the last is at its bound
        (2.0 ** -np.arange(0, 2000, 2.0), 4.0, 1),  # underflows
    ],
)
def test_numbers_learned_are_the_slack_constraints(spectrum, zeta, expected):
    assert tkl_sensitivity.numbers_learned(np.asarray(spectrum), zeta) == expected
