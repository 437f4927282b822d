"""Made-up results in the form that the workflow leaves, for the tests of tables and reports."""

import dataclasses
import itertools
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tests.workflow import study_example
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.results.records import collect
from workflow.lib.results.views import ExperimentView, StudyView
from workflow.lib.storage.artifacts import write_records

METHODS = {
    "plain": ("No adaptation", "none", {}),
    "sma": ("SMA", "source+target", {"level": "instance", "n_neighbors": 12}),
    "fma_i": ("FMA-I", "source+target", {"level": "instance", "n_components": 40}),
    "fma_f": ("FMA-F", "source+target", {"level": "feature", "n_components": 40}),
    "coral_x": ("CORAL & co_x", "none", {}),
}
PLAIN, SMA, FMA = (f"domain_alignment:{name}" for name in ("NoAdaptation", "SMA", "FMA"))
ESTIMATORS = {"plain": PLAIN, "sma": SMA, "fma_i": FMA, "fma_f": FMA, "coral_x": PLAIN}
DOMAINS = {"amazon": "A", "caltech": "C", "dslr": "D", "webcam": "W"}
CLASSIFIERS = {"logistic": "Logistic regression", "one_nn": "1-NN"}
PUBLISHED = "source,target,method,mean,std\n"


def make_suite(experiment: Experiment, trials: int, kind: str = "official") -> Suite:
    """A small configuration around one experiment."""
    dataset = {
        "description": "Ten classes.",
        "source": "Gong et al., CVPR 2012",
        "terms": "research use; cite the source",
        "files": {
            "amazon.mat": {"sha256": "0" * 64},
            "webcam.mat": {"sha256": None, "why": "gone"},
        },
        "domains": {
            name: {"short": short, "files": [f"{name}.mat"], "samples": 1000 + n, "features": 800}
            for n, (name, short) in enumerate(DOMAINS.items())
        },
        "classes": 10,
    }
    protocol = {
        "kind": kind,
        "description": "Twenty published trials.",
        "trials": trials,
        "splits": "office_splits",
        "preprocess": ["zscore"],
        "classifier_rows": "source",
        "seed": 3,
        "source_per_class": {"default": 8, "office.amazon": 20},
        "target_per_class": 3,
    }
    methods = {
        name: {
            "label": label,
            "estimator": ESTIMATORS[name],
            "sees_labels": sees,
            "paper": "Dernbach & Towsley 2020",
            "params": params,
            "baseline": ESTIMATORS[name] == PLAIN,
        }
        for name, (label, sees, params) in METHODS.items()
    }
    return Suite(
        config={"trials_per_job": None},
        datasets={"office": dataset, "office_splits": {"source": "Hoffman et al. 2013"}},
        protocols={"official": protocol},
        methods=methods,
        classifiers={name: {"label": label} for name, label in CLASSIFIERS.items()},
        experiments={experiment.name: experiment},
    )


def make_experiment(
    pairs: Iterable[tuple[str, str]] | None = None,
    methods: Iterable[str] = tuple(METHODS),
    classifiers: tuple[str, ...] = ("logistic",),
    **changed: object,
) -> Experiment:
    """An experiment over pairs of domains, all of them by default."""
    pairs = itertools.permutations(DOMAINS, 2) if pairs is None else pairs
    experiment = Experiment(
        name="example",
        title="Office–Caltech10 <SURF>",
        question="Which method aligns these domains?",
        answers={"paper": "Dernbach & Towsley 2020", "artefact": "Table 1"},
        tasks=tuple(
            Task((DomainRef("office", source),), DomainRef("office", target))
            for source, target in pairs
        ),
        protocol="official",
        methods=tuple(methods),
        classifiers=classifiers,
        overrides={"fma_i": {"n_neighbors": 4}} if "fma_i" in methods else {},
        picture=None,
        timing=None,
        audit=None,
        notes="First note.\n\nSecond <note>.",
    )
    return dataclasses.replace(experiment, **changed)


