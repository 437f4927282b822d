"""The boards of the reference run: from the records alone, nothing of boards not run whole."""

import csv
import dataclasses
import functools
import re
import shutil
import tempfile
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.board_example import GAINS, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.report.reference import renew_head
from workflow.lib.report.reference_boards import Cost, renew_boards, write_boards
from workflow.lib.report.reference_findings import renew_findings
from workflow.lib.report.reference_words import duration
from workflow.lib.results.board import Board
from workflow.lib.results.records import write_results
from workflow.lib.results.reference import compare
from workflow.lib.results.run_log import RunLog
from workflow.lib.storage.artifacts import CorruptArtifact
from workflow.lib.trials.evaluate import COLUMNS

pytestmark = pytest.mark.whole_run

LOG = RunLog("snakemake leaderboard", 0.0, 9000.0, 2, 1234, 17000.0, 512.3, 900.4, 40, 1)
ALONE, NAME = "tuned_several_sources", "board_several_sources"
FEW, GAS = "tuned_few_labels_coil", "tuned_few_labels_gas"
FEW_NAME = "board_few_target_labels"
CLOCK = "The runs that have a section took"


def files_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def write_files(files, folder):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def results_of(view):
    """Files that `write_results` leaves of made-up records."""
    records = view.records.reindex(columns=list(COLUMNS)).astype(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        write_results(Path(folder), view.experiment, records, view.suite)
        return files_of(Path(folder))


@functools.cache
def usual(name):
    """A view and its files, to be read alone."""
    view = tuned_view(name)
    return view, results_of(view)


def made(tmp_path, *more, **changed):
    """Results of two boards of one experiment; the second has no others here, unless named."""
    views = []
    for name in (ALONE, FEW, *more):
        view = tuned_view(name, **changed) if changed else usual(name)[0]
        write_files(results_of(view) if changed else usual(name)[1], tmp_path / "results" / name)
        views.append(view)
    known = {view.name: view.experiment for view in views}
    others = {
        name: one
        for name, one in views[0].suite.experiments.items()
        if not name.startswith("tuned_few_labels")
    }
    suite = dataclasses.replace(views[0].suite, experiments={**others, **known})
    return dataclasses.replace(views[0], suite=suite)


def one_made(tmp_path, **changed):
    """The same of one board, where one is enough."""
    view = made(tmp_path, **changed)
    shutil.rmtree(tmp_path / "results" / FEW)
    return view


def written(view, tmp_path, out="reference"):
    found = write_boards(view.suite, tmp_path / "results", tmp_path / out, LOG)
    return found, tmp_path / out


@functools.cache
def usual_written():
    """What is written of the usual results into an empty folder: names of boards, and files."""
    with tempfile.TemporaryDirectory() as folder:
        names, out = written(made(Path(folder)), Path(folder))
        return names, files_of(out)


def stand(tmp_path):
    """The usual results, and what was written of them."""
    write_files(usual_written()[1], tmp_path / "reference")
    return made(tmp_path), tmp_path / "reference"


def test_a_board_that_was_run_whole_has_a_folder_and_a_line(tmp_path):
    view, out = stand(tmp_path)
    names, _ = usual_written()
    assert names == ["few_target_labels", "several_sources"]
    folder = out / NAME
    assert {path.suffix for path in folder.iterdir()} == {".md", ".csv", ".svg"}
    page = (folder / "README.md").read_text()
    assert (
        "*Does alignment help, when everything is tuned alike?* Surely: over 12 tasks of 1 data set"
        in page
    )
    for target in re.findall(r"\]\(([^)]+)\)", page):
        assert (folder / target).is_file()
    assert "what was tried stands below, under “Settings found by searching”." in page
    tried = page.partition("## Settings found by searching\n\n")[2].partition("\n\n## ")[0]
    assert "- TCA, n_components = 20: 20 and 30 dimensions" in tried
    listed = (out / "boards.md").read_text()
    n_trials = 3 * len(view.experiment.tasks) * len(GAINS)
    assert f"(board_several_sources) | 1 | 12 | {n_trials} | 0 |" in listed
    assert "| Board | Data sets | Tasks | Records | Failed | Time of all records |" in listed
    for text in (page, listed):
        for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
            assert len({len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_a_run_in_several_sittings_is_told_without_its_pauses_and_with_its_commit(tmp_path):
    view, out = one_made(tmp_path), tmp_path / "reference"
    log = dataclasses.replace(LOG, busy_seconds=5400.0, sittings=2, commit="c57b3673a4")
    write_boards(view.suite, tmp_path / "results", out, log)
    listed = (out / "boards.md").read_text()
    assert "| From first to last | 2.5 h on 2 cores" in listed
    assert "| Time in which some job ran | 90 min, in 2 sittings, with " in listed
    assert "| Commit | c57b3673a4 |" in listed
    alone = duration(Cost.of(board_of("no_target_labels", [view])).seconds)
    trials = len(view.experiment.tasks) * 3
    told = f" records of {trials} trials, added up {alone} of one process. {CLOCK} 90 min by the "
    assert f"{told}clock, pauses left out.\n" in listed
    page = (out / NAME / "README.md").read_text()
    assert "run that ended 1970-01-01 02:30 UTC (commit c57b3673a4)" in page


def test_nothing_is_written_where_no_board_was_run(tmp_path):
    (tmp_path / "results").mkdir()
    assert written(tuned_view(), tmp_path)[0] == []
    assert not (tmp_path / "reference").exists()


def test_a_stale_file_goes_and_a_damaged_record_is_named(tmp_path):
    view = one_made(tmp_path)
    stale = tmp_path / "reference" / NAME / "stale.csv"
    stale.parent.mkdir(parents=True)
    stale.write_text("of an earlier run")
    written(view, tmp_path)
    assert not stale.exists()
    with open(tmp_path / "results" / ALONE / "records.csv", "a") as stream:
        stream.write("1,typed\n")
    with pytest.raises(CorruptArtifact, match=ALONE):
        written(view, tmp_path)


def test_a_board_is_made_of_what_several_runs_left(tmp_path):
    view, out = made(tmp_path, GAS), tmp_path / "out"
    results = tmp_path / "results"
    whole = tmp_path / "whole"
    assert write_boards(view.suite, results, whole, LOG) == ["few_target_labels", "several_sources"]
    for one in (ALONE, GAS):
        shutil.move(results / one, tmp_path / one)
    assert write_boards(view.suite, results, out, LOG) == []
    assert [path.name for path in out.iterdir()] == ["scores"]
    shutil.move(results / FEW, tmp_path / FEW)
    for one in (ALONE, GAS):
        shutil.move(tmp_path / one, results / one)
    later = dataclasses.replace(LOG, end=18000.0)
    names = write_boards(view.suite, results, out, later)
    assert names == ["few_target_labels", "several_sources"]
    for path in (whole / FEW_NAME).iterdir():
        text, alike = (folder / FEW_NAME / path.name for folder in (out, whole))
        if path.suffix == ".csv":
            assert text.read_bytes() == alike.read_bytes()
    page = (out / FEW_NAME / "README.md").read_text()
    assert f"(`{FEW}`), run that ended 1970-01-01 02:30 UTC" in page
    assert f"(`{GAS}`), run that ended 1970-01-01 05:00 UTC" in page
    assert page == (whole / FEW_NAME / "README.md").read_text().replace(
        f"(`{GAS}`), run that ended 1970-01-01 02:30", f"(`{GAS}`), run that ended 1970-01-01 05:00"
    )
    listed = (out / "boards.md").read_text()
    gone = Cost.of(board_of("few_target_labels", [tuned_view(FEW)])).seconds
    earlier = "In 1 experiment records are of other runs, which have no section; these, "
    earlier += f"added up, took {duration(gone)}.\n\n"
    assert f" of one process. {CLOCK} 5.0 h by the clock, pauses left out. {earlier}" in listed
    assert f"({FEW_NAME}), 1 of its 2 experiments of other runs | 2 |" in listed


def test_a_run_of_some_methods_renews_those_and_says_so(tmp_path):
    view, out = stand(tmp_path)
    again = view.records[view.records["method"] == "coral"]
    write_results(
        tmp_path / "results" / ALONE,
        view.experiment,
        again.reindex(columns=list(COLUMNS)).astype(COLUMNS),
        view.suite,
    )
    later = dataclasses.replace(LOG, end=18000.0)
    write_boards(view.suite, tmp_path / "results", out, later)
    text = (out / "boards.md").read_text()
    assert f"[Several sources]({NAME}), in 1 experiment only CORAL of this run |" in text
    n_trials = 3 * len(GAINS) * len(view.experiment.tasks)
    assert f" | {n_trials} | " in text
    page = (out / NAME / "README.md").read_text()
    assert re.search(rf"`{ALONE}`\), run that ended .*; CORAL of the run that ended", page)


def test_a_board_that_compares_nothing_says_so(tmp_path):
    every = {(name, None, None): range(9) for name in ("source_only", "pca")}
    _, out = written(made(tmp_path, lacking=every), tmp_path)
    for page in (out / "boards.md", out / NAME / "README.md"):
        assert "Nothing could be compared: none of pca and source_only" in page.read_text()


def test_cost_counts_records_that_could_run():
    view = tuned_view(ALONE, lacking={("tca", None, None): [1]})
    mine = view.records["method"] == "pca"
    view.records.loc[mine, "status"] = "not_applicable"
    cost = Cost.of(Board("several_sources", "", "circular", [view]))
    assert (cost.records, cost.failed) == (3 * 12 * 3, 12)
    chosen = view.records[(view.records["classifier"] == "circular") & ~mine]
    assert cost.seconds == pytest.approx(chosen["seconds"].sum())


def changed(path, row, label, value):
    rows = list(csv.DictReader(path.read_text().splitlines()))
    rows[row][label] = value
    with open(path, "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_later_run_is_compared_by_its_tables_but_for_measured_columns(tmp_path):
    view, old = stand(tmp_path)
    _, new = written(view, tmp_path, "new")
    assert compare(old, new) == {FEW_NAME: [], NAME: []}
    board = new / NAME / "board.csv"
    label = next(csv.DictReader(board.read_text().splitlines()))
    lines = board.read_text().splitlines()
    board.write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")  # the order of rows is no matter
    changed(board, -1, "Seconds", "99")
    assert compare(old, new) == {FEW_NAME: [], NAME: []}
    changed(board, -1, "Accuracy", str(float(label["Accuracy"]) + 0.4))
    changed(new / NAME / "board_details.csv", 0, "Chosen most often", "something else")
    near = compare(old, new)[NAME]
    assert [one.beyond for one in near] == [False, False]
    changed(board, -1, "Accuracy", str(float(label["Accuracy"]) + 0.6))
    (far, _) = compare(old, new)[NAME]
    assert far.beyond
    assert f"board.csv, {label['Method']}, Accuracy" in far.words
    changed(board, -1, "Accuracy", "")
    assert compare(old, new)[NAME][0].beyond
    (new / NAME / "selectors.csv").unlink()
    assert "selectors.csv: not in the new run" in [one.words for one in compare(old, new)[NAME]]


@pytest.mark.parametrize(
    ("name", "label", "old_value", "new_value", "beyond"),
    [
        ("board", "Harms", "0.4285714286", "0.9", True),
        ("board", "Harms", "0.4285714286", "0.48", True),
        ("board", "Harms", "0.4285714286", "0.4523809524", False),
        ("board", "p", "0.04", "0.06", True),
        ("board", "p", "0.3", "0.001", True),
        ("board", "p", "1", "0.501", False),
        ("board", "Gain 95 % interval low", "-3.1", "9.5", False),
        ("board_choices", "p", "0.04", "0.3961400037", True),
        ("board_details", "Log loss", "0.8980099292", "1.35", True),
        ("board_details", "Log loss", "0.8980099292", "0.95", True),
        ("board_details", "Log loss", "0.8980099292", "0.93", False),
        ("board_details", "Effect size", "0.1847313376", "0.6", True),
        ("board_details", "Effect size", "0.1847313376", "0.3", True),
        ("board_details", "Effect size", "0.1847313376", "0.25", False),
        ("board_details", "Calibration error", "20.27997396", "20.7", False),
    ],
)
def test_numbers_that_are_no_points_have_bounds_in_their_own_units(
    tmp_path, name, label, old_value, new_value, beyond
):
    """The labels are those of the tables: another name of a column fails here."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, value in ((old, old_value), (new, new_value)):
        write_files(usual_written()[1], folder)
        path = folder / NAME / f"{name}.csv"
        assert label in next(csv.reader(path.read_text().splitlines()))
        changed(path, 0, label, value)
    (one,) = compare(old, new)[NAME]
    assert one.words.endswith(f", {label}: {old_value} -> {new_value}")
    assert one.beyond == beyond


def test_a_reference_that_compared_nothing_says_so(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name / NAME).mkdir(parents=True)
    (told,) = compare(tmp_path / "old", tmp_path / "new")[NAME]
    assert "compared nothing" in told.words


def test_results_of_another_folder_are_those_of_that_folder(tmp_path):
    view = one_made(tmp_path)
    (tmp_path / "results").rename(tmp_path / "old_run")
    one_made(tmp_path, seed=1)
    boards = []
    for name in ("old_run", "results"):
        write_boards(view.suite, tmp_path / name, tmp_path / "out", LOG)
        boards.append((tmp_path / "out" / NAME / "board.csv").read_text())
    assert boards[0] != boards[1]


def test_boards_of_an_earlier_run_keep_a_line_and_every_link_leads_somewhere(tmp_path):
    out = tmp_path / "reference"
    (out / "board_heterogeneous").mkdir(parents=True)
    _, out = written(one_made(tmp_path), tmp_path)
    listed = (out / "boards.md").read_text()
    assert "Of an earlier run: [board_heterogeneous](board_heterogeneous)." in listed
    (out / "README.md").write_text("# Papers\n\nOther pages: [old](old.md).\n\nMore.\n")
    view = tuned_view(ALONE)
    renew_findings(view.suite, out)
    renew_head(view.suite, out)
    links = re.findall(r"\]\(([^)]+)\)", (out / "boards.md").read_text())
    assert {"findings.md", NAME} <= set(links)
    assert all((out / target).exists() for target in links)
    readme = (out / "README.md").read_text()
    assert "\n\nMore.\n\nOther pages: [boards](boards.md), [findings](findings.md).\n" in readme


def run_of_hour(tmp_path, hours, *experiments):
    """Write what a run that ended then has of two boards, into one folder."""
    out = tmp_path / "out"
    if out.exists():
        write_run(tmp_path, hours, experiments)
    else:
        write_files(first_run_of_hour(hours, experiments), out)
    return out


@functools.cache
def first_run_of_hour(hours, experiments):
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), hours, experiments)
        return files_of(Path(folder) / "out")


def write_run(tmp_path, hours, experiments):
    view, results = made(tmp_path / str(hours)), tmp_path / str(hours) / "results"
    for one in {ALONE, FEW} - set(experiments):
        shutil.rmtree(results / one)
    log = dataclasses.replace(LOG, end=3600.0 * hours, command=f"the run of hour {hours}")
    write_boards(view.suite, results, tmp_path / "out", log)


def test_boards_of_earlier_runs_say_what_todays_code_says_of_their_scores(tmp_path):
    out = run_of_hour(tmp_path, 1, ALONE, FEW)
    suite = made(tmp_path / "again").suite
    (out / "findings.md").write_text("Other words.")
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    page, own = out / "boards.md", out / NAME / "README.md"
    page.write_text(page.read_text().replace("aligning methods above", "methods above"))
    own.write_text("Older words.")
    renew_boards(suite, out, ["several_sources"])
    assert own.read_text() == "Older words."
    renew_boards(suite, out, [])
    assert {path: path.read_bytes() for path in before} == before


def test_of_an_earlier_run_the_boards_stay_that_no_later_run_has(tmp_path):
    def write(hours, *experiments):
        text = (run_of_hour(tmp_path, hours, *experiments) / "boards.md").read_text()
        sections = re.split("^(?=## )", text, flags=re.MULTILINE)[1:]
        return [(one.splitlines()[0], re.findall(r"\((board_\w+)\)", one)) for one in sections]

    few = "board_few_target_labels"
    names = {hour: f"## Run that ended 1970-01-01 0{hour}:00 UTC" for hour in (1, 2, 3)}
    assert write(1, ALONE, FEW) == [(names[1], [few, NAME])]
    first = (tmp_path / "out/boards.md").read_text()
    assert write(2, ALONE) == [(names[2], [NAME]), (names[1], [few])]
    second = (tmp_path / "out/boards.md").read_text()
    (row,) = [line for line in first.splitlines() if f"({few})" in line]
    assert row in second
    trials = 3 * sum(len(tuned_view(name).experiment.tasks) for name in (ALONE, FEW))
    alone = duration(
        sum(Cost.of(board_of("few_target_labels", [tuned_view(n)])).seconds for n in (ALONE, FEW))
    )
    total = (
        f"All boards listed: {trials * len(GAINS)} records of {trials} trials, added up {alone} "
    )
    total += f"of one process. {CLOCK} "
    assert f"\n\n{total}60 min by the clock, pauses left out.\n\n" in first
    assert f"\n\n{total}3.0 h by the clock, pauses left out.\n\n" in second
    assert "the run of hour 1" in second
    assert write(3, FEW) == [(names[3], [few]), (names[2], [NAME])]


def test_a_board_whose_scores_are_of_other_candidates_is_not_counted(tmp_path):
    """Of it the page has a row, and nothing that could be added to the others."""
    view, out = stand(tmp_path)
    whole = (out / "boards.md").read_text()
    assert "All boards listed: " in whole
    path = out / "scores" / f"{FEW}.parquet"
    table = pd.read_parquet(path)
    table.assign(tried="of another day").to_parquet(path, index=False)
    shutil.rmtree(tmp_path / "results" / FEW, ignore_errors=True)
    write_boards(view.suite, tmp_path / "results", out, dataclasses.replace(LOG, end=3600.0 * 9))
    told = (out / "boards.md").read_text()
    n_records = 3 * len(tuned_view(ALONE).experiment.tasks) * len(GAINS)
    assert (
        "All boards listed but “Few target labels”, whose scores are of other candidates or data "
        f"than today's: {n_records} records of " in told
    )


def test_a_run_that_is_written_twice_has_one_section(tmp_path):
    view, out = stand(tmp_path)
    first = (out / "boards.md").read_text()
    write_boards(view.suite, tmp_path / "results", out, LOG)
    assert (out / "boards.md").read_text() == first
    assert first.count("## Run that ended ") == 1


def test_an_earlier_run_stays_while_a_board_has_records_of_it(tmp_path):
    view, out = stand(tmp_path)
    parts = {"coral": 5, "tca": 6}
    for method, hours in parts.items():
        again = view.records[view.records["method"] == method]
        records = again.reindex(columns=list(COLUMNS)).astype(COLUMNS)
        write_results(tmp_path / "results" / ALONE, view.experiment, records, view.suite)
        shutil.rmtree(tmp_path / "results" / FEW, ignore_errors=True)
        write_boards(
            view.suite, tmp_path / "results", out, dataclasses.replace(LOG, end=3600.0 * hours)
        )
    first, second, third = re.split("^(?=## )", (out / "boards.md").read_text(), flags=re.M)[1:]
    assert f"[Several sources]({NAME}), in 1 experiment only TCA of this run |" in first
    told = "Its boards stand above, made of records of this run and of later ones.\n"
    assert (second.count(told), third.count(told)) == (1, 0)  # the third has another board
    assert "| Board |" not in second
    assert f"({FEW_NAME})" in third
    assert "1970-01-01 05:00" in second
    assert "other runs, which have no section" not in (out / "boards.md").read_text()
    write_files(usual(ALONE)[1], tmp_path / "results" / ALONE)
    write_boards(view.suite, tmp_path / "results", out, dataclasses.replace(LOG, end=3600.0 * 7))
    assert "05:00" not in (out / "boards.md").read_text()  # none of its records is left
