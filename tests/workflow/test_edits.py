"""What an edit reruns, and how many files an addition touches: shown on copies of the project."""

import filecmp
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import pandas as pd
import pytest

from tests.workflow.conftest import ROOT, copy_project
from tests.workflow.test_whole_runs import (
    PROTOCOL,
    RECORDS,
    TINY,
    edit,
    job_count,
    make_tiny,
    records,
    snakemake,
    write,
)
from workflow.lib.config.suite import load_suite

# Each test starts Snakemake, some several times.
pytestmark = pytest.mark.whole_run

METHODS = ["fma_i", "sma", "kema_linear", "tca", "moved", "named"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A project in which methods of two families, and one of another package, have run once."""
    project = make_tiny(copy_project(tmp_path_factory.mktemp("edits") / "project"), methods=METHODS)
    package = project / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "moved.py").write_text(SHIFT)
    entry = {"label": "Moved", "estimator": "mine.moved:MeanShift", "sees_labels": "none"}
    edit(project, "methods", lambda c: c["methods"].update(moved=entry | {"paper": "none"}))
    (project / "mymaps.py").write_text(MAP)
    params = {"estimator": "mymaps:Shift", "labels": "none"}
    entry |= {"estimator": "domain_alignment:ExternalAligner", "params": params}
    edit(project, "methods", lambda c: c["methods"].update(named=entry | {"paper": "none"}))
    snakemake(project, RECORDS)
    return project


# A map that no method's entry but a parameter of one names.
MAP = """class Shift:
    def fit(self, Xs=None, ys=None, Xt=None, yt=None):
        self.step_ = Xt.mean(axis=0) - Xs.mean(axis=0)
        return self

    def transform(self, Xs=None, ys=None, Xt=None, yt=None):
        return Xs + self.step_
"""


@pytest.mark.parametrize(
    ("module", "rerun"),
    [
        ("manifold/_kema.py", ["kema_linear"]),
        ("manifold/_fma.py", ["fma_i"]),
        ("distribution/_tca.py", ["tca"]),
        ("manifold/_joint_laplacian.py", ["fma_i", "sma"]),
        ("manifold/__init__.py", []),
        ("__init__.py", []),
        ("../../mine/moved.py", ["moved"]),
        ("../../mine/__init__.py", ["moved"]),
        ("../../mymaps.py", ["named"]),
    ],
)
def test_an_edit_of_a_module_reruns_the_methods_made_of_it_alone(ran, module, rerun):
    source = ran / "methods/domain_alignment" / module
    before = source.read_text()
    source.write_text(before + "\n# edited\n")
    try:
        plan = snakemake(ran, RECORDS, "--dry-run")
    finally:
        source.write_text(before)
    planned = set(re.findall(r"method=(\w+)", plan))
    assert planned == set(rerun)
    assert job_count(plan, "align") == len(rerun)


def test_edits_are_seen_where_snakemakes_own_notes_are_lost(ran, tmp_path):
    """The headers of the records name the code that made them."""
    project = tmp_path / "project"
    shutil.copytree(ran, project, symlinks=True)
    shutil.rmtree(project / ".snakemake")
    assert "Nothing to be done" in snakemake(project, RECORDS, "--dry-run")
    source = project / "methods/domain_alignment/distribution/_tca.py"
    source.write_text(source.read_text() + "\n# edited\n")
    plan = snakemake(project, RECORDS, "--dry-run")
    assert set(re.findall(r"method=(\w+)", plan)) == {"tca"}
    assert [job_count(plan, rule) for rule in ("align", "evaluate", "collect")] == [1, 1, 1]


ALL = len(METHODS)


@pytest.mark.parametrize(
    ("kind", "change", "jobs"),
    [
        ("experiments/tiny", lambda c: c["overrides"]["fma_i"].update(n_components=9), [0, 1, 1]),
        ("experiments/tiny", lambda c: c.update(title="Otherwise", question="So?"), [0, 0, 0]),
        ("methods", lambda c: c["methods"]["tca"].update(label="Another"), [0, 0, 0]),
        ("protocols", lambda c: c["protocols"]["tiny"].update(seed=5), [1, ALL, 1]),
        ("protocols", lambda c: c["protocols"]["tiny"].update(preprocess=["zscore"]), [0, ALL, 1]),
        ("classifiers", lambda c: c["classifiers"]["one_nn"].update(label="1"), [0, 0, 0]),
    ],
)
def test_settings_are_compared_where_snakemakes_own_notes_are_lost(
    ran, tmp_path, kind, change, jobs
):
    project = tmp_path / "project"
    shutil.copytree(ran, project, symlinks=True)
    shutil.rmtree(project / ".snakemake")
    edit(project, kind, change)
    plan = snakemake(project, RECORDS, "--dry-run")
    assert [job_count(plan, rule) for rule in ("sample", "align", "evaluate")] == jobs


def test_an_edit_of_a_dataset_is_seen_where_snakemakes_own_notes_are_lost(ran, tmp_path):
    """The headers of the domains name what made them, as those of the records do."""
    project = tmp_path / "project"
    shutil.copytree(ran, project, symlinks=True)
    shutil.rmtree(project / ".snakemake")

    def loads(change):
        edit(project, "datasets", change)
        return job_count(snakemake(project, RECORDS, "--dry-run"), "load")

    assert loads(lambda c: c["datasets"]["digits"].update(label="Words")) == 0
    assert loads(lambda c: c["datasets"]["digits"].update(values="real")) == 2
    assert loads(lambda c: c["datasets"]["digits"].update(values="non_negative")) == 0
    source = project / "workflow/loaders/digits.py"
    source.write_text(source.read_text() + "\n# edited\n")
    assert loads(lambda c: None) == 2


@pytest.mark.parametrize("script", ["sample", "align", "evaluate", "collect"])
def test_an_edit_of_a_script_reruns_its_rule_whatever_its_time_stamp(ran, script):
    path = ran / f"workflow/scripts/{script}.py"
    before, stamps = path.read_text(), path.stat()
    path.write_text(before + "\n# edited\n")
    os.utime(path, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
    try:
        plan = snakemake(ran, RECORDS, "--dry-run")
    finally:
        path.write_text(before)
        os.utime(path, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
    stages = ["sample", "align", "evaluate", "collect"]
    planned = [bool(job_count(plan, rule)) for rule in stages]
    assert planned == [stages.index(rule) >= stages.index(script) for rule in stages]


def test_looking_changes_no_file_and_a_run_only_what_it_makes(ran, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ran, project, symlinks=True)
    shutil.rmtree(project / ".snakemake")
    source = project / "methods/domain_alignment/distribution/_tca.py"
    source.write_text(source.read_text() + "\n# edited\n")
    lost = "results/tiny/full-half/sma.000-001.align.jsonl"
    (project / "results/tiny/lost").mkdir()
    (project / "results/tiny/lost/sma").write_text(lost)

    before = stamps(project)
    assert "this checkout" not in snakemake(project, "--list")
    assert "lost by" not in snakemake(project, "--summary", RECORDS)
    assert stamps(project) == before
    for _ in range(2):
        plan = snakemake(project, RECORDS, "--dry-run")
        assert set(re.findall(r"method=(\w+)", plan)) == {"sma", "tca"}
        assert "tca.000-001.align.jsonl: made by other code or settings" in plan
        assert f"{lost}: lost by an earlier run" in plan
        assert stamps(project) == before

    snakemake(project, "results/tiny/full-half/fma_i.000-001.align.jsonl")
    after = stamps(project)
    assert {path for path in before if after.get(path) != before[path]} == {
        lost,
        "results/tiny/lost/sma",
    }


def stamps(project):
    files = (path for path in (project / "results").rglob("*") if path.is_file())
    return {str(path.relative_to(project)): path.stat().st_mtime_ns for path in files}


# The skeleton of CONTRIBUTING.md.
SHIFT = re.search(
    r"A skeleton.*?^```python\n(.*?)^```",
    (ROOT / "CONTRIBUTING.md").read_text("utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)[1]
SHIFT_TEST = """import numpy as np
from domain_alignment import MeanShift


def test_the_means_are_equal(make_domains):
    Xs, ys = make_domains()
    Z = MeanShift().fit(Xs, ys).embeddings_
    np.testing.assert_allclose(Z[0].mean(axis=0), Z[1].mean(axis=0))
"""


def test_a_method_is_a_module_an_entry_a_test_and_a_name_in_its_family(tmp_path):
    project = copy_project(tmp_path / "project")
    for part in ("tests", "pyproject.toml"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, project / part)
    mapping = project / "methods/domain_alignment/mapping"
    (mapping / "_mean_shift.py").write_text(SHIFT)
    (project / "tests/methods/mapping/test_mean_shift.py").write_text(SHIFT_TEST)
    init = (mapping / "__init__.py").read_text()
    assert '        "CORAL": "_coral",\n' in init
    name = '        "CORAL": "_coral",\n        "MeanShift": "_mean_shift",\n'
    (mapping / "__init__.py").write_text(init.replace('        "CORAL": "_coral",\n', name))
    methods = project / "config/methods.yaml"
    methods.write_text(
        methods.read_text()
        + "  mean_shift: {label: Mean shift, estimator: 'domain_alignment:MeanShift', "
        "sees_labels: none, paper: none, classifier: one_nn}\n"
    )
    assert changed_files(project) == {
        "config/methods.yaml",
        "methods/domain_alignment/mapping/__init__.py",
        "methods/domain_alignment/mapping/_mean_shift.py",
        "tests/methods/mapping/test_mean_shift.py",
    }
    # The leaderboards have it, and the tests that run over every entry and every module pass.
    assert "mean_shift" in load_suite(project).experiments["leaderboard_official"].methods
    selected = ["tests/methods/test_contract.py", "tests/methods/mapping/test_mean_shift.py"]
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-k", "mean_shift", *selected],
        cwd=project,
        env=os.environ | {"PYTHONPATH": f"{project}:{project / 'methods'}"},
        capture_output=True,
        text=True,
    )
    assert tested.returncode == 0, tested.stdout
    assert "passed" in tested.stdout


def changed_files(project):
    """Files of a copy that differ from the project's, or that the project does not have."""
    changed = set()
    for folder, folders, files in os.walk(project):
        folders[:] = [name for name in folders if name not in ("__pycache__", ".pytest_cache")]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), project)
            original = ROOT / path
            if not original.exists() or not filecmp.cmp(original, project / path, shallow=False):
                changed.add(path)
    return changed


