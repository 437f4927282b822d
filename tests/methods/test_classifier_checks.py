"""scikit-learn's own checks of estimators, run on AlignedClassifier.

The checks know no domains, so every other pair of rows is made the target. Those that cannot apply
are listed with the reason; a listed check that passes fails the test.
"""

import warnings

import numpy as np
import pytest
from domain_alignment import (
    CORAL,
    HFA,
    JDA,
    MEDA,
    AlignedClassifier,
    AlignmentError,
    NoAdaptation,
)
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import _num_samples


class AlternatingDomains(AlignedClassifier):
    """Rows 0, 1, 4, 5, ... are the source, rows 2, 3, 6, 7, ... the target."""

    def fit(self, X, y, sample_domain=None):
        if sample_domain is None and y is not None:
            sample_domain = np.where(np.arange(_num_samples(X)) // 2 % 2, -2, 1)
        return super().fit(X, y, sample_domain)

    def fit_transform(self, X, y, sample_domain=None):
        return self.fit(X, y).transform(X)


# Check -> why it cannot apply.
REASONS = {
    "check_classifiers_classes": "its classes are -1 and 1; here -1 means unlabelled, as in "
    "scikit-learn's semi-supervised estimators",
}
_ZEROS = "some of its rows are zeros, which have no direction in the subspaces"
REASONS_OF = {
    "MEDA": {
        "check_estimators_dtypes": _ZEROS,
        "check_estimator_sparse_tag": _ZEROS,
        "check_estimator_sparse_array": _ZEROS,
        "check_estimator_sparse_matrix": _ZEROS,
    },
}


def checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        yield from estimator_checks_generator(estimator)


MODELS = {
    "NoAdaptation": AlternatingDomains(NoAdaptation()),
    "CORAL": AlternatingDomains(CORAL()),
    "JDA": AlternatingDomains(JDA(n_components=2, unit_rows=False), "own"),
    "MEDA": AlternatingDomains(MEDA(n_components=2, n_neighbors=3), "own"),
    "HFA": AlternatingDomains(HFA(gamma=0.1), "own"),
}
CASES = [
    pytest.param(name, instance, check, id=f"{name}-{check.func.__name__}-{number}")
    for name, model in MODELS.items()
    for number, (instance, check) in enumerate(checks(model))
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "estimator", "check"), CASES)
def test_scikit_learns_checks(name, estimator, check):
    if check.func.__name__ in REASONS | REASONS_OF.get(name, {}):
        with pytest.raises((AlignmentError, AssertionError, IndexError, ValueError)):
            check(estimator)
    else:
        check(estimator)


def test_no_reason_is_idle():
    run = {
        name: {case.values[2].func.__name__ for case in CASES if case.values[0] == name}
        for name in MODELS
    }
    assert all(set(REASONS) <= names for names in run.values())
    assert all(set(reasons) <= run[name] for name, reasons in REASONS_OF.items())
