"""The answer box says what the records say, and claims nothing that a test does not."""

import dataclasses

import numpy as np
import pytest
import scipy.stats

from tests.workflow import board_example, study_example
from tests.workflow.report_example import (
    make_experiment,
    rich_curves,
    rich_view,
    study_view,
    varied_view,
    view_of,
)
from workflow.lib.report.answer import answer_lines, duel, study_lines
from workflow.lib.report.tables import scores
from workflow.lib.results.audit import audit
from workflow.lib.results.effects import compare
from workflow.lib.results.text import p_text
from workflow.lib.results.views import with_dataset

pytestmark = pytest.mark.whole_run

PAIRS = [(s, t) for s in ("amazon", "caltech", "dslr") for t in ("webcam", "dslr") if s != t]


def answers(view):
    checked = audit(view)
    return {line.question: line.answer for line in answer_lines(view, checked)}


def simple(gain, methods=("plain", "sma", "fma_i"), trials=4, pairs=PAIRS, **changed):
    """Five tasks or more on which FMA-I is ``gain`` above no adaptation, with a little noise."""
    rng = np.random.default_rng(2)
    experiment = make_experiment(pairs, methods, **changed)
    scores = {
        (task.name, method): list(
            0.4
            + 0.02 * place
            + {"fma_i": gain, "sma": gain / 2}.get(method, 0.0)
            + 0.004 * rng.standard_normal(trials)
        )
        for place, task in enumerate(experiment.tasks)
        for method in methods
    }
    return view_of(experiment, scores, trials)


def test_the_difference_its_interval_and_p_are_those_of_the_records():
    view = simple(0.1, methods=("plain", "fma_i"), pairs=None)
    found = duel(view, "logistic")
    gains = np.array(
        [
            view.cell(task.name, "fma_i", "logistic").mean
            - view.cell(task.name, "plain", "logistic").mean
            for task in view.experiment.tasks
        ]
    )
    (effect,) = compare(
        with_dataset(view).assign(value=view.records["accuracy"].astype(float)), "plain"
    ).effects
    low, high = effect.low, effect.high
    said = answers(view)
    assert (
        f"+{100 * gains.mean():.1f} percentage points against No adaptation" in said["By how much?"]
    )
    assert (
        f"95 % interval +{100 * low:.1f} to +{100 * high:.1f} over 12 tasks, which share domains"
        in said["By how much?"]
    )
    p = scipy.stats.wilcoxon(gains).pvalue
    assert found.test.p == pytest.approx(p)
    assert f", {p_text(p)} before" in said["Is that certain?"]
    jackknife = f"by a jackknife over domains p = {p_text(effect.p_holm)} after the correction"
    assert jackknife in said["Is that certain?"]
    assert said["Does it help?"].startswith("Yes: FMA-I reaches")
    assert said["Where does it lose?"] == "On none of 12 tasks."


def test_tasks_that_share_domains_are_not_taken_for_independent():
    # A gain that is large wherever one domain is the target, and small elsewhere: one draw of
    # domains among four, of which the test over tasks makes twelve.
    experiment = make_experiment(None, ("plain", "fma_i"))
    tasks = experiment.tasks
    gain = [0.3 if task.target.domain == "webcam" else 0.02 for task in tasks]
    scores = {(task.name, "plain"): [0.4, 0.401] for task in tasks}
    scores |= {(t.name, "fma_i"): [0.4 + g, 0.4 + g] for t, g in zip(tasks, gain, strict=True)}
    view = view_of(experiment, scores, 2)
    found = duel(view, "logistic")
    assert found.test.p_holm < 0.05 < found.p_of_domains
    said = answers(view)
    assert said["Does it help?"].startswith("On average, but not surely:")
    assert f"tasks share, p = {p_text(found.p_of_domains)}." in said["Does it help?"]
    assert said["Is that certain?"].startswith("No, at 5 %")


def test_gain_interval_and_p_are_of_the_same_tasks_where_the_best_lacks_some():
    rng = np.random.default_rng(0)
    methods = ("plain", "coral_x", "sma", "fma_f", "fma_i")
    experiment = make_experiment(None, methods)
    scores = {
        (task.name, method): list(0.4 + 0.2 * (method == "fma_i") + 0.02 * rng.normal(size=2))
        for task in experiment.tasks
        for method in methods
    }
    for task in experiment.tasks[:3]:
        scores[task.name, "fma_i"] = [{"status": "timeout", "error": "late"}] * 2
    found = duel(view_of(experiment, scores, 2), "logistic")
    assert found.best == "fma_i"
    assert len(found.by_task) == 9
    assert found.effect.effect == pytest.approx(found.gain)
    assert found.p == max(found.test.p_holm, found.effect.p_holm)


