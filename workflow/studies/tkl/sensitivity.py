r"""TKL against its damping factor ζ and its number of eigenvectors r, and the spectra it learns.

The eigensystem of each task is computed once, with the cosine kernel; every pair of ζ and r is then
one quadratic programme (its leading block for a smaller r), solved exactly. A linear support vector
machine of one fixed C is trained on all source samples in the feature map and scored on the entire
target. Labels of the target are used for scores only; no parameter is selected by them. The scale
of the learned kernel falls as ζ grows, so a fixed C regularises more.

Numbers learned are the constraints that are slack: λᵢ > ζ λᵢ₊₁, and λᵣ > 0. The rest of the
spectrum follows from them; where there is one, λᵢ = λ₁ ζ^(1−i) exactly. Its effective number of
eigenvectors is (Σ λᵢ)² / Σ λᵢ².
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import listed, number_text
from workflow.studies.common._cells import word
from workflow.studies.common._domains import prepared_pair
from workflow.studies.common._words import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "zeta": "Accuracy on the entire target against the damping factor, with all r eigenvectors. "
    "Dashed: the SVM with the same kernel and C, without TKL.",
    "n_eigen": "Accuracy on the entire target against the number of eigenvectors, for some damping "
    "factors. Dashed: the SVM without TKL.",
    "spectrum": "The learned spectrum relative to its first entry, for some damping factors, and "
    "the target's own eigenvalues. A straight line is a geometric spectrum, of which one number is "
    "learned. Cut at 1e-6.",
}
TABLES = ("spectra", "n_eigen")

_SLACK = 1e-9
_UNDERFLOW = 1e-290


def run(
    domains: Mapping,
    pairs: Sequence[Mapping],
    zetas: Sequence[float] = (1.0, 1.01, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0),
    n_eigen: Sequence[int] = (5, 10, 20, 50, 100, 200, 500),
    shown: Sequence[float] = (1.0, 1.1, 1.5, 2.0, 4.0),
    C: float = 10.0,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Spectra and accuracies of all zetas at the largest r, and of the shown ones at every r."""
    from domain_alignment.kernel_learning._tkl import TKL

    records, arrays = [], {}
    for pair in pairs:
        Xs, ys = prepared_pair(domains, pair)
        system = TKL(kernel="cosine", n_eigen=max(n_eigen), solver="nnls").fit(Xs).eigensystem_
        plain = {"task": pair["label"], "zeta": None, "n_eigen": None}
        records.append({**plain, "accuracy": _accuracy(_unit_rows(Xs), ys, C)})
        arrays[f"{pair['label']}/target"] = system.eigenvalues
        sizes = {min(size, system.n_eigen) for size in n_eigen}
        for zeta in sorted({*zetas, *shown}):
            for size in sorted(sizes if zeta in shown else {max(sizes)}):
                spectrum = system.spectrum(zeta, size)
                place = {"task": pair["label"], "zeta": float(zeta), "n_eigen": size}
                score = _accuracy(system.embeddings(spectrum), ys, C)
                records.append({**place, "accuracy": score, **described(system, spectrum, zeta)})
            if zeta in shown:
                arrays[f"{pair['label']}/{zeta:g}"] = spectrum
    return records, arrays


def described(system, spectrum: np.ndarray, zeta: float) -> dict:
    """Shape of the spectrum, and errors relative to the norm of the source's kernel."""
    norm = system.source_kernel.norm()
    return {
        "n_learned": numbers_learned(spectrum, zeta),
        "effective": float(spectrum.sum() ** 2 / np.square(spectrum).sum()),
        "transfer_error": system.transfer_error(spectrum) / norm,
        "nystrom_error": system.nystrom_error(len(spectrum)) / norm,
    }


def numbers_learned(spectrum: np.ndarray, zeta: float) -> int:
    """Number of slack constraints; entries that underflow follow from the last that does not."""
    kept = spectrum[spectrum > _UNDERFLOW * spectrum[0]]
    slack = kept[:-1] - zeta * kept[1:]
    return int(np.count_nonzero(slack > _SLACK * kept[:-1])) + 1


def _unit_rows(Xs: list) -> list:
    from sklearn.preprocessing import normalize

    return [normalize(X) for X in Xs]


