"""Blocks of tuned experiments on small generated domains, for any entry of config/methods.yaml."""

import dataclasses
import json

import numpy as np
from scipy import sparse

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.candidates import OWN, draw, takes_only
from workflow.lib.config.suite import load_suite
from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.storage.features import write_features
from workflow.lib.trials.protocols import sample_trials, write_trials

SUITE = load_suite(PROJECT)
SEARCHED = [name for name, entry in SUITE.methods.items() if "search" in entry]
N_CLASSES = 3
SIZES = (36, 30)
WIDTH = 12
SMALLER = {"rekema": {"landmarks": 20}}  # parameters that small domains cannot serve
SHOWN = 9  # target rows whose labels are shown where a few are


def labels_of(sizes=SIZES):
    """Labels of each domain, the target last."""
    return [np.arange(n) % N_CLASSES for n in sizes]


def features_of(kind, y, number, width=WIDTH):
    """Features of one domain whose classes differ."""
    rng = np.random.default_rng([number, width])
    centres = np.random.default_rng(width).normal(size=(N_CLASSES, width))
    X = 2 * centres[y] + rng.normal(size=(len(y), width)) + 0.3 * number
    if kind == "real":
        return X
    if kind == "non_negative":
        return np.abs(X)
    counts = rng.poisson(np.exp(0.5 * X)).astype(float)
    counts[:, 0] += 1  # no row is empty
    return counts if kind == "counts" else sparse.csr_array(counts * (counts > 1))


def sampled(ys, few):
    """Trials of a protocol that shows no label of the target, or a few, and scores the others."""
    sources = tuple(DomainRef("small", f"source{d}") for d in range(len(ys) - 1))
    task = Task(sources, DomainRef("small", "target"))
    if not few:
        return sample_trials("small", {"kind": "full_source", "trials": 1}, task, ys)
    rows = [np.arange(len(y)) for y in ys]
    split = {
        "source_labelled": rows[0],
        "target_labelled": rows[-1][:SHOWN],
        "target_scored": rows[-1][SHOWN:],
    }
    protocol = {"kind": "official", "trials": 1}
    (trial,) = sample_trials("small", protocol, task, [ys[0], ys[-1]], [split])
    middle = [(rows[d], ys[d]) for d in range(1, len(ys) - 1)]
    return [
        dataclasses.replace(
            trial,
            rows=(trial.rows[0], *(own for own, _ in middle), trial.rows[-1]),
            labels=(trial.labels[0], *(y for _, y in middle), trial.labels[-1]),
        )
    ]


def entry_of(name):
    """A method's entry, small enough for these domains."""
    entry = SUITE.methods[name]
    return {**entry, "params": {**entry.get("params", {}), **SMALLER.get(name, {})}}


def candidates(entry, kinds, budget, seed=0, name="any", suite=SUITE, bounds=None):
    """Candidates of an entry as a tuned experiment draws them."""
    entry = {**entry, "params": entry.get("params", {})}
    own = suite.classifiers[entry.get("classifier", OWN)]
    first = {"words": own["label"], "params": {}, **own}
    first.pop("label")
    return draw(name, entry, first, suite.tuning, kinds, budget, seed, bounds)


def write_tuned(folder, entry, Xs, trials, kinds, budget=6, seconds=60.0):
    """Write features and trials; returns the block, as the guarded child receives it."""
    for d, X in enumerate(Xs):
        write_features(folder / f"{d}.npz", X, {})
    write_trials(folder / "trials.npz", trials, {})
    few = any((trial.labels[-1] >= 0).any() for trial in trials)
    drawn = candidates(entry, kinds, budget)
    return json.loads(
        json.dumps(
            {
                "features": [str(folder / f"{d}.npz") for d in range(len(Xs))],
                "trials": str(folder / "trials.npz"),
                "method": {
                    "estimator": entry["estimator"],
                    "sees_labels": entry["sees_labels"],
                    "params": entry.get("params", {}),
                    "varied_params": [{}],
                },
                "classifiers": {},
                "classifier_rows": "source+target" if few else "source",
                "preprocess": [],
                "preprocess_rows": "seen",
                "pictured_trial": None,
                "probabilities": False,
                "tuning": {
                    "alignments": [dataclasses.asdict(alignment) for alignment in drawn],
                    "folds": 2,
                    "seed": 0,
                    "seconds": seconds,
                    "baseline": entry.get("baseline", False),
                    **({} if drawn else {"takes_only": takes_only(entry)}),
                },
            }
        )
    )
