r"""Learning time against the labelled target samples per category.

Data and settings are those of the figures of the accuracies: Office–Caltech10, amazon to caltech,
on 20 principal axes of both domains, and Office-31, amazon (800 features) to dslr (600 others). Per
number of labels each trial draws 20 samples per category in amazon and that number in the target.
Only learning is timed, on scaled and projected features. ARC-t, HFA and GFK, which the paper says
are slower, have the settings of their entries in config/methods.yaml (HFA with p = 1, a closed
form), but between different features, where there is no GFK, ARC-t is regularised towards zero, and
GFK has half as many components as there are axes. They are timed on the 20 axes too, where their
accuracies are of all features.

For comparison, the transform of MMDT by the updates of its authors' program: always the most
violated constraint, W explicit, until none is violated by more than 0.01, but compiled and with the
scores kept up to date; hyperplanes and number of alternations are MMDT's. The table counts runs
that reach the largest number of updates. The second table times the last transform alone, from the
hyperplanes of one SVM of both domains, at the demo's cost of 5·10⁻⁵ and at that of LS-MMDT's C++,
1: this project's solver to a relative duality gap of 10⁻⁶, and the same updates. Times are CPU
times on one thread.
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import SEARCH_MARK, count, listed
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._records import curve, values_of
from workflow.studies.common._words import span
from workflow.studies.mmdt._data import domain, only, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "time": "CPU time of learning against the labelled target samples per category, mean and "
    "standard deviation over the trials. Both axes logarithmic.",
}
TABLES = ("time", "transform")

DEMO_COST = 5e-5
COSTS = (DEMO_COST, 1.0)  # the demo's, and that of LS-MMDT's C++
METHODS = {
    "svm_source": "SVM (source)",
    "svm_target": "SVM (target)",
    "svm_joint": "SVM (W = I)",
    "mmdt": "MMDT",
    "ls_mmdt": f"LS-MMDT {SEARCH_MARK}",
    "arct": "ARC-t",
    "hfa": "HFA",
    "gfk": "GFK",
    "bregman": "MMDT, authors’ updates",
}
# Those than which the paper says that LS-MMDT learns faster.
RIVALS = ("mmdt", "bregman", "arct", "hfa", "gfk")
LABELS = {
    "homogeneous": "Office–Caltech10, A→C, 20 features",
    "heterogeneous": "Office-31, A→D, 800 and 600 features",
}


def run(
    domains: Mapping,
    pairs: Mapping[str, Mapping],
    C_transform: float,
    n_axes: int = 20,
    source_per_class: int = 20,
    n_trials: int = 3,
    most_updates: int = 20000,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Time every method on every draw."""
    from domain_alignment.max_margin._base import principal_axes

    _compile(C_transform)
    records = []
    for kind, pair in pairs.items():
        (Xs, ys), (Xt, yt) = (domain(domains, pair[role]) for role in ("source", "target"))
        if kind == "homogeneous":
            axes = principal_axes([Xs, Xt], n_axes)
            Xs, Xt = Xs @ axes, Xt @ axes
        classes = np.unique(ys)
        for n_labels in pair["labels"]:
            print(f"{kind}, {n_labels} labelled target samples per class, {n_trials} draws")
            for trial in range(n_trials):
                rng = np.random.default_rng([seed, trial])
                drawn = (
                    pick(y, classes, n, rng) for y, n in ((ys, source_per_class), (yt, n_labels))
                )
                shown = [only(y, rows) for y, rows in zip((ys, yt), drawn, strict=True)]
                data = [(X[y >= 0], y[y >= 0]) for X, y in zip((Xs, Xt), shown, strict=True)]
                place = {"kind": kind, "labels": n_labels, "trial": trial}
                found = timed(data, kind, C_transform, most_updates)
                found += timed_transforms(data, most_updates)
                records += [{**place, **record} for record in found]
    return records, {}


def _compile(C_transform: float) -> None:
    """Compile on tiny data, so that no measured time includes compilation."""
    rng = np.random.default_rng(0)
    data = [(rng.normal(size=(6, 4)), np.arange(6) % 3) for _ in range(2)]
    timed(data, "homogeneous", C_transform, 10)
    timed_transforms(data, 10)


