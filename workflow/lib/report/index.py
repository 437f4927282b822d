"""The index: every experiment of the suite, run or not, by the paper that it answers to.

Made from the small files that a run leaves, so that each run can rewrite it.
"""

import dataclasses
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.html import rendered, written
from workflow.lib.results.tally import Tally, tally
from workflow.lib.storage.artifacts import CorruptArtifact, read_json, read_records, results_sum

UNPUBLISHED = "Beyond the papers"
OWN_DATA = "Answers on own data"
OUTDATED = "Its report is of earlier results: run it again to renew it"
# Pages over several experiments, listed above the table where they are there.
_JOINT = {
    "audit.html": "Audit of the published tables",
    "findings.html": "What the benchmark finds",
    "leaderboard.html": "Methods tuned alike",
    "shifts.html": "Kinds of shift",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """One experiment as the index shows it; what has not run has neither tally nor headline."""

    experiment: Experiment
    tally: Tally | None = None
    headline: str = ""
    verdicts: Sequence[tuple[str, str]] = ()
    seconds: float | None = None
    date: str = ""
    links: Sequence[tuple[str, str]] = ()
    own: str = ""

    @property
    def command(self) -> str:
        """What runs it: of an own folder its configuration is named."""
        config = f"--config own={shlex.quote(self.own)} -- " if self.own else ""
        return f"snakemake --cores 8 {config}{self.name}"

    @property
    def ran(self) -> bool:
        """Whether there is something to tell, be it that its files are damaged."""
        return self.tally is not None or bool(self.headline)

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def page(self) -> str:
        """Address of the report, or of the answer on data of one's own, if there is one."""
        links = dict(self.links)
        return links.get("report") or links.get("answer", "")

    @property
    def finished(self) -> bool:
        """Whether all of its files are there, and of one run: the report is written last."""
        return bool(self.tally and self.page) and self.headline != OUTDATED


def write_index(
    suite: Suite, out: Path | str, names: Iterable[str] | None = None, title: str = "Experiments"
) -> Path:
    """Write a page that lists experiments with their headlines and links.

    Parameters
    ----------
    suite : Suite
    out : path
        The page, in ``results``: the experiments' folders lie beside it.
    names : iterable of str, optional
        The experiments listed; all by default.
    title : str

    Returns
    -------
    Path
    """
    out = Path(out)
    listed = suite.experiments if names is None else names
    papers: dict[str, list[Entry]] = {}
    for experiment in sorted(map(suite.experiments.get, listed), key=_by_paper):
        found = dataclasses.replace(entry(experiment, out.parent), own=_own(suite, experiment))
        papers.setdefault(_paper(experiment), []).append(found)
    if names is None and (left := list(_earlier_answers(suite, out.parent))):
        papers[OWN_DATA] = left
    papers = _run_first(papers)
    boards = suite.tuning.get("boards", {}).items()
    pages = _JOINT | {f"board_{name}.html": f"Board: {board['title']}" for name, board in boards}
    joint = [(page, words) for page, words in pages.items() if (out.parent / page).is_file()]
    joint = [(page, words) for page, words in joint if page != out.name]
    return written(rendered("index.html.j2", title=title, papers=papers, joint=joint), out)


def _own(suite: Suite, experiment: Experiment) -> str:
    """The own folder that an experiment stands in; "" of the project's."""
    file = suite.places.get(("experiments", experiment.name))
    return str(Path(file).parents[1]) if file else ""


def _earlier_answers(suite: Suite, results: Path) -> Iterator[Entry]:
    """Answers on own data whose configuration this run was not given: it lies beside them."""
    for path in sorted(results.glob("*/answer.json")):
        name, config = path.parent.name, path.parent / "config"
        if name in suite.experiments or not (config / "experiments" / f"{name}.yaml").is_file():
            continue
        told = {"headline": _sentence(path), "links": _links(path.parent)}
        yield Entry(_Named(name), **told, own=os.path.relpath(config))


@dataclasses.dataclass(frozen=True)
class _Named:
    """In the place of an experiment that this run does not know."""

    name: str
    answers: None = None

    @property
    def title(self) -> str:
        return self.name


def _sentence(path: Path) -> str:
    try:
        return read_json(path)["sentence"]
    except (CorruptArtifact, OSError, ValueError, LookupError) as error:
        return f"Its results cannot be read: {error}"


def _links(folder: Path) -> list[tuple[str, str]]:
    files = ("report.html", "answer.html", "records.csv", "summary.csv", "study.jsonl")
    return [(Path(f).stem, f"{folder.name}/{f}") for f in files if (folder / f).is_file()]


def _run_first(papers: Mapping[str, list[Entry]]) -> dict[str, list[Entry]]:
    """What was run before what was not, papers and experiments; otherwise in the same order."""
    found = {paper: sorted(own, key=lambda e: not e.ran) for paper, own in papers.items()}
    return dict(sorted(found.items(), key=lambda item: not item[1][0].ran))


def _paper(experiment: Experiment) -> str:
    return experiment.answers["paper"] if experiment.answers else UNPUBLISHED


def _by_paper(experiment: Experiment) -> tuple:
    """Papers by their names, what answers to none at the end; within a paper by name."""
    return (experiment.answers is None, _paper(experiment), experiment.name)


def entry(experiment: Experiment, results: Path) -> Entry:
    """What the files of an experiment say; a damaged one says that it is damaged."""
    folder = results / experiment.name
    try:
        counted = tally(experiment, folder)
        card = _card(folder)
        seconds = _study_seconds(folder) if experiment.study else card.get("seconds")
    except (CorruptArtifact, OSError, ValueError, LookupError) as error:
        return Entry(experiment, headline=f"Its results cannot be read: {error}")
    if counted is None:
        return Entry(experiment)
    answer = folder / "answer.json"
    headline = _sentence(answer) if not card and answer.is_file() else card.get("headline", "")
    return Entry(
        experiment=experiment,
        tally=counted,
        headline=headline,
        verdicts=[tuple(pair) for pair in card.get("verdicts", [])],
        seconds=seconds,
        date=_date(folder),
        links=_links(folder),
    )


def _card(folder: Path) -> dict:
    """What was left beside the report; of a report of earlier results only that it is one."""
    path = folder / "card.json"
    found = read_json(path) if path.is_file() else {}
    if found.get("of") not in (None, results_sum(folder)):
        return {"headline": OUTDATED}
    return found


def _study_seconds(folder: Path) -> float | None:
    path = folder / "study.jsonl"
    return read_records(path)[1].get("seconds") if path.is_file() else None


def _date(folder: Path) -> str:
    """Day and minute of the results, in local time."""
    path = next(p for p in (folder / "summary.csv", folder / "study.jsonl") if p.is_file())
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(path.stat().st_mtime))
