"""Made-up records of generated shifts, for the tests of their statistics and their page."""

import dataclasses

import numpy as np
import pandas as pd

from tests.workflow.report_example import make_experiment, make_suite, record
from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.results.views import ExperimentView

SEVERITIES = (0.4, 1.0)
# What a full shift takes, and what of it each method wins back (below 0: it harms).
LOSSES = {"rotation": 0.3, "concept": 0.25, "label": 0.0}
SHARES = {
    "source_only": {},
    "sma": {"rotation": 0.2, "concept": -0.04, "label": 0.0},
    "fma_i": {"rotation": 0.1, "concept": 0.0, "label": -0.1},
}
# The same with a baseline that wins back what SMA does under a rotation, and no more of the rest.
BARRED = {**SHARES, "pca": {"rotation": 0.15, "concept": -0.1, "label": -0.1}}
EQUAL = {**SHARES, "pca": {"rotation": 0.2, "concept": -0.1, "label": -0.1}}
ENTRIES = {
    "source_only": {
        "label": "No adaptation",
        "estimator": "domain_alignment:NoAdaptation",
        "baseline": True,
    },
    "target_only": {
        "label": "No adaptation (target)",
        "estimator": "domain_alignment:NoAdaptation",
        "baseline": True,
    },
    "pca": {
        "label": "PCA",
        "estimator": "domain_alignment:PCAAligner",
        "baseline": True,
        "search": {},
    },
    "sma": {"label": "SMA", "estimator": "domain_alignment:SMA"},
    "fma_i": {"label": "FMA-I", "estimator": "domain_alignment:FMA"},
    "arc_t": {"label": "ARC-t", "estimator": "domain_alignment:ARCt"},
}


def domain(kind, severity):
    return f"{kind}_{round(100 * severity):03d}"


def shift_view(trials=5, noise=0.01, kinds=LOSSES, shares=SHARES, failed=(), seed=0, **changed):
    """View of gains that grow with the severity; ``failed`` holds (method, kind, trial)."""
    rng = np.random.default_rng(seed)
    places = [("none", 0.0), *((kind, level) for kind in kinds for level in SEVERITIES)]
    tasks = tuple(
        Task((DomainRef("shifts", "source"),), DomainRef("shifts", domain(*place)))
        for place in places
    )
    methods = tuple(shares)
    experiment = make_experiment([], methods, name="bent", title="Bent <data>", **changed)
    experiment = dataclasses.replace(experiment, tasks=tasks)
    rows = []
    for task, (kind, level) in zip(tasks, places, strict=True):
        for trial in range(trials):
            base = 0.8 - level * kinds.get(kind, 0.0) + noise * rng.normal()
            for method in methods:
                own = base + level * shares[method].get(kind, 0.0)
                own += (method != "source_only") * noise * rng.normal()
                value = None if (method, kind, trial) in failed else own
                rows.append(record(experiment, (task, method, "logistic", trial), value))
    return ExperimentView(experiment, shift_suite(experiment, trials, places), pd.DataFrame(rows))


def shift_suite(experiment, trials, places):
    suite = make_suite(experiment, trials, "random")
    domains = {
        domain(kind, level): {"short": kind, "params": {"kind": kind, "severity": level}}
        for kind, level in places
    }
    domains["source"] = {"short": "source", "params": {"kind": "none", "severity": 0}}
    entry = {"loader": "shifts:load", "domains": domains, "classes": 5}
    methods = {
        name: {"sees_labels": "none", "paper": "made up", "params": {}, **ENTRIES[name]}
        for name in experiment.methods
    }
    return dataclasses.replace(suite, datasets={**suite.datasets, "shifts": entry}, methods=methods)


def two_plain_view(**changed):
    """View in which the target's labels alone are worth less, and lose less under a rotation."""
    shares = {"source_only": {}, "target_only": {"rotation": 0.2}, **SHARES}
    view = shift_view(shares=shares, **changed)
    view.records.loc[view.records["method"] == "target_only", "accuracy"] -= 0.1
    return view
