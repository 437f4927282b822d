import numpy as np
import pytest
from domain_alignment.kernel_learning._tkl import TKL
from domain_alignment.model_selection._svc import CrossValidatedSVC
from domain_alignment.model_selection._tkl import TKLCV

GRID = (0.01, 1.0, 100.0)


def domains(seed=0, distance=1.5):
    """Three overlapping classes; the target is shifted."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 15)
    centres = distance * np.eye(3, 5)
    return [centres[y] + rng.normal(size=(45, 5)) + d for d in (0, 0.5)], y


def test_zeta_is_the_one_that_predicts_most_and_the_classifier_agrees_on_c():
    Xs, y = domains()
    zetas = (1.0, 1.3, 4.0)
    chosen = TKLCV(zeta=zetas, C=GRID, kernel="linear", solver="nnls").fit(Xs, [y, None])
    n_correct = []
    for zeta in zetas:
        embedding, _ = TKL(kernel="linear", zeta=zeta, solver="nnls").fit(Xs).embeddings_
        n_correct.append(CrossValidatedSVC(C=GRID).fit(embedding, y).n_correct_)
    np.testing.assert_array_equal(chosen.n_correct_, n_correct)
    assert np.max(n_correct[zetas.index(chosen.best_params_["zeta"])]) == np.max(n_correct)
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


def test_landmarks_are_passed_on():
    Xs, y = domains()
    chosen = TKLCV(zeta=(2.0,), landmarks="auto").fit(Xs, [y, None])
    np.testing.assert_array_equal(chosen.embeddings_[0], TKL().fit(Xs).embeddings_[0])


@pytest.mark.parametrize("labels", [np.zeros(45, dtype=int), np.full(45, -1), np.arange(45)])
def test_labels_that_cannot_be_cut_into_folds_are_named(labels):
    Xs, _ = domains()
    with pytest.raises(ValueError, match=r"^domain 0: its labelled .* 2 classes with 2 samples"):
        TKLCV(solver="nnls").fit(Xs, [labels, None])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"zeta": values} for values in ((0.5,), (), ("a",), (1.0, np.inf))),
        *({"C": values} for values in ((1.0, 0.0), (-1.0,), (np.inf,), (), ("a",))),
    ],
)
def test_a_wrong_grid_is_named_before_anything_is_computed(wrong, monkeypatch):
    monkeypatch.setattr(TKL, "fit", None)
    Xs, y = domains()
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))}=.*; give a list of"):
        TKLCV(solver="nnls", **wrong).fit(Xs, [y, None])
