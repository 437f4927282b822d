"""How the cost of a cold fit grows with the number of samples and with the number of features.

Each measurement is one fit from nothing (neighbour graphs, spectra, joint problem) in a fresh
process with one BLAS thread, on two generated mixtures of five classes of equal size that lie near
a space of 10 dimensions, 20 and 3 samples per class labelled. Time is the processor seconds of the
fit, which other load disturbs less than wall-clock time; both are in the records. Memory is the
peak resident memory during the fit minus that before it, which includes the data.

The slope is the least-squares slope of log cost against log size, over the medians of the repeats;
its standard error is that of the regression. A cost that grows as size^k has slope k at sizes where
its leading term dominates; lower terms and fixed costs flatten it at small sizes.

The dense routes take all eigenvectors of complete matrices by `scipy.linalg.eigh`: of each domain
instead of the sparse solver of FMA-I, or of all samples together for SMA. The FMA paper counts
O(N^3) and O((2N)^3) for these and does not say by which solver its Fig. 5 was timed.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import count, fixed, listed
from workflow.studies.common._cells import word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "growth": "Processor seconds and added memory of a cold fit against the samples per domain and "
    "against the features; both axes are logarithmic. Points: medians of the repeats. The fixed "
    "size of a panel differs between methods and is in the table."
}
TABLES = ("slopes", "measurements")

# What a measurement runs by name, without an import.
MODULES = ("workflow.studies.common._measure",)
AXES = {"samples": "samples per domain", "features": "features"}
COSTS = {"cpu_seconds": ("time", "Processor seconds"), "added_mb": ("memory", "Added memory, MiB")}
# One thread, whichever BLAS there is: read when it is loaded, so set before the process starts.
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
}


def run(
    domains: Mapping,
    methods: Mapping[str, Mapping],
    sizes: Mapping,
    repeats: int = 1,
    limit_seconds: float = 120.0,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Measure every method at every size.

    ``methods`` maps a name to its ``label``, ``estimator`` ("module:Class" with ``fit(Xs, ys)``),
    ``params``, ``claims`` (per axis the O() of ``time`` and ``memory`` as text) and, where they
    differ from the common ``sizes``, its own. ``sizes`` has the lists ``samples`` and ``features``
    to go through and the ``at_features`` and ``at_samples`` that stay meanwhile.
    """
    records = []
    for repeat in range(repeats):
        for name, entry in methods.items():
            grid = {**sizes, **entry.get("sizes", {})}
            for against in AXES:
                for size in grid[against]:
                    shape = {"samples": grid["at_samples"], "features": grid["at_features"]}
                    shape[against] = size
                    print(
                        f"repeat {repeat + 1} of {repeats}: {entry['label']}, {shape['samples']} "
                        f"samples of {shape['features']} features"
                    )
                    records.append(
                        {
                            "method": name,
                            "label": entry["label"],
                            "against": against,
                            **shape,
                            "repeat": repeat,
                            **_claims(entry, against),
                            **measured(entry, shape, seed + repeat, limit_seconds),
                        }
                    )
    return records, {}


def _claims(entry: Mapping, against: str) -> dict:
    claims = entry.get("claims", {}).get(against, {})
    return {f"claimed_{cost}": claims.get(cost, "") for cost in ("time", "memory")}


def measured(entry: Mapping, shape: Mapping, seed: int, limit_seconds: float) -> dict:
    """Seconds and memory of one fit in a separate process, or the reason of a failure."""
    spec = {"estimator": entry["estimator"], "params": dict(entry.get("params", {})), **shape}
    command = [
        sys.executable,
        "-m",
        *MODULES,
        json.dumps({**spec, "seed": seed}),
    ]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **_ONE_THREAD},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "error": f"exceeded the limit of {limit_seconds:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
        return {"status": "error" if done.returncode > 0 else "killed", "error": lines[-1]}
    return {"status": "ok", "error": None, **json.loads(done.stdout.splitlines()[-1])}


def curve(records: list[dict], method: str, against: str, cost: str):
    """Sizes in ascending order and the median cost at each, of the fits that succeeded."""
    values: dict[int, list[float]] = {}
    for record in records:
        if (record["method"], record["against"], record["status"]) == (method, against, "ok"):
            values.setdefault(record[against], []).append(record[cost])
    sizes = sorted(values)
    return np.array(sizes, float), np.array([np.median(values[size]) for size in sizes])


