"""A noisy Swiss roll and a noisy S-curve, aligned on their shared parameter.

Each trial samples new points of both surfaces. The 5 nearest neighbours of each point (Euclidean
distance, edges of weight 1, by default joined by union) make the graph of a domain. It is embedded
on its eigenvectors of the normalised Laplacian with the smallest eigenvalues: the trivial one and
the first two nontrivial ones. FMA at the instance level joins the two embeddings by the block
update, and the joint eigenvector of the smallest nontrivial eigenvalue is the joint coordinate.

The paper states 400 points, 5 neighbours, two nontrivial eigenvectors, 40 corresponding points and
a joint embedding in one dimension. Its noise, its weights and how points correspond are not stated.
Here two points correspond if they have the same rank along their curves (the true parameters of
sampled points are never exactly equal), 40 random ranks are given, each pair has its own label, and
all edges weigh 1.

Quality is Spearman's rank correlation of the coordinate with the true parameter: per domain, and
for both domains together, where the curves must also run in the same direction at the same pace.
Before alignment the coordinate is the first nontrivial eigenvector of each domain. The sign of an
eigenvector is arbitrary, so it is chosen: per domain in the columns per domain before alignment,
once for the joint coordinate after it. Nothing relates the signs of the two domains before
alignment: they stand once as the solver gives them, and once with the better of the two, which only
the true parameter can tell. What alignment adds to that one bit is the difference to the latter.
The error of transfer is the mean distance between the true parameter of an S-curve point and that
of the Swiss-roll point nearest in the coordinate, in percent of the curve; points drawn at random
would differ by 33 percent on average.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import SEARCH_MARK, count
from workflow.studies.common._cells import spread_cell, word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "process": "The first trial. (a) The points of both surfaces. (b) Each domain by itself on the "
    "first two nontrivial eigenvectors of its graph; its scale and signs are arbitrary. (c) Both "
    "domains on the one joint coordinate, spread upwards at random; grey lines tie the points "
    "whose correspondence was given. Colour: the true position along the curve.",
    "alignment": "The first trial: the coordinate against the true parameter, before and after "
    "alignment. Aligned domains lie on one line; the coordinate before alignment is centred and "
    "scaled to a standard deviation of 1 in each domain.",
}
TABLES = ("rank_correlation",)

DOMAINS = {"swiss_roll": "Swiss roll", "s_curve": "S-curve"}
STAGES = {
    "before": f"before alignment {SEARCH_MARK}",
    "turned": f"before alignment, the better sign {SEARCH_MARK}",
    "after": f"after alignment {SEARCH_MARK}",
}
# Those of the figure.
_DRAWN = ("before", "after")


def run(
    domains: Mapping,
    n_points: int = 400,
    n_neighbors: int = 5,
    n_pairs: int = 40,
    n_eigenvectors: int = 2,
    symmetrize: str = "union",
    noise: Mapping | None = None,
    noise_factors: Sequence[float] = (1.0,),
    n_trials: int = 20,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Draw, embed, align and measure; keep the first trial of the last noise for the figures."""
    noise = noise or {"swiss_roll": 0.5, "s_curve": 0.05}
    records, arrays = [], {}
    for factor in noise_factors:
        scaled = {name: factor * size for name, size in noise.items()}
        for trial in range(n_trials):
            Xs, truth = draw_points(n_points, scaled, trial)
            ys = correspondences(truth, n_pairs, trial)
            alone, joint, n_pieces = embed(Xs, ys, n_neighbors, n_eigenvectors, symmetrize)
            before = [Z[:, 0] for Z in alone]
            stages = {"before": before, "turned": better_turned(before, truth), "after": joint}
            for stage, coordinates in stages.items():
                setting = {"noise_factor": factor, "trial": trial, "stage": stage}
                found = quality(coordinates, truth, tied=stage == "after")
                records.append({**setting, "pieces": n_pieces, **found})
            if trial == 0:
                arrays = _kept(Xs, truth, ys, alone, joint)
    return records, arrays


def _kept(*per_domain: list[np.ndarray]) -> dict[str, np.ndarray]:
    names = ("points", "truth", "pairs", "alone", "joint")
    return {
        f"{domain}/{name}": values[d]
        for d, domain in enumerate(DOMAINS)
        for name, values in zip(names, per_domain, strict=True)
    }


def draw_points(n_points: int, noise: Mapping[str, float], trial: int):
    """Points of both surfaces and their true positions along the curve, 0 to 1."""
    from workflow.loaders import manifolds

    Xs, truth = [], []
    for d, name in enumerate(DOMAINS):
        # No two domains or trials share a seed: equal seeds would give equal positions.
        settings = {"noise": noise[name], "seed": 2 * trial + d, "samples": n_points}
        Xs.append(manifolds.load(name, {}, **settings)[0])
        truth.append(manifolds.intrinsic_parameter(name, **settings))
    return Xs, truth


