"""The configuration in sentences: what a protocol does, what an experiment answers."""

import itertools
import re
from collections.abc import Iterable, Mapping

import pandas as pd

from workflow.lib.config.addresses import study_module
from workflow.lib.config.metrics import shown_as
from workflow.lib.config.outputs import suffixes
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.tables.setup import settings_text
from workflow.lib.results.curves import chosen_at, curves, parts
from workflow.lib.results.records import FAILURES
from workflow.lib.results.significance import MOST_RANKED
from workflow.lib.results.standings import compared
from workflow.lib.results.text import capitalized, count, listed, number_text, some
from workflow.lib.results.views import STATUS_WORDS, ExperimentView, StudyView

# Cells that a caption names before it counts the others.
_NAMED = 6
_STEPS = {
    "zscore": "each feature is scaled to mean 0 and standard deviation 1 (a constant feature is "
    "only centred)",
    "l1_rows": "each sample is divided by the sum of its absolute values",
    "l2_rows": "each sample is divided by its Euclidean length",
}
_ROWS = {
    "source": "the labelled source samples",
    "target": "the labelled target samples",
    "source+target": "the labelled samples of the source and the target",
}


def protocol_sentences(view: ExperimentView) -> list[str]:
    """The protocol entry in words, one sentence per decision."""
    protocol = dict(view.protocol)
    if varied := view.experiment.varies("protocol"):
        protocol[varied["parameter"]] = tuple(varied["values"])
    return [
        *_varied(view),
        *_sampled(view, protocol),
        _seen(protocol),
        _prepared(protocol),
        _classified(view, protocol),
    ]


def _varied(view: ExperimentView) -> Iterable[str]:
    """What is varied, in words; in the other sentences it appears as all of its values."""
    vary = view.experiment.vary
    if not vary:
        return
    values = listed([number_text(value) for value in vary["values"]])
    whose = "of every method" if vary["of"] == "methods" else "of the protocol"
    trials = (
        "The same trials serve every value."
        if vary["of"] == "methods"
        else "Everything else is the same at every value."
    )
    yield f"Varied: {vary['label']} ({vary['parameter']} {whose}): {values}. {trials}"


def _sampled(view: ExperimentView, protocol: Mapping) -> Iterable[str]:
    trials = count(view.n_trials, "trial")
    if protocol["kind"] == "official":
        splits = view.suite.datasets.get(protocol["splits"], {})
        source = f" ({splits['source']})" if splits.get("source") else ""
        yield (
            f"Official split files, dataset {protocol['splits']}{source}: {trials} per task. The "
            "files say which source and target samples are labelled."
        )
        yield "Scored: the target samples that the split lists for testing."
    elif protocol["kind"] == "random":
        most = "at most " if protocol.get("at_most") else ""
        yield (
            f"Random samples, {trials} per task: in each trial {most}"
            f"{_per_class(protocol['source_per_class'])} of every source domain and "
            f"{_per_class(protocol['target_per_class'])} of the target keep their label. "
            f"Seed {protocol['seed']}, combined with the names of protocol, task and domain, so "
            "that adding a task changes no other trial."
        )
        yield _scored_of_drawn(protocol)
    elif protocol["kind"] == "training_test":
        yield (
            "The data's own division into training and test samples: all training samples of the "
            f"sources are labelled and none of the target is; {trials}, as nothing is sampled."
        )
        yield "Scored: the test samples of the target, which are new to the methods."
    elif "target_share" in protocol:
        yield (
            f"All source samples are labelled and no target sample is; {trials} per task, each "
            f"with other target samples. Seed {protocol['seed']}, combined with the names of "
            "protocol, task and domain, so that adding a task changes no other trial."
        )
        yield "Scored: the target samples that the methods did not see."
    else:
        yield (
            f"All source samples are labelled and no target sample is; {trials}, as nothing is "
            "sampled."
        )
        yield "Scored: the entire target."


def _scored_of_drawn(protocol: Mapping) -> str:
    rows = protocol.get("scored_rows", "all")
    if rows == "test":
        return (
            "Samples are drawn from the data's own training samples. Scored: all test samples of "
            "the target, which are new to the methods."
        )
    of_these = " and that the methods saw" if rows == "seen" else ""
    return f"Scored: the target samples whose label is hidden{of_these}."


