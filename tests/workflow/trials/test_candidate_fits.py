"""Fits of one alignment: what they share, what stays sparse, and the one in reverse."""

import numpy as np
import pytest
from domain_alignment import CORAL
from scipy import sparse

from tests.workflow.trials.tuned_block import (
    entry_of,
    features_of,
    labels_of,
    sampled,
    write_tuned,
)
from workflow.lib.trials import tuning
from workflow.lib.trials.candidate_fits import Fits, embedded_domains, estimator_of
from workflow.lib.trials.protocols import HIDDEN


@pytest.fixture
def fits(tmp_path):
    """Function that writes a task for a method, and opens the fits of its first alignment."""

    def make(entry, few=False, kind="real"):
        ys = labels_of()
        Xs = [features_of(kind, y, d, 12) for d, y in enumerate(ys)]
        spec = write_tuned(tmp_path, entry, Xs, sampled(ys, few), (kind, kind), budget=1)
        block = tuning.setup(spec)
        return Fits(block, block.trials[0], spec["tuning"]["alignments"][0])

    return make


class Moves(CORAL):
    """Inherits that its target does not move; it does."""

    def _transform(self, X, domain):
        return super()._transform(X, domain) + domain


def test_a_target_that_moves_against_its_declaration_is_not_taken_for_its_features(fits):
    entry = {**entry_of("coral"), "estimator": f"{__name__}:Moves"}
    made = fits(entry, kind="sparse_counts")
    made.keeps_sparse = True
    whole = made.aligned(made.trial.labels).embedded_target
    assert not sparse.issparse(whole)
    assert whole.min() >= 1


@pytest.mark.parametrize("name", ["coral_kernel", "meda"])
def test_the_reversed_fit_answers_with_prepared_models_as_without(fits, name):
    made = fits(entry_of(name))
    source, target = made.features.visible
    pseudo = np.arange(target.shape[0]) % 2
    hidden = np.full(source.shape[0], HIDDEN)
    alignment = made.block.spec["tuning"]["alignments"][0]
    alone = estimator_of(made.block, alignment).fit([target, source], [pseudo, hidden])
    turned = made.reversed(pseudo)
    np.testing.assert_array_equal(
        turned.predict(source, domain=-1), alone.predict(source, domain=-1)
    )
    for Z, same in zip(turned.embeddings_, alone.embeddings_, strict=True):
        np.testing.assert_allclose(Z, same, rtol=0, atol=1e-8 * abs(same).max())
    assert made.reversed(pseudo) is turned
    assert made.reversed(1 - pseudo) is not turned


def test_a_target_that_does_not_move_is_handed_to_selectors_as_it_is(fits):
    made = fits(entry_of("coral_kernel"), kind="sparse_counts")
    aligned = made.aligned(made.trial.labels)
    both = embedded_domains(aligned, made.trial)
    assert not sparse.issparse(both.source)
    assert (both.target != made.features.visible[-1]).nnz == 0


def test_the_same_labels_are_fitted_once(fits):
    made = fits(entry_of("coral_kernel"), few=True)
    assert made.aligned(made.trial.labels) is made.aligned(made.trial.labels)