def correspondences(truth: list[np.ndarray], n_pairs: int, trial: int) -> list[np.ndarray]:
    """Labels: k for both points of the k-th pair, -1 for all others."""
    rng = np.random.default_rng([trial, n_pairs])
    ranks = np.sort(rng.choice(len(truth[0]), size=n_pairs, replace=False))
    ys = []
    for position in truth:
        y = np.full(len(position), -1)
        y[np.argsort(position, kind="stable")[ranks]] = np.arange(n_pairs)
        ys.append(y)
    return ys


def embed(
    Xs: list[np.ndarray],
    ys: list[np.ndarray],
    n_neighbors: int,
    n_eigenvectors: int,
    symmetrize: str = "union",
):
    """Embeddings of the domains alone, the joint coordinate, and the pieces of the two graphs."""
    from domain_alignment.manifold._fma import FMA

    fma = FMA(
        level="instance",
        n_components=2 * (n_eigenvectors + 1),  # with the trivial vector of each domain
        n_neighbors=n_neighbors,
        alpha=1.0,
        correspondence_weight=1.0,
        metric="euclidean",
        symmetrize=symmetrize,
    )
    spectra = [fma.prepare(X) for X in Xs]
    joint = [Z[:, 0] for Z in fma.fit(Xs, ys, prepared=spectra).embeddings_]
    alone = [spectrum.basis[:, 1:] for spectrum in spectra]
    return alone, joint, sum(int(np.sum(spectrum.eigenvalues < 1e-10)) for spectrum in spectra)


def quality(coordinates: list[np.ndarray], truth: list[np.ndarray], tied: bool) -> dict:
    """Rank correlations and error of transfer; `tied` coordinates share one sign."""
    from scipy.stats import spearmanr

    together = float(spearmanr(np.concatenate(coordinates), np.concatenate(truth)).statistic)
    single = [float(spearmanr(z, t).statistic) for z, t in zip(coordinates, truth, strict=True)]
    signed = [rho * np.copysign(1.0, together) if tied else abs(rho) for rho in single]
    return {
        **{name: float(rho) for name, rho in zip(DOMAINS, signed, strict=True)},
        "together": abs(together),
        "transfer_error": transfer_error(coordinates, truth),
    }


def better_turned(coordinates: list[np.ndarray], truth: list[np.ndarray]) -> list[np.ndarray]:
    """The coordinates with that sign of the second domain with which both follow the truth."""
    from scipy.stats import spearmanr

    signs = [np.sign(spearmanr(z, t).statistic) for z, t in zip(coordinates, truth, strict=True)]
    return [coordinates[0], coordinates[1] * signs[0] * signs[1]]


def transfer_error(coordinates: list[np.ndarray], truth: list[np.ndarray]) -> float:
    """Mean difference in the true parameter between target points and their nearest source."""
    source, target = coordinates
    nearest = np.abs(target[:, None] - source).argmin(axis=1)
    return float(np.mean(np.abs(truth[0][nearest] - truth[1])))


def finding(records: list[dict], arrays: Mapping) -> str:
    """What alignment changes in the mean over the trials, for every noise."""
    factors = list(dict.fromkeys(r["noise_factor"] for r in records))
    told, nearer = [], 0
    for factor in factors:
        before, turned, after = (_means(records, factor, stage) for stage in STAGES)
        nearer += after[0] > turned[0] and after[1] < turned[1]
        rhos, errors = zip(before, turned, after, strict=True)
        told.append(
            f"{', '.join(f'{rho:.2f}' for rho in rhos)} and "
            f"{', '.join(f'{error:.1f}' for error in errors)} % at {factor:g} times the noise"
        )
    n_pairs = np.count_nonzero(arrays[f"{next(iter(DOMAINS))}/pairs"] >= 0)
    return (
        f"Given {count(n_pairs, 'pair')}, the surfaces come nearer to one parameter by both "
        f"measures at {nearer} of {count(len(factors), 'level')} of noise, compared with the "
        "better of the two signs that their eigenvectors may have. The rank correlation of both "
        "together and the error of transfer in percent of the curve, before alignment with the "
        f"solver's signs, with the better ones, and after it: {'; '.join(told)}."
    )


def _means(records: list[dict], factor: float, stage: str) -> np.ndarray:
    """Rank correlation of both together and error of transfer in percent, over the trials."""
    rows = [r for r in records if (r["noise_factor"], r["stage"]) == (factor, stage)]
    return np.mean([(r["together"], 100 * r["transfer_error"]) for r in rows], axis=0)


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    measures = {**DOMAINS, "together": "both together"}
    columns = (
        TableColumn("Noise, times that of the parameters", numeric=True),
        TableColumn("Coordinate"),
        *(TableColumn(label, numeric=True, scores=True) for label in measures.values()),
        TableColumn("Error of transfer, % of the curve", numeric=True, scores=True),
        TableColumn("Trials with connected graphs", numeric=True),
    )
    rows = []
    for factor in dict.fromkeys(record["noise_factor"] for record in records):
        for stage, label in STAGES.items():
            trials = [r for r in records if (r["noise_factor"], r["stage"]) == (factor, stage)]
            cells = [spread_cell([record[measure] for record in trials], 3) for measure in measures]
            error = spread_cell([100 * record["transfer_error"] for record in trials], 1)
            whole = sum(record["pieces"] == len(DOMAINS) for record in trials)
            connected = TableCell(f"{whole} of {len(trials)}", value=whole)
            rows.append((number_cell(factor, 2), word(label), *cells, error, connected))
    table = Table(
        "rank_correlation",
        "Spearman's rank correlation of the coordinate with the true parameter, and the error of "
        f"transfer: mean and standard deviation over {len(trials)} trials.",
        columns,
        tuple(rows),
    )
    return {"rank_correlation": table}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "process": lambda: _process_figure(arrays),
        "alignment": lambda: _alignment_figure(arrays),
    }


