"""The page of one experiment in the reference: its notes, what it marks, and what it lacks."""

import dataclasses
import json
import re

import pandas as pd
import pytest

from tests.workflow.report.test_reference import LOG, SUITE
from tests.workflow.report_example import record
from workflow.lib.report.card import write_card
from workflow.lib.report.reference import write_reference
from workflow.lib.report.tables.model import write_tables
from workflow.lib.report.tables.scores import all_tables
from workflow.lib.results.kept_scores import kept_scores
from workflow.lib.results.records import write_results
from workflow.lib.results.reference import REFERENCE
from workflow.lib.results.sentences import NOT_AVAILABLE
from workflow.lib.results.views import ExperimentView
from workflow.lib.trials.evaluate import COLUMNS

pytestmark = pytest.mark.whole_run


@pytest.fixture(scope="module")
def lacking(tmp_path_factory):
    """The page of an experiment of the project, made-up scores, one of whose tasks has no data."""
    experiment = SUITE.experiments["fma_table2"]
    tasks = ("dslr-webcam", "webcam-dslr", "amazon-dslr")
    own = tuple(task for task in experiment.tasks if task.name in tasks)
    experiment = dataclasses.replace(experiment, tasks=own, picture=None)
    return (page_of(experiment, tmp_path_factory.mktemp("run")) / "README.md").read_text()


def page_of(experiment, folder, methods=None, log=LOG):
    """The reference's folder of an experiment, from made-up scores of some or all methods."""
    suite = dataclasses.replace(
        SUITE, experiments={**SUITE.experiments, experiment.name: experiment}
    )
    ran = dataclasses.replace(experiment, methods=tuple(methods or experiment.methods))
    records = pd.DataFrame(
        made_record(experiment, (task, method, choice, setting, trial))
        for task in experiment.tasks
        for method in ran.methods
        for choice in experiment.recorded
        for setting in experiment.settings
        for trial in range(suite.n_trials(experiment.name))
    )
    records = records.reindex(columns=list(COLUMNS)).astype(COLUMNS)
    place = folder / "results" / experiment.name
    place.mkdir(parents=True, exist_ok=True)
    write_results(place, experiment, records, suite)
    view = ExperimentView(ran, suite, records)
    write_tables(all_tables(view).values(), place / "tables")
    write_card(view, place / "card.json")
    (place / "report.html").touch()
    write_reference(suite, folder / "results", folder / "out", log)
    return folder / "out" / experiment.name


def test_a_curve_over_labels_leaves_its_scores_for_the_findings(tmp_path):
    experiment = SUITE.experiments["labels_per_class"]
    few = {"methods": ("source_only", "coral"), "tasks": experiment.tasks[:2]}
    experiment = dataclasses.replace(experiment, **few)
    page = page_of(experiment, tmp_path)
    suite = dataclasses.replace(SUITE, experiments={experiment.name: experiment})
    (kept,) = kept_scores(suite, [experiment.name], page.parent)
    assert {*kept.view.records["setting"]} == {1.0, 3.0, 10.0, 30.0}


def test_a_run_of_some_methods_of_a_curve_leaves_the_points_of_the_others(tmp_path):
    experiment = SUITE.experiments["labels_per_class"]
    few = {"methods": ("source_only", "coral"), "tasks": experiment.tasks[:2]}
    experiment = dataclasses.replace(experiment, **few)
    page = page_of(experiment, tmp_path)
    before, cells = (page / "README.md").read_text(), (page / "summary.csv").read_text()
    page_of(experiment, tmp_path, methods=["coral"], log=dataclasses.replace(LOG, end=18000.0))
    after = (page / "README.md").read_text()
    run = "run that ended 1970-01-01 02:30 UTC"
    both = f"{run}; CORAL of the run that ended 1970-01-01 05:00 UTC"
    assert after == before.replace(f"({run})", f"({both})")
    # Without data there is no curve, which words say in place of a picture.
    assert "there is no curve to draw" in after, after
    assert not (page / "curve.svg").exists()
    assert len((page / "summary.csv").read_text().splitlines()) == len(cells.splitlines())


