import numpy as np
import pytest
from domain_alignment.model_selection import EmbeddedDomains, _evidence

from tests.methods.model_selection.candidates import candidate


def test_classifiers_on_one_embedding_share_its_weights(monkeypatch):
    calls = []

    def counted(source, target):
        calls.append(source)
        return np.zeros(len(source)), np.zeros(len(target))

    monkeypatch.setattr(_evidence, "log_density_ratios", counted)
    first = candidate()
    shared = EmbeddedDomains(first.source_embedding, first.target_embedding)
    embeddings = {name: getattr(first, name) for name in ("source_embedding", "target_embedding")}
    both = [candidate(embedded=shared, **embeddings) for _ in range(2)]
    assert not calls
    assert all((each.weights == 1).all() for each in both)
    assert all((each.seen_with("none").weights == 1).all() for each in both)
    assert len(calls) == 1
    with pytest.raises(ValueError, match="embedded holds other embeddings; build it from"):
        candidate(embedded=shared)


@pytest.mark.parametrize(
    ("seen", "hidden"),
    [("none", ["source", "target"]), ("source", ["target"]), ("source+target", [])],
)
def test_labels_that_may_not_be_seen_are_gone(seen, hidden):
    evidence = candidate()
    shown = evidence.seen_with(seen)
    for side in ("source", "target"):
        if side in hidden:
            assert (getattr(shown, f"{side}_labels") == -1).all()
            assert getattr(shown, f"{side}_held_out") is None
        else:
            assert getattr(shown, f"{side}_labels") is getattr(evidence, f"{side}_labels")
            assert getattr(shown, f"{side}_held_out") is getattr(evidence, f"{side}_held_out")
    assert shown.embedded is evidence.embedded
    assert shown.target_predicted is evidence.target_predicted


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_labels": np.zeros(3)}, r"source_labels has shape \(3,\) for 70 rows"),
        ({"target_held_out": np.zeros(70)}, r"target_held_out has shape \(70,\) for 55 rows"),
        ({"target_probabilities": np.ones((55, 3))}, r"shape \(55, 3\), not \(55, 4\); give one"),
    ],
)
def test_parts_that_do_not_belong_together(changes, message):
    with pytest.raises(ValueError, match=message):
        candidate(**changes)


@pytest.mark.parametrize("side", ["source_embedding", "target_embedding"])
def test_embedded_domains_of_another_candidate_on_one_side(side):
    first = candidate()
    own = {name: getattr(first, name) for name in ("source_embedding", "target_embedding")}
    mixed = {**own, side: own[side].copy()}
    shared = EmbeddedDomains(mixed["source_embedding"], mixed["target_embedding"])
    with pytest.raises(ValueError, match="embedded holds other embeddings"):
        candidate(embedded=shared, **own)