COLOUR_MAP = "viridis"


def _process_figure(arrays: Mapping) -> "Figure":
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import WIDTH

    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(1.1, 1.1, 1))
    for row, (name, label) in enumerate(DOMAINS.items()):
        points, truth = arrays[f"{name}/points"], arrays[f"{name}/truth"]
        axes = figure.add_subplot(grid[row, 0], projection="3d")
        _surface_panel(axes, points, truth)
        axes.set_title(f"(a) {label}" if row == 0 else label)
        axes = figure.add_subplot(grid[row, 1])
        Z = arrays[f"{name}/alone"]
        axes.scatter(*Z.T[:2], c=truth, cmap=COLOUR_MAP, vmin=0, vmax=1, s=8, linewidths=0)
        axes.set(xlabel="eigenvector 1", ylabel="eigenvector 2", xticks=[], yticks=[])
        axes.set_title(f"(b) {label} by itself" if row == 0 else f"{label} by itself")
    _joint_panel(figure.add_subplot(grid[:, 2]), arrays)
    place = {"location": "bottom", "aspect": 60, "shrink": 0.6, "pad": 0.03}
    bar = figure.colorbar(ScalarMappable(cmap=COLOUR_MAP), ax=figure.axes, **place)
    bar.set_label("True position along the curve, share of its parameter's range")
    return figure


def _surface_panel(axes, points: np.ndarray, truth: np.ndarray) -> None:
    from workflow.lib.report.figures.style import RULE

    axes.scatter(*points.T, c=truth, cmap=COLOUR_MAP, vmin=0, vmax=1, s=5, linewidths=0)
    axes.view_init(elev=12, azim=-70)
    axes.set_box_aspect(np.ptp(points, axis=0), zoom=1.2)
    axes.set(xticklabels=[], yticklabels=[], zticklabels=[])
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0, 0, 0, 0))
        axis._axinfo["grid"].update(color=RULE, linewidth=0.4)


def _joint_panel(axes, arrays: Mapping) -> None:
    from workflow.lib.report.figures.style import DOMAIN_MARKERS, RULE

    rng = np.random.default_rng(0)
    heights, places = [], []
    for d, name in enumerate(DOMAINS):
        z, truth = arrays[f"{name}/joint"], arrays[f"{name}/truth"]
        height = (1 - d) + rng.uniform(-0.22, 0.22, size=len(z))
        style = {"c": truth, "cmap": COLOUR_MAP, "vmin": 0, "vmax": 1, "linewidths": 0}
        axes.scatter(z, height, s=9, marker=DOMAIN_MARKERS[d], zorder=2, **style)
        order = np.argsort(arrays[f"{name}/pairs"], kind="stable")
        given = order[arrays[f"{name}/pairs"][order] >= 0]
        places.append(z[given])
        heights.append(height[given])
    axes.plot(np.array(places), np.array(heights), color=RULE, linewidth=0.6, zorder=1)
    axes.set(title="(c) joint", xlabel="joint coordinate", xticks=[], ylim=(-0.35, 1.35))
    axes.set_yticks([1, 0], list(DOMAINS.values()), rotation=90, va="center")
    axes.tick_params(axis="y", length=0)


def _alignment_figure(arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import DOMAIN_MARKERS, WIDTH, colour, legend

    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    for axes, stage in zip(figure.subplots(1, 2), _DRAWN, strict=True):
        handles = []
        for d, name in enumerate(DOMAINS):
            z = arrays[f"{name}/joint"]
            if stage == "before":
                z = arrays[f"{name}/alone"][:, 0]
                z = (z - z.mean()) / z.std()
            style = {"color": colour(d), "marker": DOMAIN_MARKERS[d], "linewidths": 0}
            axes.scatter(arrays[f"{name}/truth"], z, s=9, alpha=0.6, **style)
            handles.append(axes.scatter([], [], s=26, **style))
        axes.set(title=STAGES[stage].capitalize(), xlabel="True position along the curve")
        axes.set_ylabel(
            "First eigenvector of each domain" if stage == "before" else "Joint coordinate"
        )
    legend(figure, handles, list(DOMAINS.values()), columns=2, handletextpad=0.1)
    return figure
