from dataclasses import replace

import numpy as np
import pytest
from domain_alignment.model_selection import SELECTORS, _criteria
from domain_alignment.model_selection._selectors import Selector

from tests.methods.model_selection.candidates import N_CLASSES, candidate

# These rest on an iterative classifier of the domains, which stops at its tolerance.
ITERATIVE = {"importance_weighted", "deep_embedded", "a_distance", "circular"}
OF_HELD_OUT = ["source_accuracy", "labelled_accuracy", "importance_weighted", "deep_embedded"]
OF_PROBABILITIES = ["entropy", "mutual_information", "neighborhood_density", "bnm"]


def scores(evidence):
    return {name: selector(evidence) for name, selector in SELECTORS.items()}


def held_out_rows(evidence, side):
    """Label, held-out prediction and weight of the rows that count, one by one."""
    labels = getattr(evidence, f"{side}_labels")
    predicted = getattr(evidence, f"{side}_held_out")
    weights = evidence.weights if side == "source" else np.ones(len(labels))
    for label, prediction, weight in zip(labels, predicted, weights, strict=True):
        if label != -1 and prediction != -1:
            yield label, prediction, weight


def slowly_source_accuracy(evidence):
    right = [label == prediction for label, prediction, _ in held_out_rows(evidence, "source")]
    return sum(right) / len(right)


def slowly_labelled_accuracy(evidence):
    target = [label == prediction for label, prediction, _ in held_out_rows(evidence, "target")]
    if evidence.trained_on == "target":
        return sum(target) / len(target)
    return (slowly_source_accuracy(evidence) + sum(target) / len(target)) / 2


def slowly_importance_weighted(evidence):
    rows = list(held_out_rows(evidence, "source"))
    right = sum(weight for label, prediction, weight in rows if label == prediction)
    return right / sum(weight for _, _, weight in rows)


def slowly_deep_embedded(evidence):
    rows = list(held_out_rows(evidence, "source"))
    losses = [weight * (label != prediction) for label, prediction, weight in rows]
    weights = [weight for _, _, weight in rows]
    mean_loss, mean_weight = (sum(values) / len(rows) for values in (losses, weights))
    covariance = sum(
        (loss - mean_loss) * (weight - mean_weight)
        for loss, weight in zip(losses, weights, strict=True)
    )
    eta = -covariance / sum((weight - mean_weight) ** 2 for weight in weights)
    return -(mean_loss + eta * mean_weight - eta)


def slowly_circular(evidence):
    back = evidence.backward(evidence.target_predicted)
    recalls = []
    for label in range(N_CLASSES):
        rows = [i for i, known in enumerate(evidence.source_labels) if known == label]
        recalls.append(sum(back[i] == label for i in rows) / len(rows))
    return sum(recalls) / N_CLASSES


def slowly_a_distance(evidence):
    source, target = evidence.embedded.log_ratios
    errors = [sum(r > 0 for r in source) / len(source), sum(r < 0 for r in target) / len(target)]
    return -2 * (1 - sum(errors))


@pytest.mark.parametrize("sparsely", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "slowly",
    [
        slowly_source_accuracy,
        slowly_labelled_accuracy,
        slowly_importance_weighted,
        slowly_deep_embedded,
        slowly_circular,
        slowly_a_distance,
    ],
)
def test_row_by_row(slowly, sparsely):
    evidence = candidate(sparsely=sparsely)
    name = slowly.__name__.removeprefix("slowly_")
    assert SELECTORS[name](evidence) == pytest.approx(slowly(evidence), abs=1e-10)


def test_the_table_says_what_each_is():
    assert list(SELECTORS) == [
        "source_accuracy",
        "labelled_accuracy",
        "importance_weighted",
        "deep_embedded",
        "entropy",
        "mutual_information",
        "neighborhood_density",
        "circular",
        "bnm",
        "class_ami",
        "a_distance",
    ]
    for name, selector in SELECTORS.items():
        assert selector.name == name
        assert selector.label
        assert any(year in selector.paper for year in map(str, range(1970, 2030)))
        assert "Cost:" in selector.score.__doc__
    assert len({selector.label for selector in SELECTORS.values()}) == len(SELECTORS)


@pytest.mark.parametrize("name", SELECTORS)
def test_only_the_stated_labels_are_seen(name):
    evidence, rng = candidate(), np.random.default_rng(5)
    hidden = {"none": ["source", "target"], "source": ["target"], "source+target": []}
    changes = {}
    for side in hidden[SELECTORS[name].sees]:
        labels = getattr(evidence, f"{side}_labels")
        changes[f"{side}_labels"] = rng.integers(-1, N_CLASSES, size=labels.size)
        changes[f"{side}_held_out"] = rng.integers(-1, N_CLASSES, size=labels.size)
    # Bitwise the same, and not because nothing is seen at all.
    assert SELECTORS[name](replace(evidence, **changes)) == SELECTORS[name](evidence)
    assert np.isfinite(SELECTORS[name](evidence))


