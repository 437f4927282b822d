r"""Distance of the domains before and after TKL, and the report's bound on the Nyström error.

The report says that the learned kernel brings the domains together, since the Nyström error
embodies their maximum mean discrepancy (section 4.2), and bounds that error (section 7). Here are,
per task and kernel, the discrepancy of the domains under the plain kernel and under the learned one
at some damping factors. Each is divided by the samples' spread, the root mean square distance from
the mean of their own domain: the learned kernel has another scale. A column divides by the samples'
norm instead, which falls also where a kernel moves all samples to one point, as that of a spectrum
with one large eigenvalue and a nearly constant eigenvector does. Beside them stand the transfer
error of the learned spectrum and the Nyström error of all eigenpairs, relative to the norm of the
source's kernel, and the bound on the latter. The bound is infinite where the target's kernel is
singular, as that of the cosine is with more samples than features. No label is used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import listed
from workflow.studies.common._cells import word
from workflow.studies.common._domains import prepared_pair
from workflow.studies.common._words import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "discrepancy": "Discrepancy of the domains under the plain kernel (left end of each line) and "
    "under the learned one by damping factor, relative to the samples' spread.",
}
TABLES = ("discrepancy",)

KERNELS = ("cosine", "rbf")


def run(
    domains: Mapping,
    pairs: Sequence[Mapping],
    zetas: Sequence[float] = (1.0, 1.1, 2.0, 4.0),
    n_eigen: int = 500,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Discrepancies and errors of every task, kernel and damping factor."""
    records = []
    for pair in pairs:
        Xs, _ = prepared_pair(domains, pair)
        for kernel in KERNELS:
            records += [
                {"task": pair["label"], "kernel": kernel, **record}
                for record in _one(Xs, kernel, zetas, n_eigen)
            ]
    return records, {}


def _one(Xs: Sequence, kernel: str, zetas: Sequence[float], n_eigen: int) -> list[dict]:
    """The plain kernel (no damping factor), then the learned ones."""
    from domain_alignment.distribution._discrepancy import (
        maximum_mean_discrepancy,
        nystrom_error_bound,
    )
    from domain_alignment.kernel_learning._tkl import TKL

    system = TKL(kernel=kernel, n_eigen=n_eigen, solver="nnls").fit(Xs).eigensystem_
    norm = system.source_kernel.norm()
    bound = nystrom_error_bound(*Xs, kernel=kernel) / norm
    distance = maximum_mean_discrepancy(*Xs, kernel=kernel)
    plain = {
        "zeta": None,
        "discrepancy": distance / plain_spread(Xs, kernel, system.target.gamma),
        "by_norm": distance,  # k(x, x) is 1 under both kernels
        "error": system.full_nystrom_error / norm,
        "bound": bound if np.isfinite(bound) else None,  # records hold no infinity
    }
    learned = []
    for zeta in zetas:
        spectrum = system.spectrum(zeta)
        found = discrepancies(*system.embeddings(spectrum))
        error = system.transfer_error(spectrum) / norm
        learned.append({"zeta": float(zeta), **found, "error": error})
    return [plain, *learned]


def discrepancies(source: np.ndarray, target: np.ndarray) -> dict[str, float]:
    """Distance of the means of two sets of embedded samples, by their spread and by their norm."""
    means = [Z.mean(axis=0) for Z in (source, target)]
    distance = np.linalg.norm(means[0] - means[1])
    spread = _root_mean_square([source - means[0], target - means[1]])
    norm = _root_mean_square([source, target])
    return {"discrepancy": float(distance / spread), "by_norm": float(distance / norm)}


def _root_mean_square(Zs: Sequence[np.ndarray]) -> float:
    squares = np.concatenate([np.square(Z).sum(axis=1) for Z in Zs])
    return np.sqrt(squares.mean())


def plain_spread(Xs: Sequence, kernel: str, gamma: float | None) -> float:
    """The samples' spread under a kernel with k(x, x) = 1, of which a mean embedding has the rest.

    That is 1 less the squared norm of the mean of each domain, the mean of its kernel matrix.
    """
    from domain_alignment.kernels._pairwise import kernel_matrix

    sizes = [X.shape[0] for X in Xs]
    squares = [1 - kernel_matrix(X, X, kernel, gamma).mean() for X in Xs]
    return float(np.sqrt(np.average(squares, weights=sizes)))