def test_a_run_of_fewer_tasks_of_a_curve_has_its_own_page(tmp_path):
    experiment = SUITE.experiments["labels_per_class"]
    few = dataclasses.replace(experiment, methods=("coral",), tasks=experiment.tasks[:2])
    page_of(few, tmp_path)
    suite = dataclasses.replace(SUITE, experiments={few.name: experiment})
    out = tmp_path / "of all tasks"
    assert write_reference(suite, tmp_path / "results", out, LOG) == [few.name]
    assert (out / few.name / "README.md").is_file()


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """The page of an experiment with two classifiers and one trial, on the entire target."""
    experiment = dataclasses.replace(SUITE.experiments["tkl_table2"], picture=None)
    return (page_of(experiment, tmp_path_factory.mktemp("run")) / "README.md").read_text()


def test_headings_and_words_of_pictures_are_no_names_of_files(several):
    headings = re.findall(r"^## (.*)$", several, re.MULTILINE)
    assert {"Accuracy, SVM (C = 1.2)", "Audit, row by row"} <= {*headings}, headings
    assert not [one for one in headings if "svm" in one or "_" in one]
    assert not re.search(r"!\[[^]]*(?:svm|_)[^]]*\]", several)


def test_what_stands_above_is_not_repeated(several):
    assert "## Accuracy, entire target" not in several
    notes = [one for one in several.split("\n\n") if one[0] not in "|#!"]
    assert not [one for one in {*notes} if notes.count(one) > 1]
    assert several.count("A row is “reproduced” if") == 1


def test_a_picture_without_anything_to_draw_is_words(several):
    assert "(trials" not in several
    assert "one trial: there is no spread over trials to draw." in several


def made_record(experiment, place):
    task, *_, trial = place
    if "amazon" not in task.name:
        return record(experiment, place, 0.5 + 0.01 * trial)
    why = "amazon_decaf.mat: no source delivers it"
    return record(experiment, place, None, status="data_unavailable", error=why)


def test_a_page_without_all_data_says_what_is_missing_and_where_it_may_be_had(lacking):
    told = lacking.partition("**Data are missing**: ")[2].partition("\n\n![")[0]
    assert told.startswith("100 of 300 records could not be computed")
    assert "`office_caltech_decaf6`: The images of office_caltech_surf" in told
    assert "Source: Donahue et al., DeCAF, ICML 2014; images of Gong et al., CVPR 2012." in told
    assert "- `amazon_decaf.mat`: no copy with a checked sha256 is known" in told
    assert "dslr_decaf.mat" not in told
    assert "## Data\n\nDomains of this experiment." in lacking


def test_a_page_says_what_the_paper_states_what_was_run_and_what_the_protocol_does(lacking):
    asked = SUITE.experiments["fma_table2"].audit
    reading = lacking.partition("\n## Reading of the protocol\n\n")[2].partition("\n## ")[0]
    assert reading.startswith(f"*Stated.* {' '.join(asked['stated'].split())}\n\n")
    assert (
        "\n*Run here.* The setting of Table 1, unchanged. Features z-scored per domain" in reading
    )
    assert "{{" not in reading
    protocol = lacking.partition("\n## Protocol\n\n")[2].partition("\n\n## ")[0]
    description, _, sentences = protocol.partition("\n\n")
    assert description.startswith("The 20 trials that the MMDT authors published")
    assert sentences.startswith("- Official split files, dataset office\\_caltech\\_splits")
    assert "\n- Scored: the target samples that the split lists for testing.\n" in sentences
    assert sentences.splitlines()[-1].startswith("- Classifier: Logistic regression, trained on ")
    order = ("\n## Reading of the protocol\n", "\n## Protocol\n", "\n## Accuracy\n")
    assert sorted(order, key=lacking.index) == list(order)


def test_a_page_of_a_curve_has_its_protocol_and_no_reading_without_a_published_table(tmp_path):
    experiment = SUITE.experiments["fma_figure6"]
    text = (page_of(experiment, tmp_path) / "README.md").read_text()
    assert "\n## Protocol\n" in text
    assert "\n- Varied: Share of the target's samples that is seen " in text
    assert "## Reading" not in text