def _amount(number: int | tuple, noun: str) -> str:
    """``20 samples``, or for a varied number ``4, 8 or 12 samples``."""
    if isinstance(number, tuple):
        return f"{listed([number_text(value) for value in number], 'or')} {noun}s"
    return count(number, noun)


def _per_class(number: int | tuple | Mapping) -> str:
    if number == 0:
        return "none"
    if not isinstance(number, Mapping):
        return f"{_amount(number, 'sample')} per class"
    others = [f"{amount} for {name}" for name, amount in number.items() if name != "default"]
    listing = f" ({', '.join(others)})" if others else ""
    return f"{count(number['default'], 'sample')} per class{listing}"


def _seen(protocol: Mapping) -> str:
    if protocol["kind"] == "training_test":
        return "Methods see the training samples of every domain, hidden labels replaced by −1."
    if protocol.get("source_rows") == "labelled":
        return "Methods see the labelled samples of the sources and " + _target_seen(protocol)
    limit, share = protocol.get("unlabelled_per_domain"), protocol.get("target_share")
    if limit is not None:
        amount = _amount(limit, "unlabelled sample")
        seen = f"Methods see the labelled samples and {amount} of each domain."
        return f"{seen} {_share(share, 'at most ')}" if share else seen
    if share:
        seen = "Methods see all samples of the sources, hidden labels replaced by −1."
        return f"{seen} {_share(share)}"
    return f"Methods see all {_samples(protocol)} of the domains, the hidden labels replaced by −1."


def _target_seen(protocol: Mapping) -> str:
    limit = protocol.get("unlabelled_per_domain")
    share = protocol.get("target_share")
    tail = f" {_share(share)}" if share else ""
    if limit is None:
        return f"all {_samples(protocol)} of the target, the hidden labels replaced by −1.{tail}"
    return f"of the target the labelled ones and {_amount(limit, 'unlabelled sample')}.{tail}"


def _samples(protocol: Mapping) -> str:
    return "training samples" if protocol.get("scored_rows") == "test" else "samples"


def _share(share: float | tuple, bound: str = "") -> str:
    values = share if isinstance(share, tuple) else (share,)
    percents = listed([number_text(round(100 * value, 6)) for value in values], "or")
    return (
        f"Of the target they see {bound}{percents} % of the samples, any labelled ones among them; "
        "the others are embedded afterwards as new samples."
    )


def _prepared(protocol: Mapping) -> str:
    steps = protocol.get("preprocess", [])
    if not steps:
        return "Features are used as they are."
    fitted = "all its samples" if protocol.get("preprocess_rows") == "all" else "those seen"
    return f"Each domain by itself: {steps_in_words(steps)}; fitted on {fitted}."


def steps_in_words(steps: Iterable[str]) -> str:
    """Preprocessing steps one after the other; of none that features stay as they are."""
    return "; then ".join(_STEPS.get(step, str(step)) for step in steps) or "features as they are"


def _classified(view: ExperimentView, protocol: Mapping) -> str:
    labels = [view.classifier_label(classifier) for classifier in view.experiment.classifiers]
    by_rows: dict[str, list[str]] = {}
    for method in view.methods:
        by_rows.setdefault(view.classifier_rows(method), []).append(view.method_label(method))
    usual = protocol["classifier_rows"]
    if usual not in by_rows:
        usual = next(iter(by_rows))
    del by_rows[usual]
    others = [f"On {_ROWS[rows]} instead: {listed(names)}." for rows, names in by_rows.items()]
    first = f"Classifier: {listed(labels)}, trained on {_ROWS[usual]} in the aligned space."
    return " ".join([first, *others])


def record_sentences(view: ExperimentView) -> list[str]:
    """How many records there are, how many failed and what was not available."""
    total, counts = view.n_records, view.counts
    factors = [
        count(len(view.experiment.tasks), "task"),
        count(len(view.methods), "method"),
        count(len(view.experiment.classifiers), "classifier"),
        *([count(len(view.settings), "setting")] if view.experiment.vary else []),
        count(view.n_trials, "trial"),
    ]
    sentences = [
        f"{' × '.join(factors)} = {count(total, 'record')}; {counts['ok']:,} have a score."
    ]
    if view.n_failures:
        kinds = [
            f"{STATUS_WORDS[status]}: {counts[status]:,}" for status in FAILURES if counts[status]
        ]
        sentences.append(f"{count(view.n_failures, 'record')} failed ({', '.join(kinds)}).")
    elif not counts["lost"]:
        sentences.append("No trial failed.")
    if counts["lost"]:
        sentences.append(f"{count(counts['lost'], 'record')} {STATUS_WORDS['lost']}.")
    sentences += _absences(view)
    return sentences