def test_an_interval_over_trials_is_not_that_of_domains():
    view = simple(0.1, methods=("plain", "fma_i"), pairs=[("amazon", "dslr"), ("dslr", "amazon")])
    assert duel(view, "logistic").effect is None
    assert "over 4 trials." in answers(view)["By how much?"]


def test_what_no_test_can_tell_is_no_yes():
    view = simple(0.1)
    said = answers(view)
    assert said["Does it help?"].startswith("On average, but not surely: FMA-I reaches")
    assert "% over 5 tasks (too few for a test), No adaptation" in said["Does it help?"]
    assert said["Is that certain?"].startswith(
        "Cannot be told: 5 tasks are too few for 2 comparisons"
    )


def test_a_loss_is_no_help_and_names_its_tasks():
    said = answers(simple(-0.1))
    assert said["Does it help?"].startswith("No: SMA reaches")
    assert said["By how much?"].startswith("−")
    losses = "C→W (−5.2), A→D (−5.0), C→D (−4.9), D→W (−4.6) and A→W (−4.3)"
    assert said["Where does it lose?"] == f"On 5 of 5 tasks: {losses}."


def test_a_baseline_above_every_method_is_no_help_whichever_is_first_in_the_list():
    for order in (("plain", "coral_x", "sma"), ("coral_x", "plain", "sma")):
        experiment = make_experiment(PAIRS, order)
        level = {"plain": 0.3, "coral_x": 0.6, "sma": 0.5}
        scores = {(t.name, m): [level[m]] * 2 for t in experiment.tasks for m in level}
        said = answers(view_of(experiment, scores, 2))
        assert said["Does it help?"] == (
            "No: SMA reaches 50.0 % over 5 tasks, the best baseline, CORAL & co_x, 60.0 %."
        )


def leveled(offsets, trials=2, **changed):
    """Twelve tasks; ``{method: [offset of its mean on each task]}``, in the order of the list."""
    experiment = make_experiment(None, tuple(offsets), **changed)
    scores = {
        (task.name, method): [0.4 + 0.01 * place + offsets[method][place]] * trials
        for place, task in enumerate(experiment.tasks)
        for method in offsets
    }
    return view_of(experiment, scores, trials)


EVEN = np.linspace(-0.001, 0.001, 12)
# Its mean is lower than that of `EVEN`, its spread so large that no test tells it from 0.05.
ROUGH = np.where(np.arange(12) % 2, 0.29, -0.31)


def test_a_yes_needs_every_baseline_separated_not_the_best_alone():
    view = leveled({"plain": EVEN, "coral_x": ROUGH, "fma_i": 0.05 + EVEN[::-1] / 3})
    found = duel(view, "logistic")
    assert (found.best, found.reference) == ("fma_i", "plain")
    assert found.test.p_holm < 0.05
    said = answers(view)
    assert said["Does it help?"].startswith("On average, but not surely: FMA-I reaches")
    assert "By a t test not separated from it: CORAL & co_x." in said["Does it help?"]
    assert "CORAL & co_x is not separated from it by a t test" in said["Is that certain?"]
    sure = answers(leveled({"plain": EVEN, "fma_i": 0.05 + EVEN[::-1] / 3}))
    assert sure["Does it help?"].startswith("Yes: FMA-I reaches")


def test_a_yes_with_what_was_searched_on_these_trials_says_so():
    tried = {"fma_i": {"alpha": "five values"}}
    view = leveled({"plain": EVEN, "fma_i": 0.05 + EVEN[::-1] / 3}, found_by_search=tried)
    told = answers(view)["Does it help?"]
    assert told.startswith("Yes, after a search for the setting: FMA-I † reaches")


def test_the_best_baseline_is_named_where_it_is_not_separated():
    view = leveled({"plain": EVEN - 0.2, "coral_x": ROUGH + 0.01, "fma_i": EVEN + 0.01})
    said = answers(view)["Does it help?"]
    assert said.startswith("On average, but not surely: FMA-I reaches")
    assert "the best baseline, CORAL & co_x, " in said
    assert "By a t test not separated from it: CORAL & co_x." in said


