r"""Memory and time of the primal and the dual problem for images with many pixels.

Stand-in, upsampled. CMU faces of three subjects (24 images each), every pixel repeated in blocks to
reach the sizes of the paper's photographs (66,836 pixels); upsampling adds dimensions but no
information, so only cost is measured. All images of a subject are used, 3 per expression labelled.

Three ways to the same alignment: the dense primal of Eq. 1 as it stands, with matrices of order p,
the number of features of all domains together; this project's SSMA, which is the primal in the span
of the labelled samples; and KEMA with a linear kernel, the dual. Memory is the peak of what NumPy
allocates during a fit, beyond the images. The dense primal runs up to a stated order; above it only
the computed memory of its two matrices is given.
"""

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.studies.kema._aligners import class_laplacians, fit, make_aligner

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "cost": "CPU time (left) and peak memory (right) of a fit against the number of features of "
    "the three domains together; CMU faces (stand-in), reduced and upsampled. Both axes "
    "logarithmic. The dotted line is the memory of the two matrices of the dense primal.",
}
TABLES = ("cost",)

METHODS = {"dense": "Primal, dense (Eq. 1)", "ssma": "SSMA", "linear": "KEMA, linear"}
LIMIT = 3000  # order of the largest dense eigenproblem that is solved


def run(
    domains: Mapping[str, tuple],
    factors: Sequence[float] = (0.25, 0.5, 1, 2, 4),
    shape: Sequence[int] = (60, 64),
    n_labelled: int = 3,
    limit: int = LIMIT,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Costs of each method at each resolution, a factor on both sides of the images."""
    ys = [visible(y, n_labelled) for _, y in domains.values()]
    records = []
    for factor in factors:
        Xs = [resized(X, shape, factor) for X, _ in domains.values()]
        order = sum(X.shape[1] for X in Xs)
        for method in METHODS:
            cost = {"cpu_seconds": None, "peak_mb": None}
            if method != "dense" or order <= limit:
                cost = measure(method, Xs, ys)
            place = {"method": method, "factor": factor, "features": order}
            records.append({**place, "dense_mb": 2 * 8 * order**2 / 2**20, **cost})
    return records, {}


def visible(y: np.ndarray, n_labelled: int) -> np.ndarray:
    """The first labels of each class, the others hidden."""
    place = np.array([np.sum(y[:i] == label) for i, label in enumerate(y)])
    return np.where(place < n_labelled, y, -1)


def resized(X: np.ndarray, shape: Sequence[int], factor: float) -> np.ndarray:
    """Images with each pixel repeated, or blocks of pixels averaged."""
    images = X.reshape(len(X), *shape)
    if factor >= 1:
        images = images.repeat(int(factor), axis=1).repeat(int(factor), axis=2)
    else:
        size = round(1 / factor)
        blocks = images.reshape(len(X), shape[0] // size, size, shape[1] // size, size)
        images = blocks.mean(axis=(2, 4))
    return images.reshape(len(X), -1)


def measure(method: str, Xs: list[np.ndarray], ys: list[np.ndarray]) -> dict[str, float]:
    """CPU seconds of one fit and peak allocations of a second one, as tracing costs time."""
    solve = dense_primal if method == "dense" else fit
    aligner = make_aligner("ssma" if method == "dense" else method, 2).set_params(n_neighbors=5)
    started = time.process_time()
    solve(aligner, Xs, ys)
    seconds = time.process_time() - started
    tracemalloc.start()
    try:
        solve(aligner, Xs, ys)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    return {"cpu_seconds": seconds, "peak_mb": peak}


def dense_primal(aligner, Xs: list[np.ndarray], ys: list[np.ndarray]) -> np.ndarray:
    """Eq. 1 with its matrices formed, the right-hand side with 1e-6 of its mean added."""
    from scipy.linalg import block_diag, eigh

    Z, y = block_diag(*(X.T for X in Xs)), np.concatenate(ys)
    L = block_diag(*(aligner.prepare(X).laplacian.toarray() for X in Xs))
    Ls, Ld = class_laplacians(y, np.trace(L))
    left, right = Z @ (L + aligner.mu * Ls) @ Z.T, Z @ Ld @ Z.T
    right[np.diag_indices(len(Z))] += 1e-6 * np.trace(right) / len(Z)
    return eigh(left, right, subset_by_index=[0, aligner.n_components - 1])[0]


def finding(records: list[dict], arrays: Mapping) -> str:
    """Costs at the largest size, and how far the dense primal came."""
    largest = max(r["features"] for r in records)
    told = {}
    for method, label in METHODS.items():
        cost = _record(records, method, largest)
        if cost["cpu_seconds"] is not None:
            told[method] = f"{label} {cost['cpu_seconds']:.3f} s and {cost['peak_mb']:,.1f} MiB"
    sentence = f"With {largest:,} features, a fit takes: {'; '.join(told.values())}."
    if "dense" in told:
        return sentence
    solved = [r for r in records if r["method"] == "dense" and r["cpu_seconds"] is not None]
    upto = "at no size"
    if solved:
        last = max(solved, key=lambda r: r["features"])
        upto = f"up to {last['features']:,} features ({last['cpu_seconds']:.3f} s)"
    needed = _record(records, "dense", largest)["dense_mb"]
    return (
        f"{sentence} The dense primal was solved {upto}; with {largest:,} its matrices alone would "
        f"take {needed:,.0f} MiB."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = [TableColumn("Features", numeric=True)]
    for label in METHODS.values():
        columns += [
            TableColumn(f"{label} (s)", numeric=True),
            TableColumn(f"{label} (MiB)", numeric=True),
        ]
    rows = []
    for order in sorted({r["features"] for r in records}):
        cells = [number_cell(order, 0)]
        for method in METHODS:
            cells += _cost_cells(_record(records, method, order))
        rows.append(tuple(cells))
    caption = (
        "CMU faces, a stand-in, reduced and upsampled: CPU time of a fit with 72 samples in three "
        "domains, and peak memory."
    )
    return {"cost": Table("cost", caption, tuple(columns), tuple(rows))}


def _record(records: list[dict], method: str, order: int) -> dict:
    return next(r for r in records if (r["method"], r["features"]) == (method, order))


def _cost_cells(record: dict) -> list[TableCell]:
    if record["cpu_seconds"] is None:
        needed = TableCell(f"at least {record['dense_mb']:.0f}", value=record["dense_mb"])
        return [TableCell("not run", kind="absent"), needed]
    return [number_cell(record["cpu_seconds"], 3), number_cell(record["peak_mb"], 1)]


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"cost": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import (
        INK,
        WIDTH,
        colour,
        legend,
        marker,
        ruled,
        setting_axis,
    )

    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels = figure.subplots(1, 2)
    orders = sorted({r["features"] for r in records})
    labels = {"cpu_seconds": "CPU time (s)", "peak_mb": "Peak memory (MiB)"}
    for axes, (measured, label) in zip(panels, labels.items(), strict=True):
        for position, (method, name) in enumerate(METHODS.items()):
            run = [r for r in records if r["method"] == method and r[measured] is not None]
            values = [(r["features"], r[measured]) for r in run]
            look = {"color": colour(position), "marker": marker(position), "label": name}
            axes.plot(*np.array(values).reshape(-1, 2).T, **look)
        setting_axis(axes, orders, "log", WIDTH / 2 - 0.8)
        axes.set(yscale="log", xlabel="Features of all domains", ylabel=label)
        ruled(axes, "y")
    needed = [_record(records, "dense", order)["dense_mb"] for order in orders]
    panels[1].plot(orders, needed, color=INK, linestyle=":", linewidth=0.9)
    legend(figure, *panels[0].get_legend_handles_labels(), columns=3)
    return figure
