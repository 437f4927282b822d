"""The configuration as objects: read, checked against the schemas, names resolved, all at once.

Every error names the file, the key and the nearest word that would have been right, and every file
is checked before the first job starts.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow.lib.config.addresses import BrokenModule, importing
from workflow.lib.config.protocol_check import check_division, check_protocol
from workflow.lib.config.reading import ConfigError, check_known, checked, read_yaml
from workflow.loaders import check_entry

# In place of a class in classifiers.yaml: the method's own `predict`.
OWN = "own"


@dataclasses.dataclass(frozen=True)
class DomainRef:
    """One domain of one dataset."""

    dataset: str
    domain: str

    @classmethod
    def parse(cls, text: str) -> "DomainRef":
        return cls(*text.split(".", 1))

    def __str__(self) -> str:
        return f"{self.dataset}.{self.domain}"


@dataclasses.dataclass(frozen=True)
class Task:
    """One or more source domains and one target domain."""

    sources: tuple[DomainRef, ...]
    target: DomainRef

    @property
    def domains(self) -> tuple[DomainRef, ...]:
        """Every domain in the order that methods see them: the target last."""
        return (*self.sources, self.target)

    @property
    def name(self) -> str:
        """Path-safe name, e.g. ``amazon-caltech``; datasets are named only where they differ."""
        if len({ref.dataset for ref in self.domains}) == 1:
            sources, target = [ref.domain for ref in self.sources], self.target.domain
        else:
            sources, target = [str(ref) for ref in self.sources], str(self.target)
        return f"{'+'.join(sources)}-{target}"

    def source_label(self, datasets: Mapping[str, dict]) -> str:
        """Short label of the sources, e.g. ``A`` or ``A+D``."""
        return "+".join(_short(datasets, ref) for ref in self.sources)

    def target_label(self, datasets: Mapping[str, dict]) -> str:
        """Short label of the target, e.g. ``C``."""
        return _short(datasets, self.target)

    def label(self, datasets: Mapping[str, dict]) -> str:
        """Label for tables and figures, e.g. ``A→C``."""
        return f"{self.source_label(datasets)}→{self.target_label(datasets)}"


def _short(datasets: Mapping[str, dict], ref: DomainRef) -> str:
    return datasets[ref.dataset]["domains"][ref.domain].get("short", ref.domain)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Tasks x protocol x methods x classifiers, and the published artefact it answers to."""

    name: str
    title: str
    question: str
    answers: dict | None
    tasks: tuple[Task, ...]
    protocol: str
    methods: tuple[str, ...]
    classifiers: tuple[str, ...]
    overrides: dict
    picture: dict | None
    timing: dict | None
    audit: dict | None
    notes: str
    vary: dict | None = None
    study: dict | None = None
    found_by_search: dict = dataclasses.field(default_factory=dict)
    probabilities: bool = False

    @property
    def has_joint_sources(self) -> bool:
        """Whether some target has both a task with several sources and one with a single source."""
        joint = {task.target for task in self.tasks if len(task.sources) > 1}
        return any(len(task.sources) == 1 and task.target in joint for task in self.tasks)

    @property
    def settings(self) -> tuple:
        """Values of the varied quantity; ``(None,)`` where nothing is varied."""
        return tuple(self.vary["values"]) if self.vary else (None,)

    def varies(self, what: str) -> dict | None:
        """``vary`` if it varies the ``"methods"`` or the ``"protocol"``, as asked; else None."""
        return self.vary if self.vary and self.vary["of"] == what else None

    def task(self, name: str) -> Task:
        return next(task for task in self.tasks if task.name == name)


