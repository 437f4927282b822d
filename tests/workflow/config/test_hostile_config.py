"""Configuration that would hide a mistake or show scored labels is refused, by name."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from workflow.lib.config.estimators import check_estimators
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.suite import load_suite

EXPERIMENT = {
    "schema_version": 1,
    "title": "t",
    "question": "q",
    "tasks": [{"source": "digits.full", "target": "digits.half"}],
    "protocol": "digits_random",
    "methods": ["fma_i"],
    "classifiers": ["logistic"],
}


@pytest.fixture
def mine(project):
    """Function that writes config/experiments/mine.yaml with some keys changed."""

    def write(**changes):
        path = project / "config/experiments/mine.yaml"
        path.write_text(yaml.safe_dump(EXPERIMENT | changes))

    return write


def message(project):
    with pytest.raises(ConfigError) as caught:
        load_suite(project)
    return str(caught.value)


# -- tasks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["digits.half", ["digits.full", "digits.half"]])
def test_a_target_among_its_sources_would_show_the_scored_labels(project, mine, source):
    mine(tasks=[{"source": source, "target": "digits.half"}])
    assert "mine.yaml: tasks: digits.half is source and target of one task" in message(project)


def test_a_source_named_twice_is_refused(project, mine):
    mine(tasks=[{"source": ["digits.full", "digits.full"], "target": "digits.half"}])
    assert "mine.yaml: tasks: digits.full is named twice as a source of one task" in message(
        project
    )


def test_two_targets_with_one_label_would_merge_in_the_records(project, mine, edit):
    edit(
        "config/datasets.yaml",
        lambda c: c["datasets"]["manifolds"]["domains"]["s_curve"].update(short="S"),
    )
    (project / "config/experiments/quickstart.yaml").unlink()
    edit("config/config.yaml", lambda c: c.update(experiments=["mine"]))
    tasks = [
        {"source": "digits.full", "target": "digits.scanner"},
        {"source": "manifolds.swiss_roll", "target": "manifolds.s_curve"},
    ]
    mine(tasks=tasks)
    found = message(project)
    assert "mine.yaml: tasks: digits.scanner and manifolds.s_curve have the same label 'S'" in found
    assert "`short`" in found


def test_one_label_may_name_a_source_and_another_target(project):
    # DeCAF6 of Amazon against SURF of Caltech: A and C are sources and targets, each in one set.
    suite = load_suite(project)
    tasks = suite.experiments["fma_table3_decaf6_to_surf"].tasks
    assert len({task.label(suite.datasets) for task in tasks}) == len(tasks)


def test_probabilities_are_kept_where_an_experiment_says_so(project, mine):
    mine()
    assert load_suite(project).experiments["mine"].probabilities is False
    mine(probabilities=True)
    assert load_suite(project).experiments["mine"].probabilities is True
    mine(probabilities="often")
    assert "mine.yaml: probabilities: 'often'" in message(project)


def test_a_pictured_trial_out_of_range_is_refused(project, mine):
    picture = {"task": "full-half", "trial": 10**6, "methods": ["fma_i"]}
    mine(picture=picture)
    last = re.search(r"mine.yaml: picture.trial: 1000000; .* are 0\.\.(\d+)", message(project))
    mine(picture=picture | {"trial": int(last[1]) + 1})
    assert "mine.yaml: picture.trial" in message(project)
    mine(picture=picture | {"trial": int(last[1])})
    assert load_suite(project).experiments["mine"].picture["trial"] == int(last[1])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"tasks": [{"source": "digits.full", "target": "coil20.coil1"}]},
            "digits and coil20 have other `classes`: 10 and 20",
        ),
        ({"tasks": [{"all_pairs": "digits", "source": "digits.full"}]}, "mine.yaml: tasks"),
        ({"tasks": [{"all_pairs": "office_caltech_splits"}]}, "has 0 domains, which make no pair"),
        (
            {"vary": {"parameter": "target_share", "of": "protocol", "values": [-1, 0.5],
                      "label": "s"}},
            "target_share: -1",
        ),
        (
            {"vary": {"parameter": "target_per_class", "of": "protocol", "values": [2.5, 3],
                      "label": "n"}},
            "target_per_class: 2.5",
        ),
    ],
)  # fmt: skip
def test_what_would_have_no_effect_or_none_that_is_meant_is_refused(
    project, mine, changes, expected
):
    mine(**changes)
    assert expected in message(project)


@pytest.mark.parametrize("key", ["vary", "overrides", "timing", "picture", "probabilities"])
def test_a_study_has_no_key_that_it_would_not_read(project, key):
    content = {
        "vary": {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"},
        "overrides": {"pca": {"n_components": 2}},
        "timing": {"tasks": ["a-b"], "methods": ["pca"]},
        "picture": {"task": "a-b", "trial": 0, "methods": ["pca"]},
        "probabilities": True,
    }[key]
    study = {"schema_version": 1, "title": "t", "question": "q", "study": {"module": "kema.toys"}}
    path = project / "config/experiments/mine.yaml"
    path.write_text(yaml.safe_dump(study))
    load_suite(project)
    path.write_text(yaml.safe_dump(study | {key: content}))
    assert "mine.yaml" in message(project)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"classifier": "logistc"}, "audit.classifier: unknown classifier of this experiment"),
        ({"published": "fma_table.csv"}, "audit.published: unknown published table 'fma_table.csv"),
    ],
)
def test_what_an_audit_compares_is_there(project, mine, changes, expected):
    audit = yaml.safe_load((project / "config/experiments/fma_table1.yaml").read_text())["audit"]
    audit |= {"columns": {"fma_i": {"published_only": "x"}}} | changes
    mine(audit=audit)
    assert expected in message(project)


# -- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "change", "expected"),
    [
        (
            "protocols",
            lambda c: c["protocols"]["digits_random"].update(trials=2.0),
            "config/protocols.yaml: protocols.digits_random.trials: 2.0 is not of type 'integer'",
        ),
        (
            "protocols",
            lambda c: c["protocols"]["digits_random"].update(target_share=float("nan")),
            "protocols.digits_random.target_share: nan is not of type 'number'",
        ),
        (
            "methods",
            lambda c: c["methods"].update({"mine\n": c["methods"]["fma_i"]}),
            "config/methods.yaml: methods: 'mine\\n' does not match",
        ),
        (
            "datasets",
            lambda c: c["datasets"]["digits"]["domains"]["half"].update(short="H\n"),
            "datasets.digits.domains.half.short: 'H\\n' does not match",
        ),
    ],
)
def test_values_that_slip_through_a_schema_are_named(project, edit, file, change, expected):
    edit(f"config/{file}.yaml", change)
    assert expected in message(project)


NAMES = {
    "a dataset's": lambda c, name: c.update({name: c.pop("digits")}),
    "a domain's": lambda c, name: c["digits"]["domains"].update({name: {}}),
    "a file's": lambda c, name: c["digits"]["files"].update({name: {"path": "x"}}),
    "a loader's": lambda c, name: c["digits"].update(loader=f"{name}:load"),
    "a mirror's": lambda c, name: c["digits"]["files"].update(
        {"x": {"sha256": "0" * 64, "mirror": name}}
    ),
}


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "x\\..\\y"])
@pytest.mark.parametrize("whose", NAMES)
def test_names_that_leave_their_folder_are_refused(project, edit, whose, name):
    edit("config/datasets.yaml", lambda c: NAMES[whose](c["datasets"], name))
    assert "config/datasets.yaml: datasets" in message(project)


# -- files ------------------------------------------------------------------------------------


def test_a_key_that_stands_twice_is_named_with_both_lines(project):
    path = project / "config/classifiers.yaml"
    lines = len(path.read_text().splitlines())
    text = "  logistic:\n    label: mine\n    estimator: own\n"
    first = 1 + path.read_text().splitlines().index("  logistic:")
    path.write_text(path.read_text().rstrip("\n") + "\n" + text)
    found = message(project)
    assert f"config/classifiers.yaml: line {lines + 1}: the key 'logistic' stands" in found
    assert f"already in line {first}" in found


def test_anchors_and_merges_are_still_read(project):
    path = project / "config/experiments/mine.yaml"
    merged = "overrides: {fma_i: &a {alpha: 1, n_neighbors: 3}, fma_f: {<<: *a, alpha: 2}}\n"
    methods = {**EXPERIMENT, "methods": ["fma_i", "fma_f"]}
    path.write_text(yaml.safe_dump(methods) + merged)
    overrides = load_suite(project).experiments["mine"].overrides
    assert overrides["fma_f"] == {"alpha": 2, "n_neighbors": 3}


def test_a_file_that_is_not_utf8_is_named(project):
    path = project / "config/experiments/mine.yaml"
    path.write_bytes(b"title: caf\xe9\n")
    assert "config/experiments/mine.yaml: not UTF-8 (byte 10 is 0xe9); save it as UTF-8" in message(
        project
    )


def test_a_folder_in_place_of_a_file_is_named(project):
    (project / "config/experiments/mine.yaml").mkdir()
    assert "config/experiments/mine.yaml: cannot be read (Is a directory)" in message(project)


# -- modules of methods -----------------------------------------------------------------------


BROKEN = {
    "a syntax error": ("x = 1\ndef f(:\n", "broken_one.py, line 2: invalid syntax"),
    "an exit": ("import sys\nsys.exit(0)\n", "broken_one.py, line 2: SystemExit: 0"),
    "an exception": ("\n\n1 / 0\n", "broken_one.py, line 3: ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_module_concerns_the_experiments_that_use_it(project, edit, monkeypatch, kind):
    text, expected = BROKEN[kind]
    (project / "methods/broken_one.py").write_text(text)
    monkeypatch.syspath_prepend(project / "methods")
    entry = {"label": "b", "estimator": "broken_one:A", "sees_labels": "none", "paper": "none"}
    edit("config/methods.yaml", lambda c: c["methods"].update(mine=entry))
    edit("config/experiments/quickstart.yaml", lambda c: c["methods"].append("mine"))
    (found,) = check_estimators(load_suite(project))
    assert expected in found
    assert "config/methods.yaml: methods.mine" in found
    assert "quickstart" in found


@pytest.mark.whole_run
def test_a_module_that_exits_does_not_end_the_run_as_done(project, edit):
    (project / "methods/broken_one.py").write_text("import sys\nsys.exit(0)\n")
    entry = {"label": "b", "estimator": "broken_one:A", "sees_labels": "none", "paper": "none"}
    edit("config/methods.yaml", lambda c: c["methods"].update(mine=entry))
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--", "quickstart"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{project}:{project / 'methods'}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "broken_one.py, line 2: SystemExit: 0" in run.stderr
    assert "align" in run.stdout + run.stderr


@pytest.mark.whole_run
@pytest.mark.parametrize(("folder", "key"), [("studies", "study.module"), ("loaders", "loader")])
def test_a_broken_study_or_loader_is_named(project, folder, key):
    """In a process of its own: the modules of this one are those of the checkout under test."""
    module = {"studies": "tkl/scaling.py", "loaders": "digits.py"}[folder]
    path = project / "workflow" / folder / module
    path.write_text(path.read_text() + "\nimport sys\nsys.exit(0)\n")
    line = len(path.read_text().splitlines())
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from workflow.lib.config.suite import load_suite\n"
            "from workflow.lib.config.estimators import check_estimators\n"
            "check_estimators(load_suite('.'))",
        ],
        cwd=project,
        env={"PYTHONPATH": f"{project}:{project / 'methods'}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode != 0
    assert "ConfigError" in run.stderr
    assert f"{path.name}, line {line}: SystemExit: 0" in run.stderr
    assert key in run.stderr
