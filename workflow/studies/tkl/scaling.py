r"""Time and memory of exact TKL and of TKL with landmarks, against the number of samples.

Both domains contribute n documents each, sampled once and nested: larger sizes contain smaller
ones. Exact TKL is timed by the stages of the report's table of costs: (1) the three kernels, (2)
the eigenpairs of the target's kernel, (3) the extrapolation to the source, (4) Q, r and the
spectrum. The rate is the exponent between the two largest sizes, comparable with the stated one for
fixed d and r; the report's rates assume an iterative eigensolver, ours computes all eigenpairs.

TKL with landmarks is fitted as a whole. Memory is the peak of what Python and NumPy allocate while
fitting, without the features. The resident memory of the whole process, features and libraries
included, is the most until the end of a fit: of a later one it may be that of an earlier one. Times
are wall-clock, one run each, on one BLAS thread.
"""

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.execution.memory import peak_mib
from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import listed
from workflow.studies.common._cells import word
from workflow.studies.common._domains import prepared_pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "scaling": "Time and peak memory of one fit against the number of samples of each domain: "
    "exact, and with landmarks in both domains.",
}
TABLES = ("scaling", "stages")

STAGES = {
    "kernels": ("Kernels of source, target and both", "O(d (m + n)²)", 2),
    "eigenpairs": ("Eigenpairs of the target's kernel", "O(r n²)", 2),
    "extrapolation": ("Extrapolation to the source", "O(r m n)", 2),
    "programme": ("Quadratic programme, with Q and r", "O(r n² + r³)", 2),
}