def finding(records: list[dict], arrays: Mapping) -> str:
    """Where a learned kernel brings the domains together, and the bound beside the error."""
    plain = {(r["task"], r["kernel"]): r for r in records if r["zeta"] is None}

    def told(kernel: str) -> str:
        learned = [r for r in records if r["kernel"] == kernel and r["zeta"] is not None]
        if not learned:
            return f"none was learned from the {kernel} kernel"
        # Equal as far as the table prints them is not closer.
        pairs = [
            [round(r["discrepancy"], 3) for r in (record, plain[record["task"], kernel])]
            for record in learned
        ]
        closer = sum(one < other for one, other in pairs)
        by_norm = sum(
            round(record["by_norm"], 3) < round(plain[record["task"], kernel]["by_norm"], 3)
            for record in learned
        )
        ours, own = (span(values, 3) for values in zip(*pairs, strict=True))
        return (
            f"{closer} of {len(pairs)} with the {kernel} kernel ({ours}, plain {own}; by the "
            f"norm {by_norm})"
        )

    finite = [r for r in plain.values() if r["bound"] is not None]
    worth = f"The bound on the relative Nyström error is finite in {len(finite)} of {len(plain)}"
    if finite:
        bounds, errors = ([r[key] for r in finite] for key in ("bound", "error"))
        worth += f": {span(bounds, 0)}, where the error is {span(errors, 3)}"
    return (
        "The learned kernel has a smaller discrepancy than the plain one, relative to the "
        f"samples’ spread, in these cases (task and ζ): {listed(map(told, KERNELS))}. "
        f"{_errors_told(records, plain)}{worth}."
    )


def _errors_told(records: list[dict], plain: Mapping) -> str:
    """Where the learned spectrum's error is at most that of the target's own, as claimed."""
    learned = [r for r in records if r["zeta"] is not None]
    if not learned:
        return ""
    met = sum(r["error"] <= plain[r["task"], r["kernel"]]["error"] for r in learned)
    return (
        "The error of the learned spectrum is at most that of the target’s own, which the report "
        f"calls obvious, in {met} of {len(learned)} cases. "
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    labels = ("Discrepancy", "By the norm", "Error", "Bound on the error")
    columns = (
        TableColumn("Task"),
        TableColumn("Kernel"),
        TableColumn("Spectrum"),
        *(TableColumn(label, numeric=True) for label in labels),
    )
    rows = tuple(
        (
            word(record["task"]),
            word(record["kernel"]),
            word("target’s own" if record["zeta"] is None else f"ζ = {record['zeta']:g}"),
            number_cell(record["discrepancy"], 3),
            number_cell(record["by_norm"], 3),
            number_cell(record["error"], 3),
            _bound_cell(record),
        )
        for record in records
    )
    caption = (
        "Maximum mean discrepancy relative to the samples' spread about the means of their "
        "domains, and to their norm, by which it falls also where a kernel moves all samples to "
        "one point; error of the extrapolated kernel of the source relative to the norm of that "
        "kernel (of the target’s own spectrum with all eigenpairs), and the report's bound on it."
    )
    return {"discrepancy": Table("discrepancy", caption, columns, rows)}


def _bound_cell(record: Mapping) -> TableCell:
    """Of the plain kernel alone: the learned spectra have no bound."""
    if record["zeta"] is None and record["bound"] is None:
        return TableCell("infinite", kind="absent")
    return number_cell(record.get("bound"), 0)


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"discrepancy": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from workflow.lib.report.figures import style

    figure, panels = style.small_multiples(len(KERNELS), columns=2, height=2.6, sharey=True)
    for axes, kernel in zip(panels, KERNELS, strict=True):
        own = [record for record in records if record["kernel"] == kernel]
        for position, task in enumerate(dict.fromkeys(record["task"] for record in own)):
            line = [record for record in own if record["task"] == task]
            names = ["plain" if r["zeta"] is None else f"{r['zeta']:g}" for r in line]
            look = {"color": style.colour(position), "marker": style.marker(position)}
            axes.plot(names, [record["discrepancy"] for record in line], label=task, **look)
        axes.set(title=kernel, xlabel="Damping factor ζ", ylabel="Discrepancy / spread")
        style.ruled(axes, "y")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=4)
    return figure
