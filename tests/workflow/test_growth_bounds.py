"""Exponents, bounds and what the board of growth names, of series whose growth is known."""

import growth
import pytest
from claimed_cost import Claims, claims_for, operations, power
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


def told(time, memory=("O(n)",)):
    """The same claims at every point."""
    return lambda row: Claims(time, memory)


def point(n_samples, n_features):
    """A point without measurements."""
    return {"samples": n_samples, "features": n_features, "kind": "dense"}


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
    assert conspicuous(series(seconds), told(["O(n^2 p)"]), growth.symbols) == words


def test_up_to_as_many_samples_as_features_a_rank_may_grow_with_them():
    rows = series(lambda n: 1e-6 * n**2, sizes=[500, 1000, 2000], n_features=4096)
    assert conspicuous(rows, told(["O(n p min(n, p))"]), growth.symbols) == ""
    assert "claimed 1.0" in conspicuous(rows, told(["O(n p)"]), growth.symbols)


def test_the_page_names_what_the_points_show():
    points = growth.read(growth.ROOT / "reports/reference/growth.csv")
    methods = growth.load_suite(growth.ROOT).methods
    whole, in_part = growth.above_claims(points, methods)
    assert "coral_kernel (200 sparse: 36 times its bound at 8,000)" in whole
    assert "meda" not in whole + in_part  # its system of equations needs the cube that it claims
    assert "ot_lab" in in_part
    page = (growth.ROOT / "reports/reference/growth.md").read_text(encoding="utf-8")
    assert whole in page
    assert in_part in page


def test_memory_that_grows_faster_than_claimed_is_named():
    rows = [row | {"bytes": 8 * row["samples"] ** 2} for row in series(lambda n: 1e-6 * n**2)]
    assert conspicuous(rows, told(["O(n^2 p)"], ["O(n^2)"]), growth.symbols) == ""
    said = conspicuous(rows, told(["O(n^2 p)"], ["O(n p)"]), growth.symbols)
    assert said == "exponent of memory 2.0, claimed 1.0"


@pytest.mark.parametrize(
    ("values", "time", "memory"),
    [
        ({"kernel": "linear", "n": 9, "p": 4}, ["O(n)", "O(n p^2)"], ["O(p)", "O(n p)"]),
        ({"kernel": "linear", "n": 3, "p": 4}, ["O(n)"], ["O(p)"]),
        ({"kernel": "rbf", "n": 9, "p": 4}, ["O(n)", "O(n^3)"], ["O(p)", "O(n^3)", "O(n^2)"]),
    ],
)
def test_what_is_claimed_under_a_condition_holds_where_it_is_met(values, time, memory):
    paragraph = (
        "*Cost.* O(n), O(p) memory. New samples: O(n^9) each, with a list O(n^8). "
        '- ``kernel == "linear" and n >= p``: O(n p^2) time of O(n p) memory. '
        '- ``kernel == "rbf"``: O(n^3) time and memory. Memory: O(n^2).'
    )
    assert claims_for(paragraph, values) == Claims(time, memory)


@pytest.mark.parametrize(
    ("name", "n_samples", "n_features", "time", "memory"),
    [
        ("tca", 64000, 200, 1, 1),  # not those of a kernel of all pairs
        ("tca_rbf", 64000, 200, 2, 2),
        ("kernel_pca", 16000, 200, 2, 2),  # not the n^3 of all its eigenpairs
        ("sma", 64000, 200, 2, 1),  # not the n^3 of domains of up to 1250 samples
        ("sma", 2000, 200, 3, 2),
        ("tkl", 64000, 200, 1, 1),  # a cosine of fewer features than samples
        ("tkl", 2000, 4096, 3, 2),
        ("kema_rbf", 64000, 200, 2, 1),
    ],
)
def test_an_entry_is_held_against_what_is_claimed_for_it(name, n_samples, n_features, time, memory):
    claimed, _ = growth.reading(growth.load_suite(growth.ROOT).methods[name])
    claims = claimed(point(n_samples, n_features))
    assert [max(map(power, one)) for one in (claims.time, claims.memory)] == [time, memory]


def test_labels_of_the_source_are_those_of_all_its_samples():
    methods = growth.load_suite(growth.ROOT).methods
    seen = [growth.reading(methods[name])[1](point(16000, 200))["l"] for name in ("meda", "mmdt")]
    assert seen == [8000, growth.N_CLASSES * growth.SOURCE_PER_CLASS]


def test_every_entry_claims_time_and_memory_with_symbols_that_have_a_value():
    for entry in growth.load_suite(growth.ROOT).methods.values():
        claimed, values = growth.reading(entry)
        for shape in ((500, 200), (2000, 4096), (16000, 4096), (64000, 200)):
            row = point(*shape)
            claims = claimed(row)
            assert claims.time, entry["label"]
            assert claims.memory, entry["label"]
            assert all(operations(one, values(row)) > 0 for one in claims.time + claims.memory)