def record(experiment: Experiment, place: tuple, accuracy: float | None, **changed: object) -> dict:
    """One record; ``place`` is (task, method, classifier, trial), a setting before the trial."""
    task, method, classifier, *setting, trial = place
    scores = {
        "accuracy": accuracy,
        "accuracy_entire_target": None if accuracy is None else min(1.0, accuracy + 0.03),
        "balanced_accuracy": None if accuracy is None else max(0.0, accuracy - 0.01),
        "macro_f1": None if accuracy is None else max(0.0, accuracy - 0.02),
        "worst_class_accuracy": None if accuracy is None else max(0.0, accuracy - 0.2),
        "n_scored": None if accuracy is None else 265,
    }
    return {
        "schema_version": 1,
        "experiment": experiment.name,
        "task": task.name,
        "source": str(task.sources[0]),
        "target": str(task.target),
        "protocol": experiment.protocol,
        "method": method,
        "classifier": classifier,
        "setting": setting[0] if setting else None,
        "trial": trial,
        "status": "ok" if accuracy is not None else "error",
        **scores,
        "seconds": 0.01 + 0.001 * trial,
        "seconds_prepare": 0.0,
        "seconds_classify": 0.005,
        "peak_mb": 210.0 + trial,
        "n_components": 39,
        "warnings": [],
        "error": None,
        **changed,
    }


def view_of(experiment: Experiment, scores: dict, trials: int, **changed: object) -> ExperimentView:
    """View of given scores: ``{(task name, method): [accuracy or record fields, per trial]}``.

    The same scores serve every classifier.
    """
    suite = make_suite(experiment, trials)
    rows = []
    for task, method, classifier in itertools.product(
        experiment.tasks, experiment.methods, experiment.classifiers
    ):
        for trial, score in enumerate(scores[task.name, method]):
            fields = score if isinstance(score, dict) else {}
            accuracy = None if fields else score
            rows.append(record(experiment, (task, method, classifier, trial), accuracy, **fields))
    return ExperimentView(experiment, suite, _collected(experiment, rows, suite), **changed)


def _collected(experiment: Experiment, rows: list[dict], suite: Suite) -> pd.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        write_records(path, rows, {})
        return collect(experiment, [path], suite)


def rich_view(root: Path, trials: int = 20, classifiers: tuple[str, ...] = ("logistic",)):
    """Everything at once: failures, absent data, a method that does not apply, audit, timing."""
    (root / "config/published").mkdir(parents=True, exist_ok=True)
    experiment = make_experiment(
        classifiers=classifiers,
        picture={"task": "webcam-dslr", "trial": 0, "methods": ["plain", "fma_i", "coral_x"]},
        timing={"tasks": ["amazon-caltech"], "methods": ["sma", "fma_i", "fma_f"], "repeats": 5},
        audit={
            "published": "example.csv",
            "measure": "accuracy",
            "second_measure": "accuracy_entire_target",
            "reading": "Scored on the unlabelled target.",
            "stated": "Scored on the target.",
            "columns": {
                "fma_i": {"method": "fma_i"},
                "fma_f": {"method": "fma_f", "found_by_search": True, "readings_tried": "about 40"},
                "sma": {"method": "sma", "note": "domain degree"},
                "meda": {"published_only": "another protocol"},
            },
        },
    )
    rng = np.random.default_rng(7)
    base = {task.name: 0.3 + 0.4 * rng.random() for task in experiment.tasks}
    gain = {"plain": 0.0, "sma": 0.06, "fma_i": 0.11, "fma_f": 0.12, "coral_x": 0.02}
    scores = {
        (task, method): list(base[task] + gain[method] + 0.03 * rng.standard_normal(trials))
        for task in base
        for method in gain
    }
    _spoil(scores, trials)
    _write_published(root / "config/published/example.csv", experiment, base, gain, rng)
    return view_of(
        experiment,
        scores,
        trials,
        timing=_timing(rng),
        pictured=_pictured(rng),
        environment={
            "python": "3.11.7",
            "cpu": "Some CPU @ 2.0 GHz",
            "packages": {"numpy": "2.4.6", "scipy": "1.17.1", "numba": None},
            "blas": [{"library": "openblas", "version": "0.3", "threads": 1}],
            "git": {"commit": "0123abc", "dirty": False},
            "date": None,
        },
        root=root,
    )


