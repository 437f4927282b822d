"""Choosing among candidates, and what stands in the records of each way of choosing."""

import subprocess
import sys

import numpy as np
import pytest

from workflow.lib.config.tuning import REFERENCES
from workflow.lib.trials.blocks import unavailable
from workflow.lib.trials.choices import choose, evaluate_choices
from workflow.lib.trials.evaluate import COLUMNS
from workflow.lib.trials.protocols import HIDDEN, Trial

CHOICES = ("entropy", "bnm", *REFERENCES)
LABELS = np.array([0, 1, 0, 1, 0, 1])
TRIAL = Trial(
    (np.arange(4), np.arange(6)),
    (np.array([0, 1, 0, 1]), np.array([0, 1, *[HIDDEN] * 4])),
    np.arange(2, 6),
)


def candidate(number, right=0, trial=0, fixed=None, **selectors):
    """A record and its predictions, of which the first `right` scored rows are correct."""
    record = {
        "trial": trial,
        "candidate": number,
        "status": "ok",
        "selectors": {"entropy": None, "bnm": None, **selectors},
        "seconds": 2.0,
        "peak_mb": 10.0 + number,
        "n_components": 3,
        "warnings": [],
        "fixed": fixed,
    }
    return record, np.where(np.arange(6) < 2 + right, LABELS, 1 - LABELS)


def failed(number, trial=0, **fields):
    record = {"trial": trial, "candidate": number, "status": "error", "error": "E: broken"}
    return {**record, **fields}, None


FOUR = [
    candidate(0, 1, entropy=-0.5, fixed="one_nn"),
    candidate(1, 3, entropy=-0.2, bnm=0.1),
    failed(2, seconds=1.5),
    candidate(3, 4, entropy=-0.9, bnm=0.1),
]


ALONE = CHOICES, 1, [None], {}


def outcome(pairs, trials=(TRIAL,), choices=CHOICES):
    records = [record for record, _ in pairs]
    predictions = {
        f"{record['trial']}/{record['candidate']}": predicted
        for record, predicted in pairs
        if predicted is not None
    }
    asked = choices, len(trials), [None], {"method": "m"}
    found = evaluate_choices(records, predictions, LABELS, trials, *asked)
    return {(record["trial"], record["classifier"]): record for record in found}


def test_each_selector_names_its_best_and_the_first_of_ties():
    records = [record for record, _ in FOUR]
    picked = choose(records, CHOICES)
    assert picked == {
        "entropy": 1,
        "bnm": 1,
        "default": 0,
        "fixed_one_nn": 0,
        "fixed_logistic": None,
    }


def test_scores_of_each_way_of_choosing():
    found = {name: record for (_, name), record in outcome(FOUR).items()}
    assert list(found) == list(CHOICES)
    accuracies = {name: found[name]["accuracy"] for name in CHOICES}
    assert accuracies == pytest.approx(
        {
            "entropy": 0.75,
            "bnm": 0.75,
            "default": 0.25,
            "fixed_one_nn": 0.25,
            "fixed_logistic": None,
            "average": np.mean([0.25, 0.75, 1.0]),
            "oracle": 1.0,
        }
    )
    assert found["oracle"]["candidate"] == 3
    assert found["average"]["candidate"] is None
    assert found["fixed_logistic"]["status"] == "not_applicable"


def test_a_choice_costs_what_all_candidates_cost_and_says_what_failed():
    record = outcome(FOUR)[0, "entropy"]
    assert record["seconds"] == pytest.approx(3 * 2.0 + 1.5)
    assert record["peak_mb"] == 13.0
    assert record["warnings"] == ["1 of 4 candidates failed, the first with: E: broken"]
    assert list(record) == list(COLUMNS)
    assert record["method"] == "m"


def test_the_order_in_which_candidates_were_written_does_not_matter():
    assert outcome(FOUR[::-1]) == outcome(FOUR)


def test_a_selector_that_no_candidate_defines_does_not_apply():
    found = outcome([candidate(0, 2), candidate(1, 3)])
    assert found[0, "entropy"]["status"] == "not_applicable"
    assert "the selector is undefined for all" in found[0, "entropy"]["error"]
    assert found[0, "oracle"]["accuracy"] == 0.75