def _accuracy(embeddings: list, ys: list, C: float) -> float:
    from sklearn.metrics.pairwise import linear_kernel
    from sklearn.svm import SVC

    source, target = embeddings
    machine = SVC(C=C, kernel="precomputed")
    machine.fit(linear_kernel(source, source, dense_output=True), ys[0])
    return float(machine.score(linear_kernel(target, source, dense_output=True), ys[1]))


def finding(records: list[dict], arrays: Mapping) -> str:
    """Gains over the SVM along ζ, changes along r, and how many numbers are learned."""
    gains, changes = [], []
    for task in _tasks(records):
        plain, scored = _plain(records, task), _largest(records, task)
        found = {r["zeta"]: 100 * (r["accuracy"] - plain) for r in scored}
        best = number_text(max(found, key=found.get))
        gains.append(f"{span(found.values(), 1)} on {task} (highest at ζ = {best})")
        for zeta in _shown(records):
            along = [r["accuracy"] for r in records if (r["task"], r["zeta"]) == (task, zeta)]
            changes.append(100 * (max(along) - min(along)))
    every = [r for task in _tasks(records) for r in _largest(records, task)]
    ends = [pick(r["zeta"] for r in every) for pick in (min, max)]
    between = " to ".join(map(number_text, dict.fromkeys(ends)))
    learned = [
        f"{span([r['n_learned'] for r in every if r['zeta'] == zeta], 0)} at ζ = {zeta:g}"
        for zeta in dict.fromkeys(ends)
    ]
    along_r = "The number of eigenvectors was not varied"
    if any(len(_sizes(records, task)) > 1 for task in _tasks(records)):
        along_r = f"At one ζ, their number changes the accuracy by up to {max(changes):.1f} points"
    return (
        f"With all eigenvectors and ζ of {between}, the gain over the SVM in percentage "
        f"points is {listed(gains)}. {along_r}. Numbers learned of the spectrum: {listed(learned)}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {"spectra": _spectra_table(records), "n_eigen": _n_eigen_table(records)}


def _spectra_table(records: list[dict]) -> Table:
    labels = ("ζ", "Accuracy (%)", "Gain over the SVM", "Numbers learned")
    labels += ("Effective eigenvectors", "Transfer error", "Nyström error")
    columns = (TableColumn("Task"), *(TableColumn(label, numeric=True) for label in labels))
    rows = []
    for task in _tasks(records):
        plain, largest = _plain(records, task), _largest(records, task)
        for record in largest:
            rows.append(
                (
                    word(task),
                    number_cell(record["zeta"], 2),
                    number_cell(100 * record["accuracy"], 1),
                    number_cell(100 * (record["accuracy"] - plain), 1),
                    number_cell(record["n_learned"], 0),
                    number_cell(record["effective"], 1),
                    number_cell(record["transfer_error"], 3),
                    number_cell(record["nystrom_error"], 3),
                )
            )
    caption = (
        "Every damping factor with all r eigenvectors. Errors are relative to the norm of the "
        "source's kernel, both from the same r eigenpairs."
    )
    return Table("spectra", caption, columns, tuple(rows))


def _n_eigen_table(records: list[dict]) -> Table:
    zetas = _shown(records)
    columns = (
        TableColumn("Task"),
        TableColumn("r", numeric=True),
        *(TableColumn(f"ζ = {zeta:g}", numeric=True) for zeta in zetas),
    )
    found = {(r["task"], r["n_eigen"], r["zeta"]): r["accuracy"] for r in records}
    rows = [
        (
            word(task),
            number_cell(size, 0),
            *(number_cell(100 * found[task, size, zeta], 1) for zeta in zetas),
        )
        for task in _tasks(records)
        for size in _sizes(records, task)
    ]
    caption = "Accuracy on the entire target (%) by number of eigenvectors and damping factor."
    return Table("n_eigen", caption, columns, tuple(rows))


def _tasks(records: list[dict]) -> list[str]:
    return list(dict.fromkeys(record["task"] for record in records))


def _sizes(records: list[dict], task: str) -> list[int]:
    return sorted({r["n_eigen"] for r in records if r["task"] == task and r["n_eigen"]})


def _plain(records: list[dict], task: str) -> float:
    return next(r["accuracy"] for r in records if r["task"] == task and r["zeta"] is None)


def _largest(records: list[dict], task: str) -> list[dict]:
    size = _sizes(records, task)[-1]
    return [r for r in records if r["task"] == task and r["n_eigen"] == size]


def _shown(records: list[dict]) -> list[float]:
    """Damping factors with every number of eigenvectors."""
    task = _tasks(records)[0]
    smallest = _sizes(records, task)[0]
    return [r["zeta"] for r in records if r["task"] == task and r["n_eigen"] == smallest]


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "zeta": lambda: _zeta_figure(records),
        "n_eigen": lambda: _n_eigen_figure(records),
        "spectrum": lambda: _spectrum_figure(records, arrays),
    }


