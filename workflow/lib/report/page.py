"""The report: one self-contained, reproducible HTML file."""

import dataclasses
import inspect
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from markupsafe import Markup

from workflow.lib.config.metrics import shown_as
from workflow.lib.config.outputs import figure_names, suffixes, table_names
from workflow.lib.report.answer import Line, answer_lines, study_lines
from workflow.lib.report.audit_page import page_parts
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.figures.looks import group
from workflow.lib.report.figures.style import INK, PAPER, RULE, render, stated
from workflow.lib.report.html import rendered, written
from workflow.lib.report.tables import scores as score_tables
from workflow.lib.report.tables.audit import audit_column_table, compared_columns, remarks
from workflow.lib.report.tables.model import Table, to_html, with_downloads, without_column
from workflow.lib.report.tables.setup import MissingFile, missing_files
from workflow.lib.report.wording import figure_captions, protocol_sentences, record_sentences
from workflow.lib.results.audit import Audit, audit, notes
from workflow.lib.results.computed import in_sentences
from workflow.lib.results.records import FILES
from workflow.lib.results.text import listed
from workflow.lib.results.views import ExperimentView, StudyView


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure ready to stand in the page; ``stated`` are words that stand in its place."""

    svg: Markup
    caption: str
    stated: str = ""


@dataclasses.dataclass(frozen=True)
class _Part:
    """What the sections of experiments and of studies share; figures and tables by name."""

    view: ExperimentView | StudyView
    anchor: str
    answers: list[Line]
    notes: str
    tables: dict[str, Markup]
    pictures: dict[str, Picture]
    downloads: list[tuple[str, list[str]]]
    environment: list[tuple[str, str]]
    computed_with: list[str]

    @property
    def title(self) -> str:
        return self.view.experiment.title


@dataclasses.dataclass(frozen=True)
class StudySection(_Part):
    """One study as the template shows it."""

    method: str
    parameters: str
    audit: None = None
    study: bool = True


@dataclasses.dataclass(frozen=True)
class Section(_Part):
    """One experiment as the template shows it."""

    protocol: list[str]
    records: list[str]
    audit: Audit | None
    audit_columns: list[Markup]
    remarks: list[tuple[str, list[tuple[str, str]]]]
    missing: list[MissingFile]
    study: bool = False

    @property
    def parts(self) -> set[str]:
        """Sections that have something to show; without a score there are none."""
        view, experiment = self.view, self.view.experiment
        if not view.counts["ok"]:
            return set()
        scores = not experiment.asks_time
        shown = {"results": scores, "audit": bool(self.audit)}
        shown["tests"] = scores and not experiment.vary
        shown["embedding"] = bool(experiment.picture and view.pictured)
        shown["timing"] = any(record["status"] == "ok" for record in view.timing)
        return {name for name, has in shown.items() if has}

    @property
    def groups(self) -> list[str]:
        """Families of the methods, by which the tables can be filtered."""
        return sorted({group(self.view.suite.methods[method]) for method in self.view.methods})

    @property
    def panels(self) -> list[tuple[str, str]]:
        """Classifier label and suffix of the names of its tables and figures."""
        pairs = suffixes(self.view.experiment).items()
        return [(self.view.classifier_label(name), suffix) for name, suffix in pairs]


def build(
    view: ExperimentView | StudyView,
    out: Path | str,
    drawn: Mapping[str, bytes] | None = None,
    tables: Mapping[str, Table] | None = None,
) -> Path:
    """Write the report of an experiment.

    Parameters
    ----------
    view : ExperimentView or StudyView
    out : path
        The HTML file, beside the other files of the experiment.
    drawn : mapping of str to bytes, optional
        SVG of each figure, as `write_all` gives them; drawn by default.
    tables : mapping of str to Table, optional
        As `all_tables` gives them; made by default.

    Returns
    -------
    Path
    """
    return written(page(section(view, drawn, tables)), Path(out))


def build_audit(experiments: list[ExperimentView], out: Path | str) -> Path:
    """Write the audit of all papers, and its tables into a folder of its name.

    ``experiments`` are those with published numbers.
    """
    folder = Path(out).with_suffix("")
    parts = page_parts(experiments, experiments[0].root / "config", folder)
    return written(rendered("audit.html.j2", title="Audit of the published tables", **parts), out)


def page(shown: Section | StudySection) -> str:
    """The HTML source of an experiment's report."""
    return rendered(
        "experiment.html.j2",
        title=shown.title,
        section=shown,
        further_tables=shown_as("table")[1:],
    )


def _as_yaml(params: dict) -> str:
    """Parameters as an experiment file has them; those without parts on one line."""
    text = yaml.safe_dump(params, sort_keys=False, allow_unicode=True, default_flow_style=None)
    return text if params else "none"


def section(
    view: ExperimentView | StudyView,
    drawn: Mapping[str, bytes] | None = None,
    tables: Mapping[str, Table] | None = None,
) -> Section | StudySection:
    """Everything that the report shows of one experiment."""
    if isinstance(view, StudyView):
        return StudySection(
            **_shared(view, drawn, tables),
            answers=study_lines(view),
            method=inspect.getdoc(view.module) or "",
            parameters=_as_yaml(view.experiment.study["params"]),
        )
    checked = audit(view)
    columns = compared_columns(checked) if checked else []
    return Section(
        **_shared(view, drawn, tables),
        answers=answer_lines(view, checked),
        missing=missing_files(view),
        protocol=protocol_sentences(view),
        records=record_sentences(view),
        audit=checked,
        audit_columns=[to_html(audit_column_table(column)) for column in columns],
        remarks=_joint_remarks(checked) if checked else [],
    )


