"""Exponents, bounds and what the board of growth names, of series whose growth is known."""

import growth
import numpy as np
import pytest
from claimed_cost import Claims, claims_for, operations, power
from growth_bounds import (
    claimed_exponents,
    conspicuous,
    exponents,
    of_series,
    times_bound,
)

PER_PRODUCT, N_FEATURES = 1e-9, 200
SIZES = (1000, 2000, 4000, 8000, 16000)
# So fast that memory bounds nothing, unless a test says how fast it is.
AT_ONCE = 1e18


def series(seconds, sizes=SIZES, n_features=N_FEATURES, read=AT_ONCE, fresh=AT_ONCE, kind="dense"):
    """Points that take `seconds(n)`, on a machine where a term of a product takes PER_PRODUCT."""
    return [
        {
            **{"samples": n, "features": n_features, "kind": kind, "status": "ok"},
            **{"seconds": seconds(n), "bytes": 10_000 * n},
            **{"flops": 2 / PER_PRODUCT, "read": read, "fresh": fresh},
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


def test_an_exponent_is_fitted_to_sizes_under_the_same_claims():
    rows = series(lambda n: 1e-10 * n**3 if n < 4000 else 1e-6 * n**2)

    def claimed(row):
        return Claims(["O(n^3)"] if row["samples"] < 4000 else ["O(n^2 p)"], ["O(n)"])

    assert exponents(rows, claimed)[0] == pytest.approx(2)
    assert exponents(rows)[0] > 2.2  # of the last four
    assert claimed_exponents(rows, claimed, growth.symbols)[0] == pytest.approx(2)
    assert conspicuous(rows, claimed, growth.symbols) == ""
    assert exponents(rows[:4], claimed)[0] is None  # two sizes in either way


def test_a_factorisation_that_claims_a_cube_lies_at_its_bound():
    rows = series(lambda n: PER_PRODUCT / 2 * 2 / 3 * n**3, sizes=[16000])
    assert times_bound(rows, told(["O(n^3)"]), growth.symbols) == pytest.approx(1)
    times = times_bound(rows, told(["O(n^2 p)"]), growth.symbols)
    assert times == pytest.approx(16000 / 3 / N_FEATURES)


def test_who_reads_all_values_once_and_holds_a_copy_lies_at_its_bound():
    data = 8 * 16000 * N_FEATURES
    rows = series(lambda n: data / 2e6 + data / 1e6, sizes=[16000], read=2e6, fresh=1e6)
    rows[0]["bytes"] = data
    assert times_bound(rows, told(["O(n p)"]), growth.symbols) == pytest.approx(1)


def test_claimed_reads_are_bounded_by_memory_and_not_by_products():
    """Of 8,000 x 8,000 numbers that are read 2,000 times, as by the iterations of Sinkhorn."""
    read = 1e9
    rows = series(lambda n: 2000 * 8 * (n / 2) ** 2 / read, read=read)
    claims = told(["O(n_S n_T p)", "O(2000 n_S n_T) reads"])
    assert times_bound(rows, claims, growth.symbols) == pytest.approx(1)
    as_products = told(["O(n_S n_T p)", "O(2000 n_S n_T)"])
    times = times_bound(rows, as_products, growth.symbols)
    assert times == pytest.approx(8 / read / PER_PRODUCT)


def test_an_exponent_claimed_is_that_of_the_bound_in_seconds():
    """A claim that does not grow, dearer in operations than a copy, hides no copy."""
    rows = series(lambda n: 1e-4 * n, read=1e12, fresh=1e8)  # which takes 1e-4 n too
    claims = told(["O(l^2 p)", "O(n p)"])
    assert operations("O(l^2 p)", growth.symbols(rows[-1])) > operations(
        "O(n p)", growth.symbols(rows[-1])
    )
    assert claimed_exponents(rows, claims, growth.symbols)[0] == pytest.approx(1, abs=0.01)
    assert conspicuous(rows, claims, growth.symbols) == ""


def test_the_speeds_of_a_series_are_the_medians_of_the_points_that_ended():
    rows = series(lambda n: 1e-6 * n**2, read=6e9, fresh=2e9)
    rows[0] |= {"flops": 1.0, "read": 1.0, "fresh": 1.0}  # disturbed
    ended = {"status": "time", "flops": None, "read": None, "fresh": None}
    machine = of_series([*rows, rows[-1] | ended])
    assert (machine.operations, machine.read, machine.copied) == (2 / PER_PRODUCT, 6e9, 2e9)


def test_a_point_too_short_to_tell_has_no_bound():
    rows = series(lambda n: 0.01, sizes=[1000])
    assert times_bound(rows, told(["O(n p)"]), growth.symbols) is None


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


def test_the_page_names_what_lies_above_its_claims(monkeypatch):
    slow, fast = (series(lambda n, c=c: c * PER_PRODUCT * n**2 * N_FEATURES) for c in (9, 1))
    counted, not_counted = told(["O(n^2 p)"]), told(["O(n^2 p)", "O(n) per step"])
    made = [
        (["slow", "same"], slow, counted, growth.symbols),
        (["fast"], fast, counted, growth.symbols),
        (["stepwise"], slow, not_counted, growth.symbols),
    ]
    monkeypatch.setattr(growth, "of_methods", lambda points, methods: made)
    whole, in_part, why = growth.above_claims({}, {})
    assert whole.endswith(": slow (200 dense: 9 times its bound at 16,000).")
    assert in_part.endswith(": stepwise (200 dense: 9 times its bound at 16,000).")
    assert why == "- Why: not explained (slow, stepwise)."


def test_memory_that_grows_faster_than_claimed_is_named():
    rows = [row | {"bytes": 8 * row["samples"] ** 2} for row in series(lambda n: 1e-7 * n**2)]
    assert conspicuous(rows, told(["O(n^2 p)"], ["O(n^2)"]), growth.symbols) == ""
    said = conspicuous(rows, told(["O(n^2 p)"], ["O(n p)"]), growth.symbols)
    assert said == "exponent of memory 2.0, claimed 1.0"


def test_all_that_is_claimed_of_memory_is_held():
    rows = series(lambda n: 1e-7 * n**2, n_features=4096)
    for row in rows:
        row["bytes"] = 8 * row["samples"] * (row["samples"] + 4096)
    claims = told(["O(n^2 p)"], ["O(n p)", "O(n^2)"])
    grown, claimed = exponents(rows)[1], claimed_exponents(rows, claims, growth.symbols)[1]
    assert grown == pytest.approx(claimed)


def test_ranks_and_numbers_of_candidates_are_those_of_the_entry():
    methods = growth.load_suite(growth.ROOT).methods

    def value(name, symbol, *shape):
        return growth.reading(methods[name])[1](point(*shape))[symbol]

    assert value("tkl", "r", 64000, 200) == 200
    assert value("tkl", "r", 64000, 4096) == methods["tkl"]["params"]["n_eigen"] == 500
    assert value("tkl", "r", 400, 4096) == 200  # target samples
    assert value("gfk", "d", 400, 200) == methods["gfk"]["params"]["n_components"]
    assert value("tkl_cv", "len(C)", 400, 200) == len(methods["tkl_cv"]["params"]["C"])
    assert [value("gfk", one, 500, 400) for one in ("q", "q_a", "m_a", "m_S")] == [400, *[250] * 3]


@pytest.mark.parametrize(
    ("name", "n_samples", "n_features", "kind", "claimed", "not_claimed"),
    [
        ("fma_f", 4000, 4096, "dense", "O(n n_a p + n_a^3)", "O(n p^2 + p^3)"),
        ("fma_f", 16000, 4096, "dense", "O(n p^2 + p^3)", "O(n n_a p + n_a^3)"),
        ("pca", 16000, 200, "sparse", "O(nnz p + p^3)", "O(n p min(n, p))"),
        ("pca", 16000, 200, "dense", "O(n p min(n, p))", "O(nnz p + p^3)"),
        ("pca", 16000, 4096, "sparse", "O(nnz) per step", "O(nnz p + p^3)"),
    ],
)
def test_a_method_claims_what_its_way_of_working_costs(
    name, n_samples, n_features, kind, claimed, not_claimed
):
    told_of, _ = growth.reading(growth.load_suite(growth.ROOT).methods[name])
    time = told_of(point(n_samples, n_features) | {"kind": kind}).time
    assert claimed in time
    assert not_claimed not in time


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
    of_both = growth.SOURCE_PER_CLASS + growth.TARGET_PER_CLASS
    assert seen == [8000, growth.N_CLASSES * of_both]


def test_labelled_samples_are_those_that_an_entry_is_shown():
    source, target = (np.arange(2000) % growth.N_CLASSES for _ in range(2))
    shown = growth.labels("source+target", [np.sort(source), np.sort(target)])
    of_source, of_target = (int((y >= 0).sum()) for y in shown)
    found = growth.symbols(point(4000, 200))
    assert (found["l_S"], found["l_T"]) == (of_source, of_target)
    assert found["l"] == of_source + of_target


def test_the_way_back_is_no_cost_of_a_fit():
    paragraph = "O(n p) time. New samples: O(p q) each; moving back: O(q^3) once per call besides."
    assert claims_for(paragraph, {}).time == ["O(n p)"]


def test_every_entry_claims_time_and_memory_with_symbols_that_have_a_value():
    for entry in growth.load_suite(growth.ROOT).methods.values():
        claimed, values = growth.reading(entry)
        for shape in ((500, 200), (2000, 4096), (16000, 4096), (64000, 200)):
            row = point(*shape)
            claims = claimed(row)
            assert claims.time, entry["label"]
            assert claims.memory, entry["label"]
            assert all(operations(one, values(row)) > 0 for one in claims.time + claims.memory)