@pytest.mark.parametrize("sees", ["source", "source+target"])
def test_stated_labels_are_seen(sees):
    evidence = candidate()
    other = {"source": "source_labels", "source+target": "target_labels"}[sees]
    labels = getattr(evidence, other)
    changed = replace(evidence, **{other: np.where(labels == -1, -1, (labels + 1) % N_CLASSES)})
    for name, selector in SELECTORS.items():
        if selector.sees == sees:
            assert selector(changed) != selector(evidence), name


@pytest.mark.parametrize("sparsely", [False, True], ids=["dense", "sparse"])
def test_the_order_of_the_rows_has_no_effect(sparsely):
    evidence, rng = candidate(sparsely=sparsely), np.random.default_rng(6)
    changes, orders = {"embedded": None}, {}
    for side in ("source", "target"):
        orders[side] = rng.permutation(len(getattr(evidence, f"{side}_labels")))
        for part in ("embedding", "labels", "predicted", "probabilities", "held_out"):
            changes[f"{side}_{part}"] = getattr(evidence, f"{side}_{part}")[orders[side]]

    def backward(pseudo):
        unshuffled = np.empty_like(pseudo)
        unshuffled[orders["target"]] = pseudo
        return evidence.backward(unshuffled)[orders["source"]]

    shuffled, plain = scores(replace(evidence, backward=backward, **changes)), scores(evidence)
    for name in SELECTORS:
        tolerance = 1e-6 if name in ITERATIVE else 1e-10
        assert shuffled[name] == pytest.approx(plain[name], abs=tolerance), name


def test_the_numbers_of_the_classes_have_no_effect():
    evidence = candidate()
    new = np.array([7, 2, 9, 0])  # by old number
    order = np.argsort(new)
    changes = {"classes": new[order]}
    for side in ("source", "target"):
        for part in ("labels", "predicted", "held_out"):
            old = getattr(evidence, f"{side}_{part}")
            changes[f"{side}_{part}"] = np.where(old == -1, -1, new[old])
        changes[f"{side}_probabilities"] = getattr(evidence, f"{side}_probabilities")[:, order]
    old_number = {int(number): old for old, number in enumerate(new)}

    def backward(pseudo):
        return new[evidence.backward(np.array([old_number[number] for number in pseudo.tolist()]))]

    renamed, plain = scores(replace(evidence, backward=backward, **changes)), scores(evidence)
    assert renamed == pytest.approx(plain, abs=1e-10)


def test_scores_are_the_same_again():
    assert scores(candidate()) == scores(candidate())


def test_a_classifier_of_the_target_alone_is_judged_on_the_target():
    evidence = candidate(trained_on="target")
    score = SELECTORS["labelled_accuracy"](evidence)
    assert score == pytest.approx(slowly_labelled_accuracy(evidence))
    assert score != pytest.approx(slowly_labelled_accuracy(candidate()))


@pytest.mark.parametrize(
    ("changes", "undefined"),
    [
        ({"target_probabilities": None}, OF_PROBABILITIES),
        ({"source_held_out": None}, OF_HELD_OUT),
        ({"target_held_out": None}, ["labelled_accuracy"]),
        ({"target_labels": np.full(55, -1)}, ["labelled_accuracy"]),
        ({"source_labels": np.full(70, -1)}, [*OF_HELD_OUT, "circular"]),
        ({"backward": None}, ["circular"]),
    ],
)
def test_not_defined(changes, undefined):
    with_nan = {name for name, score in scores(candidate(**changes)).items() if np.isnan(score)}
    assert with_nan == set(undefined)


def test_a_single_predicted_class_is_predicted_backwards():
    def backward(_):
        raise AssertionError("a classifier of one class is not fitted")

    evidence = candidate(target_predicted=np.full(55, 2), backward=backward)
    assert SELECTORS["circular"](evidence) == pytest.approx(1 / N_CLASSES)


def test_a_classifier_of_the_source_alone_is_judged_on_both():
    score = SELECTORS["labelled_accuracy"](candidate(trained_on="source"))
    assert score == SELECTORS["labelled_accuracy"](candidate(trained_on="source+target"))


def test_a_class_that_is_never_predicted_counts_as_a_cluster():
    three = np.minimum(candidate().target_predicted, 2)
    evidence = candidate(target_predicted=three)
    Z = evidence.target_embedding
    expected, fewer = (_criteria.cluster_agreement(Z, three, n) for n in (N_CLASSES, 3))
    assert abs(expected - fewer) > 0.01
    assert SELECTORS["class_ami"](evidence) == pytest.approx(expected)


@pytest.mark.parametrize(("sees", "n_hidden"), [("none", 4), ("source", 2), ("source+target", 0)])
def test_a_selector_is_handed_no_label_that_it_does_not_state(sees, n_hidden):
    def hidden(evidence):
        parts = [evidence.source_labels, evidence.target_labels]
        gone = [evidence.source_held_out, evidence.target_held_out]
        return sum((y == -1).all() for y in parts) + sum(y is None for y in gone)

    assert Selector("spy", "Spy", "", sees, (), hidden)(candidate()) == n_hidden
