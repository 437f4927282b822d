"""The page of one experiment in the reference run: its folder of ``reports/reference``.

What an experiment's page tells, tables and draws is made from the records anew, so that it follows
today's rules and words where the run is older. The tables and pictures of a study are copied, and
those of records that are gone or of another configuration.
"""

import csv
import dataclasses
import inspect
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from workflow.lib.config.metrics import shown_as
from workflow.lib.config.outputs import figure_names, is_label_curve, suffixes, table_names
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.card import card, write_card
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.figures.style import render, stated
from workflow.lib.report.index import Entry, entry
from workflow.lib.report.reference_words import duration
from workflow.lib.report.tables import scores as score_tables
from workflow.lib.report.tables.model import markdown_text, write_tables
from workflow.lib.report.tables.setup import MissingFile, missing_files
from workflow.lib.report.wording import file_words, protocol_sentences
from workflow.lib.results.audit import audit, notes
from workflow.lib.results.kept_scores import Kept, keep_scores, kept_scores
from workflow.lib.results.load import load_view
from workflow.lib.results.records import FILES, write_results
from workflow.lib.results.reference import AUDIT, SUMMARY, read_rows
from workflow.lib.results.text import SEARCH_MARK, capitalized
from workflow.lib.results.views import ExperimentView, StudyView

# Of the pictures of an experiment the first is always kept; the folder is to stay small.
MOST_BYTES = 150_000
# Tables that say how an experiment was set up, not what it found.
_SETUP = ("methods", "data", "failures")


@dataclasses.dataclass(frozen=True)
class Page:
    """What a page is made from; a copy of results without records has no view."""

    suite: Suite
    entry: Entry
    results: Path
    run: str
    view: ExperimentView | StudyView | None

    @property
    def experiment(self) -> Experiment:
        return self.entry.experiment

    def words(self, name: str) -> str:
        """What a table or a figure is, by the name of its file."""
        return file_words(self.suite, self.experiment, name)

    @property
    def lacks_data(self) -> bool:
        return bool(self.entry.tally.statuses["data_unavailable"])


def write_page(suite: Suite, one: Entry, results: Path, out: Path, run: str) -> Entry:
    """Write the folder of an experiment anew.

    Of a curve over labels the scores are kept too, and a run of some methods renews theirs.

    Parameters
    ----------
    suite : Suite
    one : Entry
    results : Path
        Folder of all experiments.
    out : Path
        Folder of this one's page.
    run : str
        The run that the results are of, in words.

    Returns
    -------
    Entry
        As the page has it: the headline by today's words.
    """
    page = Page(suite, one, results / one.name, run, _view(suite, one.name, results))
    with TemporaryDirectory() as folder:
        if isinstance(page.view, ExperimentView):
            page = _mixed(suite, page, out.parent, Path(folder)) or _anew(page, Path(folder))
        _write(page, out)
    return page.entry


