import os

import pytest
import yaml

from tests.workflow.conftest import ROOT
from workflow.lib.config.estimators import check_estimators
from workflow.lib.config.own_folder import NAME
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.suite import load_suite

DATASET = {
    "description": "two batches",
    "loader": "generic:load",
    "files": {"old.csv": {"path": "data/old.csv"}, "new.csv": {"path": "/data/new.csv"}},
    "domains": {
        "old": {"files": ["old.csv"], "params": {"labels": "y"}},
        "new": {"files": ["new.csv"], "params": {"labels": "y"}},
    },
    "classes": 2,
}
EXPERIMENT = {
    "title": "Mine",
    "tasks": [{"source": "mine.old", "target": "mine.new"}],
    "protocol": "mine_few",
    "methods": ["fma_i", "my_coral"],
    "classifiers": ["logistic"],
}
FILES = {
    "datasets.yaml": {"datasets": {"mine": DATASET}},
    "protocols.yaml": {
        "protocols": {
            "mine_few": {
                "kind": "random",
                "description": "d",
                "trials": 2,
                "seed": 0,
                "source_per_class": 2,
                "target_per_class": 1,
                "classifier_rows": "source+target",
            }
        }
    },
    "methods.yaml": {
        "methods": {
            "my_coral": {
                "label": "Mine",
                "estimator": "domain_alignment:CORAL",
                "sees_labels": "none",
                "params": {"ridge": 2.0},
                "paper": "none",
            }
        }
    },
    "experiments/mine.yaml": EXPERIMENT,
}


@pytest.fixture
def own(project):
    """Function that writes an own folder, some files changed, and gives its path."""

    def write(**changes):
        folder = project / "mine"
        for name, content in (FILES | changes).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(yaml.safe_dump(content))
        return folder

    return write


def settings(project, folder):
    content = yaml.safe_load((project / "config/config.yaml").read_text())
    return content | {"own": str(folder)}


def test_an_own_folder_is_read_beside_the_project(project, own):
    folder = own()
    suite = load_suite(project, settings(project, folder))
    assert check_estimators(suite) == []
    assert "quickstart" in suite.experiments
    mine = suite.experiments["mine"]
    assert mine.question == "Mine"
    assert suite.method("mine", "my_coral")["params"] == {"ridge": 2.0}
    paths = {name: file["path"] for name, file in suite.datasets["mine"]["files"].items()}
    assert paths == {"old.csv": os.path.join(folder, "data/old.csv"), "new.csv": "/data/new.csv"}
    assert suite.own.files_of("mine") == [folder / name for name in sorted(FILES, key=_order)]


def _order(name):
    kinds = ["datasets", "methods", "protocols", "experiments/mine"]
    return kinds.index(name.removesuffix(".yaml"))


def test_without_an_own_folder_nothing_is_added(project):
    assert load_suite(project).own.files_of("quickstart") == []


def test_a_list_of_all_methods_names_the_own_ones(project, own):
    folder = own(**{"experiments/mine.yaml": EXPERIMENT | {"methods": "all"}})
    assert "my_coral" in load_suite(project, settings(project, folder)).experiments["mine"].methods


def message(project, folder):
    with pytest.raises(ConfigError) as caught:
        check_estimators(load_suite(project, settings(project, folder)))
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "datasets.yaml",
            {"datasets": {"digits": DATASET}},
            "mine/datasets.yaml: datasets.digits: the project has one named 'digits'",
        ),
        (
            "experiments/quickstart.yaml",
            EXPERIMENT,
            "mine/experiments/quickstart.yaml: the project has one named 'quickstart'",
        ),
        (
            "datasets.yaml",
            {"datasets": {"mine": DATASET | {"clases": 2}}},
            "mine/datasets.yaml: datasets.mine: unknown key 'clases'. Did you mean 'classes'?",
        ),
        (
            "datasets.yaml",
            {"datasets": {"mine": DATASET | {"loader": "generic:lod"}}},
            "mine/datasets.yaml: mine: loader: unknown function 'lod'",
        ),
        (
            "protocols.yaml",
            {"protocols": {"mine_few": {**FILES["protocols.yaml"]["protocols"]["mine_few"]}}}
            | {"protocls": {}},
            "mine/protocols.yaml: unknown key 'protocls'",
        ),
        (
            "experiments/mine.yaml",
            EXPERIMENT | {"protocol": "mine_fw"},
            "mine/experiments/mine.yaml: protocol: unknown protocol 'mine_fw'. Did you mean",
        ),
        (
            "experiments/mine.yaml",
            EXPERIMENT | {"overrides": {"fma_i": {"n_neighbour": 3}}},
            "mine/experiments/mine.yaml: overrides.fma_i: unknown parameter",
        ),
        ("experiments/mine.yaml", {"tasks": []}, "mine/experiments/mine.yaml: "),
        ("dataset.yaml", {}, "unknown file of an own folder 'dataset.yaml'. Did you mean 'datas"),
    ],
)
def test_what_is_wrong_in_an_own_file_is_named_with_it(project, own, name, content, expected):
    assert expected in message(project, own(**{name: content}))


def test_an_own_methods_wrong_parameter_is_named_with_its_file(project, own):
    methods = yaml.safe_load(yaml.safe_dump(FILES["methods.yaml"]))
    methods["methods"]["my_coral"]["params"] = {"rigde": 1}
    folder = own(**{"methods.yaml": methods})
    assert "mine/methods.yaml: methods.my_coral.params: unknown parameter" in message(
        project, folder
    )


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("fine.yml", "fine.yaml"),
        ("my-run.yaml", "my_run.yaml"),
        ("Bad-Näme.yaml", "bad_name.yaml"),
        ("2nd.yaml", "my_2nd.yaml"),
        ("数.yaml", "my.yaml"),
    ],
)
@pytest.mark.parametrize("place", ["mine/experiments", "config/experiments"])
def test_an_experiment_that_no_target_can_name_is_told_its_name(project, own, place, name, better):
    folder = own()
    whole = {"schema_version": 1, "question": "q", **EXPERIMENT}
    (project / place / name).write_text(yaml.safe_dump(whole))
    expected = f"{place}/{name}: rename it to {better}; an experiment's name has lower-case"
    assert expected in message(project, folder)


def test_names_of_experiments_are_those_that_the_rules_know():
    rules = (ROOT / "workflow/rules/common.smk").read_text(encoding="utf-8")
    assert f'experiment="{NAME}",' in rules


def test_a_missing_folder_is_named(project):
    assert "not a folder" in message(project, project / "nowhere")
