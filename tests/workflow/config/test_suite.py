import re

import pytest
import yaml

from workflow.lib.config.estimators import check_estimators
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.suite import block_trials, load_suite
from workflow.lib.config.tasks import Task

EXPERIMENT = {
    "schema_version": 1,
    "title": "t",
    "question": "q",
    "tasks": [{"source": "digits.full", "target": "digits.half"}],
    "protocol": "digits_random",
    "methods": ["fma_i"],
    "classifiers": ["logistic"],
}


VARY = {"parameter": "alpha", "of": "methods", "values": [1, 2], "label": "α"}


@pytest.fixture
def mine(project):
    """Function that writes config/experiments/mine.yaml with some keys changed."""

    def write(**changes):
        content = {key: value for key, value in (EXPERIMENT | changes).items() if value is not None}
        path = project / "config/experiments/mine.yaml"
        path.write_text(yaml.safe_dump(content))

    return write


def test_the_projects_configuration_is_right(project):
    suite = load_suite(project)
    assert check_estimators(suite) == []
    assert "quickstart" in suite.experiments
    for experiment in suite.experiments.values():
        assert experiment.study or suite.n_asked(experiment.name) > 0


def test_a_file_without_an_address_says_where_to_look_or_that_none_is_known(project):
    files = [
        (name, file)
        for dataset in load_suite(project).datasets.values()
        for name, file in (dataset.get("files") or {}).items()
        if not file.get("urls") and "path" not in file
    ]
    assert files
    silent = [name for name, file in files if not re.search(r"https://\S+|no address", file["why"])]
    assert not silent


def message(project):
    with pytest.raises(ConfigError) as caught:
        check_estimators(load_suite(project))
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"methods": ["fma"]},
            "config/experiments/mine.yaml: methods: unknown method 'fma'. Did you mean 'fma_",
        ),
        ({"protocol": "digits"}, "protocol: unknown protocol 'digits'. Did you mean 'digits_rand"),
        ({"classifiers": ["lgistic"]}, "unknown classifier 'lgistic'. Did you mean 'logistic'?"),
        (
            {"tasks": [{"source": "digits.ful", "target": "digits.half"}]},
            "tasks: digits.ful: unknown domain of digits 'ful'. Did you mean 'full'? Known: full,",
        ),
        ({"tasks": [{"all_pairs": "digit"}]}, "unknown dataset 'digit'. Did you mean 'digits'?"),
        ({"tasks": [{"source": "digits.full"}]}, "mine.yaml: tasks.0: "),
        ({"tasks": [EXPERIMENT["tasks"][0]] * 2}, "tasks: 'full-half' is listed twice"),
        ({"methodes": ["fma_i"]}, "mine.yaml: unknown key 'methodes'. Did you mean 'methods'?"),
        ({"title": None}, "mine.yaml: the key 'title' is missing; add it"),
        ({"overrides": {"fma_f": {}}}, "overrides: unknown method of this experiment 'fma_f'"),
        ({"overrides": {"fma_i": None}}, "overrides.fma_i: no value stands there; write one, or"),
        ({"methods": ["sma", "fma_i", "sma"]}, "methods: 'sma' is listed twice; keep one"),
        ({"classifiers": ["one_nn"] * 2}, "classifiers: 'one_nn' is listed twice; keep one"),
        ({"vary": VARY | {"values": [1, 2, 1.0]}}, "vary.values: 1.0 is listed twice; keep one"),
        (
            {"overrides": {"fma_i": {"n_neighbour": 3}}},
            "overrides.fma_i: unknown parameter of domain_alignment:FMA 'n_neighbour'."
            " Did you mean 'n_neighbors'?",
        ),
        (
            {"picture": {"task": "full-hal", "trial": 0, "methods": ["fma_i"]}},
            "picture.task: unknown task of this experiment 'full-hal'. Did you mean 'full-half'?",
        ),
        (
            {"vary": VARY | {"parameter": "trials", "of": "protocol"}},
            "vary.parameter: unknown key of a protocol that can be varied 'trials'. Known: source_",
        ),
        (
            {"vary": VARY | {"parameter": "alfa"}},
            "vary.parameter, for method fma_i: unknown parameter of domain_alignment:FMA 'al",
        ),
        (
            {"vary": VARY | {"values": [0, 1], "scale": "log"}},
            "vary.values: a logarithmic axis needs values above 0",
        ),
        (
            {"vary": VARY, "picture": {"task": "full-half", "trial": 0, "methods": ["fma_i"]}},
            "picture has no place beside vary",
        ),
        (
            {"timing": {"tasks": ["full-half"], "methods": ["sma"], "repeats": 1}},
            "timing.methods: unknown method of this experiment 'sma'",
        ),
    ],
)
def test_a_wrong_experiment_is_named(project, mine, changes, expected):
    mine(**changes)
    assert expected in message(project)


