"""The page of libraries that search neighbours: from where on the approximate search is faster."""

import neighbour_libraries as page
import pytest


def rows(*sizes, compiling=30.0):
    """An exact search of 26 s at 100,000 samples, an approximate one of 7.7 s."""
    about = {"building": 0.0, "bytes": 1e6, "recall": 1.0}
    fields = ("library", "effort", "samples", "seconds", "compiling")
    for n in sizes:
        share = n / 100_000
        for values in (
            (page.OURS, None, n, 26 * share**2, 0.0),
            (page.APPROXIMATE, None, n, 7.7 * share, compiling),
        ):
            yield about | dict(zip(fields, values, strict=True))


@pytest.mark.parametrize(("compiling", "samples"), [(30.0, 120_000), (0.0, 30_000)])
def test_the_exact_search_takes_longer_above_as_many_samples(compiling, samples):
    measured = list(rows(20_000, 100_000, compiling=compiling))
    assert page.crossing(measured) == samples
    assert f"above {samples:,} samples" in page.page(measured, {"faiss-cpu", "hnswlib"}, None)


def test_one_size_or_one_search_does_not_tell():
    assert page.crossing(list(rows(20_000))) is None
    assert page.crossing(list(rows(20_000, 100_000))[:3]) is None
    assert "Too little was measured" in page.told_crossing([])


def test_a_column_has_compilation_included():
    made = page.page(list(rows(100_000)), {"faiss-cpu", "hnswlib"}, None)
    assert "| 100,000 | approximate search (ours) |  | 0.0 | 7.7 | 37.7 | 1 | 1.0000 |" in made