def test_an_address_with_an_unknown_name_is_refused_before_any_job(tmp_path):
    project = make_tiny(copy_project(tmp_path / "project"))
    edit(project, "methods", lambda c: c["methods"]["sma"].update(estimator="domain_alignment:SM"))
    printed = snakemake(project, "tiny", check=False)
    told = "methods.sma.estimator: unknown class of domain_alignment 'SM'. Did you mean 'SMA'?"
    assert told in printed


METRIC = """        Metric(
            "first_class",
            "First class",
            "share of the scored target rows that are predicted to be of class 0",
            lambda answers: float((answers.predicted == 0).mean()),
            shown="measures",
        ),
"""


def test_a_metric_is_one_entry(ran, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ran, project, symlinks=True)
    path = project / "workflow/lib/config/metrics.py"
    entries = "    for metric in (\n"
    path.write_text(path.read_text().replace(entries, entries + METRIC))
    plan = snakemake(project, "tiny", "--dry-run")
    snakemake(project, "tiny")
    assert [job_count(plan, rule) for rule in ("align", "evaluate", "collect")] == [0, 1, 1]

    results = project / "results/tiny"
    records = pd.read_csv(results / "records.csv")
    means = records.groupby("method")["first_class"].mean().dropna()
    assert means.between(0, 1).all()
    assert means.any()
    summary = pd.read_csv(results / "summary.csv").set_index("method")["first_class_mean"].dropna()
    assert summary.to_dict() == pytest.approx(means.to_dict())
    table = pd.read_csv(results / "tables/measures.csv")
    assert sorted(table["First class"]) == pytest.approx(sorted(100 * means))
    assert "share of the scored target rows" in (results / "report.html").read_text()
    with sqlite3.connect(project / "results/mlflow.db") as database:
        query = "SELECT value FROM metrics WHERE key = 'first_class'"
        logged = sorted(value for (value,) in database.execute(query))
    assert logged == pytest.approx(sorted(100 * means))


