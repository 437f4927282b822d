"""Exponents, bounds and what the board of growth names, of series whose growth is known."""

import growth
import growth_bounds
import pytest
from growth_bounds import conspicuous, exponents, times_bound

PER_PRODUCT, N_FEATURES = 1e-9, 200


def series(seconds, sizes=(1000, 2000, 4000, 8000, 16000), n_features=N_FEATURES):
    """Points that take `seconds(n)`, on a machine where a term of a product takes PER_PRODUCT."""
    return [
        {
            **{"samples": n, "features": n_features, "kind": "dense", "status": "ok"},
            **{"seconds": seconds(n), "bytes": 10_000 * n},
            "products": seconds(n) / (PER_PRODUCT * n**2 * n_features),
            "passes": 1e6,
        }
        for n in sizes
    ]


def test_an_exponent_is_that_of_the_last_four_sizes():
    rows = series(lambda n: 1e-9 * n**3 if n < 2000 else 1e-6 * n**2)
    of_time, of_memory = exponents(rows)
    assert of_time == pytest.approx(2)
    assert of_memory == pytest.approx(1)


def test_noise_of_the_last_point_moves_an_exponent_less_than_between_two():
    rows = series(lambda n: 1e-6 * n**2 * (2 if n == 16000 else 1))
    assert 2 < exponents(rows)[0] < 2.4  # between the last two sizes it is 3


@pytest.mark.parametrize(
    "change", [{"seconds": 0.01, "bytes": 100}, {"status": "time"}], ids=["too short", "ended"]
)
def test_fewer_than_three_points_have_no_exponent(change):
    rows = series(lambda n: 1e-6 * n**2)[-3:]
    assert None not in exponents(rows)
    assert exponents([rows[0] | change, *rows[1:]]) == (None, None)


def test_a_factorisation_that_claims_a_cube_lies_at_its_bound():
    (row,) = series(lambda n: PER_PRODUCT / 2 * 2 / 3 * n**3, sizes=[16000])
    assert times_bound(row, ["O(n^3)"], growth.symbols) == pytest.approx(1)
    assert times_bound(row, ["O(n^2 p)"], growth.symbols) == pytest.approx(16000 / 3 / N_FEATURES)


def test_who_reads_all_values_once_lies_at_its_bound():
    (row,) = series(lambda n: 1.0, sizes=[16000])
    row |= {"passes": 2, "bytes": 8 * 16000 * N_FEATURES}  # it holds a copy of the data
    assert times_bound(row, ["O(n p)"], growth.symbols) == pytest.approx(1)


def test_a_point_too_short_to_tell_has_no_bound():
    (row,) = series(lambda n: 0.01, sizes=[1000])
    assert times_bound(row, ["O(n p)"], growth.symbols) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (lambda n: PER_PRODUCT * n**2 * N_FEATURES, ""),
        (lambda n: 9 * PER_PRODUCT * n**2 * N_FEATURES, "9 times its bound at 16,000"),
        (lambda n: PER_PRODUCT / 100 * n**3, "exponent 3.0, claimed 2.0"),
        (
            lambda n: PER_PRODUCT * n**3,
            "80 times its bound at 16,000 and exponent 3.0, claimed 2.0",
        ),
    ],
)
def test_what_is_far_above_its_claim_is_named(seconds, words):
    assert conspicuous(series(seconds), ["O(n^2 p)"], growth.symbols) == words


def test_up_to_as_many_samples_as_features_a_rank_may_grow_with_them():
    rows = series(lambda n: 1e-6 * n**2, sizes=[500, 1000, 2000], n_features=4096)
    assert conspicuous(rows, ["O(n p min(n, p))"], growth.symbols) == ""
    assert "claimed 1.0" in conspicuous(rows, ["O(n p)"], growth.symbols)


def test_the_page_names_what_the_points_show():
    points = growth.read(growth.ROOT / "reports/reference/growth.csv")
    methods = growth.load_suite(growth.ROOT).methods
    whole, in_part = growth.above_claims(points, methods)
    assert "coral_kernel (200 sparse: 9 times its bound at 8,000)" in whole
    assert "meda" not in whole + in_part  # its system of equations needs the cube that it claims
    assert "ot_lab" in in_part
    page = (growth.ROOT / "reports/reference/growth.md").read_text(encoding="utf-8")
    assert whole in page
    assert in_part in page


def test_every_symbol_of_a_cost_paragraph_has_a_value():
    (row,) = series(lambda n: 1.0, sizes=[1000])
    for entry in growth.load_suite(growth.ROOT).methods.values():
        cls = growth.resolve_estimator(entry["estimator"])
        if told := growth.claims(growth.cost_paragraph(cls)):
            assert growth_bounds.dearest(told, growth.symbols(row)) > 0