def test_no_answer_says_yes_with_a_baseline_above_or_not_separated():
    rng = np.random.default_rng(11)
    for _ in range(12):
        methods = rng.permutation(["plain", "coral_x", "sma", "fma_i"])
        offsets = {
            m: 0.03 * rng.standard_normal() + 0.02 * rng.standard_normal(12) for m in methods
        }
        view = leveled(offsets)
        found, said = duel(view, "logistic"), answers(view)["Does it help?"]
        rivals = [m for m in view.baselines if found.means[m] >= found.means[found.best]]
        rivals += [m for m in view.baselines if m in found.equals]
        assert not (said.startswith("Yes") and rivals)


def test_what_is_not_separated_from_a_baseline_above_is_said_of_the_baseline():
    view = leveled({"plain": EVEN, "fma_i": ROUGH, "sma": EVEN - 0.1})
    said = answers(view)["Does it help?"]
    assert said.startswith("No: FMA-I reaches")
    assert said.endswith("By a t test not separated from No adaptation: FMA-I.")


def test_the_papers_own_baselines_stay_in_sight():
    audited = {"columns": {"svm": {"method": "plain"}, "fma_i": {"method": "fma_i"}}}
    view = leveled({"plain": EVEN - 0.2, "coral_x": EVEN, "fma_i": EVEN + 0.1}, audit=audited)
    told = next(line.answer for line in answer_lines(view, None))
    assert told.startswith(
        "Yes: FMA-I reaches 55.5 % over 12 tasks, the best baseline, CORAL & co_x, "
    )
    assert told.endswith("The paper compares with No adaptation (here 25.5 %).")
    printed_only = {"columns": {"plain": {"published_only": "another layer"}}}
    view = leveled({"plain": EVEN - 0.2, "coral_x": EVEN, "fma_i": EVEN + 0.1}, audit=printed_only)
    assert "The paper compares with No adaptation (" in answer_lines(view, None)[0].answer
    view = leveled({"coral_x": EVEN - 0.2, "plain": EVEN, "fma_i": EVEN + 0.1}, audit=audited)
    assert "The paper compares" not in answer_lines(view, None)[0].answer


def test_without_a_baseline_nothing_is_said_to_help():
    view = leveled({"fma_i": EVEN, "sma": EVEN + 0.1})
    first = answer_lines(view, None)[0]
    assert first.question == "What is best?"
    assert first.answer == "SMA reaches 55.5 % over 12 tasks, FMA-I 45.5 %."


def test_one_task_is_compared_over_its_trials():
    said = answers(simple(0.1, pairs=[("amazon", "dslr")]))
    assert "over 4 trials" in said["By how much?"]
    assert "3 are needed" in said["Is that certain?"]


def test_both_measures_are_told_apart():
    view = simple(0.1)
    said = answers(view)["What is measured?"]
    assert said.startswith("Accuracy on the scored target rows: ")
    entire = np.mean(
        [
            view.cell(task.name, "fma_i", "logistic", "accuracy_entire_target").mean
            for task in view.experiment.tasks
        ]
    )
    assert f"FMA-I: {100 * entire:.1f} % there" in said


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "full_source", "target_share": 0.5}, "those that the methods did not see ("),
        ({"kind": "training_test"}, "those that the methods did not see ("),
        ({"kind": "random", "target_per_class": 0, "scored_rows": "seen"}, "the methods saw ("),
        ({"kind": "random", "scored_rows": "seen"}, "whose label the methods were shown ("),
    ],
)
def test_which_rows_are_scored_is_said_as_the_protocol_has_it(changed, said):
    view = simple(0.1)
    view.suite.protocols["official"].update(changed)
    assert said in answers(view)["What is measured?"]


def test_failures_and_absences_are_an_alarm(tmp_path):
    view = rich_view(tmp_path, trials=4)
    (ran,) = [line for line in answer_lines(view, audit(view)) if line.tone]
    assert ran.answer.startswith("No: 6 of 240 records failed (error: 4, out of time: 2).")
    assert "20 without data and 12 not applicable" in ran.answer


