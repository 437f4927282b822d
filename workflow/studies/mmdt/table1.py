"""Time of an update and of a sweep, by the state that a solver of the transform keeps.

An update treats one constraint, one pair of a hyperplane and a target point; a sweep treats all m ñ
of them. Five ways, all on the same dual problem (squared hinge, C = 1, towards zero):

Low rank, this project's: the classes as blocks, u = Σₖ Hᵢₖ βₖ once per block, then an inner
product with u and a change of u per constraint. Timed over a whole first sweep, in which every
constraint is visited, and divided by their number; in the primal form, and in the Gram form, which
reads K = X Xᵀ instead of X.

Explicit: W itself, read and changed at every constraint. Kernelised: the scores of all hyperplanes
and points, changed at every constraint. Bregman: W and the scores, and a search for the most
violated constraint each time.

Except for the low-rank solvers, a sweep takes too long at the larger sizes: its time is that of an
update times their number. Updates that leave their variable at zero are cheaper, so times are per
update that changed a variable (nearly all, in the first pass from zero). Data are Gaussian with
unit rows, equally many points per class; times are CPU times on one thread, the least of the
repeats, without what is computed once (H, K). The exponent is the slope of a straight line through
the logarithms over all sizes of an axis, the others at their middle value.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import listed
from workflow.studies.common._cells import word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "update": "CPU time of one update against each size, the others at their middle value. Both "
    "axes logarithmic.",
}
TABLES = ("update", "sweep")

AXES = {
    "D": "Features of the source D",
    "D_target": "Features of the target D̃",
    "n_target": "Target points ñ",
    "m": "Categories m",
}
SYMBOLS = {"D": "D", "D_target": "D̃", "n_target": "ñ", "m": "m"}
SOLVERS = {
    "primal": "Low rank, primal form",
    "gram": "Low rank, Gram form",
    "explicit": "Explicit W",
    "kernelised": "Kernelised",
    "bregman": "Bregman, most violated",
}
# Orders of Table 1 as exponents of (D, D̃, ñ, m); the paper's kernelised one has n source points
# where hyperplanes stand here. The Gram form is not in the paper: ours.
CLAIMED = {
    "primal": (0, 1, 0, 0),
    "gram": (0, 0, 1, 0),
    "explicit": (1, 1, 0, 0),
    "kernelised": (0, 0, 1, 1),
    "bregman": (1, 1, 0, 0),
}
# What a measure adds to the exponents of an update: a sweep is over m ñ constraints.
ADDED = {"update": (0, 0, 0, 0), "sweep": (0, 0, 1, 1)}
WORDS = {
    "primal": "O(D̃)",
    "gram": "O(ñ), not in the paper",
    "explicit": "O(D D̃)",
    "kernelised": "O(n ñ), with m hyperplanes for n points: O(m ñ)",
    "bregman": "O(D D̃)",
}


def run(
    domains: Mapping,
    middle: Mapping[str, int] | None = None,
    sizes: Mapping[str, Sequence[int]] | None = None,
    n_updates: int = 200,
    repeats: int = 3,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Time every solver at every size."""
    middle = middle or {"D": 512, "D_target": 512, "n_target": 400, "m": 20}
    sizes = sizes or {axis: (value // 2, value, 2 * value) for axis, value in middle.items()}
    time_solvers({"D": 8, "D_target": 8, "n_target": 6, "m": 3}, 4, 1, seed)  # compile
    records = []
    for axis, values in sizes.items():
        for value in values:
            found = time_solvers({**middle, axis: value}, n_updates, repeats, seed)
            records += [{"axis": axis, "size": value, **record} for record in found]
    return records, {}


def generated(size: Mapping[str, int], seed: int):
    """Hyperplanes, points and their classes, in unit rows."""
    rng = np.random.default_rng([seed, *size.values()])
    V = rng.normal(size=(size["m"], size["D"]))
    X = rng.normal(size=(size["n_target"], size["D_target"]))
    for rows in (V, X):
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return V, X, np.arange(size["n_target"]) % size["m"]


def time_solvers(size: Mapping[str, int], n_updates: int, repeats: int, seed: int) -> list[dict]:
    """Least seconds of an update and of a sweep of every solver."""
    from workflow.studies.mmdt._solvers import Problem

    problem = Problem(*generated(size, seed), C=1.0)
    K, n_constraints = problem.gram(), int(np.prod(problem.shape))
    shuffled = np.random.default_rng(seed).permutation(n_constraints)[:n_updates]
    records = []
    for solver in SOLVERS:
        seconds = [time_one(problem, K, solver, shuffled) for _ in range(repeats)]
        update = min(seconds)
        records.append({"solver": solver, "update": update, "sweep": update * n_constraints})
    return records


def time_one(problem, K: np.ndarray, solver: str, constraints: np.ndarray) -> float:
    """Seconds per changing update from zero."""
    m, n = problem.shape
    W = np.zeros((problem.V.shape[1], problem.X.shape[1]))
    scores, dual = np.zeros((m, n)), np.zeros((m, n))
    started = time.process_time()
    if solver in ("primal", "gram"):
        gram = solver == "gram"
        rows = K if gram else problem.X
        carried = np.zeros((m, rows.shape[1]))
        problem.low_rank_sweep(rows, gram, dual, carried, np.arange(m))
        return (time.process_time() - started) / (m * n)
    if solver == "explicit":
        changed = problem.explicit(W, dual, constraints)
    elif solver == "kernelised":
        changed = problem.kernelised(scores, K, dual, constraints)
    else:
        changed = problem.bregman(W, scores, K, dual, 0.0, len(constraints))
    return (time.process_time() - started) / max(changed, 1)


def slope(records: list[dict], axis: str, solver: str, measure: str) -> float | None:
    """Exponent of a size in the measured time."""
    timed = [r for r in records if (r["axis"], r["solver"]) == (axis, solver)]
    points = [(r["size"], r[measure]) for r in timed if r[measure] > 0]
    if len(points) < 2:
        return None
    x, t = np.log(np.array(points)).T
    return float(np.polyfit(x, t, 1)[0])


def finding(records: list[dict], arrays: Mapping) -> str:
    """Exponents of the low-rank solver beside the stated ones, and the furthest of all."""

    def compared(solver: str, measure: str) -> dict[str, tuple[float, int]]:
        found = {axis: slope(records, axis, solver, measure) for axis in AXES}
        stated = zip(AXES, CLAIMED[solver], ADDED[measure], strict=True)
        return {a: (found[a], one + more) for a, one, more in stated if found[a] is not None}

    def told(measure: str) -> str:
        exponents = compared("primal", measure)
        words = [f"{SYMBOLS[a]} {own:z.2f} ({stated})" for a, (own, stated) in exponents.items()]
        return listed(words).replace("-", "−") or "none could be measured"

    apart = [
        (abs(own - stated), f"{own:z.2f} against {stated} for {SYMBOLS[axis]} in “{label}”")
        for solver, label in SOLVERS.items()
        for axis, (own, stated) in compared(solver, "update").items()
    ]
    furthest = max(apart)[1].replace("-", "−") if apart else "none could be measured"
    return (
        f"Measured exponents (stated) in the time of “{SOLVERS['primal']}”: for an update, "
        f"{told('update')}; for a sweep, {told('sweep')}. Of all solvers, the exponent of an "
        f"update furthest from the stated one: {furthest}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {
        "update": _table(records, "update", "one update"),
        "sweep": _table(records, "sweep", "a sweep over all m ñ constraints"),
    }


def _table(records: list[dict], measure: str, what: str) -> Table:
    columns = [TableColumn("Solver"), TableColumn("Order stated for an update")]
    for symbol in SYMBOLS.values():
        columns += [
            TableColumn(f"{symbol}, stated", numeric=True),
            TableColumn(f"{symbol}, measured", numeric=True),
        ]
    unit, factor = ("µs", 1e6) if measure == "update" else ("ms", 1e3)
    columns.append(TableColumn(f"Time at the largest D̃ [{unit}]", numeric=True))
    largest = max(r["size"] for r in records if r["axis"] == "D_target")
    rows = []
    for solver, label in SOLVERS.items():
        cells = [word(label), word(WORDS[solver])]
        for axis, stated, added in zip(AXES, CLAIMED[solver], ADDED[measure], strict=True):
            cells.append(number_cell(stated + added, 0))
            cells.append(number_cell(slope(records, axis, solver, measure), 2))
        at = {"axis": "D_target", "size": largest, "solver": solver}
        (record,) = (r for r in records if all(r[k] == v for k, v in at.items()))
        cells.append(number_cell(factor * record[measure], 2))
        rows.append(tuple(cells))
    caption = f"Exponents of the sizes in the CPU time of {what}, stated and measured."
    return Table(measure, caption, tuple(columns), tuple(rows))


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"update": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import (
        WIDTH,
        colour,
        legend,
        logarithmic,
        marker,
        ruled,
        setting_axis,
    )

    figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True).flat
    for axes, (axis, label) in zip(panels, AXES.items(), strict=True):
        handles = []
        for position, solver in enumerate(SOLVERS):
            timed = [r for r in records if (r["axis"], r["solver"]) == (axis, solver)]
            points = [(r["size"], 1e6 * r["update"]) for r in timed]
            look = {"color": colour(position), "marker": marker(position), "markersize": 4.5}
            handles += axes.plot(*zip(*points, strict=True), **look)
        axes.set_xlabel(label)
        setting_axis(axes, sorted({size for size, _ in points}), "log", WIDTH / 2 - 0.8)
        logarithmic(axes, "y")
        axes.yaxis.set_major_locator(_decades())
        ruled(axes, "y")
    figure.supylabel("CPU time of an update [µs]", fontsize=9)
    legend(figure, handles, list(SOLVERS.values()), columns=3)
    return figure


def _decades():
    from matplotlib.ticker import LogLocator

    return LogLocator(subs=(1,))
