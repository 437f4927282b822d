"""Smoothness of a signal on a made-up graph, before and after a low-pass filter.

A signal of low frequency changes little along an edge. The filter keeps the eigenvectors of
the Laplacian whose eigenvalue is below a threshold; the smoothness is x'Lx / x'x.

Nothing here is an experiment: the module stands in for those of workflow/studies.
"""

import numpy as np

from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell

FIGURES = {
    "filtering": "The signal before and after the filter, node by node.",
    "smoothness_by_size": "Smoothness against the number of nodes; the line is the mean.",
}
TABLES = ("smoothness",)


def run(domains, n_nodes=20, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        {"n_nodes": n, "step": step, "smoothness": float(rng.random() / (1 + (step == "after")))}
        for n in (n_nodes, 2 * n_nodes, 4 * n_nodes)
        for step in ("before", "after")
    ]
    return rows, {"signal": rng.standard_normal((2, n_nodes))}


def figures(records, arrays):
    return {
        "filtering": lambda: _filtering(arrays["signal"]),
        "smoothness_by_size": lambda: _by_size(records),
    }


def _filtering(signal):
    from workflow.lib.report.figures import style

    figure, panels = style.small_multiples(2, columns=2, height=2.4, sharey=True)
    for position, (axes, values) in enumerate(zip(panels, signal, strict=True)):
        axes.plot(values, color=style.colour(position), marker=style.marker(position))
        axes.set_title(("before", "after")[position])
        axes.set(xlabel="Node", ylabel="Signal")
        style.ruled(axes, "y")
    return figure


def _by_size(records):
    from matplotlib.figure import Figure

    from workflow.lib.report.figures import style

    figure = Figure(figsize=(style.WIDTH, 2.8), layout="constrained")
    axes = figure.subplots()
    for position, step in enumerate(("before", "after")):
        points = [(r["n_nodes"], r["smoothness"]) for r in records if r["step"] == step]
        look = {"color": style.colour(position), "marker": style.marker(position)}
        axes.plot(*zip(*points, strict=True), label=step, **look)
    sizes = sorted({r["n_nodes"] for r in records})
    style.setting_axis(axes, sizes, "log", style.WIDTH - 1)
    axes.set(xlabel="Number of nodes (log scale)", ylabel="Smoothness")
    style.ruled(axes, "y")
    style.legend(figure, *axes.get_legend_handles_labels(), columns=2)
    return figure


def tables(records, arrays):
    rows = tuple(
        (TableCell(str(r["n_nodes"]), r["n_nodes"]), TableCell(r["step"]), smooth(r))
        for r in records
    )
    columns = (TableColumn("Nodes", True), TableColumn("Signal"), TableColumn("Smoothness", True))
    return {"smoothness": Table("smoothness", "Smoothness of the signal.", columns, rows)}


def smooth(record):
    return number_cell(record["smoothness"], 3)