def _shared(
    view: ExperimentView | StudyView,
    drawn: Mapping[str, bytes] | None,
    tables: Mapping[str, Table] | None,
) -> dict:
    anchor = view.name.replace("_", "-")
    if drawn is None:
        drawn = {name: render(d, "svg") for name, d in score_figures.drawings(view).items()}
    return {
        "view": view,
        "anchor": anchor,
        "notes": notes(view),
        "tables": {
            name: _marked(_for_page(table), anchor)
            for name, table in (tables or score_tables.all_tables(view)).items()
        },
        "pictures": {
            name: Picture(
                inline_svg(source, f"{anchor}-{name}"),
                figure_captions(view, name),
                stated(source),
            )
            for name, source in drawn.items()
        },
        "downloads": downloads(view),
        "environment": environment_rows(view.environment),
        "computed_with": in_sentences(view.computed_with, view.timed_with),
    }


def _for_page(table: Table) -> Table:
    """Without the columns that are empty, and without an audit's remarks: they stand below it."""
    for place, column in reversed(list(enumerate(table.columns))):
        empty = not any(row[place].text for row in (*table.rows, *table.footer))
        if empty or (table.name == "audit_summary" and column.label == "Remarks"):
            table = without_column(table, column.label)
    return _without_absent_columns(table) if table.methods == "rows" else table


def _without_absent_columns(table: Table) -> Table:
    """With a sentence in the place of each column that holds one reason and no number."""
    gone: dict[str, list[str]] = {}
    for place, column in enumerate(table.columns):
        cells = {(row[place].text, row[place].kind) for row in table.rows}
        if len(cells) == 1 and (found := cells.pop())[1] == "absent":
            gone.setdefault(found[0], []).append(column.label)
    for label in itertools.chain.from_iterable(gone.values()):
        table = without_column(table, label)
    told = [f"No column, {reason}: {listed(labels)}." for reason, labels in gone.items()]
    return dataclasses.replace(table, notes=(*table.notes, *told))


def _joint_remarks(checked: Audit) -> list[tuple[str, list[tuple[str, str]]]]:
    """Remarks on the columns, those with the same remarks grouped."""
    joint: dict[tuple, list[str]] = {}
    for column in checked.columns:
        joint.setdefault(tuple(remarks(column)), []).append(column.label)
    return [(", ".join(labels), list(said)) for said, labels in joint.items() if said]


def _marked(table: Table, anchor: str) -> Markup:
    """A table with its place in the page, and its files below."""
    shown = with_downloads(table, "tables")
    return Markup("<div id='{}-table-{}'>{}</div>").format(anchor, table.name, shown)


# The figure's own patch, the first, up to its colour.
_GROUND = re.compile(r'(<g id="patch_1">\s*<path d="[^"]*" style="fill: )#ffffff')


def inline_svg(source: bytes, prefix: str) -> Markup:
    """An SVG for use inside a page: unique ids, its ground and ink, scaled to its width."""
    text = source.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = _GROUND.sub(r"\1none", text, count=1)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    # The neutral colours follow the light or dark scheme of the page.
    for colour, variable in ((INK, "ink"), (RULE, "line"), (PAPER, "paper")):
        text = text.replace(colour, f"var(--{variable})")
    width = re.search(r'width="([\d.]+)pt"', text).group(1)
    text = re.sub(
        r'<svg ([^>]*?)height="[\d.]+pt"',
        rf'<svg aria-hidden="true" focusable="false" style="max-width:{width}pt" \1',
        text,
        count=1,
    )
    return Markup(re.sub(r'(<svg [^>]*?)\swidth="[\d.]+pt"', r"\1", text, count=1))


def downloads(view: ExperimentView | StudyView) -> list[tuple[str, list[str]]]:
    """Files beside the report, by kind, named relative to it."""
    names = {
        "Records": ["study.jsonl", "study.npz"]
        if view.experiment.study
        else [*FILES, "SHA256SUMS"],
        "Tables": [
            f"tables/{name}.{ending}"
            for name in table_names(view.experiment)
            for ending in ("csv", "md", "tex")
        ],
        "Figures": [
            f"figures/{name}.{ending}"
            for name in figure_names(view.experiment)
            for ending in ("svg", "pdf")
        ],
    }
    return [(kind, files) for kind, files in names.items() if files]


def environment_rows(environment: Mapping) -> list[tuple[str, str]]:
    """The environment as (name, value) rows, without unknown values."""
    rows = [(name.replace("_", " "), _value(value)) for name, value in environment.items()]
    return [(name, value) for name, value in rows if value]


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        known = {name: part for name, part in value.items() if part is not None}
        changed = ["with local changes"] if known.pop("dirty", False) else []
        return ", ".join([*(f"{name} {_value(part)}" for name, part in known.items()), *changed])
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_value(part) for part in value)
    return "" if value is None else str(value)
