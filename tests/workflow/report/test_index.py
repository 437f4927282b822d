"""The index over all experiments: what it says of those that ran, failed, or did not run."""

import dataclasses
import re

import pytest
from markupsafe import escape

from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.report.card import card, write_card
from workflow.lib.report.index import OUTDATED, entry, write_index
from workflow.lib.results.records import write_results
from workflow.lib.storage.artifacts import write_json

PAIRS = [("amazon", "webcam"), ("dslr", "webcam")]
PAPER = {"paper": "Dernbach & Towsley 2020", "artefact": "Table 1"}


@pytest.fixture
def view(tmp_path):
    experiment = dataclasses.replace(make_experiment(PAIRS, ("plain", "fma_i")), answers=PAPER)
    late = {"status": "timeout", "error": "late"}
    scores = {}
    for source, target in PAIRS:
        scores[f"{source}-{target}", "plain"] = [0.3, 0.3]
        scores[f"{source}-{target}", "fma_i"] = [0.5, 0.7]
    scores["dslr-webcam", "fma_i"] = [late, late]
    return view_of(experiment, scores, 2, root=tmp_path)


def written(view, results):
    """Leave in ``results`` what a run leaves of an experiment."""
    folder = results / view.name
    write_results(folder, view.experiment, view.records, view.suite)
    write_card(view, folder / "card.json")
    (folder / "report.html").touch()
    return folder


def test_what_has_run_shows_its_headline_failures_and_links(view, tmp_path):
    written(view, tmp_path)
    shown = entry(view.experiment, tmp_path)
    n_asked = len(view.records)
    assert (
        shown.tally.words
        == f"{n_asked - view.n_failures} of {n_asked} scored, {view.n_failures} failed"
    )
    assert view.n_failures > 0
    assert shown.headline == card(view)["headline"]
    assert "FMA-I" in shown.headline or "Cannot be said" in shown.headline
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", shown.date)
    assert dict(shown.links) == {
        "report": f"{view.name}/report.html",
        "records": f"{view.name}/records.csv",
        "summary": f"{view.name}/summary.csv",
    }


def answered(folder, sentence="Adapt with CORAL."):
    """Leave what a comparison leaves beside its records."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answer.html").touch()
    write_json(folder / "answer.json", {"sentence": sentence})


def test_an_answer_on_own_data_is_listed_and_can_be_run_again(view, tmp_path):
    folder = tmp_path / view.name
    write_results(folder, view.experiment, view.records, view.suite)
    answered(folder)
    places = {("experiments", view.name): f"my data/experiments/{view.name}.yaml"}
    suite = dataclasses.replace(view.suite, experiments={view.name: view.experiment}, places=places)
    page = write_index(suite, tmp_path / "index.html").read_text()
    assert f'<a href="{view.name}/answer.html">{escape(view.experiment.title)}</a>' in page
    assert "Adapt with CORAL." in page
    command = f"snakemake --cores 8 --config own='my data' -- {view.name}"
    assert str(escape(command)) in page
    assert entry(view.experiment, tmp_path).finished


@pytest.mark.parametrize("written_as", ['{"sentence": "Adapt."}', "{"])
def test_an_answer_stays_listed_in_runs_that_do_not_know_it(view, tmp_path, written_as):
    """Another run is not given the own folder, which lies beside the answer."""
    answered(tmp_path / "own_sales")
    (tmp_path / "own_sales/answer.json").write_text(written_as)
    config = tmp_path / "own_sales/config/experiments/own_sales.yaml"
    config.parent.mkdir(parents=True)
    config.touch()
    answered(tmp_path / "no_experiment")
    page = write_index(view.suite, tmp_path / "index.html").read_text()
    assert "<h2>Answers on own data</h2>" in page
    assert '<a href="own_sales/answer.html">own_sales</a>' in page
    assert ("Adapt." if "sentence" in written_as else "Its results cannot be read") in page
    assert "own_sales/config -- own_sales</code>" in page
    assert "no_experiment" not in page
    some = write_index(view.suite, tmp_path / "papers.html", [view.name]).read_text()
    assert "own_sales" not in some


def test_a_headline_of_earlier_results_does_not_stand_beside_counts_of_new_ones(view, tmp_path):
    folder = written(view, tmp_path)
    again = view.records.assign(seconds=99.0)
    write_results(folder, view.experiment, again, view.suite)
    shown = entry(view.experiment, tmp_path)
    assert (shown.headline, shown.verdicts, shown.seconds) == (OUTDATED, [], None)


def test_every_experiment_is_listed_by_paper_run_or_not(view, tmp_path):
    written(view, tmp_path)
    other = dataclasses.replace(view.experiment, name="later", title="Later", answers=None)
    suite = dataclasses.replace(
        view.suite, experiments={"later": other, view.name: view.experiment}
    )
    page = write_index(suite, tmp_path / "index.html").read_text()
    papers = re.findall(r"<h2>(.*?)</h2>", page)
    assert papers == ["Dernbach &amp; Towsley 2020", "Beyond the papers"]
    assert "2 experiments, 1 of them run here." in page
    assert page.count("Not run: 1 experiment") == 1
    assert "<code>snakemake --cores 8 later</code>" in page
    assert f'<a href="{view.name}/report.html">{escape(view.experiment.title)}</a>' in page
    assert "<img" not in page
    some = write_index(suite, tmp_path / "papers.html", [view.name], "Papers").read_text()
    assert "Later" not in some
    assert "<h1>Papers</h1>" in some


def test_a_damaged_file_is_named_and_the_rest_is_shown(view, tmp_path):
    folder = written(view, tmp_path)
    (folder / "card.json").write_text("{")
    shown = entry(view.experiment, tmp_path)
    assert shown.headline.startswith("Its results cannot be read")
    assert "card.json" in shown.headline


def test_pages_over_several_experiments_are_linked_where_they_are(view, tmp_path):
    boards = {"quick": {"title": "Quick form"}, "other": {"title": "Never run"}}
    suite = dataclasses.replace(view.suite, tuning={"boards": boards})
    for name in ("board_quick", "findings"):
        (tmp_path / f"{name}.html").touch()
    text = write_index(suite, tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="board_quick.html"' in text
    assert "Board: Quick form" in text
    assert 'href="findings.html"' in text
    assert "Never run" not in text
    assert "shifts.html" not in text


def test_what_was_run_stands_first(view, tmp_path):
    """A newcomer who ran one experiment of many finds it without scrolling."""
    written(view, tmp_path)
    unrun = dataclasses.replace(view.experiment, name="aaa", title="First by name")
    other = {"paper": "Aardvark 1901", "artefact": "Table 1"}
    earlier = dataclasses.replace(view.experiment, name="bbb", title="Earlier paper", answers=other)
    experiments = {one.name: one for one in (unrun, earlier, view.experiment)}
    suite = dataclasses.replace(view.suite, experiments=experiments)
    source = write_index(suite, tmp_path / "index.html").read_text()
    titles = [str(escape(one.title)) for one in (view.experiment, unrun, earlier)]
    body = source[source.index("<tbody>") :]
    assert sorted(titles, key=body.index) == titles
