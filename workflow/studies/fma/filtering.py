r"""Filtering the joint Laplacian of two random graphs, as one graph or graph by graph.

Two Erdős–Rényi graphs (resampled until connected) are tied by random edges between them. With the
Laplacians L1 and L2 of the graphs alone and the incidence matrix A of the edges between them, the
joint Laplacian is L = diag(L1, L2) + A Aᵀ. The standard filter recomposes L from the half of its
own eigenpairs with the smallest eigenvalues. The subgraph filter recomposes it from the half of the
eigenpairs of L1 and of L2, joined by Algorithm 2: with the kept eigenvectors Φ of diag(L1, L2),
Λ + Φᵀ A Aᵀ Φ = F diag(l) Fᵀ and the result is (Φ F) diag(l) (Φ F)ᵀ. All edges weigh 1. Where half
of the eigenpairs ends within a multiple eigenvalue, as two leaves of one node give it to the
normalised Laplacian, all of that eigenvalue are kept: no half is defined there.

The paper does not say whether the Laplacian of its Fig. 1 is normalised, nor the probability of an
edge or the number of edges between the graphs. Both readings are computed: L = D − W, and
D^(-1/2) (D − W) D^(-1/2) with the degrees of each graph alone, as in Algorithm 3.

Smoothness of the off-diagonal block B, whose rows are nodes of graph 1 and columns nodes of graph
2, is measured in two ways, both lower when smoother. Its roughness on the graphs is the Rayleigh
quotient (tr Bᵀ L1 B + tr B L2 Bᵀ) / ‖B‖², the mean graph frequency of its columns and rows; it does
not depend on the order of the nodes. Its roughness in the picture, visible in the given order, is
the sum of squared differences of neighbouring cells over ‖B‖². The share of the original block that
is left is ‖B‖² / ‖B_original‖².

Two reference points. Unrelated cells have a roughness in the picture of 4 (n − 1) / n on average,
3.8 for 20 nodes. And the subgraph filter keeps the roughness on the graphs low by construction,
since its block lies in the span of the smooth halves; the roughness in the picture is an
independent test.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.text import count
from workflow.studies.common._cells import spread_cell, word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "filtering": "The joint Laplacian of one draw: as it is, recomposed from half of its own "
    "eigenvectors, and recomposed from half of the eigenvectors of each graph. The lines separate "
    "the graphs. One colour scale per row, symmetric about zero and cut at the largest entry of an "
    "off-diagonal block or a tenth of the diagonal, whichever is larger, so that the blocks can be "
    "compared.",
    "roughness": "Roughness on the graphs of the off-diagonal block in each draw: the subgraph "
    "filter against the standard one. Below the line the subgraph filter is smoother.",
}
TABLES = ("smoothness", "claim")

READINGS = {"plain": "D − W", "normalised": "normalised, degrees of each graph alone"}
MATRICES = {"original": "original", "standard": "standard filter", "subgraph": "subgraph filter"}


def run(
    domains: Mapping,
    n_nodes: int = 20,
    edge_probabilities: Sequence[float] = (0.3,),
    links: Sequence[int] = (10,),
    n_seeds: int = 100,
    shown: Mapping | None = None,
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Filter `n_seeds` draws of every setting; keep the matrices of the draw that is `shown`."""
    shown = shown or {"edge_probability": edge_probabilities[0], "links": links[0], "seed": 0}
    records, arrays = [], {}
    for probability in edge_probabilities:
        for n_links in links:
            for seed in range(n_seeds):
                setting = {"edge_probability": probability, "links": n_links, "seed": seed}
                graphs, pairs = draw_graphs(n_nodes, probability, n_links, seed)
                for reading in READINGS:
                    blocks, A = laplacian_parts(graphs, pairs, reading)
                    matrices = filtered(blocks, A)
                    records += _measured(matrices, blocks, {**setting, "reading": reading})
                    if setting == dict(shown):
                        arrays |= {f"{reading}/{name}": M for name, M in matrices.items()}
    if not arrays:
        raise ValueError(f"shown: {dict(shown)} is none of the settings that are run")
    return records, arrays