def slope(sizes: np.ndarray, costs: np.ndarray) -> tuple[float, float | None] | None:
    """Least-squares slope of log cost on log size and its standard error (None for two sizes)."""
    positive = costs > 0
    if np.count_nonzero(positive) < 2:
        return None
    x, y = np.log(sizes[positive]), np.log(costs[positive])
    x, y = x - x.mean(), y - y.mean()
    found = float(x @ y / (x @ x))
    if len(x) == 2:
        return found, None
    residual = y - found * x
    return found, float(np.sqrt(residual @ residual / (len(x) - 2) / (x @ x)))


def claimed_power(claim: str, against: str) -> int:
    """Highest power of the varied size in a claim: of ``"O(n p² + p³)"``, 3 against features."""
    size = {"samples": "n", "features": "p"}[against]
    # Without its words; "min" is one of them, as n p min(n, p) is at most n p².
    terms = re.split(r"[+;]", re.sub(r"[a-z]{3,}", "", claim))
    powers = {"": 1, "²": 2, "³": 3}
    return max(sum(powers[p] for p in re.findall(rf"{size}\)?([²³]?)", term)) for term in terms)


def _labels(records: list[dict]) -> dict[str, str]:
    return {record["method"]: record["label"] for record in records}


def finding(records: list[dict], arrays: Mapping) -> str:
    """Smallest and largest slopes, those that exceed their claims, and how many fits failed."""
    failed = sum(r["status"] != "ok" for r in records)
    failures = f" {failed} of {count(len(records), 'fit')} failed." if failed else ""
    told, steeper, n_claims = [], [], 0
    for (kind, axis), slopes in _slopes(records).items():
        ends = sorted(slopes, key=lambda s: s[1])[:: max(1, len(slopes) - 1)]
        span = " to ".join(f"{fixed(value, 2)} ({label})" for label, value, *_ in ends)
        told.append(f"{span} for {kind} against {axis}")
        claimed = [s for s in slopes if None not in s]
        n_claims += len(claimed)
        steeper += [
            f"{label}, {kind} against {axis} ({fixed(value, 2)}, claimed {power})"
            for label, value, error, power in claimed
            if round(value - 2 * error, 2) > power
        ]
    if not told:
        return f"Nothing can be said of the growth: no method has two sizes.{failures}"
    named = f": {'; '.join(steeper)}" if steeper else ""
    return (
        f"The slopes of log cost on log size are {listed(told)}. Of {count(n_claims, 'claim')} "
        f"that can be checked (on three sizes or more), the slope exceeds {len(steeper) or 'none'} "
        f"by more than two standard errors{named}.{failures}"
    )


def _slopes(records: list[dict]) -> dict[tuple[str, str], list[tuple]]:
    """Per cost and axis the label, slope, standard error and claimed power of every method."""
    found: dict[tuple[str, str], list[tuple]] = {}
    for cost, (kind, _) in COSTS.items():
        for against, axis in AXES.items():
            for method, label in _labels(records).items():
                known = slope(*curve(records, method, against, cost))
                if known is None:
                    continue
                fits = [r for r in records if (r["method"], r["against"]) == (method, against)]
                claim = fits[0][f"claimed_{kind}"]
                power = claimed_power(claim, against) if claim else None
                found.setdefault((kind, axis), []).append((label, *known, power))
    return found


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {"slopes": _slopes_table(records), "measurements": _measurements_table(records)}


def _slopes_table(records: list[dict]) -> Table:
    columns = (
        TableColumn("Method"),
        TableColumn("Against"),
        TableColumn("Sizes"),
        TableColumn("Slope of time", numeric=True, scores=True),
        TableColumn("largest two", numeric=True),
        TableColumn("Claimed time"),
        TableColumn("Slope of memory", numeric=True, scores=True),
        TableColumn("largest two, memory", numeric=True),
        TableColumn("Claimed memory"),
    )
    rows = []
    for method, label in _labels(records).items():
        for against, axis in AXES.items():
            fits = [r for r in records if (r["method"], r["against"]) == (method, against)]
            if not fits:
                continue
            cells = []
            for cost, (kind, _) in COSTS.items():
                sizes, costs = curve(records, method, against, cost)
                last = slope(sizes[-2:], costs[-2:])
                cells += [_slope_cell(slope(sizes, costs)), number_cell(last and last[0], 2)]
                cells.append(word(fits[0][f"claimed_{kind}"]))
            rows.append((word(label), word(axis), word(_sizes_text(fits, against)), *cells))
    return Table(
        "slopes",
        "Slope of log cost against log size ± its standard error, beside the order that the "
        "method's docstring claims (n samples per domain, p features).",
        columns,
        tuple(rows),
        notes=(
            "The spread is the standard error of the regression, not a standard deviation over "
            "trials. Beside it stands the slope between the two largest sizes, where lower terms "
            "count least. The claimed order is an upper bound for large sizes.",
        ),
    )


