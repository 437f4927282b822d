"""What the points of a series say beside the O() that its method claims."""

import dataclasses
from itertools import takewhile
from statistics import median

import numpy as np
from claimed_cost import numbers_read, of_reads, operations

# Shorter points say nothing about growth.
LEAST_SECONDS, LEAST_BYTES = 0.05, 2**23
# Sizes that an exponent is fitted to: of two it would be the noise of either.
FEWEST_SIZES, MOST_SIZES = 3, 4
# A method is named from this many times its bound on, or this far above the claimed exponent.
FAR, FASTER = 5, 0.3
# Why a series is named all the same; one that is named and not here stands unexplained.
BOTH, ALL = ("200 dense", "200 sparse"), ("200 dense", "200 sparse", "4096 dense", "4096 sparse")
REASONS = {
    "steps of Lanczos are counted once, each reads a matrix, and more samples need more of them": {
        "kernel_pca": ("200 sparse",),
        "pca": ("4096 sparse",),
        "target_pca": ("4096 sparse",),
        "tca_rbf": BOTH,
    },
    "passes of liblinear and sweeps are counted once, and a fit has dozens": {
        "ls_mmdt": ("200 sparse",),
        "ls_mmdt_selected": ALL,
        "mmdt": ("200 sparse",),
        "mmdt_selected": ALL,
        "svm_joint_selected": (*BOTH, "4096 dense"),
        "svm_source": ALL,
    },
    "a cache holds the plan of few samples, and more of them need more iterations": {
        "ot_lab": ("200 dense", "4096 dense"),
    },
    "fits of less than a second count with the least of three, which find memory that the first "
    "has left; of longer ones the first counts": {
        "arct": ("4096 dense",),
        "ls_mmdt": ("4096 dense",),
    },
    "a third of a second or less in products of sparse rows": {
        "pca": ("200 sparse",),
        "target_pca": ("200 sparse",),
    },
}
UNEXPLAINED = "not explained"
# Bytes of a value, those of its column included where the matrix is sparse.
DENSE_VALUE, SPARSE_VALUE = 8, 12


# ---- how fast the machine was at a point


@dataclasses.dataclass(frozen=True)
class Speeds:
    """What one thread did per second: operations of products, bytes read, and bytes copied."""

    operations: float
    read: float
    copied: float


def of_series(series):
    """The speeds of a series: the medians of its points, each measured in the process of one."""
    done = [row for row in series if row["status"] == "ok"]
    return Speeds(*(median(row[field] for row in done) for field in ("flops", "read", "fresh")))


def data_bytes(row, given):
    """Bytes of the values of all samples."""
    return given["nnz"] * (DENSE_VALUE if row["kind"] == "dense" else SPARSE_VALUE)


# ---- exponents


def exponents(series, claimed=None):
    """Of seconds and of bytes; None where too few points are large enough to tell."""
    return tuple(
        slope([row["samples"] for row in rows], [row[field] for row in rows])
        if len(rows) >= FEWEST_SIZES
        else None
        for field, rows in _last_points(series, claimed)
    )


def _last_points(series, claimed):
    """The last points that are large enough to tell, of seconds and of bytes.

    Of those before a size at which the method claims another cost none: it works in another way.
    """
    for field, least in (("seconds", LEAST_SECONDS), ("bytes", LEAST_BYTES)):
        told = [row for row in series if row["status"] == "ok" and row[field] >= least]
        if told and claimed is not None:
            last = claimed(told[-1])
            same = takewhile(lambda row, last=last: claimed(row) == last, reversed(told))
            told = list(same)[::-1]
        yield field, told[-MOST_SIZES:]


def slope(sizes, values):
    """Of the line nearest to the points by least squares, both axes logarithmic."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def claimed_exponents(series, claimed, symbols):
    """Of the bound of time and of what is claimed of memory, over the sizes of `exponents`."""
    (_, timed), (_, held) = _last_points(series, claimed)

    def bound(row, told):
        return bound_seconds(of_series(series), symbols, row, told)

    return (
        _slope_over(timed, claimed, "time", bound),
        _slope_over(held, claimed, "memory", lambda row, told: memory_claimed(told, symbols(row))),
    )


def _slope_over(rows, claimed, what, value):
    told = [getattr(claimed(row), what) for row in rows]
    if len(rows) < FEWEST_SIZES or not all(told):
        return None
    values = [value(row, claims) for row, claims in zip(rows, told, strict=True)]
    return slope([row["samples"] for row in rows], values)


def memory_claimed(told, given):
    """Numbers that all claims of memory come to: all of it is held."""
    return sum(operations(claim, given) for claim in told)


# ---- bounds


def bound_seconds(machine, symbols, row, told):
    """Of a point, on a machine of such `Speeds`.

    The dearest claim at the speed of products of all pairs, of claimed reads at the speed of
    memory; or to read the data once and to fill as many bytes as the fit holds, if that takes
    longer.
    """
    given = symbols(row)
    of_memory = data_bytes(row, given) / machine.read + row["bytes"] / machine.copied
    return max(of_memory, *(_seconds(claim, given, machine) for claim in told))


def _seconds(claim, given, machine):
    if of_reads(claim):
        return numbers_read(claim, given) * DENSE_VALUE / machine.read
    return operations(claim, given) / machine.operations


def times_bound(series, claimed, symbols):
    """Seconds of the last point in those of its bound; None where they are too few to tell.

    None too where nothing was fitted, or nothing is claimed.
    """
    done = [row for row in series if row["status"] == "ok"]
    if not done or done[-1]["seconds"] < LEAST_SECONDS or not claimed(done[-1]).time:
        return None
    last = done[-1]
    return last["seconds"] / bound_seconds(of_series(series), symbols, last, claimed(last).time)


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
    reasons = []
    times = times_bound(series, claimed, symbols)
    if times and times > FAR:
        largest = max(row["samples"] for row in series if row["status"] == "ok")
        reasons.append(f"{times:.0f} times its bound at {largest:,}")
    for what, grown, told in zip(
        ("exponent", "exponent of memory"),
        exponents(series, claimed),
        claimed_exponents(series, claimed, symbols),
        strict=True,
    ):
        if grown is not None and told is not None and grown > told + FASTER:
            reasons.append(f"{what} {grown:.1f}, claimed {told:.1f}")
    return " and ".join(reasons)


def reason(entry, shape):
    """Why a series is far above its bound or grows faster than claimed."""
    found = (why for why, named in REASONS.items() if shape in named.get(entry, ()))
    return next(found, UNEXPLAINED)
