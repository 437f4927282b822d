"""Capabilities of every method, as the methods declare them.

One row per entry of config/methods.yaml: the entry is built with its parameters and asked for its
capabilities. Tests verify the declarations on every entry (tests/methods/test_contract.py and
test_taxonomy.py of this study): a method that declares different dimensions is given such domains,
one that declares linearity must map the midpoint of two samples to the midpoint of their images,
and so on. "Invertible" means that a map back to features exists, not that it is accurate.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import yaml

from workflow.lib.config.addresses import home
from workflow.lib.report.tables.model import Table, TableCell, TableColumn
from workflow.lib.results.text import count
from workflow.studies.common._cells import word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: dict[str, str] = {}
TABLES = ("taxonomy", "paper")

METHODS_FILE = Path(__file__).parents[3] / "config/methods.yaml"
READS = (METHODS_FILE,)
ENTRIES = yaml.safe_load(METHODS_FILE.read_text(encoding="utf-8"))["methods"]
MODULES = tuple(sorted({home(entry["estimator"]) for entry in ENTRIES.values()}))
PROPERTIES = {
    "more_than_two": ("Many domains", "more than two domains, aligned at once"),
    "unpaired": ("Unpaired", "row i of one domain need not be the object of row i of another"),
    "heterogeneous": ("Other dimensions", "domains may differ in their features"),
    "nonlinear": ("Nonlinear", "the map from features to the common space is nonlinear"),
    "embeds_new_samples": ("New samples", "samples that were not in the fit can be mapped"),
    "invertible": ("Invertible", "the method offers a map from the common space back to features"),
}
# Methods of the paper's Table 1 in its order: the entries that implement them, and a remark.
PAPER = (
    ("PCA", ("pca",), ""),
    ("KPCA", ("kernel_pca",), ""),
    ("TCA", ("tca", "tca_dual", "tca_rbf"), ""),
    (
        "CCA",
        (),
        "domain_alignment:CCAAligner; no task here has paired samples",
    ),
    ("kCCA", ("kernel_cca",), "here samples of a class are the pairs; KernelCCA takes paired rows"),
    ("MA", ("sma",), "alignment by correspondences; KEMA takes such pairs too"),
    (
        "GM",
        (),
        "graph matching is not implemented: its source is an abstract without a formula, and the "
        "paper reports no result",
    ),
    ("OT-lab", ("ot_lab",), ""),
    ("SGF", ("sgf",), ""),
    ("GFK", ("gfk", "gfk_pls"), ""),
    ("SSTCA", ("sstca", "sstca_toolbox"), ""),
    ("JDA", ("jda", "jda_normalised"), ""),
    ("MMDT", ("mmdt",), ""),
    ("SSMA", ("ssma",), ""),
    ("KEMA", ("kema_linear", "kema_rbf", "kema_int"), ""),
)
LABELS = {"none": "none", "source": "source", "source+target": "source and target"}
ORDER = ("none", "source", "source+target")


def run(domains: Mapping) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Capabilities of every entry, in the order of the file."""
    import dataclasses

    from workflow.lib.config.addresses import resolve_estimator

    records = []
    for name, entry in ENTRIES.items():
        estimator = resolve_estimator(entry["estimator"])(**entry.get("params", {}))
        able = dataclasses.asdict(estimator.capabilities)
        limit = able.pop("max_domains")
        records.append(
            {
                "method": name,
                "label": entry["label"],
                "paper": entry["paper"],
                **able,
                "more_than_two": limit is None or limit > 2,
                "unpaired": not able["needs_pairs"],
            }
        )
    return records, {}


def finding(records: list[dict], arrays: Mapping) -> str:
    """How many methods may see which labels, align many domains, and need equal features."""
    used = {labels: sum(r["labels"] == labels for r in records) for labels in ORDER}
    many, other = (sum(r[name] for r in records) for name in ("more_than_two", "heterogeneous"))
    both = sum(r["more_than_two"] and r["heterogeneous"] for r in records)
    return (
        f"Of {count(len(records), 'method')}, {used['none']} are fitted without labels, "
        f"{used['source']} may see those of the source and {used['source+target']} those of source "
        f"and target; a classifier on top is trained as the protocol says. {many} align more than "
        f"two domains at once, {other} take domains with different features, {both} do both; the "
        f"other {len(records) - other} need the same features."
    )


def tables(records: list[dict], arrays: Mapping) -> dict[str, Table]:
    columns = [TableColumn("Method"), TableColumn("Labels it may see")]
    columns += [TableColumn(label, title=title) for label, title in PROPERTIES.values()]
    # Methods without labels first, as in the paper; a stable sort keeps the order of the file.
    ordered = sorted(records, key=lambda record: ORDER.index(record["labels"]))
    rows = tuple(
        (
            word(record["label"]),
            word(LABELS[record["labels"]]),
            *(_mark(record[name]) for name in PROPERTIES),
        )
        for record in ordered
    )
    caption = f"Properties of the {len(records)} methods of config/methods.yaml, as declared."
    notes = (
        *(f"{label}: {title}." for label, title in PROPERTIES.values()),
        "Labels: those that the alignment uses; without adaptation, only the classifier uses them.",
    )
    taxonomy = Table("taxonomy", caption, tuple(columns), rows, notes=notes)
    return {"taxonomy": taxonomy, "paper": _paper_table(records)}


def _paper_table(records: list[dict]) -> Table:
    by_name = {record["method"]: record for record in records}
    rows = []
    for label, entries, remark in PAPER:
        found = [by_name[name] for name in entries]
        marks = [_marks([record[name] for record in found]) for name in PROPERTIES]
        uses = ", ".join(dict.fromkeys(LABELS[record["labels"]] for record in found))
        here = ", ".join(record["label"] for record in found)
        rows.append((word(label), word(here or "–"), word(uses or "–"), *marks, word(remark)))
    columns = ("In the paper", "Here", "Labels it may see")
    return Table(
        "paper",
        "The methods of the paper's Table 1 and their counterparts here.",
        (
            *(TableColumn(column) for column in columns),
            *(TableColumn(label, title=title) for label, title in PROPERTIES.values()),
            TableColumn("Remark"),
        ),
        tuple(rows),
        notes=("The marks describe the methods here; those of the paper are not transcribed.",),
    )


def _marks(able: list[bool]) -> TableCell:
    """One mark for entries that agree, "some" for those that do not, nothing for none."""
    if len(set(able)) > 1:
        return TableCell("some")
    return _mark(able[0]) if able else TableCell("")


def _mark(able: bool) -> TableCell:
    return TableCell("✓") if able else TableCell("–")


def figures(records: list[dict], arrays: Mapping) -> "dict[str, Callable[[], Figure]]":
    return {}