def _spoil(scores: dict, trials: int) -> None:
    gone = {"status": "data_unavailable", "error": "webcam.mat: no source delivers it"}
    unfit = {"status": "not_applicable", "error": "needs equal features"}
    for task, method in scores:
        if task == "caltech-webcam":
            scores[task, method] = [gone] * trials
        elif method == "coral_x" and task.startswith("dslr"):
            scores[task, method] = [unfit] * trials
    late = {"status": "timeout", "error": "trial took over 600 s and was stopped"}
    wrong = {"status": "error", "error": "AlignmentError: 'rank' <b>0</b> | of 40\nsecond line"}
    scores["dslr-amazon", "sma"][-2:] = [late, late]
    scores["amazon-dslr", "fma_f"] = [wrong] * trials


def _write_published(path: Path, experiment: Experiment, base: dict, gain: dict, rng) -> None:
    lines = [PUBLISHED]
    for task in experiment.tasks:
        source, target = DOMAINS[task.sources[0].domain], DOMAINS[task.target.domain]
        for column in ("meda", "sma", "fma_i", "fma_f"):
            off = {"fma_i": 0.3, "fma_f": 1.2, "sma": 6.0, "meda": 9.0}[column]
            points = 100 * (base[task.name] + gain.get(column, 0)) + off * rng.standard_normal()
            lines.append(f"{source},{target},{column},{points:.1f},\n")
    path.write_text("".join(lines), encoding="utf-8")


def _timing(rng) -> list[dict]:
    return [
        {
            "task": "amazon-caltech",
            "method": method,
            "repeat": repeat,
            "status": "ok",
            "seconds": seconds * float(1 + 0.2 * rng.random()),
            "cpu_seconds": seconds,
            "peak_mb": 300 + memory,
            "added_mb": memory,
            "n_samples": [958, 1123],
            "n_features": [800, 800],
            "blas_threads": 1,
            "load_average": 0.9 if repeat == 2 else 0.1,
            "error": None,
        }
        for method, seconds, memory in (("sma", 1.1, 260.0), ("fma_i", 0.31, 240.0))
        for repeat in range(5)
    ] + [
        {
            "task": "amazon-caltech",
            "method": "fma_f",
            "repeat": 0,
            "status": "timeout",
            "error": "stopped",
        }
    ]


def _pictured(rng) -> dict:
    labels = [np.repeat(np.arange(10), 29), np.repeat(np.arange(10), 15)]
    centres = rng.standard_normal((10, 2)) * 3
    pictured = {}
    for method, width, shift in (("plain", 30, 6.0), ("fma_i", 2, 0.4)):
        embeddings = []
        for domain, y in enumerate(labels):
            points = rng.standard_normal((len(y), width))
            points[:, :2] += centres[y] + shift * domain
            embeddings.append(points)
        pictured[method] = {
            "embeddings": embeddings,
            "labels": labels,
            "domains": ["webcam", "dslr"],
        }
    return pictured


VARY = {
    "parameter": "n_components",
    "of": "methods",
    "values": [4, 8, 12, 20, 40, 60, 80, 100],
    "label": "Embedding dimension",
    "scale": "linear",
}


def varied_view(
    scores: dict, trials: int, vary: dict = VARY, pairs=None, **changed: object
) -> ExperimentView:
    """View of given scores: ``{(task name, method, setting): [accuracy or fields, per trial]}``."""
    methods = tuple(dict.fromkeys(method for _, method, _ in scores))
    experiment = make_experiment(pairs, methods, vary=vary, **changed)
    suite = make_suite(experiment, trials, "random")
    rows = []
    for task, method, classifier, setting in itertools.product(
        experiment.tasks, methods, experiment.classifiers, experiment.settings
    ):
        for trial, score in enumerate(scores[task.name, method, setting]):
            fields = dict(score) if isinstance(score, dict) else {"accuracy": score}
            place = (task, method, classifier, setting, trial)
            rows.append(record(experiment, place, fields.pop("accuracy", None), **fields))
    return ExperimentView(experiment, suite, _collected(experiment, rows, suite))