def _absences(view: ExperimentView) -> Iterable[str]:
    missing = _labels_with(view, "data_unavailable")
    if missing:
        yield f"Data not available for {count(len(missing), 'task')}: {listed(missing)}."
    chosen = view.records[view.records["status"] == "not_applicable"]
    joint: dict[str, list[str]] = {}
    for method in dict.fromkeys(chosen["method"]):
        unfit = chosen[chosen["method"] == method]
        tasks = [view.task_label(task) for task in dict.fromkeys(unfit["task"])]
        every = len(tasks) == len(view.experiment.tasks) > 2
        where = "any task" if every else listed(tasks)
        joint.setdefault(f"{where}{_at(view, unfit)}", []).append(view.method_label(method))
    for where, methods in joint.items():
        yield f"Not applicable to {where}: {listed(methods)}."


def _at(view: ExperimentView, records: pd.DataFrame) -> str:
    """Settings that a sentence is about, unless it is about all of them."""
    if records["setting"].nunique() == len(view.settings) or not view.experiment.vary:
        return ""
    return f" at some settings ({settings_text(view, records['setting'])})"


def _labels_with(view: ExperimentView, status: str) -> list[str]:
    tasks = dict.fromkeys(view.records.loc[view.records["status"] == status, "task"])
    return [view.task_label(task) for task in tasks]


def file_words(suite: Suite, experiment: Experiment, name: str) -> str:
    """What a table or a figure is, by the name of its file: ``Accuracy, SVM (C = 1)``.

    A study's figure is what its caption begins with.
    """
    if experiment.study and (caption := study_module(experiment.study["module"]).FIGURES.get(name)):
        return re.split(r"[,.:;(]", caption)[0].strip()
    for file, words in _FILES.items():
        for classifier, suffix in suffixes(experiment).items():
            if suffix and name == f"{file}{suffix}":
                return f"{words}, {suite.label_of_classifier(classifier)}"
    return _FILES.get(name, capitalized(name.replace("_", " ")))


_FILES = {
    **{metric.name: metric.title for metric in shown_as("table")},
    "measures": "Other measures",
    "tests": "Comparison of methods",
    "sources": "Several sources",
    "curve": "Curve",
    "curve_by_task": "Curve, task by task",
    "critical_difference": "Mean ranks",
    "trials": "Trial by trial",
    "published": "Published numbers and ours",
    "audit_summary": "Audit",
    "audit": "Audit, row by row",
    "timing": "Time and memory",
}


def figure_captions(view: ExperimentView | StudyView, name: str) -> str:
    """Caption of a figure by its name."""
    if isinstance(view, StudyView):
        return view.module.FIGURES[name]
    if view.experiment.vary and name.startswith("curve"):
        return _curve_caption(view, name)
    kind = next(kind for kind in _CAPTIONS if name.startswith(kind))
    caption = _CAPTIONS[kind]
    if kind == "accuracy":
        return f"{_accuracy_caption(view)}{_hollow(view, name, kind)}"
    if kind == "trials":
        return f"{caption}{_hollow(view, name, kind)}"
    if kind == "critical_difference":
        return f"{caption} {_joined(view, name)}"
    if kind == "embedding":
        picture = view.experiment.picture
        caption = f"{view.task_label(picture['task'])}, trial {picture['trial']}. {caption}"
        if view.methods[0] not in picture["methods"]:
            return caption
        first = view.method_label(view.methods[0])
        caption += f" {first} is the picture before alignment."
    return caption


def _classifier_of(view: ExperimentView, name: str, kind: str) -> str:
    """The classifier that a figure of a kind is of, by its name."""
    endings = {f"{kind}{suffix}": c for c, suffix in suffixes(view.experiment).items()}
    return endings[name]


