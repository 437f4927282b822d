"""The columns of other authors' methods, over all pairs of their tables.

All source labels and none of the target, unless the test says otherwise. Needs the data mirror in
``ALIGNMENT_MIRROR`` (a folder).
"""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.distribution._meda import MEDA
from domain_alignment.mapping._asymmetric_coral import AsymmetricCORAL
from domain_alignment.subspace._gfk import GFK
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from tests.methods.office_caltech import MIRROR, needs_surf, shares
from workflow.lib.results.published import read_published
from workflow.loaders import mnist_usps

PUBLISHED = Path(__file__).parents[2] / "config/published"
PAIRS = list(permutations("ACDW", 2))
N_DRAWS = 100
DIGITS = MIRROR / "mnist_usps/MNIST_vs_USPS.mat"

pytestmark = [pytest.mark.slow, needs_surf]


def published(table, method):
    """Means of a column, by pair."""
    rows = read_published(PUBLISHED / f"{table}.csv")
    return {(row["source"], row["target"]): row["mean"] for row in rows if row["method"] == method}


def percent(found, true):
    """Accuracy in percent."""
    return 100 * np.mean(found == true)


def nearest(Z, y, Z_target):
    """Classes of the nearest source samples."""
    return KNeighborsClassifier(1, algorithm="brute").fit(Z, y).predict(Z_target)


def full_source(predict):
    """Accuracy of each pair when all labels of the source and none of the target are seen."""
    domains = {name: shares(name) for name in "ACDW"}
    found = {}
    for source, target in PAIRS:
        (X, y), (X_target, y_target) = domains[source], domains[target]
        found[source, target] = percent(predict(X, y, X_target), y_target)
    return found


def test_nearest_neighbour_without_adaptation():
    assert np.mean(list(full_source(nearest).values())) == pytest.approx(31.4, abs=0.05)


def test_meda():
    found = full_source(lambda X, y, Z: MEDA().fit([X, Z], [y, None]).transduction_)
    column = published("fma_table1_surf", "meda")
    close = [abs(found[pair] - column[pair]) <= 0.3 for pair in PAIRS]
    assert np.mean(list(found.values())) == pytest.approx(52.7, abs=0.3)
    assert sum(close) >= 11


def test_coral_with_the_authors_classifier():
    found = full_source(lambda X, y, Z: AsymmetricCORAL().fit([X, Z], [y, None]).predict(Z))
    assert np.mean(list(found.values())) == pytest.approx(48.2, abs=0.5)


def test_gfk_in_random_draws():
    """20 source samples per class, 8 where it is dslr; scored on the entire target.

    Over sets of 20 draws the mean gap per pair runs from 0.6 to 1.4, which is chance: hence more.
    """
    column, rng = published("kema_table3_surf", "gfk"), np.random.default_rng(0)
    found = {}
    for source, target in column:
        (X, y), (X_target, y_target) = shares(source), shares(target)
        accuracies = []
        for _ in range(N_DRAWS):
            rows = [
                rng.choice(np.flatnonzero(y == label), 8 if source == "D" else 20, replace=False)
                for label in np.unique(y)
            ]
            drawn = np.concatenate(rows)
            Z, Z_target = GFK().fit_transform([X[drawn], X_target], [y[drawn], None])
            accuracies.append(percent(nearest(Z, y[drawn], Z_target), y_target))
        found[source, target] = np.mean(accuracies)
    assert np.mean(list(found.values())) == pytest.approx(38.0, abs=1)
    assert np.mean([abs(found[pair] - column[pair]) for pair in column]) < 1.2


@pytest.mark.skipif(not DIGITS.is_file(), reason=f"{DIGITS.name} is not in ALIGNMENT_MIRROR")
def test_meda_on_digits():
    digits = {}
    for name in ("mnist", "usps"):
        X, y = mnist_usps.load(name, {"file": DIGITS})
        digits[name] = normalize(X), y
    for pair, expected in {("mnist", "usps"): 89.3, ("usps", "mnist"): 70.8}.items():
        (X, y), (X_target, y_target) = (digits[name] for name in pair)
        transduction = MEDA().fit([X, X_target], [y, None]).transduction_
        assert percent(transduction, y_target) == pytest.approx(expected, abs=1)