def run(
    domains: Mapping,
    pair: Mapping,
    sizes: Sequence[int] = (250, 500, 1000, 2000, 3900),
    exact_up_to: int = 2000,
    landmarks: Sequence[int] = (500,),
    n_eigen: int = 500,
    zeta: float = 2.0,
    seed: int = 0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Fit every size, landmarks first, because resident memory of the process only grows."""
    Xs, _ = prepared_pair(domains, pair)
    fewest = min(X.shape[0] for X in Xs)
    if max(sizes) > fewest:
        raise ValueError(f"sizes: {max(sizes)}; the smaller domain has {fewest} samples")
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(X.shape[0]) for X in Xs]
    parts = {n: [X[np.sort(o[:n])] for X, o in zip(Xs, orders, strict=True)] for n in sorted(sizes)}
    settings = {"kernel": "cosine", "n_eigen": n_eigen, "zeta": zeta, "solver": "nnls"}
    fit_once([X[:50] for X in parts[min(sizes)]], settings)
    records = []
    for n, part in parts.items():
        for number in landmarks:
            if number < n:
                print(f"{n} samples, {number} landmarks")
                chosen = {**settings, "landmarks": number, "random_state": seed}
                records.append({"n": n, "landmarks": number, **fit_once(part, chosen)})
    for n, part in parts.items():
        if n <= exact_up_to:
            print(f"{n} samples, exact")
            whole = fit_once(part, settings)
            stages = stage_seconds(part, n_eigen, zeta)
            records.append({"n": n, "landmarks": None, **whole, **stages})
    return records, {"sizes": np.array(sorted(sizes))}


def fit_once(Xs: list, settings: Mapping) -> dict:
    """Seconds and peak memory of one fit, in MiB."""
    from domain_alignment.kernel_learning._tkl import TKL

    tracemalloc.start()
    started = time.perf_counter()
    TKL(**settings).fit(Xs)
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return {"seconds": seconds, "memory": peak, "resident": peak_mib()}


def stage_seconds(Xs: list, n_eigen: int, zeta: float) -> dict:
    """Seconds of each stage of the report's table, exact version."""
    from domain_alignment.kernel_learning._spectrum_qp import solve_eigenspectrum
    from domain_alignment.kernels._pairwise import kernel_matrix
    from domain_alignment.utils.eigen import symmetric_eigenpairs

    source, target = Xs
    marks = [time.perf_counter()]
    source_kernel, target_kernel, across = (
        kernel_matrix(A, B, "cosine") for A, B in ((source, source), (target, target), Xs)
    )
    marks.append(time.perf_counter())
    values, vectors = symmetric_eigenpairs(target_kernel)
    marks.append(time.perf_counter())
    largest = np.argsort(values)[::-1][:n_eigen]
    largest = largest[values[largest] > 1e-10 * values[largest[0]]]
    extrapolated = across @ (vectors[:, largest] / values[largest])
    marks.append(time.perf_counter())
    Q = np.square(extrapolated.T @ extrapolated)
    r = np.einsum("ij,ij->j", extrapolated, source_kernel @ extrapolated)
    solve_eigenspectrum(Q, r, zeta, "nnls")
    marks.append(time.perf_counter())
    return dict(zip(STAGES, map(float, np.diff(marks)), strict=True))


def finding(records: list[dict], arrays: Mapping) -> str:
    """Cost and rate of the exact version at its largest size, and of landmarks there."""
    exact = _exact(records)
    n = max(r["n"] for r in exact or records)
    fits = [*exact[-1:], *(r for r in records if r["n"] == n and r["landmarks"])]
    told = listed(
        f"{'with ' if r['landmarks'] else ''}{_version(r)} "
        f"{r['seconds']:.2f} s ({r['memory']:,.0f} MiB)"
        for r in fits
    )
    growth = rate(exact, [record["seconds"] for record in exact])
    more = "" if exact else " No exact fit was made."
    if growth is not None:
        more = f" The exact time grows as n to the {growth:.1f} between its two largest sizes."
    if exact and len(fits) == 1:
        more += " No fit with landmarks has this size."
    return f"Time and memory of a fit on {n:,} samples of each domain: {told}.{more}"


def _exact(records: list[dict]) -> list[dict]:
    return sorted((r for r in records if not r["landmarks"]), key=lambda r: r["n"])


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {"scaling": _scaling_table(records), "stages": _stages_table(records)}


def _version(record: Mapping) -> str:
    return f"{record['landmarks']} landmarks" if record["landmarks"] else "exact"


def _scaling_table(records: list[dict]) -> Table:
    labels = ("n", "Time (s)", "Memory of the fit (MiB)", "Resident, process so far (MiB)")
    columns = (TableColumn("Version"), *(TableColumn(label, numeric=True) for label in labels))
    rows = [
        (
            word(_version(record)),
            number_cell(record["n"], 0),
            number_cell(record["seconds"], 2),
            number_cell(record["memory"], 0),
            number_cell(record["resident"], 0),
        )
        for record in records
    ]
    caption = "One fit on n samples of each domain, in the order in which they ran."
    return Table("scaling", caption, columns, tuple(rows))


def _stages_table(records: list[dict]) -> Table:
    exact = _exact(records)
    columns = (
        TableColumn("Stage"),
        TableColumn("Report, section 6"),
        *(TableColumn(f"n = {record['n']} (s)", numeric=True) for record in exact),
        TableColumn("Rate in n, stated", numeric=True),
        TableColumn("Rate in n, measured", numeric=True),
    )
    rows = []
    for stage, (label, cost, stated) in STAGES.items():
        times = [record[stage] for record in exact]
        rows.append(
            (
                word(label),
                word(cost),
                *(number_cell(seconds, 2) for seconds in times),
                number_cell(stated, 0),
                number_cell(rate(exact, times), 1),
            )
        )
    caption = (
        "Stages of exact TKL with m = n samples, with the costs that the report states; the rate "
        "is the exponent of n for fixed d and r."
    )
    return Table("stages", caption, columns, tuple(rows))


def rate(records: list[dict], times: Sequence[float]) -> float | None:
    """Exponent between the two largest sizes."""
    if len(records) < 2:
        return None
    growth = np.log(times[-1] / times[-2]) / np.log(records[-1]["n"] / records[-2]["n"])
    return float(growth)


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"scaling": lambda: _scaling_figure(records)}


def _scaling_figure(records: list[dict]) -> "Figure":
    from workflow.lib.report.figures import style

    figure, panels = style.small_multiples(2, columns=2, height=2.7)
    measures = {"seconds": "Time of a fit (s)", "memory": "Peak memory of a fit (MiB)"}
    sizes = sorted({record["n"] for record in records})
    versions = sorted({r["landmarks"] for r in records}, key=lambda number: number or 0)
    for axes, (measure, label) in zip(panels, measures.items(), strict=True):
        for position, number in enumerate(versions):
            fits = [r for r in records if r["landmarks"] == number]
            look = {"color": style.colour(position), "marker": style.marker(position)}
            points = [(record["n"], record[measure]) for record in fits]
            axes.plot(*zip(*points, strict=True), label=_version(fits[0]), markersize=4, **look)
        axes.set(xlabel="Samples of each domain (log scale)", ylabel=f"{label} (log scale)")
        style.setting_axis(axes, sizes, "log", 3.2)
        style.logarithmic(axes, "y")
        style.ruled(axes, "y")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=3)
    return figure