def _accuracy_caption(view: ExperimentView) -> str:
    if view.too_many:
        mean = "mean over trials" if view.n_trials > 1 else "accuracy in one trial"
        return (
            f"Each method's {mean} on every task (dots; hollow where trials failed), and "
            "its mean over the tasks that are complete for all compared methods (bar)."
        )
    if view.n_trials == 1:
        return "Accuracy of each method in one trial, task by task."
    return _CAPTIONS["accuracy"]


def _hollow(view: ExperimentView, name: str, kind: str) -> str:
    """The cells that are drawn hollow, by name, and the trials behind them."""
    classifier = _classifier_of(view, name, kind)
    chosen, named = chosen_at(view, classifier), []
    places = itertools.product(view.experiment.tasks, view.methods, view.settings)
    if kind == "curve":  # a mean over some of them
        mean = curves(view, classifier)
        places = [
            (task, *point)
            for task, *point in places
            if task.name in mean.tasks and tuple(point) not in mean.points_left_out
        ]
    for task, method, setting in places:
        cell = view.cell(task.name, method, chosen[setting], setting=setting)
        if cell.n_ok and not cell.complete:
            at = "" if setting is None else f" at {number_text(setting)}"
            place = f"{view.method_label(method)} on {view.task_label(task)}{at}"
            named.append(f"{place} ({cell.n_ok} of {cell.n_asked})")
    if not named:
        return ""
    return f" Drawn hollow, with the trials that have a score: {some(named, _NAMED, 'cell')}."


def _joined(view: ExperimentView, name: str) -> str:
    """What the bars of a diagram of ranks mean, or why it has none."""
    classifier = _classifier_of(view, name, "critical_difference")
    n_methods = compared(view.records, classifier, view.methods).means.shape[1]
    if n_methods > MOST_RANKED:
        return (
            f"No critical difference is drawn among more than {MOST_RANKED} methods: whether two "
            "of them differ would depend on the others."
        )
    return "Methods joined by a bar do not differ significantly (Nemenyi's test, 5 %)."


def _curve_caption(view: ExperimentView, name: str) -> str:
    many = view.n_trials > 1
    band = "; the band is one standard deviation over trials" if many else ""
    kind = "curve_by_task" if name.startswith("curve_by_task") else "curve"
    if kind == "curve_by_task":
        mean = "Mean over trials" if many else "Accuracy of one trial"
        sentences = [f"{mean}, task by task{band}. The scale differs between tasks."]
    else:
        sentences = [f"{_averaged(view, name, many)}{band}."]
    if len(parts(view)) > 1:
        sentences.append(
            "Solid: scored target samples that the method saw without their label; dashed: those "
            "that were embedded afterwards as new samples."
        )
    told = " ".join([*sentences, "A gap is a setting without a score."])
    return f"{told}{_hollow(view, name, kind)}"


def _averaged(view: ExperimentView, name: str, many: bool) -> str:
    """Over what the curve of a classifier is averaged, with the number of tasks."""
    classifier = _classifier_of(view, name, "curve")
    n_tasks, n_all = len(curves(view, classifier).tasks), len(view.experiment.tasks)
    if n_all == 1:
        return "Mean over trials" if many else "Accuracy of one trial"
    tasks = f"{n_tasks} of {n_all} tasks" if n_tasks < n_all else f"the {n_all} tasks"
    return f"Mean over {tasks}{' in each trial, then over trials' if many else '; one trial'}"


_CAPTIONS = {
    "accuracy": "Mean and standard deviation over the trials of each method, task by task.",
    "critical_difference": "Mean ranks over the tasks on which all compared methods are complete.",
    "published": "Published numbers (hollow) and ours (filled), joined by a line. The bands are "
    "those of the audit's rule.",
    "trials": "Each dot is one trial; the line with the marker is the median. The scale differs "
    "between tasks.",
    "embedding": "Colour: class. Marker: domain. Outlined: samples whose label is visible. Spaces "
    "of more than two dimensions are shown by the first two principal components (PC) of the joint "
    "embedding. The outermost 1 % of the points may lie beyond the frame.",
    "timing": "Each dot is one run in a fresh process; the line is the median. Bars: the most "
    "memory that a run added to what was held before the fit.",
}