@dataclasses.dataclass(frozen=True)
class Suite:
    """The whole configuration."""

    config: dict
    datasets: dict[str, dict]
    protocols: dict[str, dict]
    methods: dict[str, dict]
    classifiers: dict[str, dict]
    experiments: dict[str, Experiment]

    def method(self, experiment: str, method: str) -> dict:
        """A method's entry with the parameters that the experiment overrides."""
        entry = self.methods[method]
        changed = self.experiments[experiment].overrides.get(method, {})
        return {**entry, "params": {**entry.get("params", {}), **changed}}

    def classifiers_of(self, experiment: str, method: str) -> dict[str, dict]:
        """Entries of an experiment's classifiers for a method.

        In place of `OWN` stands the classifier that the method's entry names, if it names one.
        """
        named = self.methods[method].get("classifier")
        entries = {
            name: self.classifiers[name] for name in self.experiments[experiment].classifiers
        }
        replaced = [name for name in entries if named and entries[name]["estimator"] == OWN]
        return entries | dict.fromkeys(replaced, self.classifiers.get(named))

    def protocol(self, experiment: str) -> dict:
        return self.protocols[self.experiments[experiment].protocol]

    def n_trials(self, experiment: str) -> int:
        return self.protocol(experiment)["trials"]

    def n_sampled(self, experiment: str) -> int:
        """Trials to sample and to align: those of every setting, if the protocol is varied."""
        varied = self.experiments[experiment].varies("protocol")
        return self.n_trials(experiment) * (len(varied["values"]) if varied else 1)

    def blocks(self, experiment: str) -> list[str]:
        """Names of the blocks of trials, e.g. ``000-019``: first and last trial."""
        n_trials = self.n_sampled(experiment)
        size = self.config["trials_per_job"] or n_trials
        return [
            f"{first:03d}-{min(first + size, n_trials) - 1:03d}"
            for first in range(0, n_trials, size)
        ]

    def n_asked(self, experiment: str) -> int:
        """Number of trials that the experiment asks for, over its tasks and methods."""
        asked = self.experiments[experiment]
        return len(asked.tasks) * len(asked.methods) * self.n_sampled(experiment)


def block_trials(block: str) -> range:
    """Trials of a block: ``"000-019"`` gives ``range(0, 20)``."""
    first, last = (int(part) for part in block.split("-"))
    return range(first, last + 1)


def load_suite(root: Path | str, config: Mapping[str, Any] | None = None) -> Suite:
    """Read and check every configuration file below ``root``.

    Parameters
    ----------
    root : path
        The project's folder.
    config : mapping, optional
        Settings that replace ``config/config.yaml`` (Snakemake's merged ``config``).

    Raises
    ------
    ConfigError
        At the first file that is wrong.
    """
    root = Path(root)
    reader = _Reader(root)
    run = reader.run(config)
    datasets = reader.entries("datasets")
    protocols = reader.entries("protocols")
    for name, entry in datasets.items():
        _check_dataset(name, entry)
    methods = reader.entries("methods")
    classifiers = reader.entries("classifiers")
    for name, entry in methods.items():
        where = f"config/methods.yaml: methods.{name}"
        if "classifier" in entry:
            check_known(where, "classifier", entry["classifier"], classifiers, "classifier")
        if "variant_of" in entry:
            check_known(where, "variant_of", entry["variant_of"], methods, "method")
    known = Suite(run, datasets, protocols, methods, classifiers, {})
    experiments = {
        path.stem: reader.experiment(path, known)
        for path in sorted((root / "config/experiments").glob("*.yaml"))
    }
    for name in protocols:
        check_protocol(f"config/protocols.yaml: protocols.{name}", protocols[name], datasets)
    for name in run["experiments"]:
        check_known("config/config.yaml", "experiments", name, experiments, "experiment")
    return dataclasses.replace(known, experiments=experiments)


