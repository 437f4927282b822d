"""Pages of the manual that are made from the code: API, tables of methods and selectors, papers;
and the links of the others to them.
"""

import inspect
import os
import re
import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import domain_alignment
import yaml
from domain_alignment.model_selection import SELECTORS

# Homes of public names, in the order of the manual; the first holds what has no family.
TOP = "domain_alignment"
MODULES = (TOP, *(f"{TOP}.{name}" for name in domain_alignment.FAMILIES), f"{TOP}.persistence")

_API = (
    "Every public name. Classes are imported from ``domain_alignment`` or from their family, "
    "functions from their family. Everything else may change without notice."
)
_INTERFACE = "What all methods share, and a classifier behind an aligner."
_TABLE = "The selectors by their name."
# "K.-R. ", "C. K. I. " and so on, before a family name; a paper up to its year, and what follows.
_INITIALS = re.compile(r"^(?:[A-Z]\.[- ]?)+")
_YEAR = re.compile(r"(.*?\b(?<!:)(?:19|20)\d\d\b)(.*)")
# What the command `compare` chooses by, which is no selector.
_OF_COMPARE = {
    "E. Rosenfeld, S. Garg. (Almost) Provable Error Bounds Under Distribution Shift via "
    "Disagreement Discrepancy. NeurIPS 2023.",
    "S. Garg, S. Balakrishnan, Z. C. Lipton, B. Neyshabur, H. Sedghi. Leveraging unlabeled data to "
    "predict out-of-distribution performance. ICLR 2022, Equation 3.",
}
_ADDRESS = re.compile(r"(?<=\]\()(?!\w+:)[^)#\s]+(?=\))")


def write_pages(staged: Path, root: Path) -> None:
    """Write all generated pages into a copy of the manual's sources.

    Parameters
    ----------
    staged : Path
        The copy.
    root : Path
        The project: its configuration and its reference results.
    """
    write_api(staged / "api")
    generated = staged / "generated"
    generated.mkdir()
    shutil.copy(root / "reports/reference/fma_table1/accuracy.svg", generated)
    methods = yaml.safe_load((root / "config/methods.yaml").read_text(encoding="utf-8"))["methods"]
    texts = {
        "methods": methods_table(methods),
        "selectors": selectors_table(),
        "references": references(methods),
        "boards": boards(root / "reports/reference/findings.md"),
        "version": f"Version {domain_alignment.__version__}.\n",
        "extras": extras(root / "pyproject.toml"),
    }
    for module, names in public_names().items():
        family = module.rpartition(".")[2]
        texts[f"names_{family}"] = ",\n".join(map(_link, names)) + "\n"
    for name, text in texts.items():
        (generated / f"{name}.md").write_text(text, encoding="utf-8")


def turn_links(staged: Path, sources: Path, root: Path) -> None:
    """Turn links to what pages are built from, which a code host shows, into links to these pages.

    Parameters
    ----------
    staged, sources : Path
        A copy of the manual's sources, and these.
    root : Path
        The project.
    """
    gallery = sources / "gallery"
    built = {path: f"examples/{path.stem}" for path in gallery.glob("plot_*.py")}
    built |= {
        gallery: "examples/index",
        root / "methods/domain_alignment/__init__.py": "api/index",
    }

    def turned(link: re.Match, folder: Path) -> str:
        page = built.get((sources / folder / link[0]).resolve())
        return os.path.relpath(page, folder) if page else link[0]

    for path in staged.rglob("*.md"):
        folder = path.parent.relative_to(staged)
        text = path.read_text(encoding="utf-8")
        text = _ADDRESS.sub(lambda link, folder=folder: turned(link, folder), text)
        path.write_text(text, encoding="utf-8")


def public_names() -> dict[str, list[str]]:
    """Full names of everything public, each once, by the module that it is listed under.

    Classes are known by their short address, ``domain_alignment.KEMA``.
    """
    top = import_module(TOP).__all__
    homes = {module: list(import_module(module).__all__) for module in MODULES[1:]}
    of_families = {name for names in homes.values() for name in names}
    listed = {TOP: [name for name in top if name not in of_families], **homes}
    return {
        module: [f"{TOP if name in top else module}.{name}" for name in names]
        for module, names in listed.items()
    }


def write_api(folder: Path) -> None:
    """Write a page for every public name, and one per module that lists its names."""
    (folder / "names").mkdir(parents=True)
    listed = public_names()
    for module, names in listed.items():
        text = _INTERFACE if module == TOP else import_module(module).__doc__
        rows = "".join(f"   * - {_role(name)}\n     - {_summary(name)}\n" for name in names)
        pages = "".join(f"   names/{name}\n" for name in names)
        _write(
            folder / f"{module}.rst",
            "interface" if module == TOP else module.rpartition(".")[2],
            f"{text}\n\n.. currentmodule:: {module}\n\n.. list-table::\n   :widths: 1 2\n\n{rows}\n"
            f".. toctree::\n   :hidden:\n\n{pages}",
        )
        for name in names:
            _write_name(folder / "names" / f"{name}.rst", name)
    pages = "".join(f"   {module}\n" for module in listed)
    _write(folder / "index.rst", "API reference", f"{_API}\n\n.. toctree::\n\n{pages}")


