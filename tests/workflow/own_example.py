"""An answer on small generated data, as its page shows it."""

import dataclasses
import functools

import numpy as np

from workflow.lib.results.accuracy_estimates import Estimate
from workflow.lib.results.own_answer import Candidate, decide
from workflow.lib.results.own_view import Diagnosis, Own
from workflow.lib.results.shift_diagnosis import (
    class_shares,
    feature_shifts,
    separation,
    spectrum,
)

N = 90
NAMES = ["ash", "birch", "<elm>"]
HIDDEN = np.arange(N) % 3


def candidate(method, bound, upper, wrong, is_baseline=False):
    predicted = HIDDEN.copy()
    predicted[:wrong] = (predicted[:wrong] + 1) % 3
    found = Estimate(upper, 0.01, upper, 0.01, bound, 0.01, 0, 0)
    return Candidate(
        method,
        3,
        is_baseline,
        "standard; logistic regression (C = 1.0)",
        (found,) * 3,
        predicted,
        confidence=np.linspace(0.5, 1, N),
        held_out=np.full(N, -1),
        source_held_out=HIDDEN.copy(),
    )


@functools.cache
def own(gain=True, known=True):
    """An answer to adapt, or not to, on a target whose labels are known, or not."""
    rng = np.random.default_rng(0)
    source, target = (
        rng.normal(size=(2, N, 4)) + np.array([0, 3, 0, 0]) * np.arange(2)[:, None, None]
    )
    baseline = candidate("source_only", 0.4, 0.5, 50 if gain else 2, is_baseline=True)
    best = candidate("coral", 0.92, 0.97, 1)
    answer = decide([baseline, best], np.full(N, -1), shift_found=True)
    features, n_shifted = feature_shifts(source, target, ["a", "b", "c", "d"])
    shift = Diagnosis(
        separation(source, target),
        class_shares(HIDDEN, HIDDEN, baseline.predicted, 3),
        features,
        n_shifted,
        4,
        spectrum(source, target),
    )
    return Own(
        name="mine",
        title="mine: old to new",
        answer=answer,
        candidates=[best, baseline],
        left_out={"gfk": "needs two domains"},
        n_asked=48,
        seconds=13,
        labels_of={"source_only": "No adaptation (source)", "coral": "CORAL", "gfk": "GFK"},
        scalings={"raw": (), "standard": ("zscore",), "unit": ("l2_rows",)},
        class_names=NAMES,
        shift=shift,
        shown=np.full(N, -1),
        features=target,
        hidden=HIDDEN if known else np.full(N, -1),
        file_rows=np.arange(N),
    )


def heterogeneous(found):
    """The same with nothing that needs the same features in both domains."""
    shift = dataclasses.replace(
        found.shift,
        separation=None,
        features=None,
        n_shifted=0,
        spectrum=dataclasses.replace(found.shift.spectrum, angles=None),
    )
    return dataclasses.replace(found, shift=shift)