def _sizes_text(fits: list[dict], against: str) -> str:
    other = "features" if against == "samples" else "samples"
    asked = sorted({record[against] for record in fits})
    return f"{asked[0]}–{asked[-1]} at {fits[0][other]} {other}"


def _slope_cell(found: tuple[float, float | None] | None) -> TableCell:
    if found is None:
        return TableCell("too few sizes", kind="absent")
    value, error = found
    return TableCell(fixed(value, 2), value, "" if error is None else fixed(error, 2), error)


def _measurements_table(records: list[dict]) -> Table:
    columns = (
        TableColumn("Method"),
        TableColumn("Against"),
        TableColumn("Samples per domain", numeric=True),
        TableColumn("Features", numeric=True),
        TableColumn("Processor seconds", numeric=True),
        TableColumn("Seconds", numeric=True),
        TableColumn("Added memory, MiB", numeric=True),
        TableColumn("Peak memory, MiB", numeric=True),
        TableColumn("Status"),
    )
    rows = []
    for record in records:
        costs = [
            number_cell(record.get(key), digits)
            for key, digits in (("cpu_seconds", 3), ("seconds", 3), ("added_mb", 1), ("peak_mb", 1))
        ]
        sizes = [number_cell(record[axis], 0) for axis in AXES]
        status = record["status"] if record["error"] is None else record["error"]
        first = (word(record["label"]), word(AXES[record["against"]]))
        rows.append((*first, *sizes, *costs, word(status)))
    caption = "Every measurement, in the order of the runs."
    return Table("measurements", caption, columns, tuple(rows))


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"growth": lambda: _growth_figure(records)}


def _growth_figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import WIDTH, legend, statement

    labels = _labels(records)
    if not any(record["status"] == "ok" for record in records):
        return statement("No fit succeeded: there is nothing to draw.")
    figure = Figure(figsize=(WIDTH, 6.4), layout="constrained")
    panels = figure.subplots(len(COSTS), len(AXES), sharex="col", sharey="row")
    for row, (cost, (_, cost_label)) in enumerate(COSTS.items()):
        for column, (against, axis) in enumerate(AXES.items()):
            axes = panels[row, column]
            handles = [
                _curve_line(axes, position, *curve(records, method, against, cost))
                for position, method in enumerate(labels)
            ]
            axes.set(xscale="log", yscale="log")
            axes.grid(axis="both")
            axes.set_axisbelow(True)
            if row == len(COSTS) - 1:
                sizes = {record[against] for record in records if record["against"] == against}
                _name_ticks(axes.xaxis, _doublings(sorted(sizes)))
                axes.set_xlabel(axis.capitalize())
            if column == 0:
                axes.set_ylabel(cost_label)
    for axes in panels[:, 0]:  # at the end: each change of a shared scale resets it
        axes.yaxis.set_major_formatter("{x:g}")
    legend(figure, handles, list(labels.values()), columns=3)
    return figure


def _curve_line(axes, position: int, sizes: np.ndarray, costs: np.ndarray):
    from workflow.lib.report.figures.style import colour, marker, stroke

    style = {"color": colour(position), "marker": marker(position), "linestyle": stroke(position)}
    return axes.plot(sizes, costs, markersize=5, linewidth=1.2, **style)[0]


def _doublings(sizes: list[int]) -> list[int]:
    """Sizes far enough apart that their labels do not run into each other."""
    kept = sizes[:1]
    for size in sizes:
        if size >= 1.6 * kept[-1]:
            kept.append(size)
    return kept


def _name_ticks(axis, places: list[int]) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())
