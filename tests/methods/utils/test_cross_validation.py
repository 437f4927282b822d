import numpy as np
import pytest
from domain_alignment.utils._cross_validation import (
    folds_of_classes,
    predicted_right,
    stratified_folds,
    svc_n_correct,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC


def test_every_row_is_left_out_once_and_its_label_is_not_known_then():
    y, folds = np.array([0, 1, 0, 1, 1]), np.array([2, 0, 1, 0, 2])
    asked = []

    def majority(kept, left_out):
        assert not set(kept) & set(left_out)
        asked.extend(left_out)
        return np.full(len(left_out), np.bincount(y[kept]).argmax())

    correct = predicted_right(majority, y, folds)
    assert sorted(asked) == [0, 1, 2, 3, 4]
    # Without rows 1 and 3 zeros are more; ones are without row 2, and the tie of the others is 0.
    np.testing.assert_array_equal(correct, [False, False, False, False, True])


def test_several_models_at_once():
    y, folds = np.arange(6) % 2, np.arange(6) % 3
    both = predicted_right(lambda _, left_out: [y[left_out], 1 - y[left_out]], y, folds)
    np.testing.assert_array_equal(both, [[True] * 6, [False] * 6])


@pytest.mark.parametrize("cv", [2, 5, 30])
def test_folds_of_scikit_learn(cv):
    y = np.random.default_rng(0).permutation(np.repeat([3, 5], [6, 20]))
    folds = stratified_folds(y, cv, 7, "the samples")
    splits = StratifiedKFold(min(cv, 6), shuffle=True, random_state=7).split(y, y)
    for fold, (kept, left_out) in enumerate(splits):
        np.testing.assert_array_equal(np.flatnonzero(folds == fold), left_out)
        np.testing.assert_array_equal(np.flatnonzero(folds != fold), kept)


@pytest.mark.parametrize(
    ("y", "found"),
    [
        ([0, 0, 0], r"1 class\(es\), the rarest with 3"),
        ([0, 1, 1], r"2 class\(es\), the rarest with 1"),
        ([], r"0 class\(es\), the rarest with 0"),
    ],
)
def test_labels_that_cannot_be_cut_into_folds(y, found):
    with pytest.raises(ValueError, match=f"^the samples hold {found} .* 2 classes with 2 samples"):
        stratified_folds(np.array(y, dtype=int), 3, 0, "the samples")


@pytest.mark.parametrize("cv", [0, 1])
def test_labels_are_hidden_in_two_folds_at_least(cv):
    with pytest.raises(ValueError, match=f"cv={cv}: labels are held out in at least 2 folds"):
        folds_of_classes([np.array([0, 0, 1, 1])], cv, 0)


def test_support_vector_machines_on_a_kernel():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    K, costs = X @ X.T, (0.01, 10.0)
    folds = stratified_folds(y, 4, 0, "the samples")
    expected = [
        sum(
            np.sum(
                SVC(C=C, kernel="linear").fit(X[folds != f], y[folds != f]).predict(X[folds == f])
                == y[folds == f]
            )
            for f in range(4)
        )
        for C in costs
    ]
    np.testing.assert_array_equal(svc_n_correct(K, y, costs, folds), expected)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        svc_n_correct(K, y, costs, folds, max_iter=2)


@pytest.mark.parametrize("cv", [2, 3, 7])
def test_folds_of_classes_are_even_in_each_domain_and_class(cv):
    rng = np.random.default_rng(0)
    ys = [rng.integers(-1, 4, size=40), np.array([5, 5, 5, 2, -1, 1, 1])]
    folds = folds_of_classes(ys, cv, 0)
    for y, members in zip(ys, folds, strict=True):
        assert (members[y == -1] == -1).all()
        for label, size in zip(*np.unique(y[y != -1], return_counts=True), strict=True):
            dealt = members[y == label]
            if size == 1:
                assert dealt.tolist() == [-1]
            else:
                counts = np.bincount(dealt, minlength=cv)
                assert counts.size == cv
                assert counts.max() - counts.min() <= 1
                assert counts.max() < size
    sizes = np.bincount(np.concatenate(folds)[np.concatenate(folds) >= 0], minlength=cv)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("cv", [1, 2.5, "3"])
def test_folds_are_a_whole_number_from_2(cv):
    with pytest.raises(ValueError, match=r"at least 2 folds, a whole number"):
        folds_of_classes([np.zeros(10, dtype=int)], cv, 0)