def test_a_method_with_a_searched_setting_keeps_its_mark_in_every_line():
    view = simple(0.1)
    view.suite.methods["fma_i"]["found_by_search"] = {"n_components": "20 and 40"}
    said = answers(view)
    assert "FMA-I † reaches" in said["Does it help?"]
    assert said["What is measured?"].count("FMA-I †") == said["What is measured?"].count("FMA-I")
    curved = rich_curves(trials=3)
    method = curved.methods[-1]
    curved.suite.methods[method]["found_by_search"] = {"alpha": "0.2 and 1"}
    assert "FMA-F † " in answers(curved)["What is best?"]


def test_the_verdicts_are_those_of_the_audit(tmp_path):
    view = rich_view(tmp_path, trials=4)
    checked = audit(view)
    said = answers(view)["Does it match the paper?"]
    assert said.startswith("Partly. Close: FMA-I (published ")
    assert "Matched after a search for the setting: FMA-F (published " in said
    assert "The mean is close, rows are not: SMA (published " in said
    for column in checked.columns:
        if column.method_label:
            assert f"published {column.mean.published:.1f}, ours {column.mean.ours:.1f}" in said


def test_what_a_newcomer_asks_comes_before_the_details(tmp_path):
    view = rich_view(tmp_path, trials=4)
    asked = [line.question for line in answer_lines(view, audit(view))]
    assert asked[:4] == [
        "Does it help?",
        "By how much?",
        "Is that certain?",
        "Does it match the paper?",
    ]
    assert set(asked[4:]) >= {"Where does it lose?", "What is measured?", "Did everything run?"}


def test_the_quickstart_says_first_whether_the_stages_work():
    view = simple(0.1, answers=None)
    assert answer_lines(view, None)[0].question == "Does it help?"
    named = dataclasses.replace(view.experiment, name="quickstart")
    suite = dataclasses.replace(view.suite, experiments={"quickstart": named})
    first, *_ = answer_lines(dataclasses.replace(view, experiment=named, suite=suite), None)
    assert first.question == "Does every stage work?"
    assert first.answer == "Yes: 60 of 60 records have a score, none failed."


def test_each_classifier_has_its_line():
    view = simple(0.1, classifiers=("logistic", "one_nn"))
    lines = [line.question for line in answer_lines(view, None)]
    assert lines[:2] == [
        "With Logistic regression: does it help?",
        "With 1-NN: does it help?",
    ]


def three_means(**changed):
    """The first baseline has 40 %, the second 55, the method that aligns 50."""
    methods, levels = ("plain", "coral_x", "fma_i"), (0.40, 0.55, 0.50)
    experiment = make_experiment(None, methods, **changed)
    scores = {
        (task.name, method): [level + 0.01 * place, level + 0.01 * place]
        for place, task in enumerate(experiment.tasks)
        for method, level in zip(methods, levels, strict=True)
    }
    return view_of(experiment, scores, 2)


@pytest.mark.parametrize("changed", [{"answers": None}, {}])
def test_the_bar_is_the_best_baseline_not_the_first_of_the_list(changed):
    found = duel(three_means(**changed), "logistic")
    assert (found.best, found.reference) == ("fma_i", "coral_x")
    said = answers(three_means(**changed))
    assert said["Does it help?"].startswith("No: FMA-I")
    assert "The baseline is the best by these very scores" in said["Is that certain?"]


def test_the_answer_is_about_the_methods_that_the_page_asks_about():
    methods = ("plain", "fma_i", "fma_f")
    answered = {"paper": "p", "artefact": "Table 1"}

    def of(asked):
        own = answered | ({"methods": asked} if asked else {})
        experiment = make_experiment(None, methods, answers=own)
        scores = {
            (task.name, method): [level + 0.01 * place + 0.002 * (place % 3), level]
            for place, task in enumerate(experiment.tasks)
            for method, level in zip(methods, (0.40, 0.45, 0.60), strict=True)
        }
        return view_of(experiment, scores, 2)

    assert duel(of(None), "logistic").best == "fma_f"
    assert "are each" not in answers(of(["fma_i"]))["Is that certain?"]
    assert duel(of(["fma_i"]), "logistic").best == "fma_i"
    told = answers(of(["fma_i"]))["Does it help?"]
    assert "FMA-I reaches" in told
    assert "The highest of all, FMA-F, has" in told
    assert "The highest of all" not in answers(of(None))["Does it help?"]
    assert "The method is the best by these very scores." in answers(of(None))["Is that certain?"]