@pytest.mark.parametrize(
    ("file", "change", "expected"),
    [
        (
            "methods",
            lambda c: c["methods"]["fma_i"].update(estimator="domain_alignment:FMI"),
            "config/methods.yaml: methods.fma_i.estimator: unknown class of domain_alignment 'FMI'",
        ),
        (
            "methods",
            lambda c: c["methods"]["fma_i"].update(sees_labels="all"),
            "config/methods.yaml: methods.fma_i.sees_labels: 'all' is not one of",
        ),
        (
            "methods",
            lambda c: c["methods"]["fma_i"]["params"].update(alfa=1),
            "config/methods.yaml: methods.fma_i.params: unknown parameter of"
            " domain_alignment:FMA 'alfa'. Did you mean 'alpha'?",
        ),
        (
            "protocols",
            lambda c: c["protocols"]["digits_random"].update(kind="rndom"),
            "config/protocols.yaml: protocols.digits_random.kind: 'rndom' is not one of",
        ),
        (
            "protocols",
            lambda c: c["protocols"]["office_caltech_official"].update(splits="office_splits"),
            "splits: unknown dataset of splits 'office_splits'. Did you mean 'office_calt",
        ),
        (
            "protocols",
            lambda c: c["protocols"]["full_source"].update(trials=2),
            "config/protocols.yaml: protocols.full_source.trials: full_source samples nothing",
        ),
        (
            "protocols",
            lambda c: c["protocols"]["full_source"].update(trials=2, target_share=0.5),
            "config/protocols.yaml: protocols.full_source.target_share: the rows that are left out",
        ),
        (
            "protocols",
            lambda c: c["protocols"]["full_source"].update(unlabelled_per_domain=5),
            "config/protocols.yaml: protocols.full_source: only protocols of kind random leave",
        ),
        (
            "config",
            lambda c: c.update(experiments=["quickstrat"]),
            "config/config.yaml: experiments: unknown experiment 'quickstrat'."
            " Did you mean 'quickstart'?",
        ),
        (
            "config",
            lambda c: c.update(trial_per_job=3),
            "unknown key 'trial_per_job'. Did you mean 'trials_per_job'?",
        ),
        (
            "config",
            lambda c: c.update(schema_version=2),
            "config/config.yaml (or --config): schema_version: 1 was expected",
        ),
        (
            "datasets",
            lambda c: c["datasets"]["digits"].update(loader="digit:load"),
            "config/datasets.yaml: digits: loader: unknown module 'digit'. Did you mean 'digits'?",
        ),
    ],
)
def test_a_wrong_file_is_named(project, edit, file, change, expected):
    edit(f"config/{file}.yaml", lambda content: change(content) and None)
    assert expected in message(project)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"kema": {"n_components": "16"}}, "found_by_search: unknown method 'kema'. Did you mean"),
        (
            {"kema_int": {"n_component": "16"}},
            "found_by_search.kema_int: unknown parameter of the study 'n_component'. Did you mean",
        ),
    ],
)
def test_a_wrong_mark_of_a_study_is_named(project, edit, found, expected):
    edit("config/experiments/kema_figure7.yaml", lambda c: c.update(found_by_search=found))
    assert f"config/experiments/kema_figure7.yaml: {expected}" in message(project)


def test_yaml_that_cannot_be_read_is_named(project):
    path = project / "config/methods.yaml"
    path.write_text("methods: [")
    assert message(project).startswith("config/methods.yaml: not valid YAML")
    path.write_text("")
    assert "config/methods.yaml: holds no keys" in message(project)
    path.unlink()
    assert message(project) == "config/methods.yaml: the file is missing; restore it"


