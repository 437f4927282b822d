import numpy as np
import pytest
from domain_alignment.model_selection import held_out_predictions


@pytest.fixture
def ys():
    rng = np.random.default_rng(0)
    source, target = rng.permutation(np.arange(24) % 4), np.full(30, -1)
    target[:10] = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]  # class 3 has one label only
    return [source, target]


@pytest.mark.parametrize("cv", [2, 3, 5])
def test_every_label_is_hidden_once_but_lone_ones_never(ys, cv):
    times = [np.zeros(y.size, dtype=int) for y in ys]

    def fit(shown):
        for a, (y, full) in enumerate(zip(shown, ys, strict=True)):
            times[a] += (y == -1) & (full != -1)
            assert (y[y != -1] == full[y != -1]).all()
            assert set(y) - {-1} == set(full) - {-1}  # each class keeps a label
        return [np.full(y.size, 7) for y in shown]

    predictions = held_out_predictions(fit, ys, cv=cv)
    lone = np.flatnonzero(ys[1] == 3)
    assert times[1][lone] == 0
    for y, count, predicted in zip(ys, times, predictions, strict=True):
        assert (count[y == -1] == 0).all()
        assert (predicted == np.where(count == 1, 7, -1)).all()
    assert (times[0] == 1).all()
    assert times[1].sum() == 9


def test_a_row_is_predicted_from_the_other_labels(ys):
    def majority(shown):
        """The number of visible labels of the first class, told to all rows."""
        return [np.full(y.size, np.sum(shown[0] == 0)) for y in shown]

    predictions = held_out_predictions(majority, ys, cv=2)
    # Three of the six labels of class 0 are hidden in either fold.
    assert (predictions[0] == 3).all()


def test_both_domains_are_folded_together(ys):
    calls = []
    held_out_predictions(lambda shown: calls.append(shown) or shown, ys, cv=2)
    assert len(calls) == 2
    assert all((call[a] != ys[a]).any() for call in calls for a in (0, 1))


def test_several_models_at_once(ys):
    predictions = held_out_predictions(
        lambda shown: [np.stack([np.zeros(y.size), np.ones(y.size)]).astype(int) for y in shown],
        ys,
    )
    assert predictions[0].tolist() == [[0] * 24, [1] * 24]
    assert (predictions[1][:, ys[1] == -1] == -1).all()


def test_the_seed_decides(ys):
    def shuffled(seed):
        folds = []
        held_out_predictions(lambda shown: folds.append(shown) or shown, ys, random_state=seed)
        return np.concatenate(folds[0])

    np.testing.assert_array_equal(shuffled(3), shuffled(3))
    assert (shuffled(3) != shuffled(4)).any()


def test_no_label_can_be_hidden():
    def fit(_):
        raise AssertionError("nothing to predict")

    predictions = held_out_predictions(fit, [np.array([0, 1, -1]), np.array([-1])])
    assert [list(part) for part in predictions] == [[-1, -1, -1], [-1]]


def test_the_number_of_fits():
    """Folds go on from class to class."""
    fits = []

    def fit(ys):
        fits.append(ys)
        return [np.zeros(y.size, dtype=int) for y in ys]

    for n_classes, cv, expected in ((3, 5, 5), (2, 5, 4), (3, 2, 2)):
        fits.clear()
        held_out_predictions(fit, [np.arange(2 * n_classes) % n_classes], cv)
        assert len(fits) == expected


def test_source_labels_are_hidden_where_the_target_shows_none():
    ys = [np.array([0, 1, 0, 1]), np.array([-1, -1])]
    source, target = held_out_predictions(lambda ys: [np.full(y.size, 7) for y in ys], ys)
    assert source.tolist() == [7] * 4
    assert target.tolist() == [-1] * 2
