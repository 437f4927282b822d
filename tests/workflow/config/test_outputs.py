"""Files of an experiment, named before anything has run."""

from tests.workflow.report_example import make_experiment, make_suite, study_view, varied_view
from tests.workflow.shift_example import shift_view
from workflow.lib.config import outputs
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite

PAIRS = [("amazon", "dslr"), ("dslr", "amazon")]
VARY = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}


def test_domains_are_named_once_in_the_order_of_the_tasks():
    experiment = make_experiment([*PAIRS, ("webcam", "dslr")], ("plain",))
    names = [ref.domain for ref in outputs.domains_of(experiment)]
    assert names == ["amazon", "dslr", "webcam"]
    assert [ref.domain for ref in outputs.domains_of(study_view().experiment)] == [
        "amazon",
        "webcam",
    ]


def test_one_classifier_needs_no_suffix():
    assert outputs.suffixes(make_experiment(PAIRS, ("plain",))) == {"logistic": ""}
    both = make_experiment(PAIRS, ("plain",), classifiers=("logistic", "one_nn"))
    assert outputs.suffixes(both) == {"logistic": "_logistic", "one_nn": "_one_nn"}
    names = outputs.table_names(both)
    assert len(names) == len(set(names))
    assert {"accuracy_logistic", "accuracy_one_nn", "failures"} <= set(names)


def test_a_curve_by_task_needs_two_tasks():
    scores = {(f"{a}-{b}", "plain", k): [0.5] for a, b in PAIRS for k in VARY["values"]}
    both = varied_view(scores, 1, VARY, PAIRS).experiment
    assert outputs.figure_names(both) == ["curve", "curve_by_task"]
    assert outputs.table_names(both)[0] == "curve"
    first = {key: value for key, value in scores.items() if key[0] == "amazon-dslr"}
    assert outputs.figure_names(varied_view(first, 1, VARY, PAIRS[:1]).experiment) == ["curve"]


def test_timings_are_every_timed_method_on_every_timed_task():
    timing = {"tasks": ["amazon-dslr"], "methods": ["plain", "sma"], "repeats": 2}
    experiment = make_experiment(PAIRS, ("plain", "sma"), timing=timing)
    assert outputs.timing_files(experiment) == [
        "timing/amazon-dslr.plain.jsonl",
        "timing/amazon-dslr.sma.jsonl",
    ]
    assert "timing" in outputs.table_names(experiment)
    assert "timing" in outputs.figure_names(experiment)
    untimed = make_experiment(PAIRS, ("plain",), timing=None)
    assert outputs.timing_files(untimed) == []
    assert "timing" not in outputs.table_names(untimed)


def test_what_asks_for_times_has_no_table_and_no_picture_of_scores():
    timing = {"tasks": [f"{a}-{b}" for a, b in PAIRS], "methods": ["sma"], "repeats": 2}
    experiment = make_experiment(PAIRS, ("plain", "sma"), timing=timing)
    assert experiment.asks_time
    assert outputs.figure_names(experiment) == ["timing"]
    assert outputs.table_names(experiment) == ["timing", "failures", "methods", "data"]
    assert not study_view().experiment.asks_time


def test_a_picture_is_in_the_block_of_its_trial():
    picture = {"task": "amazon-dslr", "trial": 7, "methods": ["plain"]}
    experiment = make_experiment(PAIRS, ("plain",), picture=picture)
    suite = make_suite(experiment, 10)
    suite.config["trials_per_job"] = 4
    assert outputs.pictured_files(experiment, suite) == {
        "plain": "amazon-dslr/plain.004-007.predictions.npz"
    }
    assert outputs.pictured_files(make_experiment(PAIRS, ("plain",), picture=None), suite) == {}


def test_experiments_over_generated_shifts():
    view = shift_view()
    assert outputs.shifts(view.suite) == ["bent"]
    other = make_suite(make_experiment(PAIRS, ("plain",)), 1)
    other.datasets["office"]["loader"] = "generic:load"
    assert outputs.shifts(other) == []
    assert outputs.shift_tables("bent") == ["bent_full", "bent_all", "bent_losses"]


def test_curves_over_the_labels_of_the_target_are_the_tuned_ones():
    suite = load_suite(PROJECT)
    assert outputs.label_curves(suite) == ["labels_per_class"]
    shares = [
        one for one in suite.experiments.values() if one.vary and one.vary["of"] == "protocol"
    ]
    assert len(shares) > 1