class _Reader:
    """Reads YAML files below a root and checks them against ``workflow/schemas``."""

    def __init__(self, root: Path):
        self.root = root

    def run(self, config: Mapping[str, Any] | None) -> dict:
        path = self.root / "config/config.yaml"
        content = dict(self._yaml(path)) | dict(config or {})
        return self._checked("config", content, "config/config.yaml (or --config)")

    def entries(self, kind: str) -> dict[str, dict]:
        path = self.root / f"config/{kind}.yaml"
        return self._checked(kind, self._yaml(path), f"config/{kind}.yaml")[kind]

    def experiment(self, path: Path, known: Suite) -> Experiment:
        where = f"config/experiments/{path.name}"
        raw = self._checked("experiment", self._yaml(path), where)
        if "study" in raw:
            return _study(where, path.stem, raw, known.datasets)
        raw = _all_listed(raw, known)
        _check_names(where, raw, known)
        _check_vary(where, raw)
        tasks = tuple(_tasks(where, raw["tasks"], known.datasets))
        _check_task_names(where, raw, tasks)
        _check_domains(where, tasks, known.datasets)
        check_division(where, known.protocols[raw["protocol"]], tasks, known.datasets)
        experiment = Experiment(
            name=path.stem,
            title=raw["title"],
            question=raw["question"],
            answers=raw.get("answers"),
            tasks=tasks,
            protocol=raw["protocol"],
            methods=tuple(raw["methods"]),
            classifiers=tuple(raw["classifiers"]),
            overrides=raw.get("overrides", {}),
            picture=raw.get("picture"),
            timing=raw.get("timing"),
            audit=raw.get("audit"),
            notes=raw.get("notes", ""),
            vary=raw.get("vary"),
            found_by_search=raw.get("found_by_search", {}),
            probabilities=raw.get("probabilities", False),
        )
        _check_pictured_trial(where, experiment, known)
        return experiment

    def _checked(self, kind: str, content: dict, where: str) -> dict:
        return checked(kind, content, where, self.root / "workflow/schemas")

    def _yaml(self, path: Path) -> dict:
        return read_yaml(path, path.relative_to(self.root))


def _study(where: str, name: str, raw: dict, datasets: dict[str, dict]) -> Experiment:
    """An experiment that is one computation, not tasks x methods."""
    for text in raw["study"].get("domains", []):
        _domain(where, text, datasets)
    return Experiment(
        name=name,
        title=raw["title"],
        question=raw["question"],
        answers=raw.get("answers"),
        tasks=(),
        protocol="",
        methods=(),
        classifiers=(),
        overrides={},
        picture=None,
        timing=None,
        audit=None,
        notes=raw.get("notes", ""),
        study={"domains": [], "params": {}, "alone": False, **raw["study"]},
    )


def _all_listed(raw: dict, known: Suite) -> dict:
    """The experiment with ``methods: all`` replaced by their names, variants left out."""
    every = [name for name, entry in known.methods.items() if "variant_of" not in entry]
    listed = {**raw}
    if raw["methods"] == "all":
        listed["methods"] = every
    if raw.get("timing", {}).get("methods") == "all":
        listed["timing"] = {**raw["timing"], "methods": _timed_apart(every, known)}
    return listed


def _timed_apart(names: Sequence[str], known: Suite) -> list[str]:
    """One name for each alignment: a timing trains no classifier."""
    first: dict[str, str] = {}
    for name in names:
        entry = known.methods[name]
        first.setdefault(f"{entry['estimator']} {entry.get('params')}", name)
    return list(first.values())


def _check_names(where: str, raw: dict, known: Suite) -> None:
    check_known(where, "protocol", raw["protocol"], known.protocols, "protocol")
    for method in raw["methods"]:
        check_known(where, "methods", method, known.methods, "method")
    for classifier in raw["classifiers"]:
        check_known(where, "classifiers", classifier, known.classifiers, "classifier")
    own = "method of this experiment"
    for method in raw.get("overrides", {}):
        check_known(where, "overrides", method, raw["methods"], own)
    for method, found in raw.get("found_by_search", {}).items():
        for name in found:
            changed = raw.get("overrides", {}).get(method, {})
            check_known(where, f"found_by_search.{method}", name, changed, "override")
    for part in ("picture", "timing"):
        for method in raw.get(part, {}).get("methods", []):
            check_known(where, f"{part}.methods", method, raw["methods"], own)
    for name, column in raw.get("audit", {}).get("columns", {}).items():
        if "method" in column:
            check_known(where, f"audit.columns.{name}", column["method"], raw["methods"], own)


# Keys of a protocol that may take several values within one experiment.
VARIABLE_KEYS = ("source_per_class", "target_per_class", "target_share", "unlabelled_per_domain")


