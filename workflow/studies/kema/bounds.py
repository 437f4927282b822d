r"""Error of random features in rKEMA's problem against its bounds (Theorem 6).

Samples of the source of toy experiment 1, as in the authors' program. Two Gaussian kernels are the
two sides of the eigenproblem, as in the theorem: K_d with the mean distance of the samples as its
width, K_s with twice that, entries at most 1. Each is approximated by m separate random features.
Measured is ‖(K̂_d + γI)⁻¹ K̂_s − (K_d + γI)⁻¹ K_s‖, in the Frobenius norm as in the caption of Fig.
9 and in the spectral norm as in the theorem, against n for one m and against m for one n.

The caption has the inverse without γ, which does not exist for m < n; so γ is ours. "Bound" is Eq.
21 as printed, whose proof leaves out the error of K̂_d; "proved" is a bound of the same kind that
follows from Theorem 4. Both are of the spectral norm.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count, fixed
from workflow.loaders.kema_toys import realisation
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._words import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "error": "Error of the approximation against the number of samples (left) and of random "
    "features (right), mean over the realisations, with the bounds on its expectation in the "
    "spectral norm. Both axes logarithmic.",
}
TABLES = ("error", "growth")

NORMS = {"fro": "Frobenius", "spectral": "spectral"}


def run(
    domains: Mapping,
    n_samples: Sequence[int] = (50, 100, 200, 400),
    n_features: Sequence[int] = (10, 32, 100, 316, 1000),
    fixed_samples: int = 200,
    fixed_features: int = 300,
    ridge: float = 1.0,
    n_realisations: int = 300,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    from workflow.studies.kema._error_bounds import (
        proved_random_features_bound,
        random_features_bound,
    )

    settings = [("n", n, fixed_features) for n in n_samples]
    settings += [("m", fixed_samples, m) for m in n_features]
    records = []
    for varied, n, m in settings:
        bounds = {
            "bound": random_features_bound(n, m, ridge),
            "proved": proved_random_features_bound(n, m, ridge),
        }
        for seed in range(n_realisations):
            errors = approximation_errors(n, m, ridge, seed)
            records.append({"varied": varied, "n": n, "m": m, "seed": seed, **errors, **bounds})
    return records, {}


def approximation_errors(n: int, m: int, ridge: float, seed: int) -> dict[str, float]:
    """Errors in both norms of one draw of samples and features."""
    from domain_alignment.manifold._kernel_operators import FourierFeatures
    from scipy.spatial.distance import pdist, squareform

    from workflow.studies.kema._error_bounds import random_features_error

    source = realisation(1, seed % 10)[0].test
    X = source.X[np.random.default_rng([seed, n]).choice(len(source.X), n, replace=False)]
    distances = squareform(pdist(X))
    widths = distances.sum() / (n * (n - 1)) * np.array([1.0, 2.0])
    Kd, Ks = (np.exp(-(distances**2) / (2 * s**2)) for s in widths)
    state = np.random.RandomState(seed)
    Zd, Zs = (FourierFeatures(X.shape[1], m, s, state)(X) for s in widths)
    return {
        "fro": random_features_error(Kd, Ks, Zd, Zs, ridge, "fro"),
        "spectral": random_features_error(Kd, Ks, Zd, Zs, ridge),
    }


def _settings(records: list[dict], varied: str) -> list[int]:
    return sorted({r[varied] for r in records if r["varied"] == varied})


def _at(records: list[dict], varied: str, value: int) -> list[dict]:
    return [r for r in records if r["varied"] == varied and r[varied] == value]


def exponent(records: list[dict], varied: str, measure: str) -> float:
    """Slope of the mean against the setting, both logarithmic."""
    settings = _settings(records, varied)
    means = [np.mean([r[measure] for r in _at(records, varied, value)]) for value in settings]
    return float(np.polyfit(np.log(settings), np.log(means), 1)[0])


def finding(records: list[dict], arrays: Mapping) -> str:
    """Exponents of the mean error, and how far the bound on its expectation is."""
    powers = {v: f"{v}^{fixed(exponent(records, v, 'spectral'), 2)}" for v in ("n", "m")}
    draws = [_at(records, v, value) for v in powers for value in _settings(records, v)]
    ratios = [found[0]["bound"] / np.mean([r["spectral"] for r in found]) for found in draws]
    n_above = sum(r["spectral"] > r["bound"] for r in records)
    above = f"{n_above} of {count(len(records), 'draw')} exceed" if n_above else "no draw exceeds"
    return (
        f"The mean error in the spectral norm goes as {powers['n']} with the samples n and as "
        f"{powers['m']} with the random features m. The bound of Eq. 21 is {span(ratios, 1)} "
        f"times the mean error; {above} it."
    ).replace("^-", "^−")


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {"error": _error_table(records), "growth": _growth_table(records)}


def _error_table(records: list[dict]) -> Table:
    columns = [TableColumn("n", numeric=True), TableColumn("m", numeric=True)]
    columns += [
        TableColumn(f"Error, {label}", numeric=True, scores=True) for label in NORMS.values()
    ]
    columns += [
        TableColumn("Bound (Eq. 21)", numeric=True),
        TableColumn("Proved bound", numeric=True),
        TableColumn("Largest error, spectral", numeric=True),
    ]
    rows = []
    for varied in ("n", "m"):
        for value in _settings(records, varied):
            draws = _at(records, varied, value)
            rows.append(
                (
                    number_cell(draws[0]["n"], 0),
                    number_cell(draws[0]["m"], 0),
                    *(spread_cell([r[norm] for r in draws], 2) for norm in NORMS),
                    number_cell(draws[0]["bound"], 1),
                    number_cell(draws[0]["proved"], 0),
                    number_cell(max(r["spectral"] for r in draws), 2),
                )
            )
    n_draws = len({r["seed"] for r in records})
    caption = f"Mean and standard deviation over {n_draws} draws of samples and random features."
    return Table("error", caption, tuple(columns), tuple(rows))


def _growth_table(records: list[dict]) -> Table:
    columns = (
        TableColumn("Against"),
        *(TableColumn(f"Error, {label}", numeric=True) for label in NORMS.values()),
        TableColumn("Bound (Eq. 21)", numeric=True),
    )
    measures = (*NORMS, "bound")
    rows = [
        (word(label), *(number_cell(exponent(records, varied, name), 2) for name in measures))
        for varied, label in (("n", "samples n"), ("m", "random features m"))
    ]
    return Table(
        "growth",
        "Exponents: slopes of the lines through the logarithms of both axes. The paper expects "
        "−1/2 against m, and n log n against n.",
        columns,
        tuple(rows),
    )


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"error": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import WIDTH, colour, legend, marker, ruled, setting_axis

    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    lines = {"fro": "Error, Frobenius", "spectral": "Error, spectral"}
    lines |= {"bound": "Bound (Eq. 21)", "proved": "Proved bound"}
    names = {"n": "Samples n", "m": "Random features m"}
    for axes, (varied, label) in zip(panels, names.items(), strict=True):
        values = _settings(records, varied)
        for position, (measure, line) in enumerate(lines.items()):
            errors = [[r[measure] for r in _at(records, varied, value)] for value in values]
            style = "-" if measure in NORMS else "--"
            look = {"color": colour(position), "marker": marker(position), "linestyle": style}
            axes.plot(values, [np.mean(numbers) for numbers in errors], label=line, **look)
        setting_axis(axes, values, "log", WIDTH / 2 - 0.8)
        axes.set(yscale="log", xlabel=label)
        ruled(axes, "y")
    other = {"n": "m", "m": "n"}
    for axes, varied in zip(panels, names, strict=True):
        fixed = next(r[other[varied]] for r in records if r["varied"] == varied)
        axes.set_title(f"{other[varied]} = {fixed}")
    panels[0].set_ylabel("Error of the approximation")
    legend(figure, *panels[0].get_legend_handles_labels(), columns=4)
    return figure