def _write(page: Page, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    pictures = _pictures(page)
    for path in [*pictures.shown, *_compared(page.experiment, page.results)]:
        shutil.copy(path, out / path.name)
    (out / "README.md").write_text(_text(page, pictures), encoding="utf-8")
    if is_label_curve(page.experiment) and (out / SUMMARY).is_file():
        _keep_the_choice(out / SUMMARY, page.experiment.tuning["chosen_by"])


def _anew(page: Page, top: Path) -> Page:
    """The page of a run with its files as they would be made today."""
    if not page.view.is_whole:
        return page
    folder = _shown(page.view, top)
    if (page.results / SUMMARY).is_file():
        shutil.copy(page.results / SUMMARY, folder / SUMMARY)
    told = card(page.view)
    verdicts = [tuple(pair) for pair in told["verdicts"]]
    renewed = dataclasses.replace(
        page.entry, headline=told["headline"], verdicts=verdicts, seconds=told["seconds"]
    )
    return dataclasses.replace(page, entry=renewed, results=folder)


def _mixed(suite: Suite, page: Page, reference: Path, top: Path) -> Page | None:
    """The page of a curve over labels whose methods are of several runs; None where they are not.

    Leaves the scores of this one.
    """
    if not is_label_curve(page.experiment):
        return None
    keep_scores([page.view], reference, page.run)
    # None of another configuration's cells, which no earlier run can complete.
    mixed = [k for k in kept_scores(suite, [page.entry.name], reference) if len(k.runs) > 1]
    return _joined(*mixed, top) if mixed else None


def _joined(kept: Kept, top: Path) -> Page:
    """The page of what several runs left, with its files as a run would leave them."""
    view = kept.view
    folder = _shown(view, top)
    write_results(folder, view.experiment, view.records, view.suite)
    write_card(view, folder / "card.json")
    return Page(view.suite, entry(view.experiment, top), folder, kept.run, view)


def _shown(view: ExperimentView, top: Path) -> Path:
    """A folder with the tables and pictures of an experiment."""
    folder = top / view.name
    (folder / "figures").mkdir(parents=True)
    write_tables(score_tables.all_tables(view).values(), folder / "tables")
    for name, draw in score_figures.drawings(view).items():
        (folder / f"figures/{name}.svg").write_bytes(render(draw, "svg"))
    return folder


def _view(suite: Suite, name: str, results: Path) -> ExperimentView | StudyView | None:
    folder = results / name
    records = "study.npz" if suite.experiments[name].study else FILES[0]
    if not (folder / records).is_file():
        return None
    return load_view(suite, name, folder, results.parent / "resources/domains")


@dataclasses.dataclass(frozen=True)
class _Pictures:
    """Those that a page shows, those too large for it, and why others have nothing to draw."""

    shown: list[Path]
    large: list[Path]
    stated: list[str]


def _pictures(page: Page) -> _Pictures:
    paths = [page.results / f"figures/{name}.svg" for name in figure_names(page.experiment)]
    words = {path: stated(path.read_bytes()) for path in paths if path.is_file()}
    drawn = [path for path in words if not words[path]]
    large = [path for path in drawn if path != paths[0] and path.stat().st_size > MOST_BYTES]
    shown = [path for path in drawn if path not in large]
    return _Pictures(shown, large, [told for told in words.values() if told])


def _compared(experiment: Experiment, results: Path) -> list[Path]:
    """Files that a later run is compared with; what measures times changes from run to run."""
    if not experiment.study:
        files = [results / SUMMARY, results / "tables" / AUDIT]
    elif experiment.study.get("alone"):
        files = []
    else:
        files = [results / f"tables/{name}.csv" for name in table_names(experiment)]
        files = [path for path in files if path.stem not in _SETUP]
    return [path for path in files if path.is_file()]


def _keep_the_choice(summary: Path, chosen_by: str) -> None:
    """Leave the cells that the page of a tuned experiment shows; its scores have all ways."""
    rows = read_rows(summary)
    with open(summary, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row["classifier"] == chosen_by)


def _text(page: Page, pictures: _Pictures) -> str:
    experiment = page.experiment
    parts = [
        f"# {experiment.title}",
        f"*{' '.join(experiment.question.split())}*",
        page.entry.headline,
        _whence(page),
        missing(page.view) if page.lacks_data and isinstance(page.view, ExperimentView) else "",
        *(f"![{page.words(path.stem)}]({path.name})" for path in pictures.shown),
        " ".join(dict.fromkeys(pictures.stated)),
        _left_out(page, pictures.large),
        *_protocol(page.view),
        *_sections(page),
        _notes(page),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _left_out(page: Page, large: Sequence[Path]) -> str:
    """Pictures that are not here, and what draws them."""
    if not large:
        return ""
    sizes = (f"`{path.name}` ({path.stat().st_size / 1000:,.0f} kB)" for path in large)
    return (
        f"Left out, as larger than {MOST_BYTES / 1000:.0f} kB: {', '.join(sizes)}; `snakemake "
        f"{page.entry.name}` draws them in `results/{page.entry.name}/figures`."
    )


def _whence(page: Page) -> str:
    answered = page.experiment.answers
    whose = f"{answered['paper']}: {answered['artefact']}" if answered else "Of no paper"
    return (
        f"{whose}. {_cost(page.entry)} Made by `make reference` ({page.run}); "
        f"`snakemake {page.entry.name}` runs it."
    )


def _cost(one: Entry) -> str:
    words = "computed" if one.experiment.study else f"records: {one.tally.words}"
    took = f", {duration(one.seconds)}" if one.seconds is not None else ""
    return f"{capitalized(words)}{took}."


def _tables(page: Page) -> list[Path]:
    """Files of the tables; of the setup what explains something that the others show."""
    names = [name for name in table_names(page.experiment) if name not in _repeated(page)]
    paths = [page.results / f"tables/{name}.md" for name in names]
    asked = {
        "data": lambda path: page.lacks_data,
        "methods": lambda path: SEARCH_MARK in path.read_text("utf-8"),
        "failures": lambda path: page.entry.tally.n_failed > 0,
    }
    return [p for p in paths if p.is_file() and asked.get(p.stem, lambda path: True)(p)]


def _repeated(page: Page) -> set[str]:
    """Tables of all rows of the target where these are the scored ones."""
    if not isinstance(page.view, ExperimentView) or not page.view.scores_entire_target:
        return set()
    entire = [metric.name for metric in shown_as("table") if metric.rows == "all"]
    return {f"{name}{suffix}" for name in entire for suffix in suffixes(page.experiment).values()}


def _sections(page: Page) -> Iterator[str]:
    """The tables under their headings; a note that stands below an earlier one is not repeated."""
    told: set[str] = set()
    for path in _tables(page):
        head, bar, rest = path.read_text("utf-8").strip().partition("\n\n|")
        rows, *notes = rest.split("\n\n")
        new = [note for note in notes if note not in told]
        told.update(notes)
        yield "\n\n".join([f"## {page.words(path.stem)}", f"{head}{bar}{rows}", *new])


def _notes(page: Page) -> str:
    """The notes of the experiment file, a paragraph of theirs a line."""
    told = notes(page.view).strip() if page.view else ""
    paragraphs = [" ".join(one.split()) for one in told.split("\n\n")]
    return "\n\n".join(["## Notes", *paragraphs]) if told else ""


def _protocol(view: ExperimentView | StudyView | None) -> list[str]:
    """What the paper states and how it was read here, and what the protocol or the study does."""
    if isinstance(view, StudyView):
        told = (inspect.getdoc(view.module) or "").split("\n\n")
        return ["\n\n".join(["## What is computed", *map(markdown_text, told)])]
    if not isinstance(view, ExperimentView):
        return []
    checked = audit(view)
    read = [] if checked is None else _reading(view.experiment.audit["stated"], checked.reading)
    told = markdown_text(view.protocol["description"])
    sentences = "\n".join(f"- {markdown_text(one)}" for one in protocol_sentences(view))
    return [*read, f"## Protocol\n\n{told}\n\n{sentences}"]


def _reading(stated: str, reading: str) -> list[str]:
    parts = {"Stated": stated, "Run here": reading}
    told = [f"*{head}.* {markdown_text(text)}" for head, text in parts.items() if text.strip()]
    return ["\n\n".join(["## Reading of the protocol", *told])] if told else []


def missing(view: ExperimentView) -> str:
    """Files without which rows have no number, and where they may be had, by data set."""
    files: dict[str, list[MissingFile]] = {}
    for file in missing_files(view):
        files.setdefault(file.dataset, []).append(file)
    lacking = view.counts["data_unavailable"]
    lines = [
        f"**Data are missing**: {lacking:,} of {view.n_records:,} records could not be computed "
        "for want of the files below. With a file in place (its entry is in "
        "`config/datasets.yaml`) the same command computes what is missing.",
    ]
    for dataset, own in files.items():
        entry = view.suite.datasets[dataset]
        told = (" ".join(str(entry.get(key) or "").split()) for key in ("description", "source"))
        description, source = told
        lines.append(f"`{dataset}`: {description} Source: {source or 'not known'}.")
        lines.append("\n".join(_file_line(file, entry) for file in own))
    return "\n\n".join(lines)


def _file_line(file: MissingFile, dataset: dict) -> str:
    entry = dataset.get("files", {}).get(file.name, {})
    told = [file.why, *(f"<{url}>" for url in entry.get("urls", []))]
    told += [f"sha256 `{file.sha256}`"] if file.sha256 else []
    return f"- `{file.name}`: {' '.join(filter(None, told))}".removesuffix(": ")