def _check_vary(where: str, raw: dict) -> None:
    vary = raw.get("vary")
    if vary is None:
        return
    if vary["of"] == "protocol":
        what = "key of a protocol that can be varied"
        check_known(where, "vary.parameter", vary["parameter"], VARIABLE_KEYS, what)
    if vary.get("scale") == "log" and min(vary["values"]) <= 0:
        raise ConfigError(f"{where}: vary.values: a logarithmic axis needs values above 0")
    for key in ("audit", "picture", "timing"):
        if key in raw:
            raise ConfigError(f"{where}: {key} has no place beside vary; write a file of its own")


def _check_task_names(where: str, raw: dict, tasks: tuple[Task, ...]) -> None:
    for name in (names := [task.name for task in tasks]):
        if names.count(name) > 1:
            raise ConfigError(f"{where}: tasks: {name!r} is listed twice; remove one of them")
    if "picture" in raw:
        check_known(where, "picture.task", raw["picture"]["task"], names, "task of this experiment")
    for name in raw.get("timing", {}).get("tasks", []):
        check_known(where, "timing.tasks", name, names, "task of this experiment")


def _tasks(where: str, entries: list[dict], datasets: dict[str, dict]) -> Iterator[Task]:
    for entry in entries:
        if "all_pairs" in entry:
            dataset = entry["all_pairs"]
            check_known(where, "tasks.all_pairs", dataset, datasets, "dataset")
            refs = [DomainRef(dataset, domain) for domain in datasets[dataset].get("domains", {})]
            for source, target in itertools.permutations(refs, 2):
                yield Task((source,), target)
        else:
            sources = [entry["source"]] if isinstance(entry["source"], str) else entry["source"]
            refs = [_domain(where, text, datasets) for text in (*sources, entry["target"])]
            yield Task(tuple(refs[:-1]), refs[-1])


def _domain(where: str, text: str, datasets: dict[str, dict]) -> DomainRef:
    ref = DomainRef.parse(text)
    check_known(where, "tasks", ref.dataset, datasets, "dataset")
    domains = datasets[ref.dataset].get("domains", {})
    check_known(where, f"tasks: {text}", ref.domain, domains, f"domain of {ref.dataset}")
    return ref


def _check_domains(where: str, tasks: Sequence[Task], datasets: dict[str, dict]) -> None:
    for task in tasks:
        if task.target in task.sources:
            raise ConfigError(
                f"{where}: tasks: {task.target} is source and target of one task: methods would "
                "see the labels that are scored. Name another source"
            )
        for ref in task.sources:
            if task.sources.count(ref) > 1:
                raise ConfigError(
                    f"{where}: tasks: {ref} is named twice as a source of one task; keep one"
                )
    # A record names its source and its target by their labels. One label may stand for a source
    # and for another target (the same domain in two sets of features), but for no two of either.
    _check_labels(where, (ref for task in tasks for ref in task.sources), datasets)
    _check_labels(where, (task.target for task in tasks), datasets)


def _check_labels(where: str, refs: Iterable[DomainRef], datasets: dict[str, dict]) -> None:
    named: dict[str, DomainRef] = {}
    for ref in refs:
        label = _short(datasets, ref)
        other = named.setdefault(label, ref)
        if other != ref:
            raise ConfigError(
                f"{where}: tasks: {other} and {ref} have the same label {label!r}; "
                "give one of them another `short` in config/datasets.yaml"
            )


def _check_pictured_trial(where: str, experiment: Experiment, known: Suite) -> None:
    n_trials = known.protocols[experiment.protocol]["trials"]
    if experiment.picture and experiment.picture["trial"] >= n_trials:
        raise ConfigError(
            f"{where}: picture.trial: {experiment.picture['trial']}; the trials of protocol "
            f"{experiment.protocol!r} are 0..{n_trials - 1}"
        )


def _check_dataset(name: str, entry: dict) -> None:
    try:
        with importing():
            check_entry(name, entry)
    except BrokenModule as error:
        raise ConfigError(f"config/datasets.yaml: {name}: loader: {error}") from error
    except ValueError as error:
        raise ConfigError(str(error)) from None