def test_a_page_follows_todays_rules_where_the_files_of_its_run_are_older(tmp_path):
    experiment = SUITE.experiments["fma_table2"]
    few = {"tasks": experiment.tasks[:4], "picture": None}
    experiment = dataclasses.replace(experiment, **few)
    page = page_of(experiment, tmp_path)
    before = {path.name: path.read_bytes() for path in page.iterdir()}
    results = tmp_path / "results" / experiment.name
    card = json.loads((results / "card.json").read_text())
    (results / "card.json").write_text(json.dumps(card | {"headline": "On average, yes."}))
    (results / "tables/accuracy.md").write_text("of an older rule")
    (results / "figures").mkdir()
    (results / "figures/published.svg").write_text("of an older rule")
    suite = dataclasses.replace(SUITE, experiments={experiment.name: experiment})
    assert write_reference(suite, tmp_path / "results", tmp_path / "out", LOG) == [experiment.name]
    after = {path.name: path.read_bytes() for path in page.iterdir()}
    assert after == before
    assert "On average, yes" not in (tmp_path / "out/README.md").read_text()


def test_a_page_has_the_notes_of_its_experiment(lacking):
    notes = lacking.partition("\n## Notes\n\n")[2]
    assert notes.startswith("Verified copies of the amazon and caltech features are not known")


def test_a_page_with_settings_that_were_searched_for_has_the_methods_and_what_was_tried(lacking):
    methods = lacking.partition("\n## Methods\n\n")[2].partition("\n## ")[0]
    assert "| FMA-I † | domain" in methods
    assert "symmetrize = union: union, mean and sum of the neighbour relations" in methods


def test_a_page_that_is_kept_explains_what_it_marks_and_what_it_lacks():
    for page in REFERENCE.glob("*/README.md"):
        text = page.read_text("utf-8")
        if page.parent.name in SUITE.experiments:
            told = "\n## Methods\n" in text or "\n† Found by searching" in text  # of a study
            assert ("†" in text) <= told, page
            assert ("without data" in text) <= ("**Data are missing**" in text), page
            assert ("without data" in text) <= ("\n## Data\n" in text), page


def test_no_page_that_is_kept_tells_a_number_that_there_is_not():
    pages = list(REFERENCE.glob("*/README.md"))
    assert pages
    assert not [page for page in pages if NOT_AVAILABLE in page.read_text("utf-8")]


def kept_pages():
    for page in sorted(REFERENCE.glob("*/README.md")):
        if page.parent.name in SUITE.experiments:
            yield SUITE.experiments[page.parent.name], page


def test_a_page_that_is_kept_has_the_reading_and_the_protocol_of_its_published_table():
    audited = [(one, page.read_text("utf-8")) for one, page in kept_pages() if one.audit]
    assert len(audited) > 20
    for experiment, text in audited:
        assert "\n## Reading of the protocol\n\n*Stated.* " in text, experiment.name
        assert "\n*Run here.* " in text, experiment.name
        assert "\n## Protocol\n" in text, experiment.name


def test_no_page_that_is_kept_says_yes_with_a_baseline_above_or_not_separated():
    told = {}
    for experiment, page in kept_pages():
        if experiment.study or experiment.vary:
            continue
        headline = page.read_text("utf-8").split("\n\n")[2]
        told[experiment.name] = headline
        assert "On average, yes" not in headline, page
        if not headline.startswith("Yes"):
            continue
        alike = "".join(re.split("(?i)not separated from it: ", headline)[1:]).partition(". ")[0]
        labels = [SUITE.methods[m]["label"] for m in experiment.methods if SUITE.is_baseline(m)]
        assert not [one for one in labels if one in alike], page
        cells = pd.read_csv(page.parent / "summary.csv").query("n_ok == n_asked")
        cells = cells[cells["classifier"] == experiment.classifiers[0]]
        means = cells.groupby("method")["accuracy_mean"].mean()
        baselines = means[[m for m in experiment.methods if SUITE.is_baseline(m) and m in means]]
        assert baselines.max() < means.drop(baselines.index).max(), page
        assert f"{100 * baselines.max():.1f} %" in headline, page
    assert told["fma_figure5"].startswith("Processor seconds from a cold start")