def rich_curves(trials: int = 20, **changed: object) -> ExperimentView:
    """Curves with failures, a task without data, and a setting that a method cannot have."""
    rng = np.random.default_rng(5)
    scores = {}
    for source, target in itertools.permutations(DOMAINS, 2):
        hard = rng.random()
        for method, setting in itertools.product(("fma_i", "fma_f"), VARY["values"]):
            top = 0.3 + 0.3 * hard + (0.05 if method == "fma_f" else 0.0)
            level = top * (1 - np.exp(-setting / 9)) - 0.0005 * setting
            noise = 0.03 * rng.standard_normal(trials)
            scores[f"{source}-{target}", method, setting] = list(level + noise)
    gone = {"status": "data_unavailable", "error": "webcam.mat: no source delivers it"}
    late = {"status": "timeout", "error": "trial took over 600 s and was stopped"}
    wide = {"status": "error", "error": "AlignmentError: 100 components of rank 95"}
    for task, method, setting in scores:
        if task == "caltech-webcam":
            scores[task, method, setting] = [gone] * trials
        elif method == "fma_f" and setting == 100 and not task.startswith("amazon"):
            scores[task, method, setting] = [wide] * trials
    scores["dslr-amazon", "fma_i", 20][-2:] = [late, late]
    return varied_view(scores, trials, **changed)


def shared_curves(trials: int = 20, **changed: object) -> ExperimentView:
    """Curves over the share of the target that is seen, with scores on seen and on new rows."""
    rng = np.random.default_rng(6)
    vary = {
        "parameter": "target_share",
        "of": "protocol",
        "values": [0.1, 0.2, 0.4, 0.6, 0.8, 1.0],
        "label": "Share of the target samples that is seen",
    }
    scores = {}
    pairs = [("amazon", "caltech"), ("dslr", "webcam")]
    for (source, target), method in itertools.product(pairs, ("plain", "fma_i", "fma_f")):
        for share in vary["values"]:
            gain = {"plain": 0.0, "fma_i": 0.2, "fma_f": 0.26}[method] * share
            scores[f"{source}-{target}", method, share] = [
                _split(0.4 + gain + 0.02 * rng.standard_normal(), gain, share)
                for _ in range(trials)
            ]
    return varied_view(scores, trials, vary, pairs, **changed)


def undefined_curves(at: Sequence[float] = (1,)) -> ExperimentView:
    """Curves over labels per class, two methods; at some the criterion is undefined for both.

    The other criterion has 0.5 at 1 and 0.6 at 3; that which is asked for has 0.1 more.
    """
    vary = {"parameter": "target_per_class", "of": "protocol", "values": [1, 3], "label": "Labels"}
    pairs = [("amazon", "caltech"), ("dslr", "webcam"), ("webcam", "amazon")]
    gains = {"plain": 0.0, "fma_i": 0.05}
    scores = {
        (f"{a}-{b}", method, n): [0.5 + (n == 3) / 10 + gain + t / 1000 for t in range(3)]
        for (a, b), (method, gain), n in itertools.product(pairs, gains.items(), vary["values"])
    }
    names = ("labelled_accuracy", "source_accuracy")
    view = varied_view(scores, 3, vary, pairs, classifiers=names)
    records = view.records
    asked = records["classifier"] == names[0]
    records.loc[asked, "accuracy"] += 0.1
    gone = asked & records["setting"].isin(at)
    records.loc[gone, "status"], records.loc[gone, "accuracy"] = "not_applicable", np.nan
    labels = {"labelled_accuracy": "CV accuracy (both)", "source_accuracy": "CV accuracy (source)"}
    tuning = {"selectors": {name: {"label": label} for name, label in labels.items()}}
    return dataclasses.replace(
        view,
        experiment=dataclasses.replace(view.experiment, classifiers=names[:1]),
        suite=dataclasses.replace(view.suite, tuning=tuning),
    )


def _split(accuracy: float, gain: float, share: float) -> dict:
    apart = {"accuracy_seen": accuracy + gain / 3, "accuracy_new": accuracy - gain / 3}
    return {"status": "ok", "accuracy": accuracy, "n_scored": 265, **(apart if share < 1 else {})}


def study_view(status: str = "ok", error: str = "", **changed: object) -> StudyView:
    """A study whose module is `study_example`."""
    sys.modules["workflow.studies.study_example"] = study_example
    study = {
        "module": "study_example",
        "domains": ["office.amazon", "office.webcam"],
        "params": {"n_nodes": 20, "seed": 1},
        "alone": False,
    }
    empty = {"protocol": "", "classifiers": (), "answers": None, **changed}
    experiment = make_experiment([], (), name="example_study", study=study, **empty)
    records, arrays = study_example.run({}, **study["params"]) if status == "ok" else ([], {})
    suite = make_suite(experiment, 1)
    environment = {"python": "3.11.7", "packages": {"numpy": "2.4.6"}}
    return StudyView(experiment, suite, records, arrays, status, error, environment)
