r"""Time and objective of four solvers of TKL's quadratic programme, against its size.

The programme, min λᵀQλ − 2rᵀλ subject to λᵢ ≥ ζ λᵢ₊₁ and λᵣ ≥ 0, is that of one real task with the
cosine kernel. Smaller ones are its leading blocks, the programmes of fewer eigenvectors. Each
solver starts from (Q, r) and ends with a checked spectrum: the root of Q, the substitution λ = T v,
and the optimality conditions are part of its time. Clarabel (interior point), OSQP and SCS
(splitting) go through cvxpy at the tolerances of the library; NNLS is exact. A time is the least of
several runs (fewer where one run takes long) in CPU seconds on one BLAS thread; an untimed small
programme imports the packages first.

The gap is (objective − that of NNLS) / |that of NNLS|; negative where rounding lets a solver end
slightly below NNLS.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import count, listed
from workflow.studies.common._cells import word
from workflow.studies.common._domains import prepared_pair
from workflow.studies.common._words import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {"nnls": "NNLS", "clarabel": "Clarabel", "osqp": "OSQP", "scs": "SCS"}
FIGURES = {
    "time": "CPU time of one programme against its number of unknowns, by solver and damping "
    "factor ζ. A solver that does not end at an accepted spectrum has no point.",
    "gap": "Distance of the objective from that of NNLS, relative, by solver and damping factor. "
    "The dashed line is 1e-7; gaps below 1e-16 are drawn there.",
}
TABLES = ("solvers",)

_LEAST_GAP = 1e-16


def run(
    domains: Mapping,
    pair: Mapping,
    sizes: Sequence[int] = (50, 100, 200, 500, 1000),
    zetas: Sequence[float] = (1.1, 2.0),
    solvers: Sequence[str] = ("nnls", "clarabel", "osqp", "scs"),
    repeats: int = 5,
    seconds: float = 2.0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Solve every programme with every solver, up to `repeats` times or `seconds` each."""
    from domain_alignment.kernel_learning._tkl import TKL

    Xs, _ = prepared_pair(domains, pair)
    system = TKL(kernel="cosine", n_eigen=max(sizes), solver="nnls").fit(Xs).eigensystem_
    Q, r = system.quadratic, system.linear
    for solver in solvers:
        timed(Q[:20, :20], r[:20], 2.0, solver, 1, 0)
    records = []
    for size in sorted(sizes):
        if size > len(r):
            raise ValueError(f"sizes: {size}; the target's kernel has rank {len(r)}, ask for less")
        for zeta in zetas:
            block = Q[:size, :size], r[:size]
            found = {s: timed(*block, zeta, s, repeats, seconds) for s in solvers}
            exact = found["nnls"]["objective"]
            for solver, result in found.items():
                gap = None
                if result["objective"] is not None:
                    gap = (result["objective"] - exact) / abs(exact)
                place = {"size": size, "zeta": float(zeta), "solver": solver}
                records.append({**place, **result, "gap": gap})
    return records, {"eigenvalues": system.eigenvalues}


def timed(Q, r, zeta: float, solver: str, repeats: int, seconds: float) -> dict:
    """Least time, objective and KKT residual, or the reason of a failure."""
    from domain_alignment.exceptions import AlignmentError
    from domain_alignment.kernel_learning._spectrum_qp import (
        kkt_residual,
        solve_eigenspectrum,
        spectrum_objective,
    )

    times: list[float] = []
    while len(times) < max(repeats, 1) and (not times or sum(times) < seconds):
        started = time.process_time()
        try:
            spectrum = solve_eigenspectrum(Q, r, zeta, solver)
        except AlignmentError as error:
            return {"seconds": None, "objective": None, "kkt": None, "error": str(error)}
        times.append(time.process_time() - started)
    return {
        "seconds": min(times),
        "objective": spectrum_objective(spectrum, Q, r),
        "kkt": kkt_residual(spectrum, Q, r, zeta),
        "error": None,
    }


