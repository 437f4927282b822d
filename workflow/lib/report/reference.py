"""The reference run, to be read on a code host: ``python -m workflow.lib.report.reference``.

Copies what the pages of a run show (tables as Markdown, small pictures, summaries), but no records,
from ``results`` to ``reports/reference``: one folder per experiment that answers to a paper, and a
README with a row per published column; one per question of our own that varies a protocol; the
boards (`reference_boards`) and the kinds of shift (`reference_shifts`). What the run has nothing of
stays as it is. `results.reference` compares a later run with it.
"""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.outputs import figure_names, table_names
from workflow.lib.config.suite import Experiment, Suite, load_suite
from workflow.lib.report.index import Entry, entry
from workflow.lib.report.reference_boards import PAGE, write_boards
from workflow.lib.report.reference_findings import renew_findings
from workflow.lib.report.reference_shifts import PAGE as SHIFTS
from workflow.lib.report.reference_shifts import write_shifts
from workflow.lib.report.reference_words import duration, row, told
from workflow.lib.results.reference import AUDIT, REFERENCE, SUMMARY, read_rows
from workflow.lib.results.run_log import RunLog, read_run_log
from workflow.lib.results.text import count, fixed
from workflow.lib.results.verdicts import RULE

# Of the pictures of an experiment the first is always kept; the folder is to stay small.
MOST_BYTES = 150_000
_BESIDE = "Other pages: "
# Tables that say how an experiment was set up, not what it found.
_SETUP = ("methods", "data", "failures")


def write_reference(suite: Suite, results: Path, out: Path, log: RunLog) -> list[str]:
    """Write the folders of what was run and answers to a paper or varies a protocol; the README.

    Returns
    -------
    list of str
        Their names. The README is left as it is where none of them answers to a paper.
    """
    asked = [*filter(_answers_a_paper, suite.experiments.values()), *_own_questions(suite)]
    found = [entry(one, results) for one in sorted(asked, key=_by_paper)]
    found = [one for one in found if one.tally]
    for one in found:
        _write_experiment(one, results / one.name, out / one.name)
    papers: dict[str, list[Entry]] = {}
    for one in found:
        if one.experiment.answers:
            papers.setdefault(one.experiment.answers["paper"], []).append(one)
    if papers:
        (out / "README.md").write_text(_readme(papers, suite, out, log), encoding="utf-8")
    return [one.name for one in found]


def _answers_a_paper(experiment: Experiment) -> bool:
    return bool(experiment.answers)


def _own_questions(suite: Suite) -> list[Experiment]:
    """What asks at which values of a protocol alignment helps, and answers to no paper."""
    every = suite.experiments.values()
    return [one for one in every if one.varies("protocol") and not one.answers]


def _by_paper(experiment: Experiment) -> tuple[str, str]:
    return (experiment.answers or {}).get("paper", ""), experiment.name


