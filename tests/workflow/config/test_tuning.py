"""Tuned experiments: what their files may say, and the ways of choosing."""

import copy

import pytest
import yaml
from domain_alignment.model_selection import SELECTORS

from tests.workflow.trials.tuned_block import SUITE
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.suite import load_suite
from workflow.lib.config.tuning import REFERENCES, check_search, choices, tuned

TUNED = {
    "schema_version": 1,
    "title": "t",
    "question": "q",
    "tasks": [{"source": "digits.full", "target": "digits.half"}],
    "protocol": "raw_full_source",
    "methods": ["pca"],
    "tuning": {"chosen_by": "circular"},
}


@pytest.fixture
def loaded(project):
    """Function that reads config/experiments/mine.yaml with some keys changed."""

    def load(**changes):
        content = {key: value for key, value in (TUNED | changes).items() if value is not None}
        path = project / "config/experiments/mine.yaml"
        path.write_text(yaml.safe_dump(content))
        return load_suite(project)

    return load


def test_a_selector_of_the_configuration_is_one_of_the_library():
    for name, entry in SUITE.tuning["selectors"].items():
        assert SELECTORS[name].sees == entry["sees_labels"]


def test_the_chosen_selector_comes_first_and_the_references_last(loaded):
    experiment = loaded().experiments["mine"]
    assert experiment.recorded[0] == "circular"
    assert set(experiment.recorded) == {*SUITE.tuning["selectors"], *REFERENCES}
    assert experiment.recorded[-len(REFERENCES) :] == tuple(REFERENCES)
    asked = experiment.tuning
    assert (asked["candidates"], asked["seed"], asked["folds"]) == (32, 0, 2)
    assert list(choices(SUITE.tuning))[-1] == "oracle"
    assert choices(SUITE.tuning)["entropy"] == "Chosen by prediction entropy"


def test_fewer_selectors_may_score(loaded):
    asked = {"chosen_by": "circular", "selectors": ["entropy"]}
    assert loaded(tuning=asked).experiments["mine"].recorded == ("circular", "entropy", *REFERENCES)


def test_a_board_says_who_chooses(loaded):
    shown = {"protocol": "board_few_target_labels", "tuning": {"board": "few_target_labels"}}
    experiment = loaded(**shown).experiments["mine"]
    assert experiment.tuning["chosen_by"] == "labelled_accuracy"


def test_a_selector_that_reads_target_labels_needs_a_protocol_that_shows_some(loaded):
    """Else no candidate would have a score, which is found out after all trials."""
    asked = {"protocol": "shifts_no_target_labels", "tuning": {"chosen_by": "labelled_accuracy"}}
    with pytest.raises(ConfigError, match=r"'labelled_accuracy' needs labels of the target, and "):
        loaded(**asked)
    vary = {"parameter": "target_per_class", "of": "protocol", "values": [0, 3], "label": "n"}
    assert loaded(**asked, vary=vary).experiments["mine"].tuning["chosen_by"] == "labelled_accuracy"


def test_labels_may_vary_while_every_method_chooses(loaded):
    vary = {"parameter": "target_per_class", "of": "protocol", "values": [1, 3], "label": "n"}
    suite = loaded(vary=vary, protocol="board_few_target_labels")
    experiment = suite.experiments["mine"]
    assert experiment.settings == (1, 3)
    assert len(suite.candidates("mine", "pca", experiment.tasks[0])) > 1


def test_candidates_of_a_task(loaded):
    suite = loaded(tuning={"chosen_by": "entropy", "candidates": 9, "seed": 3})
    drawn = suite.candidates("mine", "pca", suite.experiments["mine"].tasks[0])
    assert sum(len(alignment.classifiers) for alignment in drawn) == 9


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tuning": {"chosen_by": "entrpy"}}, "unknown selector 'entrpy'. Did you mean 'entropy'?"),
        ({"tuning": {"board": "few_labels"}}, "tuning.board: unknown board 'few_labels'"),
        (
            {"tuning": {"chosen_by": "circular", "selectors": ["bmn"]}},
            "tuning.selectors: unknown selector 'bmn'. Did you mean 'bnm'?",
        ),
        (
            {"tuning": {"board": "no_target_labels", "selectors": ["circular"]}},
            "the page of tuning.board compares all selectors",
        ),
        ({"methods": ["tca_dual"]}, "methods: 'tca_dual' has no search space; add a `search`"),
        (
            {
                "tasks": [{"all_pairs": "digits"}],
                "tuning": {"chosen_by": "circular", "answer": True},
            },
            "tuning.answer: it is given on one task, and `tasks` are 6; name one",
        ),
        ({"protocol": "full_source"}, "'full_source' scales the features"),
        (
            {"vary": {"parameter": "mu", "of": "methods", "values": [1, 2], "label": "m"}},
            "vary: candidates have their own values of a parameter",
        ),
    ],
)
def test_a_wrong_experiment_is_named(loaded, changes, expected):
    with pytest.raises(ConfigError) as caught:
        loaded(**changes)
    assert expected in str(caught.value)
    assert "mine.yaml" in str(caught.value)


def test_a_protocol_that_scales_is_refused():
    raw = {"tuning": {"chosen_by": "circular"}, "protocol": "scaled"}
    with pytest.raises(ConfigError, match=r"mine: protocol: 'scaled' scales the features"):
        tuned("mine", raw, SUITE.tuning, {"preprocess": ["zscore"]}, 1)


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ({"scalings": ["standrd"]}, "search: scalings: unknown scaling of config/tuning.yaml 'sta"),
        ({"classifiers": ["one_n"]}, "unknown classifier of config/tuning.yaml 'one_n'"),
        ({"found_by_search": {"rnak": "2"}}, "found_by_search: unknown parameter 'rnak'"),
        ({"values": ["cuonts"]}, "unknown kind of features 'cuonts'. Did you mean 'counts'?"),
        ({"params": {"n_components": [5]}}, "n_components: 20, the entry's own value, is not amo"),
        ({"params": {"width": [5]}}, "params.width: the entry's own params do not say its value"),
        ({"at_most": {"rank": "features"}}, "at_most: unknown parameter 'rank'"),
        ({"of_predict": ["weight"]}, "of_predict: unknown parameter 'weight'"),
    ],
)
def test_a_search_that_names_nothing_is_an_error(search, expected):
    entry = copy.deepcopy(SUITE.methods["pca"]) | {"search": search}
    with pytest.raises(ConfigError) as caught:
        check_search("mine/methods.yaml: methods.pca", entry, SUITE.tuning)
    assert expected in str(caught.value)
    assert "mine/methods.yaml: methods.pca.search" in str(caught.value)


@pytest.mark.parametrize("name", SUITE.methods)
def test_every_entry_passes(name):
    check_search(name, SUITE.methods[name], SUITE.tuning)