def finding(records: list[dict], arrays: Mapping) -> str:
    """Times at the largest programme, and how far the others end from NNLS."""
    size = max(record["size"] for record in records)

    def told(solver: str) -> str:
        largest = [r for r in records if (r["size"], r["solver"]) == (size, solver)]
        times = [1000 * r["seconds"] for r in largest if r["seconds"] is not None]
        return f"{LABELS[solver]} {f'{span(times, 1)} ms' if times else 'no spectrum'}"

    zetas = listed(f"{zeta:g}" for zeta in sorted({r["zeta"] for r in records}))
    cost = listed(told(solver) for solver in dict.fromkeys(r["solver"] for r in records))
    others = [r for r in records if r["solver"] != "nnls"]
    gaps = [abs(r["gap"]) for r in others if r["gap"] is not None]
    agree = "No other solver ended at a spectrum" if others else "No other solver was run"
    if gaps:
        agree = (
            f"The others end at a spectrum in {len(gaps)} of {count(len(others), 'programme')}, "
            f"with an objective within {_power(max(gaps)).text} of that of NNLS, relative"
        )
    return f"CPU time of a programme of {size:,} unknowns at ζ of {zetas}: {cost}. {agree}."


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = [TableColumn("r", numeric=True), TableColumn("ζ", numeric=True)]
    columns += [TableColumn("Solver"), TableColumn("CPU time [ms]", numeric=True)]
    columns += [TableColumn(text, numeric=True) for text in ("Times NNLS", "Gap", "KKT residual")]
    nnls = {(r["size"], r["zeta"]): r["seconds"] for r in records if r["solver"] == "nnls"}
    rows = []
    for record in records:
        place = number_cell(record["size"], 0), number_cell(record["zeta"], 1)
        ratio = None
        if record["seconds"] is not None:
            ratio = record["seconds"] / max(nnls[record["size"], record["zeta"]], 1e-9)
        rows.append(
            (
                *place,
                word(LABELS[record["solver"]]),
                _milliseconds(record),
                TableCell("" if ratio is None else f"{ratio:.3g}", ratio),
                _power(record["gap"]),
                _power(record["kkt"]),
            )
        )
    caption = (
        "Every programme and solver. The gap is the distance of the objective from that of NNLS, "
        "relative to it; the KKT residual proves an optimum at 0."
    )
    return {"solvers": Table("solvers", caption, tuple(columns), tuple(rows))}


def _milliseconds(record: Mapping) -> TableCell:
    if record["seconds"] is None:
        return TableCell("no spectrum", kind="failed", title=record["error"])
    return number_cell(1000 * record["seconds"], 1)


def _power(value: float | None) -> TableCell:
    """A gap, rounded to what is not below it."""
    if not value:
        return TableCell("" if value is None else "0", value)
    step = 10.0 ** math.floor(math.log10(abs(value)))
    above = math.ceil(value / step * (1 - 1e-12)) * step
    return TableCell(f"{above:.0e}".replace("-", "−"), value)


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "time": lambda: _by_size(records, "seconds", "CPU time (s)"),
        "gap": lambda: _by_size(records, "gap", "|Gap of the objective|"),
    }


def _by_size(records: list[dict], measure: str, label: str) -> "Figure":
    from workflow.lib.report.figures import style

    zetas = sorted({record["zeta"] for record in records})
    sizes = sorted({record["size"] for record in records})
    figure, panels = style.small_multiples(len(zetas), columns=2, height=2.7, sharey=True)
    for axes, zeta in zip(panels, zetas, strict=True):
        for position, solver in enumerate(LABELS):
            if measure == "gap" and solver == "nnls":
                continue
            points = [
                (record["size"], max(abs(record[measure]), _LEAST_GAP))
                for record in records
                if (record["zeta"], record["solver"]) == (zeta, solver)
                and record[measure] is not None
            ]
            if points:
                look = {"color": style.colour(position), "marker": style.marker(position)}
                axes.plot(*zip(*points, strict=True), label=LABELS[solver], markersize=4, **look)
        if measure == "gap":
            axes.axhline(1e-7, color=style.INK, linewidth=0.8, linestyle="--")
        style.setting_axis(axes, sizes, "log", 3.2)
        axes.set(title=f"ζ = {zeta:g}", xlabel="Unknowns r (log scale)", yscale="log")
        style.ruled(axes, "y")
    panels[0].set_ylabel(f"{label} (log scale)")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=4)
    return figure
