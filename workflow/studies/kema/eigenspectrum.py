r"""What the eigenvectors of a sample capture of new samples, beside the bounds (Theorems 2 and 3).

The paper takes over a theorem on the eigenvalues of a kernel matrix (Shawe-Taylor et al. 2005) for
its own problem. The theorem is about the matrix of n independent samples, so that is what is
measured: a random half of a domain gives the matrix and its first r eigenvectors, the other half is
new. Shown are the mean squared distance of the new samples from the span (residual) and the mean
squared norm of their projections (captured), beside the upper bound of Eq. 13 on the one and the
lower bound of Eq. 14 on the other, both with probability 95 %. Kernel: Gaussian, width the mean
distance of the half, so that the radius R is 1.

Theorem 3 is the same with a ridge: its eigenvalues θ stand for λ = θ / (1 − γθ), which are those of
the same matrix, and as printed (Eq. 15) it has the diagonal of the regularised matrix in place of
that of the matrix, which is smaller. The last column has it with γ = 1 / (2 max λ). KEMA's own
matrix, K_s⁻¹K_d, is no kernel matrix of independent samples, and the paper does not say why the
theorem should carry over; there is nothing to measure it against.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count
from workflow.studies.common._cells import spread_cell, word
from workflow.studies.common._words import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "eigenspectrum": "Mean squared distance of new samples from the span of the first r "
    "eigenvectors, and squared norm of their projections, with the bounds of Theorem 2 (dashed); "
    "mean over the halves. The squared norm of every sample is 1, which no bound needs to exceed.",
}
TABLES = ("eigenspectrum",)


def run(
    domains: Mapping,
    ranks: Sequence[int] = (1, 2, 5, 10, 20, 50, 100),
    n_realisations: int = 10,
    delta: float = 0.05,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Measured and bounded parts of new samples, for random halves of every domain."""
    records = []
    for name, (X, _) in domains.items():
        for seed in range(n_realisations):
            order = np.random.default_rng(seed).permutation(len(X))
            halves = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
            place = {"domain": name, "realisation": seed}
            records += [{**place, **found} for found in measured(*halves, ranks, delta)]
    return records, {}


def measured(X: np.ndarray, new: np.ndarray, ranks: Sequence[int], delta: float) -> list[dict]:
    """Per rank what new samples have outside of and within the span, with the bounds."""
    from scipy import linalg
    from scipy.spatial.distance import cdist

    from workflow.studies.kema._error_bounds import projection_lower_bound, residual_upper_bound

    distances, n = cdist(X, X), len(X)
    width = distances.sum() / (n * (n - 1))
    values, vectors = linalg.eigh(np.exp(-(distances**2) / (2 * width**2)))
    similarities = np.exp(-(cdist(new, X) ** 2) / (2 * width**2))
    ridge = 0.5 / values[-1]
    regularised = values / (1 + ridge * values)
    diagonal = np.square(vectors) @ regularised
    records = []
    for rank in ranks:
        basis = vectors[:, -rank:] / np.sqrt(values[-rank:])
        captured = float(np.mean(np.square(similarities @ basis).sum(axis=1)))
        options = {"radius": 1.0, "delta": delta}
        upper = residual_upper_bound(values, np.ones(n), rank, **options)
        ridged = residual_upper_bound(regularised, diagonal, rank, ridge=ridge, **options)
        records.append(
            {
                "rank": rank,
                "n": n,
                "residual": 1 - captured,
                "captured": captured,
                "upper": upper,
                "lower": projection_lower_bound(values, np.ones(n), rank, **options),
                "upper_ridge": ridged,
            }
        )
    return records


def _values(records: list[dict], domain: str, rank: int, name: str) -> list[float]:
    return [r[name] for r in records if (r["domain"], r["rank"]) == (domain, rank)]


def _places(records: list[dict]) -> tuple[list[str], list[int]]:
    names = list(dict.fromkeys(record["domain"] for record in records))
    return names, sorted({record["rank"] for record in records})


def finding(records: list[dict], arrays: Mapping) -> str:
    """How far the bounds are from what they bound, and where they say anything."""
    names, ranks = _places(records)
    means = {
        key: np.array([np.mean(_values(records, d, rank, key)) for d in names for rank in ranks])
        for key in ("residual", "upper", "captured", "lower")
    }
    above, below = means["upper"] - means["residual"], means["captured"] - means["lower"]
    told = np.count_nonzero(means["upper"] < 1), np.count_nonzero(means["lower"] > 0)
    held = [r["residual"] <= r["upper"] and r["captured"] >= r["lower"] for r in records]
    ridged = sum(r["residual"] <= r["upper_ridge"] for r in records)
    return (
        f"Of a squared norm of 1, the upper bound is {span(above, 2)} above "
        f"the mean residual and the lower bound {span(below, 2)} below what "
        f"is captured; of {count(len(above), 'mean')} over halves, the upper bound is below 1 for "
        f"{told[0] or 'none'} and the lower bound above 0 for {told[1] or 'none'}. Both hold in "
        f"{sum(held)} of {count(len(held), 'measurement')}, that with a ridge in {ridged}."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = (
        TableColumn("Domain"),
        TableColumn("n", numeric=True),
        TableColumn("r", numeric=True),
        TableColumn("Residual", numeric=True, scores=True),
        TableColumn("Upper bound (Eq. 13)", numeric=True),
        TableColumn("Captured", numeric=True, scores=True),
        TableColumn("Lower bound (Eq. 14)", numeric=True),
        TableColumn("Upper bound with a ridge (Eq. 15)", numeric=True),
    )
    names, ranks = _places(records)
    rows = []
    for name in names:
        for rank in ranks:
            found = {key: _values(records, name, rank, key) for key in records[0]}
            rows.append(
                (
                    word(name.rpartition(".")[2]),
                    number_cell(found["n"][0], 0),
                    number_cell(rank, 0),
                    spread_cell(found["residual"], 3),
                    number_cell(float(np.mean(found["upper"])), 3),
                    spread_cell(found["captured"], 3),
                    number_cell(float(np.mean(found["lower"])), 3),
                    number_cell(float(np.mean(found["upper_ridge"])), 3),
                )
            )
    caption = "Mean and standard deviation over random halves; the squared norm of a sample is 1."
    return {"eigenspectrum": Table("eigenspectrum", caption, columns, tuple(rows))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"eigenspectrum": lambda: _figure(records)}


def _figure(records: list[dict]) -> "Figure":
    from workflow.lib.report.figures import style

    names, ranks = _places(records)
    figure, panels = style.small_multiples(len(names), columns=2, height=2.3, sharey=True)
    lines = {"residual": "-", "upper": "--", "captured": "-", "lower": "--"}
    labels = {"residual": "Residual", "upper": "its upper bound (Eq. 13)"}
    labels |= {"captured": "Captured", "lower": "its lower bound (Eq. 14)"}
    for axes, name in zip(panels, names, strict=True):
        for position, (key, line) in enumerate(lines.items()):
            means = [np.mean(_values(records, name, rank, key)) for rank in ranks]
            look = {"color": style.colour(position // 2), "linestyle": line}
            axes.plot(ranks, means, label=labels[key], marker=style.marker(position), **look)
        style.setting_axis(axes, ranks, "log", 3.2)
        axes.set(title=name.rpartition(".")[2], xlabel="Eigenvectors r (log scale)")
        style.ruled(axes, "y")
    style.legend(figure, *panels[0].get_legend_handles_labels(), columns=4)
    return figure
