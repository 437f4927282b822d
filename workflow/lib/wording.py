"""The configuration in sentences: what a protocol does, what an experiment answers."""

from collections.abc import Iterable, Mapping

from workflow.lib.views import STATUS_WORDS, ExperimentView, count, listed

_STEPS = {
    "zscore": "each feature is brought to mean 0 and standard deviation 1 (a constant feature is "
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
    protocol = view.protocol
    return [
        *_drawn(view, protocol),
        _seen(protocol),
        _prepared(protocol),
        _classified(view, protocol),
    ]


def _drawn(view: ExperimentView, protocol: Mapping) -> Iterable[str]:
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
        yield (
            f"Random draws, {trials} per task: in each trial "
            f"{_per_class(protocol['source_per_class'])} of every source domain and "
            f"{_per_class(protocol['target_per_class'])} of the target keep their label. "
            f"Seed {protocol['seed']}, combined with the names of protocol, task and domain, so "
            "that adding a task changes no other draw."
        )
        yield "Scored: the target samples whose label is hidden."
    else:
        yield (
            f"All source samples are labelled and no target sample is; {trials}, as there is "
            "nothing to draw."
        )
        yield "Scored: the entire target."


def _per_class(number: int | Mapping) -> str:
    if not isinstance(number, Mapping):
        return f"{count(number, 'sample')} per class"
    others = [f"{amount} for {name}" for name, amount in number.items() if name != "default"]
    listing = f" ({', '.join(others)})" if others else ""
    return f"{count(number['default'], 'sample')} per class{listing}"


def _seen(protocol: Mapping) -> str:
    limit = protocol.get("unlabelled_per_domain")
    if limit is None:
        return "Methods see all samples of both domains, the hidden labels replaced by −1."
    return (
        f"Methods see the labelled samples and {count(limit, 'unlabelled sample')} of each domain."
    )


def _prepared(protocol: Mapping) -> str:
    steps = [_STEPS.get(step, str(step)) for step in protocol.get("preprocess", [])]
    if not steps:
        return "Features are used as they are."
    return f"Each domain by itself: {'; then '.join(steps)}; fitted on the samples that are seen."


def _classified(view: ExperimentView, protocol: Mapping) -> str:
    labels = [view.classifier_label(classifier) for classifier in view.experiment.classifiers]
    rows = _ROWS[protocol["classifier_rows"]]
    own = [
        f"{view.method_label(method)} on {_ROWS[entry['classifier_rows']]}"
        for method in view.methods
        if (entry := view.suite.methods[method]).get("classifier_rows")
        and entry["classifier_rows"] != protocol["classifier_rows"]
    ]
    exception = f" Exceptions: {listed(own)}." if own else ""
    return f"Classifier: {listed(labels)}, trained on {rows} in the aligned space.{exception}"


def record_sentences(view: ExperimentView) -> list[str]:
    """How many records there are, how many failed and what was not available."""
    total, counts = len(view.records), view.counts
    tasks, methods = len(view.experiment.tasks), len(view.methods)
    sentences = [
        f"{count(tasks, 'task')} × {count(methods, 'method')} × "
        f"{count(len(view.experiment.classifiers), 'classifier')} × "
        f"{count(view.n_trials, 'trial')} = {count(total, 'record')}; {counts['ok']:,} have a "
        "score."
    ]
    if view.n_failures:
        kinds = [
            f"{words}: {counts[status]:,}"
            for status, words in STATUS_WORDS.items()
            if status in counts and status not in ("ok", "data_unavailable", "not_applicable")
        ]
        sentences.append(f"{count(view.n_failures, 'record')} failed ({', '.join(kinds)}).")
    else:
        sentences.append("No trial failed.")
    sentences += _absences(view)
    return sentences


def _absences(view: ExperimentView) -> Iterable[str]:
    missing = _labels_with(view, "data_unavailable")
    if missing:
        yield f"Data not available for {count(len(missing), 'task')}: {listed(missing)}."
    chosen = view.records[view.records["status"] == "not_applicable"]
    for method in dict.fromkeys(chosen["method"]):
        tasks = [
            view.task_label(t) for t in dict.fromkeys(chosen[chosen["method"] == method]["task"])
        ]
        yield f"{view.method_label(method)} is not applicable to {listed(tasks)}."


def _labels_with(view: ExperimentView, status: str) -> list[str]:
    tasks = dict.fromkeys(view.records.loc[view.records["status"] == status, "task"])
    return [view.task_label(task) for task in tasks]


def figure_captions(view: ExperimentView, name: str) -> str:
    """Caption of a figure by its name."""
    kind = next(kind for kind in _CAPTIONS if name.startswith(kind))
    caption = _CAPTIONS[kind]
    if kind == "embedding":
        picture = view.experiment.picture
        caption = f"{view.task_label(picture['task'])}, trial {picture['trial']}. {caption}"
        if view.methods[0] not in picture["methods"]:
            return caption
        first = view.method_label(view.methods[0])
        caption += f" {first} is the picture before alignment."
    return caption


_CAPTIONS = {
    "accuracy": "Mean over trials and standard deviation of each method, task by task.",
    "critical_difference": "Mean ranks over the tasks on which all compared methods are complete. "
    "Methods joined by a bar are not told apart by Nemenyi's test at 5 %.",
    "trials": "Every trial as a dot; the line with the marker is the median. The scale differs "
    "between tasks.",
    "embedding": "Colour: class. Marker: domain. Spaces of more than two dimensions are shown by "
    "the two principal components (PC) of the joint embedding, spaces of two as they are; points "
    "outside the middle 99 % may lie beyond the frame.",
    "timing": "Cold start, one after the other: a dot per repeat, the stroke is the median; bars: "
    "largest peak memory of the repeats.",
}
