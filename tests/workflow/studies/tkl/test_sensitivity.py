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
