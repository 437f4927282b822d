import numpy as np
import pytest

from workflow.lib.config.suite import DomainRef, Task
from workflow.lib.trials.protocols import (
    HIDDEN,
    draw,
    draw_settings,
    handed_labels,
    read_trials,
    write_trials,
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


def test_random_draws_label_k_per_class_and_score_the_rest():
    trials = draw("p", RANDOM, PAIR, LABELS)
    assert len(trials) == 4
    for trial in trials:
        for labels, k, y in zip(trial.labels, (5, 2), LABELS, strict=True):
            assert np.bincount(labels[labels != HIDDEN]).tolist() == [k, k, k]
            np.testing.assert_array_equal(labels[labels != HIDDEN], y[labels != HIDDEN])
        unlabelled = np.flatnonzero(trial.labels[-1] == HIDDEN)
        np.testing.assert_array_equal(trial.scored, unlabelled)
    assert len({trial.labels[0].tobytes() for trial in trials}) == 4


def test_random_draws_depend_on_their_names_only():
    first = draw("p", RANDOM, PAIR, LABELS)
    longer = draw("p", {**RANDOM, "trials": 6}, PAIR, LABELS)
    for one, other in zip(first, longer, strict=False):
        np.testing.assert_array_equal(one.labels[0], other.labels[0])
    other_seed = draw("p", {**RANDOM, "seed": 1}, PAIR, LABELS)
    assert any(
        (one.labels[0] != other.labels[0]).any()
        for one, other in zip(first, other_seed, strict=True)
    )


def test_another_task_on_the_same_domains_is_another_draw():
    backwards = Task((DomainRef("d", "b"),), DomainRef("d", "a"))
    protocol = {**RANDOM, "source_per_class": 2}
    there = draw("p", protocol, PAIR, LABELS)
    back = draw("p", protocol, backwards, LABELS[::-1])
    assert any((t.labels[-1] != b.labels[0]).any() for t, b in zip(there, back, strict=True))


def test_labels_per_class_may_differ_by_domain():
    protocol = {**RANDOM, "source_per_class": {"default": 1, "a": 3}}
    trial = draw("p", protocol, PAIR, LABELS)[0]
    assert np.bincount(trial.labels[0][trial.labels[0] != HIDDEN]).tolist() == [3, 3, 3]


def test_unlabelled_rows_can_be_limited():
    trial = draw("p", {**RANDOM, "unlabelled_per_domain": 4}, PAIR, LABELS)[0]
    assert [(labels == HIDDEN).sum() for labels in trial.labels] == [4, 4]
    assert [len(rows) for rows in trial.rows] == [15 + 4, 6 + 4]
    for rows, labels, y in zip(trial.rows, trial.labels, LABELS, strict=True):
        assert (np.diff(rows) > 0).all()
        np.testing.assert_array_equal(y[rows][labels != HIDDEN], labels[labels != HIDDEN])
    # Every target row without a label is scored, whether the method saw it or not.
    assert len(trial.scored) == len(LABELS[-1]) - 6


def test_sources_may_be_shown_by_their_labelled_rows_alone():
    every, labelled = (
        draw("p", {**RANDOM, "source_rows": rows}, PAIR, LABELS)[0] for rows in ("all", "labelled")
    )
    assert len(labelled.rows[0]) == 15
    assert (labelled.labels[0] != HIDDEN).all()
    np.testing.assert_array_equal(labelled.rows[0], every.rows[0][every.labels[0] != HIDDEN])
    np.testing.assert_array_equal(labelled.rows[1], every.rows[1])
    np.testing.assert_array_equal(labelled.scored, every.scored)


def test_a_share_of_the_target_can_be_held_back():
    trial = draw("p", {**RANDOM, "target_share": 0.5}, PAIR, LABELS)[0]
    assert len(trial.rows[0]) == 31
    assert len(trial.rows[1]) == 9  # half of 18, the 6 labelled among them
    assert len(trial.scored) == 12
    assert (draw("p", {**RANDOM, "target_share": 1.0}, PAIR, LABELS)[0].rows[1] == range(18)).all()


def test_a_varied_key_of_the_protocol_gives_the_trials_of_each_value():
    vary = {"parameter": "target_per_class", "of": "protocol", "values": [1, 3]}
    trials = draw_settings("p", RANDOM, vary, PAIR, LABELS)
    assert [(trial.labels[1] != HIDDEN).sum() for trial in trials] == [3] * 4 + [9] * 4
    alone = draw("p", {**RANDOM, "target_per_class": 3}, PAIR, LABELS)
    np.testing.assert_array_equal(trials[4].labels[1], alone[0].labels[1])


def test_a_class_with_too_few_rows_is_named():
    with pytest.raises(
        ValueError, match=r"domain d\.b: .*target_per_class: class 1 has 5 rows, 6 are asked for"
    ):
        draw("p", {**RANDOM, "target_per_class": 6}, PAIR, LABELS)


def test_full_source_labels_the_source_and_scores_the_whole_target():
    (trial,) = draw("p", {"kind": "full_source", "trials": 1}, PAIR, LABELS)
    np.testing.assert_array_equal(trial.labels[0], LABELS[0])
    assert (trial.labels[1] == HIDDEN).all()
    np.testing.assert_array_equal(trial.scored, np.arange(18))


def test_full_source_can_hold_back_a_share_of_the_target_and_scores_that():
    protocol = {"kind": "full_source", "trials": 3, "seed": 0, "target_share": 0.5}
    trials = draw("p", protocol, PAIR, LABELS)
    for trial in trials:
        np.testing.assert_array_equal(trial.labels[0], LABELS[0])
        assert (trial.labels[1] == HIDDEN).all()
        assert len(trial.rows[1]) == 9
        assert sorted([*trial.rows[1], *trial.scored]) == list(range(18))
    assert len({trial.scored.tobytes() for trial in trials}) == 3


def split(source, target, scored):
    return {
        "source_labelled": np.array(source),
        "target_labelled": np.array(target),
        "target_scored": np.array(scored),
    }


def test_official_trials_follow_the_split_file():
    splits = [split([0, 10, 22], [0, 7], [1, 2, 17]), split([3], [12], [0])]
    first, second = draw("o", {"kind": "official", "trials": 2}, PAIR, LABELS, splits)
    np.testing.assert_array_equal(np.flatnonzero(first.labels[0] != HIDDEN), [0, 10, 22])
    np.testing.assert_array_equal(first.labels[0][[0, 10, 22]], [0, 1, 2])
    np.testing.assert_array_equal(first.scored, [1, 2, 17])
    np.testing.assert_array_equal(second.labels[1][12], 2)


def test_official_trials_are_as_many_as_asked_for():
    with pytest.raises(ValueError, match="holds 1 trials, protocol o asks for 20"):
        draw("o", {"kind": "official", "trials": 20}, PAIR, LABELS, [split([0], [0], [1])])


def test_official_trials_are_for_pairs():
    three = Task((DomainRef("d", "a"), DomainRef("d", "c")), DomainRef("d", "b"))
    with pytest.raises(ValueError, match="for pairs of domains only"):
        draw("o", {"kind": "official", "trials": 1}, three, [*LABELS, LABELS[0]], [])


@pytest.mark.parametrize(
    ("sees", "source_seen", "target_seen"),
    [("none", False, False), ("source", True, False), ("source+target", True, True)],
)
def test_a_method_is_handed_the_labels_it_may_see(sees, source_seen, target_seen):
    trial = draw("p", RANDOM, PAIR, LABELS)[0]
    source, target = handed_labels(trial, sees)
    assert (source != HIDDEN).any() == source_seen
    assert (target != HIDDEN).any() == target_seen


def test_the_trials_file_holds_no_hidden_label(tmp_path):
    trials = draw("p", RANDOM, PAIR, LABELS)
    write_trials(tmp_path / "t.npz", trials, {})
    for trial in read_trials(tmp_path / "t.npz")[0]:
        assert (trial.labels[-1][trial.scored] == HIDDEN).all()


def test_trials_come_back(tmp_path):
    trials = draw("p", RANDOM, PAIR, LABELS)
    write_trials(tmp_path / "t.npz", trials, {"note": "x"})
    read, meta = read_trials(tmp_path / "t.npz")
    assert meta["note"] == "x"
    for one, other in zip(trials, read, strict=True):
        for name in ("rows", "labels"):
            for a, b in zip(getattr(one, name), getattr(other, name), strict=True):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(one.scored, other.scored)


def test_an_unavailable_task_has_no_trials(tmp_path):
    write_trials(tmp_path / "t.npz", [], {"unavailable": "no address delivers it"})
    assert read_trials(tmp_path / "t.npz") == (
        [],
        {"unavailable": "no address delivers it", "n_trials": 0, "n_domains": 0},
    )
