r"""CPU time of REKEMA against r and of rKEMA against m, compared with exact KEMA.

Toy experiment 1, made as in the authors' program, with n samples in both domains together and 20
labelled ones per class and domain; RBF kernels with 15 times the mean distance as their width. The
time is that of a whole fit: neighbour graphs, kernels, the eigenproblem and the coordinates. The
realisations differ in their data.

"KEMA as in Eq. 6" forms K (L + μ Ls) K and K Ld K and solves the dense eigenproblem of order n,
with 10⁻⁶ tr(K Ld K) / n added to the diagonal of the right-hand side, as the paper counts its cost.
KEMA (this project's) solves the same problem in the range of K Ld, of order l − 1 for l labelled
samples, and is exact as well.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.loaders.kema_toys import spirals
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._records import curve
from workflow.studies.kema._aligners import class_laplacians, fit, make_aligner, training_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "time": "CPU time of a fit against the number of landmarks (REKEMA, left) and of random "
    "features (rKEMA, right), mean and standard deviation over the realisations. Both axes "
    "logarithmic.",
}
TABLES = ("time",)

METHODS = {
    "dense": "KEMA as in Eq. 6, dense",
    "kema": "KEMA",
    "rekema": "REKEMA",
    "rkema": "rKEMA",
}


def run(
    domains: Mapping,
    n_samples: int = 1000,
    landmarks: Sequence[int] = (20, 50, 100, 200, 500),
    random_features: Sequence[int] = (20, 50, 100, 200, 500),
    n_realisations: int = 10,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    settings = [("kema", None, {}), ("dense", None, {})]
    settings += [("rekema", r, {"landmarks": r}) for r in landmarks]
    settings += [("rkema", m, {"random_features": m}) for m in random_features]
    data = [training_set(spirals(seed, 20, n_samples // 2 - 60)) for seed in range(n_realisations)]
    fit(make_aligner("rbf_15", 10), *data[0])  # the first call imports
    records = []
    for seed, (Xs, ys) in enumerate(data):
        print(f"realisation {seed + 1} of {n_realisations}")
        for method, size, params in settings:
            aligner = make_aligner("rbf_15", 10, random_state=seed, **params)
            solve = dense_solution if method == "dense" else fit
            started = time.process_time()
            solve(aligner, Xs, ys)
            seconds = time.process_time() - started
            place = {"method": method, "size": size, "realisation": seed}
            records.append({**place, "n_samples": sum(map(len, Xs)), "cpu_seconds": seconds})
    return records, {}


def dense_solution(aligner, Xs: list[np.ndarray], ys: list[np.ndarray]) -> np.ndarray:
    """The smallest eigenvalues of Eq. 6, formed and solved as it stands."""
    from scipy.linalg import eigh

    left, right = dense_problem(aligner, Xs, ys)
    n = len(right)
    right[np.diag_indices(n)] += 1e-6 * np.trace(right) / n
    return eigh((left + left.T) / 2, (right + right.T) / 2)[0][: aligner.n_components]


def dense_problem(
    aligner, Xs: list[np.ndarray], ys: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Both matrices of Eq. 6, of order n."""
    from domain_alignment.kernels._bandwidth import kernel_width
    from scipy.linalg import block_diag
    from scipy.spatial.distance import cdist

    laplacians, kernels = [], []
    for X, y in zip(Xs, ys, strict=True):
        laplacians.append(aligner.prepare(X).laplacian.toarray())
        width = kernel_width(aligner.sigma, X, np.flatnonzero(y >= 0), "rbf", "domain")
        kernels.append(np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2)))
    L, K, y = block_diag(*laplacians), block_diag(*kernels), np.concatenate(ys)
    Ls, Ld = class_laplacians(y, np.trace(L))
    return K @ (L + aligner.mu * Ls) @ K, K @ Ld @ K


def seconds_of(records: list[dict], method: str, size: int | None) -> list[float]:
    return [r["cpu_seconds"] for r in records if (r["method"], r["size"]) == (method, size)]


def _sizes(records: list[dict], method: str) -> list[int]:
    return sorted({r["size"] for r in records if r["method"] == method and r["size"] is not None})


def finding(records: list[dict], arrays: Mapping) -> str:
    """Times of the exact solutions, and the range of the approximations' beside them."""
    means = {
        (method, size): np.mean(seconds_of(records, method, size))
        for method in METHODS
        if any(record["method"] == method for record in records)
        for size in _sizes(records, method) or [None]
    }
    exact, dense = means["kema", None], means["dense", None]
    told = []
    for method, letter in (("rekema", "r"), ("rkema", "m")):
        sizes = _sizes(records, method)
        if not sizes:
            continue
        by_time = sorted(sizes, key=lambda size: means[method, size])
        ends = " to ".join(
            f"{means[method, size] / exact:.2f} ({letter} = {size})"
            for size in dict.fromkeys((by_time[0], by_time[-1]))
        )
        told.append(f"{METHODS[method]} takes {ends} times as long as KEMA")
    return (
        f"With {records[0]['n_samples']:,} samples, the dense eigenproblem takes {dense:.3f} s of "
        f"CPU time and KEMA, which is exact too, {exact:.3f} s ({exact / dense:.2f} times as "
        f"long). {'; '.join(told)}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = (
        TableColumn("Method"),
        TableColumn("r or m", numeric=True),
        TableColumn("CPU time (s)", numeric=True, scores=True),
        TableColumn("Times KEMA’s", numeric=True),
    )
    reference = np.mean(seconds_of(records, "kema", None))
    rows = []
    for method, label in METHODS.items():
        for size in _sizes(records, method) or [None]:
            seconds = seconds_of(records, method, size)
            ratio = number_cell(float(np.mean(seconds) / reference), 2)
            rows.append((word(label), number_cell(size, 0), spread_cell(seconds, 4), ratio))
    caption = (
        f"CPU time of a fit with {records[0]['n_samples']} samples, mean and standard deviation "
        "over the realisations."
    )
    return {"time": Table("time", caption, columns, tuple(rows))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"time": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import (
        WIDTH,
        colour,
        legend,
        logarithmic,
        ruled,
        setting_axis,
    )

    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    labels = {"rekema": "Landmarks r", "rkema": "Random features m"}
    handles = {}
    for axes, (method, label) in zip(panels, labels.items(), strict=True):
        logarithmic(axes, "y")
        sizes = _sizes(records, method)
        values = [seconds_of(records, method, size) for size in sizes]
        handles["the approximation"] = curve(axes, 0, sizes, values, markersize=6)
        for position, name in enumerate(("kema", "dense"), start=1):
            level = np.mean(seconds_of(records, name, None))
            look = {"color": colour(position), "linestyle": ("--", ":")[position - 1]}
            handles[METHODS[name]] = axes.axhline(level, **look)
        setting_axis(axes, sizes, "log", WIDTH / 2 - 0.8)
        axes.set(xlabel=label, title=METHODS[method])
        ruled(axes, "y")
    panels[0].set_ylabel("CPU time (s)")
    legend(figure, list(handles.values()), list(handles), columns=3)
    return figure