CHOOSING = ["source_only", "pca", "tca", "jda", "fma_i", "coral"]


def test_order_and_number_of_methods_change_no_choice_and_no_score(tmp_path):
    """Whole runs of a tuned experiment: its methods, and twice as many in the opposite order.

    Then an edit of a classifier that one of them alone has among its candidates.
    """
    tuned = {key: TINY[key] for key in ("schema_version", "title", "question", "protocol")}
    tuned["tasks"] = [{"source": "digits.full", "target": "digits.scanner"}]
    tuned["tuning"] = {"chosen_by": "labelled_accuracy", "candidates": 4}
    shown = PROTOCOL | {"classifier_rows": "source+target"}
    found = {}
    for methods in (CHOOSING, [*(f"{name}_again" for name in CHOOSING), *CHOOSING[::-1]]):
        project = make_tiny(copy_project(tmp_path / str(len(methods))), shown)
        if methods != CHOOSING:
            edit(project, "methods", with_copies_in_the_opposite_order)
        write(project / "config/experiments/tiny.yaml", tuned | {"methods": methods})
        snakemake(project, RECORDS)
        frame = records(project)
        order = ["method", "classifier", "trial"]
        found[len(methods)] = frame[frame["method"].isin(CHOOSING)].sort_values(order)
    alone, among = (frame.reset_index(drop=True) for frame in found.values())
    pd.testing.assert_frame_equal(alone, among, check_exact=True)
    assert set(alone.loc[alone["classifier"] == "oracle", "status"]) == {"ok"}
    assert alone["candidate"].nunique() > 1
    source = project / "methods/domain_alignment/model_selection/_svc.py"
    source.write_text(source.read_text() + "\n# edited\n")
    planned = {*re.findall(r"method=(\w+)", snakemake(project, RECORDS, "--dry-run"))}
    assert planned == {"coral", "coral_again"}


def with_copies_in_the_opposite_order(content):
    """Entries under a second name each, and all in the opposite order."""
    methods = content["methods"]
    copies = {f"{name}_again": methods[name] for name in CHOOSING}
    return {**content, "methods": dict(reversed({**methods, **copies}.items()))}