def _write_experiment(one: Entry, results: Path, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    experiment = one.experiment
    pictures = [results / f"figures/{name}.svg" for name in figure_names(experiment)]
    kept = [path for path in pictures[:1] if path.is_file()]
    kept += [p for p in pictures[1:] if p.is_file() and p.stat().st_size <= MOST_BYTES]
    for path in [*kept, *_compared(experiment, results)]:
        shutil.copy(path, out / path.name)
    tables = [results / f"tables/{name}.md" for name in table_names(experiment)]
    tables = [path for path in tables if path.is_file() and path.stem not in _SETUP]
    page = _page(one, [path.name for path in kept], tables)
    (out / "README.md").write_text(page, encoding="utf-8")


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


def _page(one: Entry, pictures: Sequence[str], tables: Sequence[Path]) -> str:
    experiment, answered = one.experiment, one.experiment.answers
    whose = f"{answered['paper']}: {answered['artefact']}" if answered else "Of no paper"
    lines = [
        f"# {experiment.title}",
        f"*{' '.join(experiment.question.split())}*",
        one.headline,
        f"{whose}. {_cost(one)} Made by `make reference` from a run of `snakemake {one.name}`.",
        *(f"![{Path(name).stem.replace('_', ' ')}]({name})" for name in pictures),
    ]
    for path in tables:
        lines += [f"## {path.stem.replace('_', ' ').capitalize()}", path.read_text("utf-8").strip()]
    return "\n\n".join(line for line in lines if line) + "\n"


def _cost(one: Entry) -> str:
    words = "computed" if one.experiment.study else f"records: {one.tally.words}"
    took = f", {duration(one.seconds)}" if one.seconds is not None else ""
    return f"{words.capitalize()}{took}."


def _readme(papers: Mapping[str, list[Entry]], suite: Suite, out: Path, log: RunLog) -> str:
    lines = [
        "# The reference run",
        f"Tables and pictures of the results of one checkout (its last command: `{log.command}`), "
        "made by `make reference`, not by hand. Each experiment has a page in its folder. "
        "`make check-reference` compares later results with these.",
        told(log, {"Failed trials": f"{log.failed:,} of {log.records:,}"}),
        *_beside(suite, out),
        "Percent; † a setting or the reading of the protocol was found by searching against these "
        "numbers. Times are wall seconds of the alignments of all trials, or of the computation, "
        "on a machine that may have had other work.",
    ]
    for paper, entries in papers.items():
        lines += [f"## {paper}", "\n".join(_table(entries, suite, out))]
    return "\n\n".join([*lines, "## Verdicts", RULE]) + "\n"


def _beside(suite: Suite, out: Path) -> list[str]:
    """Links to the pages that this and other targets of the Makefile leave here."""
    pages = {path.name: path.stem for path in out.glob("*.md") if path.name != "README.md"}
    pages |= {one.name: one.name for one in _own_questions(suite) if (out / one.name).is_dir()}
    links = [f"[{name}]({address})" for address, name in sorted(pages.items())]
    return [f"{_BESIDE}{', '.join(links)}."] if links else []


def renew_links(suite: Suite, out: Path) -> None:
    """Let the README that is there name every page beside it."""
    readme = out / "README.md"
    if readme.is_file():
        lines = readme.read_text("utf-8").splitlines()
        (renewed,) = _beside(suite, out) or [""]
        lines = [renewed if line.startswith(_BESIDE) else line for line in lines]
        readme.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _table(entries: Sequence[Entry], suite: Suite, out: Path) -> list[str]:
    """A row per published column; one for an experiment that is compared with no number."""
    heads = ["Artefact", "Experiment", "Column", "Published", "Ours", "Verdict", "Trials", "Time"]
    aligned = [":---"] * 3 + ["---:"] * 2 + [":---"] + ["---:"] * 2 + [":---"]
    lines = [row([*heads, ""]), row(aligned)]
    for one in entries:
        experiment = one.experiment
        trials = "1" if experiment.study else str(suite.n_trials(one.name))
        first = [experiment.answers["artefact"], f"[{one.name}]({one.name})"]
        last = [trials, duration(one.seconds), _picture(experiment, out / one.name)]
        columns = _columns(out / one.name / AUDIT) or [["", "", "", _words(one)]]
        for number, column in enumerate(columns):
            rest = last if number == 0 else ["", "", ""]
            lines.append(row([*(first if number == 0 else ["", ""]), *column, *rest]))
    return lines


def _columns(path: Path) -> list[list[str]]:
    """The compared columns of an audit: name, published, ours, verdict."""
    rows = read_rows(path) if path.is_file() else []
    return [
        [row["Published column"], *map(_percent, (row["Published"], row["Ours"])), row["Verdict"]]
        for row in rows
        if row["Our method"] != "–"
    ]


def _percent(number: str) -> str:
    return fixed(float(number), 1) if number else ""


def _words(one: Entry) -> str:
    """What an experiment that has no published number came to."""
    if one.experiment.study:
        return one.headline
    return one.headline or one.tally.words


def _picture(experiment: Experiment, folder: Path) -> str:
    """The first picture, small, as a link to the page."""
    files = (f"{name}.svg" for name in figure_names(experiment))
    first = next((file for file in files if (folder / file).is_file()), None)
    if first is None:
        return ""
    place = folder.name
    return f'<a href="{place}"><img src="{place}/{first}" width="160" alt="{place}"></a>'


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=Path("results"))
    parser.add_argument("--out", type=Path, default=REFERENCE)
    parser.add_argument("--partial", action="store_true", help="also boards of a part of theirs")
    asked = parser.parse_args(arguments)
    suite = load_suite(PROJECT)
    log = read_run_log(suite, asked.results)
    made = write_boards(suite, asked.results, asked.out, log, asked.partial)
    if made:
        print(f"{asked.out / PAGE}: {count(len(made), 'board')}")
    shifted = write_shifts(suite, asked.results, asked.out, log)
    if shifted:
        print(f"{asked.out / SHIFTS}: {count(len(shifted), 'experiment')}")
    if names := write_reference(suite, asked.results, asked.out, log):
        print(f"{asked.out / 'README.md'}: {count(len(names), 'experiment')}")
    renew_findings(suite, asked.out)
    renew_links(suite, asked.out)
    if not made and not shifted and not names:
        parser.error(
            f"{asked.results} holds no whole board, not all kinds of shift, no experiment of a "
            "paper and none that varies a protocol; run one of these first"
        )


if __name__ == "__main__":
    main()
