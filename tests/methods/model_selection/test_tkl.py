import numpy as np
import pytest
from domain_alignment.kernel_learning._tkl import TKL
from domain_alignment.model_selection._tkl import (
    TKLCV,
    CrossValidatedSVC,
    cross_validated_hits,
)
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

GRID = (0.01, 1.0, 100.0)


def domains(seed=0, distance=1.5):
    """Three overlapping classes; the target is shifted."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 15)
    centres = distance * np.eye(3, 5)
    return [centres[y] + rng.normal(size=(45, 5)) + d for d in (0, 0.5)], y


def test_hits_are_those_of_scikit_learn():
    (Z, _), y = domains()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = [
        cross_val_score(SVC(C=C, kernel="linear"), Z, y, cv=folds) @ np.full(5, len(y) / 5)
        for C in GRID
    ]
    np.testing.assert_allclose(cross_validated_hits(Z, y, GRID), expected)
    np.testing.assert_array_equal(
        cross_validated_hits(sparse.csr_array(Z), y, GRID), cross_validated_hits(Z, y, GRID)
    )


def test_the_classifier_takes_the_best_c_and_all_rows():
    (Z, new), y = domains()
    chosen = CrossValidatedSVC(C=GRID).fit(Z, y)
    assert chosen.best_C_ == GRID[chosen.n_correct_.argmax()]
    plain = SVC(C=chosen.best_C_, kernel="linear").fit(Z, y)
    np.testing.assert_array_equal(chosen.predict(new), plain.predict(new))


def test_the_first_of_equals_is_taken():
    (Z, _), y = domains(distance=50.0)
    chosen = CrossValidatedSVC(C=GRID).fit(Z, y)
    assert (chosen.n_correct_ == len(y)).all()
    assert chosen.best_C_ == GRID[0]


def test_zeta_is_the_one_of_the_most_hits_and_the_classifier_agrees_on_c():
    Xs, y = domains()
    zetas = (1.0, 1.3, 4.0)
    chosen = TKLCV(zeta=zetas, C=GRID, kernel="linear", solver="nnls").fit(Xs, [y, None])
    hits = []
    for zeta in zetas:
        embedding, _ = TKL(kernel="linear", zeta=zeta, solver="nnls").fit(Xs).embeddings_
        hits.append(cross_validated_hits(embedding, y, GRID))
    np.testing.assert_array_equal(chosen.n_correct_, hits)
    assert np.max(hits[zetas.index(chosen.best_params_["zeta"])]) == np.max(hits)
    classifier = CrossValidatedSVC(C=GRID).fit(chosen.embeddings_[0], y)
    assert classifier.best_C_ == chosen.best_params_["C"]


def test_the_embedding_is_that_of_the_chosen_tkl():
    Xs, y = domains()
    chosen = TKLCV(C=GRID, solver="nnls").fit(Xs, [y, None])
    plain = TKL(zeta=chosen.best_params_["zeta"], solver="nnls").fit(Xs)
    for one, other in zip(chosen.embeddings_, plain.embeddings_, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(chosen.transform(Xs[1][:3], -1), plain.transform(Xs[1][:3], -1))


def test_unlabelled_source_rows_take_part_in_the_kernel_alone():
    Xs, y = domains()
    seen = np.where(np.arange(45) % 15 < 6, y, -1)
    chosen = TKLCV(zeta=(2.0,), solver="nnls").fit(Xs, [seen, None])
    assert chosen.n_correct_.max() <= 18
    whole = TKLCV(zeta=(2.0,), solver="nnls").fit(Xs, [y, None])
    np.testing.assert_array_equal(chosen.embeddings_[0], whole.embeddings_[0])


@pytest.mark.parametrize("labels", [np.zeros(45, dtype=int), np.full(45, -1), np.arange(45)])
def test_labels_that_cannot_be_cut_into_folds_are_named(labels):
    Xs, _ = domains()
    with pytest.raises(ValueError, match="2 classes with 2 samples"):
        TKLCV(solver="nnls").fit(Xs, [labels, None])


@pytest.mark.parametrize(
    "wrong", [{"zeta": (0.5,)}, {"zeta": ()}, {"zeta": ("a",)}, {"C": (-1.0,)}, {"C": (np.inf,)}]
)
def test_a_wrong_grid_is_named(wrong):
    Xs, y = domains()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TKLCV(solver="nnls", **wrong).fit(Xs, [y, None])
