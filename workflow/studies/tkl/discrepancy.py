r"""Distance of the domains before and after TKL, and the report's bound on the Nyström error.

The report says that the learned kernel brings the domains together, since the Nyström error
embodies their maximum mean discrepancy (section 4.2), and bounds that error (section 7). Here are,
per task and kernel, the discrepancy of the domains under the plain kernel and under the learned one
at some damping factors; each is divided by the root mean square norm of the samples in its own
feature space, since the learned kernel has another scale. Beside them stand the transfer error of
the learned spectrum and the Nyström error of all eigenpairs, relative to the norm of the source's
kernel, and the bound on the latter. The bound is infinite where the target's kernel is singular, as
that of the cosine is with more samples than features. No label is used.
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
    "under the learned one by damping factor, relative to the samples' norm.",
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
    plain = {
        "zeta": None,
        # k(x, x) is 1 under both kernels.
        "discrepancy": maximum_mean_discrepancy(*Xs, kernel=kernel),
        "error": system.full_nystrom_error / norm,
        "bound": bound if np.isfinite(bound) else None,  # records hold no infinity
    }
    learned = []
    for zeta in zetas:
        spectrum = system.spectrum(zeta)
        found = discrepancy(*system.embeddings(spectrum))
        error = system.transfer_error(spectrum) / norm
        learned.append({"zeta": float(zeta), "discrepancy": found, "error": error})
    return [plain, *learned]


def discrepancy(source: np.ndarray, target: np.ndarray) -> float:
    """Distance of the means of two sets of embedded samples, relative to the samples' norm."""
    squares = np.concatenate([np.square(Z).sum(axis=1) for Z in (source, target)])
    distance = np.linalg.norm(source.mean(axis=0) - target.mean(axis=0))
    return float(distance / np.sqrt(squares.mean()))


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
        ours, own = (span(values, 3) for values in zip(*pairs, strict=True))
        return f"{closer} of {len(pairs)} with the {kernel} kernel ({ours}, plain {own})"

    finite = [r for r in plain.values() if r["bound"] is not None]
    worth = f"The bound on the relative Nyström error is finite in {len(finite)} of {len(plain)}"
    if finite:
        bounds, errors = ([r[key] for r in finite] for key in ("bound", "error"))
        worth += f": {span(bounds, 0)}, where the error is {span(errors, 3)}"
    return (
        "The learned kernel has a smaller discrepancy than the plain one in these cases (task and "
        f"ζ): {listed(map(told, KERNELS))}. {_errors_told(records, plain)}{worth}."
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
    labels = ("Discrepancy", "Error", "Bound on the error")
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
            number_cell(record["error"], 3),
            _bound_cell(record),
        )
        for record in records
    )
    caption = (
        "Maximum mean discrepancy relative to the samples' norm; error of the extrapolated kernel "
        "of the source relative to the norm of that kernel (of the target’s own spectrum with all "
        "eigenpairs), and the report's bound on it."
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
        axes.set(title=kernel, xlabel="Damping factor ζ", ylabel="Discrepancy")
        style.ruled(axes, "y")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=4)
    return figure
