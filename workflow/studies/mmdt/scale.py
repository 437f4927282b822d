r"""Time and memory of one transform as everything grows.

The transform from Gaussian hyperplanes and points with unit rows, D = D̃ features, m categories
with 50 points each, squared hinge, C = 1, towards zero, to a relative duality gap of 10⁻⁴; then one
problem with many target points. Memory is the peak of what is allocated by Python and NumPy while
solving, without the hyperplanes and the points themselves; for comparison W as a dense matrix,
which is never formed, and (m + ñ)(D + D̃) numbers, the order of memory to keep to. The solver takes
the Gram form, with K = X Xᵀ of ñ² numbers, where ñ is at most 1.5 D̃, and the primal form
elsewhere. A transform is also applied to 1000 points. Times are CPU times of one run on one thread.
"""

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count
from workflow.studies.common._cells import word
from workflow.studies.mmdt.table1 import generated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "scale": "CPU time and peak memory of one transform against the number of features, for "
    "different numbers of categories with 50 points each; dashed: the memory of a dense W. Memory "
    "jumps where the solver turns to the Gram form, which holds ñ² numbers. All axes logarithmic.",
}
TABLES = ("scale",)


def run(
    domains: Mapping,
    features: Sequence[int] = (512, 1024, 2048, 4096),
    categories: Sequence[int] = (10, 30, 100),
    per_category: int = 50,
    many: Mapping[str, int] | None = None,
    tol: float = 1e-4,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Solve every problem once, the small ones first."""
    solve_once({"D": 8, "D_target": 8, "n_target": 6, "m": 3}, tol, seed)  # compile
    records = []
    for m in categories:
        for D in features:
            print(f"{m} categories, {D} features")
            size = {"D": D, "D_target": D, "n_target": m * per_category, "m": m}
            records.append({"kind": "grid", **solve_once(size, tol, seed)})
    if many:
        records.append({"kind": "many", **solve_once(many, tol, seed)})
    return records, {}


def solve_once(size: Mapping[str, int], tol: float, seed: int) -> dict:
    """Seconds, memory and accuracy of one problem."""
    from domain_alignment.max_margin._mmdt import solve_transform

    V, X, y = generated(size, seed)
    tracemalloc.start()
    started = time.process_time()
    solution = solve_transform(V, X, y, 1.0, tol=tol, random_state=0)
    seconds = time.process_time() - started
    memory = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    started = time.process_time()
    solution.apply(X[:1000])
    return {
        **size,
        "seconds": seconds,
        "seconds_apply": time.process_time() - started,
        "memory": memory,
        "form": solution.form,
        "n_sweeps": solution.n_sweeps,
        "gap": solution.gap,
        "converged": solution.converged,
    }


def _megabytes(numbers: int) -> float:
    return 8 * numbers / 2**20


def finding(records: list[dict], arrays: Mapping) -> str:
    """Time and memory of the largest problem of the grid and of the one with many points."""

    def told(r: Mapping) -> str:
        return (
            f"{r['m']} categories, {r['n_target']:,} points and "
            f"{r['D']:,} × {r['D_target']:,} features: {r['seconds']:.2f} s of CPU time "
            f"and {r['memory']:,.1f} MiB (a dense W: "
            f"{_megabytes(r['D'] * r['D_target']):,.1f} MiB)"
        )

    grid = [r for r in records if r["kind"] == "grid"]
    shown = [max(grid, key=lambda r: (r["m"], r["D"]))] if grid else []
    shown += [r for r in records if r["kind"] == "many"]
    short = sum(not r["converged"] for r in records)
    ended = "All problems were solved to the tolerance"
    if short:
        ended = f"{short} of {count(len(records), 'problem')} stopped short of the tolerance"
    return f"One transform takes, with {'; with '.join(map(told, shown))}. {ended}."


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    labels = (
        "m",
        "ñ",
        "D = D̃",
        "Form",
        "Time (s)",
        "Sweeps",
        "Gap",
        "Applied to 1000 points (s)",
        "Memory (MiB)",
        "(m + ñ)(D + D̃) (MiB)",
        "Dense W (MiB)",
    )
    rows = []
    for r in records:
        factors = (r["m"] + r["n_target"]) * (r["D"] + r["D_target"])
        rows.append(
            (
                number_cell(r["m"], 0),
                number_cell(r["n_target"], 0),
                number_cell(r["D"], 0),
                word(r["form"]),
                number_cell(r["seconds"], 2),
                number_cell(r["n_sweeps"], 0),
                number_cell(r["gap"], 6),
                number_cell(r["seconds_apply"], 3),
                number_cell(r["memory"], 1),
                number_cell(_megabytes(factors), 1),
                number_cell(_megabytes(r["D"] * r["D_target"]), 1),
            )
        )
    caption = "One transform, to a relative duality gap of the stated tolerance."
    notes = (
        ()
        if all(r["converged"] for r in records)
        else ("Where the gap is larger than the tolerance, the largest number of sweeps was used.",)
    )
    columns = tuple(TableColumn(label, numeric=label != "Form") for label in labels)
    return {"scale": Table("scale", caption, columns, tuple(rows), notes=notes)}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"scale": lambda: _figure([r for r in records if r["kind"] == "grid"])}


def _figure(records: list[dict]) -> "Figure":
    from workflow.lib.report.figures import style

    figure, panels = style.small_multiples(2, columns=2, height=2.7)
    measures = {"seconds": "CPU time (s)", "memory": "Peak memory (MiB)"}
    features = sorted({r["D"] for r in records})
    handles = {}
    for axes, (measure, label) in zip(panels, measures.items(), strict=True):
        for position, m in enumerate(sorted({r["m"] for r in records})):
            values = [r[measure] for r in records if r["m"] == m]
            look = {"color": style.colour(position), "marker": style.marker(position)}
            handles[f"{m} categories"] = axes.plot(features, values, markersize=5, **look)[0]
        axes.set(xlabel="Features of each domain", ylabel=label)
        style.setting_axis(axes, features, "log", 3.2)
        style.logarithmic(axes, "y")
        style.ruled(axes, "y")
    dense = [_megabytes(D * D) for D in features]
    look = {"color": style.INK, "linestyle": "--", "linewidth": 1.2}
    handles["dense W"] = panels[1].plot(features, dense, **look)[0]
    style.legend(figure, list(handles.values()), list(handles), columns=4)
    return figure