def _write(path: Path, title: str, text: str) -> None:
    path.write_text(f"{title}\n{'=' * len(title)}\n\n{text}\n", encoding="utf-8")


def _write_name(path: Path, name: str) -> None:
    module, _, short = name.rpartition(".")
    directive = f".. currentmodule:: {module}\n\n.. auto{_kind(name)}:: {short}\n"
    if _kind(name) == "data":
        directive += f"   :no-value:\n\n   {_TABLE}\n"
    uses = f".. minigallery:: {name}\n   :add-heading: Examples that use it\n"
    _write(path, short, f"{directive}\n{uses}")


def _object(name: str) -> object:
    module, _, short = name.rpartition(".")
    return getattr(import_module(module), short)


def _kind(name: str) -> str:
    found = _object(name)
    if isinstance(found, type):
        return "exception" if issubclass(found, Exception) else "class"
    return "function" if callable(found) else "data"


def _role(name: str) -> str:
    role = {"class": "class", "exception": "exc", "function": "func", "data": "data"}[_kind(name)]
    return f":{role}:`~{name}`"


def _link(name: str) -> str:
    """The same in Markdown."""
    _, role, target = _role(name).split(":", 2)
    return f"{{{role}}}{target}"


def _summary(name: str) -> str:
    if _kind(name) == "data":
        return _TABLE
    first = inspect.getdoc(_object(name)).partition("\n\n")[0]
    return re.sub(r",? *\[\d\]_", "", " ".join(first.split()))


def methods_table(methods: dict) -> str:
    """Entries of ``config/methods.yaml`` that are no variants, with what their classes declare."""
    header = "| method | class | labels | domains | features | maps back | source |"
    lines, baselines = [header, "|---|---|---|---|---|---|---|"], set()
    for entry in methods.values():
        module, _, name = entry["estimator"].partition(":")
        if "variant_of" in entry or module not in MODULES or name in baselines:
            continue
        if entry["paper"] == "baseline":  # one row for all classifiers behind it
            baselines.add(name)
        can = getattr(domain_alignment, name)(**entry.get("params", {})).capabilities
        cells = [
            entry["label"],
            f"{{class}}`~{TOP}.{name}`",
            can.labels,
            "any" if can.max_domains is None else str(can.max_domains),
            "may differ" if can.heterogeneous else "the same",
            "yes" if can.invertible else "no",
            entry["paper"] + (" (needs pairs)" if can.needs_pairs else ""),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def selectors_table() -> str:
    """The selectors, the labels that they see, and their papers."""
    lines = ["| name | sees labels of | paper |", "|---|---|---|"]
    for selector in SELECTORS.values():
        sees = selector.sees.replace("+", " and ")
        lines.append(f"| `{selector.name}` | {sees} | {selector.paper} |")
    return "\n".join(lines) + "\n"


def references(methods: dict) -> str:
    """Papers that the docstrings of public names and the selectors cite, each once, sorted."""
    cited = {selector.paper for selector in SELECTORS.values()}
    for names in public_names().values():
        for name in names:
            _, _, section = (inspect.getdoc(_object(name)) or "").partition(
                "References\n----------"
            )
            section = re.split(r"\n\n", section)[0]
            cited.update(" ".join(text.split()) for text in re.split(r"\.\. \[\d\]", section)[1:])
    places: dict[str, list[str]] = {}
    for text in sorted(cited | _OF_COMPARE):
        dated = _YEAR.match(text)
        paper, place = dated.groups() if dated else (text.rstrip("."), "")
        places.setdefault(paper, []).append(place.strip(" ,;."))
    by_author = sorted(places, key=lambda paper: _INITIALS.sub("", paper).lower())
    return "".join(f"- {paper}{_listed(places[paper])}\n" for paper in by_author)


def _listed(places: list[str]) -> str:
    """What of a paper is cited."""
    found = "; ".join(place for place in places if place)
    mark = " " if found.startswith("(") else "; " if found.startswith("and ") else ": "
    return f"{mark}{found}." if found else "."


def boards(findings: Path) -> str:
    """What the boards found, if their findings are among the reference results."""
    if not findings.is_file():
        return (
            "Numbers of the boards are not repeated here: `make findings` writes what the boards "
            "that were run say, in sentences with their intervals.\n"
        )
    _, _, text = findings.read_text(encoding="utf-8").partition("\n")
    # The folders that it links to are no pages of the manual.
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", text)
    return f"## What the boards say\n\n{text}\n"


def extras(pyproject: Path) -> str:
    """Extras of the package and what each brings."""
    with pyproject.open("rb") as stream:
        found = tomllib.load(stream)["project"]["optional-dependencies"]
    rows = "".join(f"| `{name}` | {', '.join(what)} |\n" for name, what in found.items())
    return f"| extra | brings |\n|---|---|\n{rows}"
