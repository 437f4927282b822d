"""What the points of a series say beside the O() that its method claims."""

import numpy as np
from claimed_cost import operations

# Shorter points say nothing about growth.
LEAST_SECONDS, LEAST_BYTES = 0.05, 2**23
# Sizes that an exponent is fitted to: of two it would be the noise of either.
FEWEST_SIZES, MOST_SIZES = 3, 4
# A method is named from this many times its bound on, or this far above the claimed exponent.
FAR, FASTER = 5, 0.3
# Bytes of a value, those of its column included where the matrix is sparse.
DENSE_VALUE, SPARSE_VALUE = 8, 12


def exponents(series):
    """Of seconds and of bytes; None where too few points are large enough to tell."""
    return tuple(
        slope(sizes, values) if len(sizes) >= FEWEST_SIZES else None
        for sizes, values in (
            last_points(series, "seconds", LEAST_SECONDS),
            last_points(series, "bytes", LEAST_BYTES),
        )
    )


def last_points(series, field, least):
    """Sizes and values of the last points that are large enough to tell."""
    told = [row for row in series if row["status"] == "ok" and row[field] >= least][-MOST_SIZES:]
    return [row["samples"] for row in told], [row[field] for row in told]


def slope(sizes, values):
    """Of the line nearest to the points by least squares, both axes logarithmic."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def times_bound(row, told, symbols):
    """Seconds of a point in those of its bound; None where it is too short, or nothing is claimed.

    The bound is the dearest claim at the speed of products of all pairs, or, where that takes
    longer, one pass over the data and over what the fit holds.
    """
    if not told or row["status"] != "ok" or row["seconds"] < LEAST_SECONDS:
        return None
    given = symbols(row)
    product = 2 * given["n"] ** 2 * given["p"]
    value = DENSE_VALUE if row["kind"] == "dense" else SPARSE_VALUE
    read = value * given["nnz"]
    return min(
        row["products"] * product / dearest(told, given),
        row["passes"] * read / (read + row["bytes"]),
    )


def dearest(told, given):
    """Operations of the dearest claim."""
    return max(operations(claim, given) for claim in told)


def claimed_exponents(series, claimed, symbols):
    """Of the dearest claims of time and of memory, over the sizes that `exponents` is fitted to."""
    return tuple(
        slope(sizes, [dearest(getattr(claimed(row), what), symbols(row)) for row in rows])
        if len(rows) >= FEWEST_SIZES and all(getattr(claimed(row), what) for row in rows)
        else None
        for what, (sizes, rows) in (
            ("time", _last_rows(series, "seconds", LEAST_SECONDS)),
            ("memory", _last_rows(series, "bytes", LEAST_BYTES)),
        )
    )


def _last_rows(series, field, least):
    sizes, _ = last_points(series, field, least)
    return sizes, [row for row in series if row["samples"] in sizes]


def conspicuous(series, claimed, symbols):
    """Why a series lies above what its method claims, in words; "" if it does not.

    Parameters
    ----------
    series : list of dict
        Points by size.
    claimed : callable
        The Claims of the method at a point.
    symbols : callable
        Values of the symbols of claims at a point.
    """
    done = [row for row in series if row["status"] == "ok"]
    reasons = []
    times = done and times_bound(done[-1], claimed(done[-1]).time, symbols)
    if times and times > FAR:
        reasons.append(f"{times:.0f} times its bound at {done[-1]['samples']:,}")
    for what, grown, told in zip(
        ("exponent", "exponent of memory"),
        exponents(series),
        claimed_exponents(series, claimed, symbols),
        strict=True,
    ):
        if grown is not None and told is not None and grown > told + FASTER:
            reasons.append(f"{what} {grown:.1f}, claimed {told:.1f}")
    return " and ".join(reasons)