def test_settings_given_on_the_command_line_win_and_are_checked(project):
    assert load_suite(project, {"trials_per_job": 4}).config["trials_per_job"] == 4
    with pytest.raises(ConfigError, match=re.escape("(or --config): trials_per_job: 0 is less")):
        load_suite(project, {"trials_per_job": 0})


def test_blocks_cover_the_trials(project):
    suite = load_suite(project, {"trials_per_job": 8})
    assert suite.blocks("fma_table1") == ["000-007", "008-015", "016-019"]
    covered = [trial for block in suite.blocks("fma_table1") for trial in block_trials(block)]
    assert covered == list(range(20))
    assert load_suite(project).blocks("fma_table1") == ["000-019"]


def test_overrides_replace_parameters_of_one_experiment_only(project, mine):
    mine(overrides={"fma_i": {"alpha": 0.7}})
    suite = load_suite(project)
    assert suite.method("mine", "fma_i")["params"]["alpha"] == 0.7
    assert suite.method("mine", "fma_i")["params"]["level"] == "instance"
    assert suite.method("fma_table1", "fma_i")["params"]["alpha"] == 0.2


def test_each_methods_own_classifier(project, mine):
    mine(classifiers=["own", "lda"], methods=["another", "mmdt"])
    path = project / "config/methods.yaml"
    methods = yaml.safe_load(path.read_text())
    another = methods["methods"]["another"] = {
        **methods["methods"]["fma_i"],
        "variant_of": "fma_i",
    }
    another["classifier"] = "one_n"
    path.write_text(yaml.safe_dump(methods))
    assert "methods.another: classifier: unknown classifier 'one_n'" in message(project)
    another["classifier"] = "one_nn"
    path.write_text(yaml.safe_dump(methods))
    suite = load_suite(project)
    assert check_estimators(suite) == []
    asked = suite.classifiers_of("mine", "another")
    assert asked == {"own": suite.classifiers["one_nn"], "lda": suite.classifiers["lda"]}
    assert suite.classifiers_of("mine", "mmdt")["own"]["estimator"] == "own"


def test_labels_of_datasets(project):
    suite = load_suite(project)
    assert suite.label_of_dataset("coil20") == "COIL-20"
    assert "label" not in suite.datasets["cmu_faces_pose"]
    assert suite.label_of_dataset("cmu_faces_pose") == "cmu faces pose"


def test_all_methods_but_the_variants(project, mine):
    timing = {"tasks": ["full-half"], "methods": "all", "repeats": 1}
    mine(methods="all", timing=timing)
    path = project / "config/methods.yaml"
    methods = yaml.safe_load(path.read_text())
    methods["methods"]["another"] = {**methods["methods"]["sma"], "variant_of": "fma"}
    path.write_text(yaml.safe_dump(methods))
    assert "methods.another: variant_of: unknown method 'fma'" in message(project)
    methods["methods"]["another"]["variant_of"] = "sma"
    path.write_text(yaml.safe_dump(methods))
    experiment = load_suite(project).experiments["mine"]
    assert {"sma", "fma_i"} < set(experiment.methods)
    assert not {"another", "fma_i_selected"} & set(experiment.methods)
    timed = experiment.timing["methods"]
    assert {"sma", "fma_i"} < set(timed) < set(experiment.methods)
    # Three classifiers on the same rows are one alignment.
    assert sum(name.startswith("source_") for name in experiment.methods) == 3
    assert sum(name.startswith("source_") for name in timed) == 1


def test_a_task_is_found_without_looking_at_all(project, mine, monkeypatch):
    """Every job asks for its task: of 10,000 tasks each would look at 10,000."""
    mine(tasks=[{"all_pairs": "digits"}])
    experiment = load_suite(project).experiments["mine"]
    name, asked = Task.name, []
    monkeypatch.setattr(Task, "name", property(lambda task: asked.append(task) or name.fget(task)))
    for task in experiment.tasks * 3:
        assert experiment.task(name.fget(task)) is task
    assert len(asked) <= len(experiment.tasks)
    with pytest.raises(ConfigError, match="experiment mine: unknown task 'full-ful'"):
        experiment.task("full-ful")
