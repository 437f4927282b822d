"""Random images of two domains of digits, drawn from the features that the methods see.

Each domain's features are its pixels, row by row. Images are sampled without replacement, with one
seed per domain, and laid out in that order.

The paper's Fig. 4 says that its MNIST images have 48 x 48 pixels and its USPS images 16 x 16, and
calls the features of the experiment SURF. The released features are 256 pixels for both, so both
montages show 16 x 16.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from workflow.lib.report.tables.model import Table, TableColumn, number_cell
from workflow.lib.results.text import count, fixed, listed
from workflow.studies.common._cells import word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "montage": "Random images of each domain, drawn from its features: one pixel per feature, on "
    "the scale of the features (white is the smallest value of the two domains)."
}
TABLES = ("digits",)

# Images beside each other, and pixels between them.
N_COLUMNS, GAP = 8, 2


def run(
    domains: Mapping[str, tuple[np.ndarray, np.ndarray]], n_images: int = 48, seed: int = 0
) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Draw the images of each domain; one record per domain says what it holds."""
    records, arrays = [], {}
    for position, (name, (X, y)) in enumerate(domains.items()):
        if X.shape[0] < n_images:
            raise ValueError(f"{name}: has {X.shape[0]} samples; n_images is {n_images}")
        rows = np.random.default_rng([seed, position]).permutation(X.shape[0])[:n_images]
        images = as_images(name, X[rows])
        counts = np.bincount(y, minlength=10)
        records.append(
            {
                "domain": name,
                "samples": int(X.shape[0]),
                "pixels": f"{images.shape[1]} × {images.shape[2]}",
                "least": float(X.min()),
                "largest": float(X.max()),
                "fewest_per_class": int(counts.min()),
                "most_per_class": int(counts.max()),
                "shown": n_images,
                "classes_shown": int(np.unique(y[rows]).size),
            }
        )
        arrays |= {f"{name}/images": images, f"{name}/rows": rows, f"{name}/labels": y[rows]}
    return records, arrays


def as_images(name: str, X: np.ndarray) -> np.ndarray:
    """Rows of pixels as square images."""
    side = round(X.shape[1] ** 0.5)
    if side**2 != X.shape[1]:
        raise ValueError(f"{name}: {X.shape[1]} features are no square image; choose other domains")
    return np.asarray(X).reshape(len(X), side, side)


_COLUMNS = {
    "samples": "Samples",
    "pixels": "Pixels",
    "least": "Smallest value",
    "largest": "Largest value",
    "fewest_per_class": "Fewest per class",
    "most_per_class": "Most per class",
    "shown": "Shown",
    "classes_shown": "Classes shown",
}


def finding(records: list[dict], arrays: Mapping) -> str:
    """What the features of each domain hold, and how much of it is shown."""
    held = [
        f"{_label(r['domain'])} is {count(r['samples'], 'image')} of {r['pixels']} pixels with "
        f"values from {fixed(r['least'], 2)} to {fixed(r['largest'], 2)} ({r['shown']} are shown, "
        f"of {count(r['classes_shown'], 'class')})"
        for r in records
    ]
    return f"To the methods, {listed(held)}."


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = [TableColumn("Domain")]
    columns += [TableColumn(text, numeric=key != "pixels") for key, text in _COLUMNS.items()]
    rows = []
    for record in records:
        cells = [
            word(record[key])
            if key == "pixels"
            else number_cell(record[key], 2 if key in ("least", "largest") else 0)
            for key in _COLUMNS
        ]
        rows.append((word(_label(record["domain"])), *cells))
    caption = "The domains of the montage, and how many of their images are shown."
    return {"digits": Table("digits", caption, tuple(columns), tuple(rows))}


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {"montage": lambda: _montage_figure(records, arrays)}


def _montage_figure(records: list[dict], arrays: Mapping) -> "Figure":
    from matplotlib.figure import Figure

    from workflow.lib.report.figures.style import RULE, WIDTH

    sheets = [montage(arrays[f"{record['domain']}/images"]) for record in records]
    low = min(np.nanmin(sheet) for sheet in sheets)
    high = max(np.nanmax(sheet) for sheet in sheets)
    shape = sheets[0].shape
    height = WIDTH / len(sheets) * shape[0] / shape[1] + 0.8
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(sheets)))
    for axes, sheet, record, letter in zip(panels, sheets, records, "abcdefgh", strict=False):
        style = {"cmap": "gray_r", "vmin": low, "vmax": high, "interpolation": "nearest"}
        image = axes.imshow(sheet, **style)
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"({letter}) {_label(record['domain'])}, {record['pixels']} pixels")
        for spine in axes.spines.values():
            spine.set(visible=True, color=RULE)
    bar = figure.colorbar(image, ax=list(panels), location="bottom", aspect=60, shrink=0.5)
    bar.set_label("Feature value (pixel intensity, no unit)")
    return figure


def montage(images: np.ndarray) -> np.ndarray:
    """Images row by row on one sheet, NaN between them."""
    n_rows = -(-len(images) // N_COLUMNS)
    height, width = images.shape[1] + GAP, images.shape[2] + GAP
    sheet = np.full((n_rows * height + GAP, N_COLUMNS * width + GAP), np.nan)
    for number, image in enumerate(images):
        top, left = (number // N_COLUMNS) * height + GAP, (number % N_COLUMNS) * width + GAP
        sheet[top : top + image.shape[0], left : left + image.shape[1]] = image
    return sheet


def _label(domain: str) -> str:
    name = domain.partition(".")[2]
    return name.upper() if name in ("mnist", "usps") else name
