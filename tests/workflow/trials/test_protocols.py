import numpy as np
import pytest

from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.trials.protocols import (
    HIDDEN,
    handed_labels,
    labelled_rows,
    read_trials,
    role_domains,
    sample_trials,
    sample_varied,
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


def split(source, target, scored):
    return {
        "source_labelled": np.array(source),
        "target_labelled": np.array(target),
        "target_scored": np.array(scored),
    }


def test_official_trials_follow_the_split_file():
    splits = [split([0, 10, 22], [0, 7], [1, 2, 17]), split([3], [12], [0])]
    first, second = sample_trials("o", {"kind": "official", "trials": 2}, PAIR, LABELS, splits)
    np.testing.assert_array_equal(np.flatnonzero(first.labels[0] != HIDDEN), [0, 10, 22])
    np.testing.assert_array_equal(first.labels[0][[0, 10, 22]], [0, 1, 2])
    np.testing.assert_array_equal(first.scored, [1, 2, 17])
    np.testing.assert_array_equal(second.labels[1][12], 2)


def test_official_trials_are_as_many_as_asked_for():
    with pytest.raises(ValueError, match="holds 1 trials, protocol o asks for 20"):
        sample_trials("o", {"kind": "official", "trials": 20}, PAIR, LABELS, [split([0], [0], [1])])


def test_official_trials_are_for_pairs():
    three = Task((DomainRef("d", "a"), DomainRef("d", "c")), DomainRef("d", "b"))
    with pytest.raises(ValueError, match="for pairs of domains only"):
        sample_trials("o", {"kind": "official", "trials": 1}, three, [*LABELS, LABELS[0]], [])


@pytest.mark.parametrize(
    ("sees", "source_seen", "target_seen"),
    [("none", False, False), ("source", True, False), ("source+target", True, True)],
)
def test_a_method_is_handed_the_labels_it_may_see(sees, source_seen, target_seen):
    trial = sample_trials("p", RANDOM, PAIR, LABELS)[0]
    source, target = handed_labels(trial, sees)
    assert (source != HIDDEN).any() == source_seen
    assert (target != HIDDEN).any() == target_seen


PROTOCOLS = {
    "random": RANDOM,
    "random, some new": {**RANDOM, "target_share": 0.5},
    "random, few unlabelled": {**RANDOM, "unlabelled_per_domain": 4},
    "full source": {"kind": "full_source", "trials": 1},
    "full source, all new": {"kind": "full_source", "trials": 2, "seed": 0, "target_share": 0.5},
    "official": {"kind": "official", "trials": 1},
    "training and test": {"kind": "training_test", "trials": 1},
    "random, seen": {**RANDOM, "unlabelled_per_domain": 4, "scored_rows": "seen"},
    "random, test": {**RANDOM, "target_per_class": 1, "scored_rows": "test"},
    "random, no target label": {**RANDOM, "target_per_class": 0},
}


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
def test_the_file_of_trials_holds_no_scored_label(tmp_path, protocol):
    splits = [split([0, 10, 22], [0, 7], [1, 2, 17])]
    trials = sample_trials("p", protocol, PAIR, LABELS, splits, n_training=[20, 12])
    write_trials(tmp_path / "t.npz", trials, {})
    for trial in read_trials(tmp_path / "t.npz")[0]:
        scored = np.isin(trial.rows[-1], trial.scored)
        assert (trial.labels[-1][scored] == HIDDEN).all()
        assert len(trial.scored)


def test_splits_that_label_a_scored_row_are_refused():
    splits = [split([0, 10], [0, 7], [1, 7])]
    with pytest.raises(ValueError, match=r"task a-b: .* 1 scored rows .*labelled too .*row 7"):
        sample_trials("o", {"kind": "official", "trials": 1}, PAIR, LABELS, splits)


def test_roles_name_domains_and_their_labelled_rows():
    assert role_domains("none", 3) == []
    assert role_domains("source", 3) == [0, 1]
    assert role_domains("target", 3) == [2]
    assert role_domains("source+target", 3) == [0, 1, 2]
    trial = sample_trials("p", RANDOM, PAIR, LABELS)[0]
    assert list(labelled_rows(trial, "target")) == [1]
    rows = labelled_rows(trial, "source+target")
    assert [mask.sum() for mask in rows.values()] == [15, 6]
    assert (trial.labels[0][rows[0]] != HIDDEN).all()


def test_trials_come_back(tmp_path):
    trials = sample_trials("p", RANDOM, PAIR, LABELS)
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


RESAMPLED = {
    "kind": "resampled",
    "trials": 3,
    "seed": 0,
    "share": 0.5,
    "target_labels": "none",
    "max_rows": 1000,
}


def test_resampled_shows_all_rows_first_and_then_a_share_of_each_class():
    first, *others = sample_trials("p", RESAMPLED, PAIR, LABELS)
    assert [len(rows) for rows in first.rows] == [31, 18]
    np.testing.assert_array_equal(first.labels[0], LABELS[0])
    assert (first.labels[1] == HIDDEN).all()
    np.testing.assert_array_equal(first.scored, np.arange(18))
    for trial in others:
        assert np.bincount(trial.labels[0]).tolist() == [5, 6, 4]
        assert len(trial.rows[1]) == 9
    assert others[0].rows[0].tobytes() != others[1].rows[0].tobytes()


def test_resampled_knows_rows_without_a_label_and_shows_known_ones_if_asked():
    source, target = LABELS[0].copy(), np.full(18, HIDDEN)
    source[3], target[[0, 9]] = HIDDEN, [0, 1]
    protocol = {**RESAMPLED, "target_labels": "known"}
    for trial in sample_trials("p", protocol, PAIR, [source, target]):
        assert 3 not in trial.rows[0]
        shown = trial.labels[1] != HIDDEN
        np.testing.assert_array_equal(trial.rows[1][shown], [0, 9])
        assert not set(trial.scored) & {0, 9}


def test_resampled_shows_target_labels_of_classes_as_frequent_as_they_are():
    """Else the accuracy on them would be of a target with equal classes."""
    target = np.repeat([0, 1], [900, 100])
    protocol = {**RESAMPLED, "trials": 1, "target_labels": 80, "max_rows": 2000}
    shown = []
    for seed in range(20):
        (trial,) = sample_trials("p", {**protocol, "seed": seed}, PAIR, [LABELS[0], target])
        shown.append(trial.labels[1][trial.labels[1] != HIDDEN])
    assert {len(labels) for labels in shown} == {160}
    assert np.mean(shown) == pytest.approx(0.1, abs=0.015)  # 3 standard errors


def test_resampled_shows_no_more_target_labels_than_there_are():
    protocol = {**RESAMPLED, "trials": 1, "target_labels": 9}
    (trial,) = sample_trials("p", protocol, PAIR, [LABELS[0], np.repeat([0, 1], 4)])
    assert (trial.labels[1] != HIDDEN).all()


def test_resampled_shows_the_same_target_labels_in_every_trial():
    """Else the labels asked for would grow with the trials, and choices would see hidden ones."""
    target = np.repeat([0, 1], 30)
    trials = sample_trials("p", {**RESAMPLED, "target_labels": 3}, PAIR, [LABELS[0], target])
    shown = [set(trial.rows[1][trial.labels[1] != HIDDEN]) for trial in trials]
    assert len(shown[0]) == 6
    assert shown[0] == shown[1] == shown[2]


def test_resampled_takes_its_share_of_the_rows_that_there_is_room_for():
    source, target = np.repeat([0, 1], 50), np.repeat([0, 1], 60)
    trials = sample_trials("p", {**RESAMPLED, "max_rows": 40}, PAIR, [source, target])
    assert [len(trial.rows[0]) for trial in trials] == [40, 20, 20]
    assert [len(trial.rows[1]) for trial in trials] == [40, 20, 20]


def test_resampled_keeps_a_row_of_every_class_of_domains_that_are_too_large():
    source = np.repeat([0, 1], [300, 1])
    trials = sample_trials("p", {**RESAMPLED, "max_rows": 20}, PAIR, [source, LABELS[1]])
    assert np.bincount(trials[0].labels[0]).tolist() == [20, 1]
    assert [len(trial.rows[1]) for trial in trials] == [18, 9, 9]


UNKNOWN = [np.r_[LABELS[0], [HIDDEN] * 3], np.r_[[HIDDEN] * 4, LABELS[1]]]


@pytest.mark.parametrize(
    "protocol",
    [RANDOM, {"kind": "full_source", "trials": 1}, {"kind": "training_test", "trials": 1}],
)
def test_rows_that_nobody_labelled_are_seen_never_picked_and_never_scored(protocol):
    trials = sample_trials("p", protocol, PAIR, UNKNOWN, n_training=[30, 10])
    for trial in trials:
        for rows, labels, y in zip(trial.rows, trial.labels, UNKNOWN, strict=True):
            assert (labels[y[rows] == HIDDEN] == HIDDEN).all()
        assert (UNKNOWN[-1][trial.scored] != HIDDEN).all()
        assert np.isin(range(4), trial.rows[-1]).all()


def test_at_most_takes_what_there_is_and_leaves_a_target_row_of_each_class():
    labels = [np.repeat([0, 1], [6, 1]), np.repeat([0, 1, 2], [5, 2, 1])]
    for trial in sample_trials("p", RANDOM | {"at_most": True}, PAIR, labels):
        assert np.bincount(trial.labels[0][trial.labels[0] != HIDDEN]).tolist() == [5, 1]
        assert np.bincount(trial.labels[1][trial.labels[1] != HIDDEN]).tolist() == [2, 1]
        assert set(labels[1][trial.scored]) == {0, 1, 2}


def test_too_small_a_class_is_named():
    names = [["ant", "bee", "cat"]] * 2
    with pytest.raises(ValueError, match=r"class 1 \(bee\) has 5 rows, 6 are .*`at_most: true`"):
        sample_trials("p", RANDOM | {"target_per_class": 6}, PAIR, LABELS, class_names=names)


def test_the_draws_depend_on_the_task_and_stay_what_they_are():
    """Pinned: other draws of a protocol would be other trials of every table."""
    other = Task(PAIR.sources, DomainRef("d", "c"))
    one, two = (sample_trials("p", RANDOM, task, LABELS) for task in (PAIR, other))
    assert any((a.labels[0] != b.labels[0]).any() for a, b in zip(one, two, strict=True))
    assert np.flatnonzero(one[0].labels[1] != HIDDEN).tolist() == [0, 1, 9, 11, 13, 15]


def test_every_official_trial_is_checked_for_scored_labels_that_it_shows():
    splits = [split([0, 10], [0], [1]), split([0, 10], [0, 7], [1, 7])]
    with pytest.raises(ValueError, match="row 7"):
        sample_trials("o", {"kind": "official", "trials": 2}, PAIR, LABELS, splits)


def test_domains_of_other_classes_are_no_task():
    """Of two datasets, whose codes are those of their own names."""
    labels, names = [np.array([0, 1, 0, 1])] * 2, [["cat", "dog"], ["bird", "cat"]]
    protocol = {"kind": "full_source", "trials": 1}
    task = Task((DomainRef("a", "x"),), DomainRef("b", "y"))
    with pytest.raises(ValueError, match=r"classes of a\.x are cat, dog, those of b\.y bird, cat"):
        sample_trials("p", protocol, task, labels, class_names=names)
    for known in ([names[0]] * 2, [names[0], ()], None):
        assert len(sample_trials("p", protocol, task, labels, class_names=known)) == 1