def draw_graphs(n_nodes: int, probability: float, n_links: int, seed: int):
    """Two connected Erdős–Rényi graphs (adjacency) and distinct pairs of nodes across them."""
    rng = np.random.default_rng([seed, n_nodes, n_links, round(1000 * probability)])
    graphs = [_connected_graph(rng, n_nodes, probability) for _ in range(2)]
    chosen = rng.choice(n_nodes**2, size=n_links, replace=False)
    return graphs, np.column_stack(np.divmod(chosen, n_nodes))


def _connected_graph(rng: np.random.Generator, n_nodes: int, probability: float) -> np.ndarray:
    for _ in range(1000):
        upper = np.triu(rng.random((n_nodes, n_nodes)) < probability, 1).astype(float)
        graph = upper + upper.T
        # The second eigenvalue of the Laplacian is positive exactly for connected graphs.
        if np.linalg.eigvalsh(np.diag(graph.sum(axis=1)) - graph)[1] > 1e-9:
            return graph
    raise ValueError(
        f"edge_probabilities: none of 1000 graphs of {n_nodes} nodes with edges of probability "
        f"{probability} was connected; raise it"
    )


def laplacian_parts(graphs: list[np.ndarray], pairs: np.ndarray, reading: str):
    """Laplacian of each graph, and the incidence matrix of the edges between them."""
    degrees = [graph.sum(axis=1) for graph in graphs]
    blocks = [np.diag(d) - graph for d, graph in zip(degrees, graphs, strict=True)]
    columns = np.arange(len(pairs))
    incidence = np.zeros((sum(map(len, graphs)), len(pairs)))
    incidence[pairs[:, 0], columns] = 1
    incidence[len(graphs[0]) + pairs[:, 1], columns] = -1
    if reading == "normalised":
        blocks = [L / np.sqrt(np.outer(d, d)) for L, d in zip(blocks, degrees, strict=True)]
        incidence /= np.sqrt(np.concatenate(degrees))[:, None]
    return blocks, incidence


def filtered(blocks: list[np.ndarray], A: np.ndarray) -> dict[str, np.ndarray]:
    """The joint Laplacian, and what either filter leaves of it."""
    from domain_alignment.manifold._eigen_update import block_update
    from scipy.linalg import block_diag

    original = block_diag(*blocks) + A @ A.T
    values, vectors = _lower_half(original)
    kept = [_lower_half(block) for block in blocks]
    basis = block_diag(*(part for _, part in kept))
    eigenvalues = np.concatenate([part for part, _ in kept])
    joint, rotation = block_update(eigenvalues, basis.T @ A @ A.T @ basis)
    turned = basis @ rotation
    return {
        "original": original,
        "standard": (vectors * values) @ vectors.T,
        "subgraph": (turned * joint) @ turned.T,
    }