def test_a_selector_that_an_error_kept_from_every_score_has_failed():
    pairs = [candidate(0, 2), candidate(1, 3), candidate(2, 3, bnm=0.1)]
    pairs[1][0]["troubles"] = dict.fromkeys(("entropy", "bnm"), "without a fold: E: boom")
    found = outcome(pairs)
    assert found[0, "entropy"]["status"] == "error"
    assert found[0, "entropy"]["error"] == "without a fold: E: boom"
    assert found[0, "bnm"]["status"] == "ok"


def test_an_untuned_candidate_that_failed_is_a_failure_of_that_choice_alone():
    found = outcome([failed(0), candidate(1, 2, entropy=0.0)])
    assert (found[0, "default"]["status"], found[0, "default"]["error"]) == ("error", "E: broken")
    assert found[0, "entropy"]["candidate"] == 1


@pytest.mark.parametrize("status", ["timeout", "oom", "error", "not_applicable"])
def test_a_trial_without_answer_has_its_status_in_every_choice(status):
    """A killed trial leaves one record, whatever the number of its candidates."""
    lost, _ = failed(0, status=status, seconds=60.0, peak_mb=5.0)
    found = outcome([(lost, None)])
    assert [name for _, name in found] == list(CHOICES)
    for record in found.values():
        assert (record["status"], record["error"]) == (status, "E: broken")
        assert record["accuracy"] is None
        assert record["seconds"] == 60.0


def test_what_was_never_computed_has_no_cost():
    lost, _ = failed(0, status="lost", seconds=None, peak_mb=None)
    for record in outcome([(lost, None)]).values():
        assert (record["seconds"], record["peak_mb"]) == (None, None)


def test_data_that_are_unavailable_have_a_record_for_every_choice():
    absent = unavailable({"tuning": {"alignments": []}}, range(1), "no file")
    found = outcome([(record, None) for record in absent])
    assert {record["status"] for record in found.values()} == {"data_unavailable"}
    assert len(found) == len(CHOICES)


def test_trials_choose_by_themselves_and_other_blocks_trials_are_left_out():
    second = [candidate(0, 0, trial=1, entropy=0.0), candidate(1, 1, trial=1, entropy=-1.0)]
    found = outcome([*FOUR, *second], trials=(TRIAL,) * 3)
    assert found[0, "entropy"]["candidate"] == 1
    assert found[1, "entropy"]["candidate"] == 0
    assert {trial for trial, _ in found} == {0, 1}


def test_choices_read_no_predictions():
    """They are told by what the method's process wrote: numbers of selectors."""
    records = [{**record, "predicted": None} for record, _ in FOUR]
    assert choose(records, CHOICES)["entropy"] == 1
    scrambled = [(record, None if p is None else 1 - p) for record, p in FOUR]
    before, after = outcome(FOUR), outcome(scrambled)
    for name in ("entropy", "bnm", "default"):
        assert before[0, name]["candidate"] == after[0, name]["candidate"]
    assert after[0, "oracle"]["candidate"] == 0


def test_trials_of_a_varied_protocol_have_its_setting():
    """Two trials each with 1 and with 3 labels: the third trial is the first with 3."""
    records, predictions = [], {}
    for trial in range(4):
        record, predictions[f"{trial}/0"] = candidate(0, trial, trial, entropy=-0.5)
        records.append(record)
    asked = ["entropy", "oracle"], 2, [1, 3], {"method": "m"}
    found = evaluate_choices(records, predictions, LABELS, (TRIAL,) * 4, *asked)
    places = [(one["setting"], one["trial"]) for one in found if one["classifier"] == "oracle"]
    assert places == [(1, 0), (1, 1), (3, 0), (3, 1)]
    assert [one["accuracy"] for one in found[::2]] == [0, 0.25, 0.5, 0.75]


def test_a_target_without_labels_has_choices_but_neither_scores_nor_an_oracle():
    records = [record for record, _ in FOUR]
    predictions = {f"0/{r['candidate']}": p for r, p in FOUR if p is not None}
    found = evaluate_choices(records, predictions, np.full(6, HIDDEN), (TRIAL,), *ALONE)
    by_choice = {record["classifier"]: record for record in found}
    assert by_choice["entropy"]["status"] == "ok"
    assert by_choice["entropy"]["candidate"] == 1
    assert by_choice["entropy"]["accuracy"] is None
    assert by_choice["oracle"]["status"] == "not_applicable"


def test_scoring_imports_no_scikit_learn():
    """Most of what a short job does would be importing it."""
    code = (
        "import sys, workflow.lib.trials.choices; print({'sklearn', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr
