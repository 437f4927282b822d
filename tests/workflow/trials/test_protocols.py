import numpy as np
import pytest

from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.trials.protocols import (
    HIDDEN,
    sample_trials,
    sample_varied,
)

PAIR = Task((DomainRef("d", "a"),), DomainRef("d", "b"))
LABELS = [np.repeat([0, 1, 2], [10, 12, 9]), np.repeat([0, 1, 2], [7, 5, 6])]
RANDOM = {
    "kind": "random",
    "trials": 4,
    "seed": 0,
    "source_per_class": 5,
    "target_per_class": 2,
}


def test_random_trials_label_k_per_class_and_score_the_rest():
    trials = sample_trials("p", RANDOM, PAIR, LABELS)
    assert len(trials) == 4
    for trial in trials:
        for labels, k, y in zip(trial.labels, (5, 2), LABELS, strict=True):
            assert np.bincount(labels[labels != HIDDEN]).tolist() == [k, k, k]
            np.testing.assert_array_equal(labels[labels != HIDDEN], y[labels != HIDDEN])
        unlabelled = np.flatnonzero(trial.labels[-1] == HIDDEN)
        np.testing.assert_array_equal(trial.scored, unlabelled)
    assert len({trial.labels[0].tobytes() for trial in trials}) == 4


def test_random_trials_depend_on_their_names_only():
    first = sample_trials("p", RANDOM, PAIR, LABELS)
    longer = sample_trials("p", {**RANDOM, "trials": 6}, PAIR, LABELS)
    for one, other in zip(first, longer, strict=False):
        np.testing.assert_array_equal(one.labels[0], other.labels[0])
    other_seed = sample_trials("p", {**RANDOM, "seed": 1}, PAIR, LABELS)
    assert any(
        (one.labels[0] != other.labels[0]).any()
        for one, other in zip(first, other_seed, strict=True)
    )


def test_another_task_on_the_same_domains_is_another_sample():
    backwards = Task((DomainRef("d", "b"),), DomainRef("d", "a"))
    protocol = {**RANDOM, "source_per_class": 2}
    there = sample_trials("p", protocol, PAIR, LABELS)
    back = sample_trials("p", protocol, backwards, LABELS[::-1])
    assert any((t.labels[-1] != b.labels[0]).any() for t, b in zip(there, back, strict=True))


def test_labels_per_class_may_differ_by_domain():
    protocol = {**RANDOM, "source_per_class": {"default": 1, "a": 3}}
    trial = sample_trials("p", protocol, PAIR, LABELS)[0]
    assert np.bincount(trial.labels[0][trial.labels[0] != HIDDEN]).tolist() == [3, 3, 3]


def test_labels_per_class_of_one_datasets_domain_go_before_those_of_the_domains_name():
    protocol = {**RANDOM, "source_per_class": {"default": 1, "a": 3, "d.a": 2, "e.a": 4}}
    trial = sample_trials("p", protocol, PAIR, LABELS)[0]
    assert np.bincount(trial.labels[0][trial.labels[0] != HIDDEN]).tolist() == [2, 2, 2]


def test_unlabelled_rows_can_be_limited():
    trial = sample_trials("p", {**RANDOM, "unlabelled_per_domain": 4}, PAIR, LABELS)[0]
    assert [(labels == HIDDEN).sum() for labels in trial.labels] == [4, 4]
    assert [len(rows) for rows in trial.rows] == [15 + 4, 6 + 4]
    for rows, labels, y in zip(trial.rows, trial.labels, LABELS, strict=True):
        assert (np.diff(rows) > 0).all()
        np.testing.assert_array_equal(y[rows][labels != HIDDEN], labels[labels != HIDDEN])
    # Every target row without a label is scored, whether the method saw it or not.
    assert len(trial.scored) == len(LABELS[-1]) - 6


def test_sources_may_be_shown_by_their_labelled_rows_alone():
    every, labelled = (
        sample_trials("p", {**RANDOM, "source_rows": rows}, PAIR, LABELS)[0]
        for rows in ("all", "labelled")
    )
    assert len(labelled.rows[0]) == 15
    assert (labelled.labels[0] != HIDDEN).all()
    np.testing.assert_array_equal(labelled.rows[0], every.rows[0][every.labels[0] != HIDDEN])
    np.testing.assert_array_equal(labelled.rows[1], every.rows[1])
    np.testing.assert_array_equal(labelled.scored, every.scored)


def test_a_share_of_the_target_can_be_held_back():
    trial = sample_trials("p", {**RANDOM, "target_share": 0.5}, PAIR, LABELS)[0]
    assert len(trial.rows[0]) == 31
    assert len(trial.rows[1]) == 9  # half of 18, the 6 labelled among them
    assert len(trial.scored) == 12
    assert (
        sample_trials("p", {**RANDOM, "target_share": 1.0}, PAIR, LABELS)[0].rows[1] == range(18)
    ).all()


