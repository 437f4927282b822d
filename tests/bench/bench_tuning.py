"""Cost of candidates: shared by FMA-I on SURF features, and beside skada's loop.

    python tests/bench/bench_tuning.py

(a) Five trials of amazon -> caltech with few target labels. 32 candidates of FMA-I with all
selectors may cost at most 4 times one candidate for which every fit starts from nothing, as where
nothing is shared: one trial at a time, its fit and those without the labels of a fold. Printed
beside it, without a bound: one candidate whose trials and folds share what can be shared.

(b) 32 candidates of subspace alignment with logistic regression, on generated domains: accuracies
equal to those of skada's pipelines, and at most half the CPU seconds of ``cross_validate`` with
skada's scorers (those that both have) and a last fit to all rows.

CPU seconds on one BLAS thread. Exits with 1 when a bound is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import dataclasses
import itertools
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

import numpy as np
from domain_alignment.model_selection import SELECTORS
from measure import cpu_seconds
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.preprocessing import StandardScaler
from surf import domains

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.candidates import draw
from workflow.lib.config.suite import load_suite
from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.storage.features import write_features
from workflow.lib.trials import tuning
from workflow.lib.trials.protocols import sample_trials, write_trials

SUITE = load_suite(PROJECT)
N_TRIALS, N_CANDIDATES = 5, 32
TASK = Task((DomainRef("bench", "source"),), DomainRef("bench", "target"))
FEW_LABELS = {"kind": "random", "seed": 0, "source_per_class": 20, "target_per_class": 3}
NO_LABELS = {"kind": "full_source", "trials": 1}
# Criteria that skada has too, and how it calls them.
SHARED = {
    "source_accuracy": "accuracy",
    "entropy": "PredictionEntropyScorer",
    "neighborhood_density": "SoftNeighborhoodDensity",
    "circular": "CircularValidation",
}


def written(folder, Xs, trials, method, alignments):
    """The block of a tuned job whose inputs are in a folder."""
    for d, X in enumerate(Xs):
        write_features(folder / f"{d}.npz", X, {})
    write_trials(folder / "trials.npz", trials, {})
    few = (trials[0].labels[-1] >= 0).any()
    return {
        "features": [str(folder / f"{d}.npz") for d in range(len(Xs))],
        "trials": str(folder / "trials.npz"),
        "method": {**method, "varied_params": [{}]},
        "classifier_rows": "source+target" if few else "source",
        "preprocess_rows": "seen",
        "probabilities": False,
        "tuning": {"alignments": alignments, "folds": 2, "seed": 0, "seconds": 1e9},
    }


def run(spec):
    """Every trial of a block: records and predictions of each; a failure is no measurement."""
    block = tuning.setup(spec)
    found = [tuning.run_trial(block, number) for number in range(len(block.trials))]
    failed = [r["error"] for records, _ in found for r in records if r["status"] != "ok"]
    if failed:
        raise RuntimeError(f"{len(failed)} candidates failed, the first: {failed[0]}")
    return found


def run_unshared(spec):
    """The same with every fit from nothing: features scaled, both domains prepared."""
    preprocessed = tuning.preprocessed_features
    fit = tuning.fit_aligned

    def fit_anew(block, features, trial, estimator, labels, whole_target=True):
        steps = spec["tuning"]["alignments"][0]["steps"]
        block = dataclasses.replace(block, cache={})
        features = preprocessed(block, trial, steps)
        return fit(block, features, trial, estimator, labels, whole_target)

    tuning.fit_aligned = fit_anew
    try:
        return run(spec)
    finally:
        tuning.fit_aligned = fit


def drawn(name, kind, n_candidates):
    """Candidates of an entry of the configuration, the untuned one first."""
    entry = SUITE.methods[name]
    own = SUITE.classifiers[entry["classifier"]]
    first = {"words": own["label"], "estimator": own["estimator"], "params": own["params"]}
    found = draw(name, entry, first, SUITE.tuning, [kind] * 2, n_candidates, 0)
    return [dataclasses.asdict(alignment) for alignment in found]


def shared_candidates():
    """Measure (a); returns whether the bound was kept."""
    read, origin = domains("amazon", "caltech")
    Xs, ys = (list(parts) for parts in zip(*read.values(), strict=True))
    trials = sample_trials("bench", {**FEW_LABELS, "trials": N_TRIALS}, TASK, ys)
    entry = SUITE.methods["fma_i"]
    method = {key: entry[key] for key in ("estimator", "sees_labels", "params")}
    with tempfile.TemporaryDirectory() as folder:
        specs = [
            written(Path(folder), Xs, trials, method, drawn("fma_i", "counts", n))
            for n in (1, N_CANDIDATES)
        ]
        run(specs[0])  # imports
        alone, _ = cpu_seconds(run_unshared, specs[0], repeats=2)
        sharing, _ = cpu_seconds(run, specs[0], repeats=2)
        every, found = cpu_seconds(run, specs[1], repeats=2)
    assert all(len(records) == N_CANDIDATES for records, _ in found)
    kept = every <= 4 * alone
    print(f"FMA-I, {N_TRIALS} trials of amazon -> caltech ({origin}), CPU seconds:")
    print(f"  one candidate, every fit from nothing    {alone:7.2f}")
    print(f"  one candidate, trials and folds share    {sharing:7.2f}")
    print(f"  {N_CANDIDATES} candidates                            {every:7.2f}")
    print(f"  ratio to the first  {every / alone:6.2f}   bound 4  {'ok' if kept else 'MISSED'}")
    print(f"  ratio to the second {every / sharing:6.2f}")
    return kept


def moved_domains():
    """Ten classes in 100 features, z-scored; the target is rotated, scaled and moved."""
    rng = np.random.default_rng(0)
    ys = [np.arange(1000) % 10, np.arange(1000) % 10]
    centres = 0.35 * rng.normal(size=(10, 100))
    X = [centres[y] + rng.normal(size=(len(y), 100)) * np.linspace(0.5, 2, 100) for y in ys]
    turned, scale = np.linalg.qr(np.eye(100) + 0.05 * rng.normal(size=(100, 100)))
    X[1] = X[1] @ (turned * np.sign(np.diag(scale))) + 0.5
    return [StandardScaler().fit_transform(part) for part in X], ys


COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
COMPONENTS = (10, 20, 30, 40)


def ours(Xs, ys):
    """Predicted labels of the target by every candidate."""
    logistic = {"estimator": "sklearn.linear_model:LogisticRegression", "fixed": None}
    classifiers = [{**logistic, "params": {"C": C, "max_iter": 1000}} for C in COSTS]
    common = {"scaling": "raw", "steps": [[], []], "reduce": None, "classifiers": classifiers}
    alignments = [{**common, "params": {"n_components": n}} for n in COMPONENTS]
    method = {"estimator": "domain_alignment:SubspaceAlignment", "sees_labels": "none"}
    with tempfile.TemporaryDirectory() as folder:
        trials = sample_trials("bench", NO_LABELS, TASK, ys)
        spec = written(Path(folder), Xs, trials, {**method, "params": {}}, alignments)
        ((records, arrays),) = run(spec)
    return [arrays[str(record["candidate"])] for record in records]


def skadas(Xs, ys):
    """The same by skada: two folds scored, then a fit to all rows."""
    from skada import SubspaceAlignmentAdapter, make_da_pipeline, metrics

    scorers = {
        name: getattr(metrics, named)() for name, named in SHARED.items() if named != "accuracy"
    }
    X, domains = np.vstack(Xs), np.repeat([1, -2], [len(part) for part in Xs])
    y = np.concatenate([ys[0], np.full(len(ys[1]), -1)])
    folds = list(
        StratifiedKFold(2, shuffle=True, random_state=0).split(X, np.r_[ys[0], 10 + 0 * ys[1]])
    )
    found = []
    for n, C in itertools.product(COMPONENTS, COSTS):
        logistic = LogisticRegression(C=C, max_iter=1000).set_score_request(sample_weight=False)
        model = make_da_pipeline(SubspaceAlignmentAdapter(n, random_state=0), logistic)
        scores = cross_validate(
            model,
            X,
            y,
            cv=folds,
            params={"sample_domain": domains},
            scoring=scorers,
            error_score="raise",
        )
        assert all(np.isfinite(scores[f"test_{name}"]).all() for name in scorers)
        model.fit(X, y, sample_domain=domains)
        found.append(model.predict(Xs[1], sample_domain=np.full(len(Xs[1]), -2)))
    return found


def beside_skada():
    """Measure (b); returns whether accuracies are equal and the bound was kept."""
    assert set(SHARED) <= set(SELECTORS)
    Xs, ys = moved_domains()
    mine, found = cpu_seconds(ours, Xs, ys, repeats=2)
    theirs, expected = cpu_seconds(skadas, Xs, ys)
    assert max(np.mean(p == ys[1]) for p in found) > 0.5  # else they could agree on nothing
    accuracies = [[np.mean(p == ys[1]) for p in predicted] for predicted in (found, expected)]
    equal = accuracies[0] == accuracies[1]
    kept = mine <= theirs / 2
    print(f"subspace alignment, {len(found)} candidates, CPU seconds:")
    print(f"  here, {len(SELECTORS)} selectors  {mine:7.2f}")
    print(f"  skada, {len(SHARED) - 1} scorers  {theirs:7.2f}")
    low, high = 100 * min(accuracies[0]), 100 * max(accuracies[0])
    print(f"  accuracies from {low:.1f} to {high:.1f} %: {'equal' if equal else 'DIFFERENT'}")
    if not equal:
        print(f"  largest difference {max(np.abs(np.subtract(*accuracies))):.4f}")
    print(f"  share {mine / theirs:.2f}   bound 0.5  {'ok' if kept else 'MISSED'}")
    return equal and kept


def main():
    """Measure, print, and return the exit code."""
    warnings.simplefilter("ignore")
    kept = [shared_candidates(), beside_skada()]
    print("all bounds kept" if all(kept) else "A BOUND IS MISSED")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