def _zeta_figure(records: list[dict]) -> "Figure":
    from workflow.lib.report.figures import style

    tasks = _tasks(records)
    figure, panels = style.small_multiples(len(tasks), columns=2, height=2.1)
    for axes, task in zip(panels, tasks, strict=True):
        scored = _largest(records, task)
        zetas = [record["zeta"] for record in scored]
        scores = [100 * record["accuracy"] for record in scored]
        # Most changes lie between 1 and 1.2, where any scale would crowd the points.
        places = range(len(zetas))
        axes.plot(places, scores, color=style.colour(0), marker=style.marker(0), markersize=4)
        axes.set_xticks(places, [number_text(zeta) for zeta in zetas])
        _finish(axes, task, _plain(records, task))
    for axes in panels[-2:]:
        axes.set_xlabel("Damping factor ζ (values evenly spaced)")
    return figure


def _n_eigen_figure(records: list[dict]) -> "Figure":
    from workflow.lib.report.figures import style

    tasks = _tasks(records)
    figure, panels = style.small_multiples(len(tasks), columns=2, height=2.1)
    # The panels share their axis; a kernel of smaller rank ends between two ticks.
    ticks = max((_sizes(records, task) for task in tasks), key=max)
    for axes, task in zip(panels, tasks, strict=True):
        for position, zeta in enumerate(_shown(records)):
            scored = [r for r in records if (r["task"], r["zeta"]) == (task, zeta)]
            sizes = [record["n_eigen"] for record in scored]
            look = {"color": style.colour(position), "marker": style.marker(position)}
            scores = [100 * record["accuracy"] for record in scored]
            axes.plot(sizes, scores, markersize=4, label=f"ζ = {zeta:g}", **look)
        style.setting_axis(axes, ticks, "log", 3.2)
        _finish(axes, task, _plain(records, task))
    for axes in panels[-2:]:
        axes.set_xlabel("Eigenvectors r (log scale)")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=5)
    return figure


def _finish(axes, task: str, plain: float) -> None:
    from workflow.lib.report.figures import style

    axes.axhline(100 * plain, color=style.INK, linewidth=0.9, linestyle="--")
    axes.set(title=task, ylabel="Accuracy (%)")
    style.ruled(axes, "y")


def _spectrum_figure(records: list[dict], arrays: Mapping) -> "Figure":
    from workflow.lib.report.figures import style

    tasks = _tasks(records)
    figure, panels = style.small_multiples(len(tasks), columns=2, height=2.3, sharey=True)
    for axes, task in zip(panels, tasks, strict=True):
        kept = [zeta for zeta in _shown(records) if f"{task}/{zeta:g}" in arrays]
        for position, zeta in enumerate(kept):
            spectrum = arrays[f"{task}/{zeta:g}"]
            places = np.arange(1, len(spectrum) + 1)
            shape = spectrum / spectrum[0]
            look = {"color": style.colour(position), "label": f"ζ = {zeta:g}"}
            axes.plot(places[shape > 0], shape[shape > 0], linewidth=1.4, **look)
        eigenvalues = arrays[f"{task}/target"]
        look = {"color": style.INK, "linestyle": "--", "linewidth": 0.9}
        axes.plot(
            np.arange(1, len(eigenvalues) + 1),
            eigenvalues / eigenvalues[0],
            label="target's own",
            **look,
        )
        axes.set(title=task, yscale="log", ylim=(1e-6, 2), xlim=(0, 100), ylabel="λᵢ / λ₁")
        style.ruled(axes, "y")
    for axes in panels[-2:]:
        axes.set_xlabel("Number of the eigenvector, i (first 100)")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=6)
    return figure