def test_a_varied_key_of_the_protocol_gives_the_trials_of_each_value():
    vary = {"parameter": "target_per_class", "of": "protocol", "values": [1, 3]}
    trials = sample_varied("p", RANDOM, vary, PAIR, LABELS)
    assert [(trial.labels[1] != HIDDEN).sum() for trial in trials] == [3] * 4 + [9] * 4
    alone = sample_trials("p", {**RANDOM, "target_per_class": 3}, PAIR, LABELS)
    np.testing.assert_array_equal(trials[4].labels[1], alone[0].labels[1])


def test_a_class_with_too_few_rows_is_named():
    with pytest.raises(
        ValueError, match=r"domain d\.b: .*target_per_class: class 1 has 5 rows, 6 are asked for"
    ):
        sample_trials("p", {**RANDOM, "target_per_class": 6}, PAIR, LABELS)


def test_full_source_labels_the_source_and_scores_the_whole_target():
    (trial,) = sample_trials("p", {"kind": "full_source", "trials": 1}, PAIR, LABELS)
    np.testing.assert_array_equal(trial.labels[0], LABELS[0])
    assert (trial.labels[1] == HIDDEN).all()
    np.testing.assert_array_equal(trial.scored, np.arange(18))


def test_full_source_can_hold_back_a_share_of_the_target_and_scores_that():
    protocol = {"kind": "full_source", "trials": 3, "seed": 0, "target_share": 0.5}
    trials = sample_trials("p", protocol, PAIR, LABELS)
    for trial in trials:
        np.testing.assert_array_equal(trial.labels[0], LABELS[0])
        assert (trial.labels[1] == HIDDEN).all()
        assert len(trial.rows[1]) == 9
        assert sorted([*trial.rows[1], *trial.scored]) == list(range(18))
    assert len({trial.scored.tobytes() for trial in trials}) == 3


def test_training_rows_are_seen_and_the_targets_test_rows_scored():
    protocol = {"kind": "training_test", "trials": 1}
    (trial,) = sample_trials("p", protocol, PAIR, LABELS, n_training=[20, 12])
    np.testing.assert_array_equal(trial.rows[0], np.arange(20))
    np.testing.assert_array_equal(trial.labels[0], LABELS[0][:20])
    np.testing.assert_array_equal(trial.rows[1], np.arange(12))
    assert (trial.labels[1] == HIDDEN).all()
    np.testing.assert_array_equal(trial.scored, np.arange(12, 18))


def test_draws_of_a_division_see_training_rows_and_are_scored_on_the_targets_test_rows():
    protocol = {**RANDOM, "unlabelled_per_domain": 4, "scored_rows": "test"}
    trials = sample_trials("p", protocol, PAIR, LABELS, n_training=[28, 15])
    for trial in trials:
        np.testing.assert_array_equal(trial.scored, np.arange(15, 18))
        for rows, labels, n, k in zip(trial.rows, trial.labels, (28, 15), (5, 2), strict=True):
            assert rows.max() < n
            assert len(rows) == 3 * k + 4
            assert np.bincount(labels[labels != HIDDEN]).tolist() == [k, k, k]
    assert len({trial.rows[-1].tobytes() for trial in trials}) > 1


def test_a_target_may_show_no_label_and_be_scored_where_it_is_seen():
    protocol = {**RANDOM, "target_per_class": 0, "unlabelled_per_domain": 4, "scored_rows": "seen"}
    trials = sample_trials("p", protocol, PAIR, LABELS)
    for trial in trials:
        assert (trial.labels[1] == HIDDEN).all()
        assert len(trial.rows[1]) == 4
        np.testing.assert_array_equal(trial.scored, trial.rows[1])
    assert len({trial.scored.tobytes() for trial in trials}) > 1


def test_seen_rows_are_scored_without_those_whose_label_is_shown():
    protocol = {**RANDOM, "unlabelled_per_domain": 4, "scored_rows": "seen"}
    trial = sample_trials("p", protocol, PAIR, LABELS)[0]
    np.testing.assert_array_equal(trial.scored, trial.rows[1][trial.labels[1] == HIDDEN])
    assert len(trial.scored) == 4


def test_a_class_that_the_target_lacks_is_neither_asked_for_nor_scored():
    partial = [LABELS[0], LABELS[1][LABELS[1] != 1]]
    trial = sample_trials("p", RANDOM, PAIR, partial)[0]
    shown = trial.labels[1][trial.labels[1] != HIDDEN]
    assert np.bincount(shown).tolist() == [2, 0, 2]
    assert len(trial.scored) == 7 + 6 - 4


def test_the_draws_depend_on_the_task_and_stay_what_they_are():
    """Pinned: other draws of a protocol would be other trials of every table."""
    other = Task(PAIR.sources, DomainRef("d", "c"))
    one, two = (sample_trials("p", RANDOM, task, LABELS) for task in (PAIR, other))
    assert any((a.labels[0] != b.labels[0]).any() for a, b in zip(one, two, strict=True))
    assert np.flatnonzero(one[0].labels[1] != HIDDEN).tolist() == [0, 1, 9, 11, 13, 15]