def test_lost_records_are_an_alarm():
    view = simple(0.1, answers=None)
    records = view.records.assign(status=["lost", *view.records["status"][1:]])
    lost = dataclasses.replace(view, records=records)
    line = answer_lines(lost, None)[-1]
    assert line.question == "Did everything run?"
    assert line.answer == "No: 59 of 60 records have a score. 1 never computed."
    assert line.tone == "alarm"


def test_a_list_that_begins_with_a_method_has_it_as_its_reference():
    own = dataclasses.replace(three_means().experiment, answers=None, methods=("fma_i", "plain"))
    view = dataclasses.replace(three_means(answers=None), experiment=own)
    assert duel(view, "logistic").reference == "fma_i"


def test_where_the_first_method_does_not_apply_the_next_that_adapts_nothing_is_the_reference():
    view = board_example.tuned_view(lacking={("source_only", None, None): range(9)})
    found = duel(view, "circular")
    assert (found.best, found.reference) == ("coral", "pca")
    table = scores.tests_table(view, "circular")
    assert "against PCA;" in table.caption
    assert not any("no test against" in note for note in table.notes)
    both = {(name, None, None): range(9) for name in ("source_only", "pca")}
    assert duel(board_example.tuned_view(lacking=both), "circular") is None


def test_nothing_in_common_is_said():
    gone = {"status": "data_unavailable", "error": "gone"}
    experiment = make_experiment([("amazon", "dslr")], ("plain", "sma"))
    scores = {("amazon-dslr", m): [gone] for m in ("plain", "sma")}
    said = answers(view_of(experiment, scores, 1))
    assert said["Does it help?"].startswith("Cannot be said")
    assert said["Did everything run?"].startswith("No: 0 of 2 records have a score.")


def test_a_curve_names_its_highest_points():
    view = rich_curves(trials=3)
    said = answers(view)["What is best?"]
    assert "FMA-F" in said
    assert "upper bound" in said


@pytest.mark.parametrize(("lost", "said"), [(0.0004, "On none of 2"), (0.002, "On 1 of 2")])
def test_a_loss_that_is_shown_as_none_is_none(lost, said):
    experiment = make_experiment(PAIRS[:2], ("plain", "fma_i"))
    first, second = (task.name for task in experiment.tasks)
    scores = {(first, "plain"): [0.5], (second, "plain"): [0.5]}
    scores |= {(first, "fma_i"): [0.5 - lost], (second, "fma_i"): [0.9]}
    view = view_of(experiment, scores, 1)
    assert answers(view)["Where does it lose?"].startswith(said)


def test_a_study_gives_its_question_and_its_finding(monkeypatch):
    view = study_view()
    assert [line.question for line in study_lines(view)] == ["Did it run?"]
    monkeypatch.setattr(
        study_example, "finding", lambda records, arrays: f"{len(records)} found.", raising=False
    )
    assert study_lines(view)[0].answer == "6 found."
    failed = study_lines(study_view("timeout", "late"))
    assert (failed[-1].answer, failed[-1].tone) == ("No: out of time: late", "alarm")


def test_the_box_is_the_same_for_another_order_of_methods():
    view = simple(0.1)
    turned = dataclasses.replace(view.experiment, methods=("plain", "fma_i", "sma"))
    assert duel(dataclasses.replace(view, experiment=turned), "logistic").best == "fma_i"


def test_settings_at_which_alignment_surely_helps():
    vary = {"parameter": "target_per_class", "of": "protocol", "values": [1, 5, 20], "label": "k"}
    rng = np.random.default_rng(3)
    gains = {("sma", 1): 0.1, ("sma", 5): 0.05, ("fma_i", 1): 0.06, ("fma_i", 20): -0.1}
    scores = {
        (f"{s}-{t}", method, k): list(
            0.4 + 0.005 * k + gains.get((method, k), 0.0) + 0.004 * rng.standard_normal(4)
        )
        for s, t in PAIRS
        for method in ("plain", "sma", "fma_i")
        for k in vary["values"]
    }
    view = varied_view(scores, 4, vary, PAIRS)
    said = answers(view)["Where does alignment help?"]
    assert said.startswith(
        "It is surely above the best method without alignment at 2 of 3 values of “k”: 1 and 5. The"
    )
    assert ": at 1, SMA +9.9 (" in said
    assert "; at 5, SMA +" in said
    assert "; at 20, SMA " in said
    by_method = {**vary, "of": "methods"}
    assert "Where does alignment help?" not in answers(varied_view(scores, 4, by_method, PAIRS))
