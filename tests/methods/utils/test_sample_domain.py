import numpy as np
import pandas as pd
import pytest
from domain_alignment.utils._sample_domain import (
    check_sample_domain,
    domains_in_order,
    fitted_domains,
)

NAMES = np.array(["webcam", "amazon", "webcam", "dslr"])


def test_signs_or_a_named_target():
    assert domains_in_order(np.array([5, -1, 2])).tolist() == [2, 5, -1]
    assert domains_in_order(np.array([5, 1, 2]), 2).tolist() == [1, 5, 2]
    assert domains_in_order(NAMES, "amazon").tolist() == ["dslr", "webcam", "amazon"]


def test_positions_of_the_rows_domains():
    domains = domains_in_order(NAMES, "amazon")
    assert fitted_domains(NAMES, domains, "amazon").tolist() == [1, 2, 1, 0]
    assert fitted_domains(np.array([-5, 5, 2]), np.array([2, 5, -1])).tolist() == [1, 1, 0]
    # Where both signs were in fit, each is its own domain; with a named target a sign is no role.
    assert fitted_domains(np.array([2, -2]), np.array([2, -2])).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"holds -5, which was not in fit \(fitted: \[2, 5\]\)"):
        fitted_domains(np.array([2, -5]), np.array([2, 5]), 5)
    with pytest.raises(ValueError, match=r"holds 'coil', which was not in fit"):
        fitted_domains(np.array(["coil"]), domains, "amazon")


@pytest.mark.parametrize(
    ("given", "target", "message"),
    [
        (NAMES, None, r"names \['amazon', 'dslr', 'webcam'\].*target_domain='webcam'"),
        (NAMES.astype(object), None, "do not tell the target"),
        (NAMES[:2], "dslr", r"shape \(2,\) .* for 4 samples; give one integer .*, or one name"),
        ([1.0, 2.0, 3.0, 4.0], 1, "dtype float64"),
        ([1, 0, -1, 1], None, "holds 0"),
        (None, None, "sample_domain is missing"),
        ([*NAMES[:3].tolist(), float("nan")], "dslr", r"1 of its entries .* in row 3\)"),
        (np.array(["a", None, np.nan, "b"], dtype=object), "a", r"2 of its entries .* row 1\)"),
        (pd.Series(["a", pd.NA, "b", "b"]), "b", r"1 of its entries are missing"),
        (pd.Series(["a", pd.NA, "b", "b"], dtype=object), "b", r"1 of its entries are missing"),
        (np.ma.masked_array([1, 1, -2, -2], [0, 1, 0, 1]), None, r"2 of its entries are missing"),
    ],
)
def test_what_is_wrong_is_named(given, target, message):
    with pytest.raises(ValueError, match=message):
        check_sample_domain(given, 4, target)


def test_a_target_that_is_not_there():
    with pytest.raises(ValueError, match=r"targets \[\]; need at least one source and .* 'coil'"):
        domains_in_order(NAMES, "coil")


def test_unsigned_numbers_have_a_negative_too():
    found = check_sample_domain(np.array([2, 2], dtype=np.uint8), 2)
    assert (-found).tolist() == [-2, -2]