def _lower_half(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(matrix)
    # The basis of a multiple eigenvalue's space is LAPACK's choice, so all of it is kept.
    n_kept = np.sum(values < values[len(values) // 2 - 1] + 1e-9)
    return values[:n_kept], vectors[:, :n_kept]


def graph_roughness(block: np.ndarray, L1: np.ndarray, L2: np.ndarray) -> float:
    """Mean graph frequency of the rows and columns of an off-diagonal block."""
    energy = np.sum(block**2)
    return float((np.sum(block * (L1 @ block)) + np.sum(block * (block @ L2))) / energy)


def picture_roughness(block: np.ndarray) -> float:
    """Squared differences of neighbouring cells over the squared norm."""
    steps = np.sum(np.diff(block, axis=0) ** 2) + np.sum(np.diff(block, axis=1) ** 2)
    return float(steps / np.sum(block**2))


def _measured(matrices: dict, blocks: list[np.ndarray], setting: dict) -> list[dict]:
    size = len(blocks[0])
    energy = np.sum(matrices["original"][:size, size:] ** 2)
    records = []
    for name, matrix in matrices.items():
        off_diagonal = matrix[:size, size:]
        records.append(
            {
                **setting,
                "matrix": name,
                "graph_roughness": graph_roughness(off_diagonal, *blocks),
                "picture_roughness": picture_roughness(off_diagonal),
                "energy_left": float(np.sum(off_diagonal**2) / energy),
            }
        )
    return records


MEASURES = {
    "graph_roughness": "Roughness on the graphs",
    "picture_roughness": "Roughness in the picture",
    "energy_left": "Share of the block left",
}


def finding(records: list[dict], arrays: Mapping) -> str:
    """In how many draws the subgraph filter leaves the smoother block, by measure and Laplacian."""
    shares = {
        measure: [100 * np.mean(paired_difference(records, r, measure) < 0) for r in READINGS]
        for measure in ("graph_roughness", "picture_roughness")
    }
    most = [share > 50 for found in shares.values() for share in found]
    verdict = "Mostly yes" if all(most) else "It depends" if any(most) else "No"
    graphs, picture = (
        f"{plain:.0f} % (D − W) and {normalised:.0f} % (normalised)"
        for plain, normalised in shares.values()
    )
    n_draws = len(records) // (len(READINGS) * len(MATRICES))
    return (
        f"{verdict}: of {count(n_draws, 'draw')}, the block is smoother after the subgraph filter "
        f"than after the standard one in {picture} as measured in the picture, by differences of "
        f"neighbouring cells, and in {graphs} as measured on the graphs, where the filter keeps it "
        "smooth by construction."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    return {"smoothness": _smoothness_table(records), "claim": _claim_table(records)}


def _smoothness_table(records: list[dict]) -> Table:
    columns = (
        TableColumn("Laplacian"),
        TableColumn("Matrix"),
        *(TableColumn(label, numeric=True, scores=True) for label in MEASURES.values()),
    )
    rows = []
    for reading, reading_label in READINGS.items():
        for matrix, matrix_label in MATRICES.items():
            draws = [r for r in records if (r["reading"], r["matrix"]) == (reading, matrix)]
            cells = [spread_cell([r[measure] for r in draws], 3) for measure in MEASURES]
            rows.append((word(reading_label), word(matrix_label), *cells))
    n_draws = len(records) // (len(READINGS) * len(MATRICES))
    return Table(
        "smoothness",
        f"Off-diagonal blocks, mean and standard deviation over {n_draws} draws of all settings "
        "together. A smaller roughness is smoother.",
        columns,
        tuple(rows),
    )


def _claim_table(records: list[dict]) -> Table:
    """The paired difference, setting by setting: is the subgraph filter the smoother one?"""
    columns = [TableColumn("Edge probability", numeric=True), TableColumn("Links", numeric=True)]
    for label in ("D − W", "normalised"):
        for measure in ("graphs", "picture"):
            columns.append(TableColumn(f"{label}, {measure}", numeric=True, scores=True))
            columns.append(TableColumn(f"smoother in, {label}, {measure}", numeric=True))
    rows = []
    for setting in sorted({(r["edge_probability"], r["links"]) for r in records}):
        cells = [number_cell(setting[0], 2), number_cell(setting[1], 0)]
        for reading in READINGS:
            for measure in ("graph_roughness", "picture_roughness"):
                difference = paired_difference(records, reading, measure, setting)
                smoother = int(np.sum(difference < 0))
                share = TableCell(f"{smoother} of {len(difference)}", smoother / len(difference))
                cells += [spread_cell(difference, 3), share]
        rows.append(tuple(cells))
    return Table(
        "claim",
        "Roughness of the off-diagonal block after the subgraph filter less that after the "
        "standard filter of the same draw: mean and standard deviation, and in how many draws it "
        "is negative, so that the subgraph filter is the smoother one, as the paper says.",
        tuple(columns),
        tuple(rows),
    )


def paired_difference(
    records: list[dict], reading: str, measure: str, setting: tuple[float, int] | None = None
) -> np.ndarray:
    """Measure of the subgraph filter less that of the standard one, draw by draw."""
    values: dict[str, list] = {"subgraph": [], "standard": []}
    for record in records:
        of_setting = setting in (None, (record["edge_probability"], record["links"]))
        if record["reading"] == reading and record["matrix"] in values and of_setting:
            values[record["matrix"]].append(record[measure])
    return np.subtract(values["subgraph"], values["standard"])


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {
        "filtering": lambda: _filtering_figure(arrays),
        "roughness": lambda: _roughness_figure(records),
    }


def _filtering_figure(arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import INK, WIDTH

    figure = Figure(figsize=(WIDTH, 5.5), layout="constrained")
    panels = figure.subplots(len(READINGS), len(MATRICES), sharex=True, sharey=True)
    letters = iter("abcdef")
    for row, reading in enumerate(READINGS):
        matrices = [arrays[f"{reading}/{name}"] for name in MATRICES]
        size = len(matrices[0]) // 2
        blocks = [np.abs(matrix[:size, size:]).max() for matrix in matrices]
        limit = max(*blocks, 0.1 * np.diag(matrices[0]).max())
        for axes, matrix, label in zip(panels[row], matrices, MATRICES.values(), strict=True):
            extent = (0.5, 2 * size + 0.5, 2 * size + 0.5, 0.5)
            image = axes.imshow(
                matrix, cmap="RdBu_r", vmin=-limit, vmax=limit, extent=extent, aspect="equal"
            )
            for line in (axes.axhline, axes.axvline):
                line(size + 0.5, color=INK, linewidth=0.7)
            ticks = [1, size, 2 * size]
            axes.set(title=f"({next(letters)}) {label}", xticks=ticks, yticks=ticks)
        panels[row, 0].set_ylabel("Node")
        name = {"plain": "Laplacian D − W", "normalised": "Normalised Laplacian"}[reading]
        bar = figure.colorbar(image, ax=list(panels[row]), extend="both", shrink=0.9, pad=0.02)
        bar.set_label(f"Entry of the {name[0].lower()}{name[1:]}".replace("laplacian", "Laplacian"))
    for axes in panels[-1]:
        axes.set_xlabel("Node")
    return figure


def _roughness_figure(records: list[dict]) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import INK, WIDTH, legend

    figure = Figure(figsize=(WIDTH, 4.7), layout="constrained")
    for axes, reading in zip(figure.subplots(1, 2), READINGS, strict=True):
        standard, subgraph, probabilities = _paired_roughness(records, reading)
        handles = _scatter_by_probability(axes, standard, subgraph, probabilities)
        low, high = min(standard.min(), subgraph.min()), max(standard.max(), subgraph.max())
        margin = 0.05 * (high - low)
        ends = [low - margin, high + margin]
        axes.plot(ends, ends, color=INK, linewidth=0.9)
        axes.set(xlim=ends, ylim=ends, box_aspect=1, xlabel="Roughness, standard filter")
        axes.locator_params(nbins=5)
        share = f"smoother in {100 * np.mean(subgraph < standard):.0f} % of draws"
        axes.set_title(f"{'D − W' if reading == 'plain' else 'Normalised'}: {share}")
    figure.axes[0].set_ylabel("Roughness, subgraph filter")
    labels = [f"edge probability {p:g}" for p in np.unique(probabilities)]
    legend(figure, handles, labels, columns=4, handletextpad=0.1)
    return figure


def _paired_roughness(records: list[dict], reading: str) -> list[np.ndarray]:
    """Roughness on the graphs after either filter, and the edge probability, draw by draw."""
    by_filter = {
        matrix: [r for r in records if (r["reading"], r["matrix"]) == (reading, matrix)]
        for matrix in ("standard", "subgraph")
    }
    values = [np.array([r["graph_roughness"] for r in rows]) for rows in by_filter.values()]
    return [*values, np.array([r["edge_probability"] for r in by_filter["standard"]])]


def _scatter_by_probability(axes, x: np.ndarray, y: np.ndarray, probabilities: np.ndarray) -> list:
    from workflow.lib.report.figures.style import colour, marker

    handles = []
    for position, probability in enumerate(np.unique(probabilities)):
        drawn = probabilities == probability
        style = {"color": colour(position), "marker": marker(position), "linewidths": 0}
        axes.scatter(x[drawn], y[drawn], s=11, alpha=0.5, rasterized=True, **style)
        handles.append(axes.scatter([], [], s=26, **style))
    return handles