def timed(data, kind: str, C_transform: float, most_updates: int) -> list[dict]:
    """Seconds of every method that the pair allows; the cost was found on equal features."""
    from domain_alignment.max_margin._arct import ARCt
    from domain_alignment.max_margin._hfa import HFA
    from domain_alignment.max_margin._mmdt import LSMMDT, MMDT, DomainSVM
    from domain_alignment.subspace._gfk import GFK

    Xs, ys = [X for X, _ in data], [y for _, y in data]
    equal = kind == "homogeneous"
    cost = {"C_transform": C_transform} if equal else {"regularize": "zero"}
    models = {
        "svm_target": DomainSVM("target", random_state=0),
        "mmdt": MMDT(random_state=0),
        "ls_mmdt": LSMMDT(**cost, random_state=0),
        "arct": ARCt(gamma=10.0, regularize="identity" if equal else "zero", random_state=0),
        "hfa": HFA(trace=100.0),
    }
    if equal:
        models["svm_source"] = DomainSVM("source", C=0.05, random_state=0)
        models["svm_joint"] = MMDT(n_iterations=0, random_state=0)
        # Fewer than the target's samples have, once centred.
        models["gfk"] = GFK(min(Xs[0].shape[1] // 2, len(Xs[1]) - 1))
    records = []
    for method, model in models.items():
        started = time.process_time()
        model.fit(Xs, ys)
        records.append({"method": method, "seconds": time.process_time() - started, "full": False})
    seconds, n_updates = authors_updates(data, most_updates)
    full = n_updates >= most_updates
    return [*records, {"method": "bregman", "seconds": seconds, "full": full}]


def _with_constants(data):
    """Features with a constant, classes as codes, and hyperplanes of an SVM of both domains."""
    (Xs, ys), (Xt, yt) = data
    source, target = (np.hstack([np.ones((len(X), 1)), X]) for X in (Xs, Xt))
    classes, codes = np.unique(np.concatenate([ys, yt]), return_inverse=True)

    def hyperplanes(W: np.ndarray) -> np.ndarray:
        from domain_alignment.max_margin._one_vs_all import one_vs_all

        X = np.concatenate([source, target @ W.T])
        weights = np.repeat([0.05, 1.0], [len(ys), len(yt)])
        return one_vs_all(X, codes, weights, len(classes), random_state=0)

    return np.eye(source.shape[1], target.shape[1]), target, codes[len(ys) :], hyperplanes


def authors_updates(data, most_updates: int) -> tuple[float, int]:
    """Seconds of MMDT's two alternations by the authors' updates, and the most in one of them."""
    started = time.process_time()
    identity, target, codes, hyperplanes = _with_constants(data)
    W, n_updates = identity, 0
    for _ in range(2):
        W, found = updated(hyperplanes(W), target, codes, DEMO_COST, identity, most_updates)
        n_updates = max(n_updates, found)
    return time.process_time() - started, n_updates


def updated(coef, target, codes, cost: float, identity, most_updates: int):
    """A transform by the authors' updates, and their number."""
    from workflow.studies.mmdt._solvers import Problem

    problem = Problem(coef, target, codes, cost)
    W, scores, dual = identity.copy(), coef @ identity @ target.T, np.zeros(problem.shape)
    return W, problem.bregman(W, scores, problem.gram(), dual, 0.01, most_updates)


def timed_transforms(data, most_updates: int) -> list[dict]:
    """Seconds of one transform at each cost, solved for and by the authors' updates."""
    from domain_alignment.max_margin._mmdt import solve_transform

    identity, target, codes, hyperplanes = _with_constants(data)
    coef, records = hyperplanes(identity), []
    for cost in COSTS:
        started = time.process_time()
        solve_transform(coef, target, codes, cost, regularize="identity", random_state=0)
        seconds = time.process_time() - started
        records.append({"method": f"solver {cost:g}", "seconds": seconds, "full": False})
        started = time.process_time()
        _, n_updates = updated(coef, target, codes, cost, identity, most_updates)
        seconds, full = time.process_time() - started, n_updates >= most_updates
        records.append({"method": f"updates {cost:g}", "seconds": seconds, "full": full})
    return records


def finding(records: list[dict], arrays: Mapping) -> str:
    """Learning times from the fewest to the most labels, and against the authors' updates."""

    def told(kind: str) -> str:
        counts = _counts(records, kind)
        ends = list(dict.fromkeys((counts[0], counts[-1])))
        times = listed(
            f"{METHODS[method]} "
            f"{' to '.join(f'{_mean(records, kind, method, n):.2g}' for n in ends)} s"
            for method in ("mmdt", "ls_mmdt", "bregman")
        )
        cut = sum(values_of(records, "full", kind=kind, method="bregman"))
        short = f" ({count(cut, 'run')} cut short)" if cut else ""
        known = {r["method"] for r in records if r["kind"] == kind}
        rivals = [f"{METHODS[m]} at {_ahead(records, kind, m)}" for m in RIVALS if m in known]
        return (
            f"{LABELS[kind]}, {' to '.join(map(str, ends))} labels per category: {times}{short} of "
            f"CPU time. The paper’s method, LS-MMDT, is faster than {listed(rivals)} of "
            f"{len(counts)} numbers of labels. Of the transform alone the authors’ updates take, "
            "in multiples of the time of this project’s solver, "
            f"{listed(_transform_told(records, kind, cost) for cost in COSTS)}."
        )

    return " ".join(map(told, dict.fromkeys(r["kind"] for r in records)))


def _transform_told(records: list[dict], kind: str, cost: float) -> str:
    """Seconds of the authors' updates in multiples of the solver's, over the numbers of labels."""
    ways = (f"updates {cost:g}", f"solver {cost:g}")
    ratios = []
    for n in _counts(records, kind):
        updates, solver = (_mean(records, kind, way, n) for way in ways)
        ratios.append(updates / solver if solver else np.inf)
    full = values_of(records, "full", kind=kind, method=ways[0])
    cut = f" ({sum(full)} of {len(full)} runs cut short, and so longer)" if any(full) else ""
    return f"{span(ratios, 1)} at cost {cost:g}{cut}"


def _mean(records: list[dict], kind: str, method: str, n_labels: int) -> float:
    return float(np.mean(values_of(records, "seconds", kind=kind, method=method, labels=n_labels)))


def _ahead(records: list[dict], kind: str, rival: str) -> int:
    """Numbers of labels with which LS-MMDT learns in less time on average than a rival."""
    return sum(
        _mean(records, kind, "ls_mmdt", n) < _mean(records, kind, rival, n)
        for n in _counts(records, kind)
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = (
        TableColumn("Data"),
        TableColumn("Labels per category", numeric=True),
        *(TableColumn(f"{label} (s)", numeric=True, scores=True) for label in METHODS.values()),
        TableColumn("Authors’ updates cut short", numeric=True),
    )
    rows = []
    for kind in dict.fromkeys(r["kind"] for r in records):
        for n_labels in _counts(records, kind):
            place = {"kind": kind, "labels": n_labels}
            cells = [
                spread_cell(values_of(records, "seconds", method=method, **place), 4)
                for method in METHODS
            ]
            cut = sum(values_of(records, "full", method="bregman", **place))
            rows.append((word(LABELS[kind]), number_cell(n_labels, 0), *cells, number_cell(cut, 0)))
    n_trials = len({r["trial"] for r in records})
    caption = f"CPU seconds of learning, mean and standard deviation over {n_trials} trials."
    table = Table("time", caption, columns, tuple(rows))
    return {"time": table, "transform": _transform_table(records)}


def _transform_table(records: list[dict]) -> Table:
    ways = {
        f"{way} {cost:g}": f"{label}, cost {cost:g} (s)"
        for cost in COSTS
        for way, label in (("solver", "Solver"), ("updates", "Authors’ updates"))
    }
    columns = (
        TableColumn("Data"),
        TableColumn("Labels per category", numeric=True),
        *(TableColumn(label, numeric=True, scores=True) for label in ways.values()),
        TableColumn("Authors’ updates cut short, cost 1", numeric=True),
    )
    rows = []
    for kind in dict.fromkeys(r["kind"] for r in records):
        for n_labels in _counts(records, kind):
            place = {"kind": kind, "labels": n_labels}
            found = [values_of(records, "seconds", method=way, **place) for way in ways]
            cut = sum(values_of(records, "full", method="updates 1", **place))
            cells = [spread_cell(seconds, 4) for seconds in found]
            rows.append((word(LABELS[kind]), number_cell(n_labels, 0), *cells, number_cell(cut, 0)))
    caption = "CPU seconds of one transform alone, mean and standard deviation over the trials."
    return Table("transform", caption, columns, tuple(rows))


def _counts(records: list[dict], kind: str) -> list[int]:
    return sorted({r["labels"] for r in records if r["kind"] == kind})


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"time": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    from workflow.lib.report.figures.style import WIDTH, legend, logarithmic, ruled, setting_axis

    kinds = list(dict.fromkeys(r["kind"] for r in records))
    figure = Figure(figsize=(WIDTH, 3.7), layout="constrained")
    handles = {}
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False).flat, kinds, strict=True):
        logarithmic(axes, "y")
        counts = _counts(records, kind)
        for position, (method, label) in enumerate(METHODS.items()):
            place = {"kind": kind, "method": method}
            values = [values_of(records, "seconds", labels=n, **place) for n in counts]
            if all(values):
                handles[label] = curve(axes, position, counts, values)
        axes.set(title=LABELS[kind], xlabel="Labelled target samples per category")
        setting_axis(axes, counts, "log", WIDTH / len(kinds) - 0.8)
        axes.yaxis.set_major_locator(LogLocator(subs=(1,)))
        ruled(axes, "y")
    figure.supylabel("CPU time (s)", fontsize=9)
    legend(figure, list(handles.values()), list(handles), columns=3)
    return figure
