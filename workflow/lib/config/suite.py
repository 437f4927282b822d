"""The configuration as objects: read, checked against the schemas, names resolved, all at once.

Every error names the file, the key and the nearest word that would have been right, and every file
is checked before the first job starts.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow.lib.config.addresses import PROJECT, BrokenModule, importing
from workflow.lib.config.candidates import OWN, Alignment, draw
from workflow.lib.config.memory import MEMORY, sum_of
from workflow.lib.config.own_folder import KINDS, OwnFolder, experiment_content, experiment_files
from workflow.lib.config.passwords import refuse_passwords
from workflow.lib.config.protocol_check import check_division, check_protocol, check_vary
from workflow.lib.config.reading import ConfigError, check_known, checked, read_yaml
from workflow.lib.config.tasks import (
    Task,
    bounds_of,
    check_domains,
    check_task_names,
    known_domain,
    listed_tasks,
)
from workflow.lib.config.tuning import check_search, choices, tuned
from workflow.loaders import check_entry


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
    tuning: dict | None = None
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

    @property
    def recorded(self) -> tuple[str, ...]:
        """What ``classifier`` names in the records: the classifiers, or all ways of choosing."""
        return self.tuning["choices"] if self.tuning else self.classifiers

    @property
    def asks_time(self) -> bool:
        """Whether it asks what methods cost: all of its tasks are timed, no score is compared."""
        if self.audit or not self.timing:
            return False
        return {*self.timing["tasks"]} == {task.name for task in self.tasks}

    def varies(self, what: str) -> dict | None:
        """``vary`` if it varies the ``"methods"`` or the ``"protocol"``, as asked; else None."""
        return self.vary if self.vary and self.vary["of"] == what else None

    def task(self, name: str) -> Task:
        if name not in self._by_name:
            check_known(f"experiment {self.name}", None, name, self._by_name, "task")
        return self._by_name[name]

    @functools.cached_property
    def _by_name(self) -> dict[str, Task]:
        return {task.name: task for task in self.tasks}


@dataclasses.dataclass(frozen=True)
class Suite:
    """The whole configuration."""

    config: dict
    datasets: dict[str, dict]
    protocols: dict[str, dict]
    methods: dict[str, dict]
    classifiers: dict[str, dict]
    experiments: dict[str, Experiment]
    tuning: dict = dataclasses.field(default_factory=dict)
    own: OwnFolder = dataclasses.field(default_factory=lambda: OwnFolder(None, Path()))
    places: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)

    def file_of(self, kind: str, name: str) -> str:
        """File that an entry or an experiment stands in, for messages."""
        file = f"experiments/{name}" if kind == "experiments" else kind
        return self.places.get((kind, name), f"config/{file}.yaml")

    def method(self, experiment: str, method: str) -> dict:
        """A method's entry with the parameters that the experiment overrides."""
        entry = self.methods[method]
        changed = self.experiments[experiment].overrides.get(method, {})
        return {**entry, "params": {**entry.get("params", {}), **changed}}

    def is_baseline(self, method: str) -> bool:
        """Whether a method adapts nothing."""
        return self.methods[method].get("baseline", False)

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

    def label_of_classifier(self, name: str) -> str:
        """Label of a classifier, or of a way of choosing among candidates."""
        entry = self.classifiers.get(name)
        return entry["label"] if entry else choices(self.tuning).get(name, name)

    def label_of_dataset(self, name: str) -> str:
        """Label of a dataset; its name in words where the entry has none."""
        return self.datasets.get(name, {}).get("label") or name.replace("_", " ")

    def candidates(self, experiment: str, method: str, task: Task) -> list[Alignment]:
        """Candidates of a method for a task of a tuned experiment."""
        asked, entry = self.experiments[experiment].tuning, self.method(experiment, method)
        own = self.classifiers[entry.get("classifier", OWN)]
        first = {"words": own["label"], "params": {}, **own}
        first.pop("label")
        kinds = [self.datasets[ref.dataset].get("values", "real") for ref in task.domains]
        drawn = asked["candidates"], asked["seed"], bounds_of(task, self.datasets)
        return draw(method, entry, first, self.tuning, kinds, *drawn)

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
        Settings that replace ``config/config.yaml`` (Snakemake's merged ``config``). Its ``own``
        names a folder whose entries and experiments are read beside the project's.

    Raises
    ------
    ConfigError
        At the first file that is wrong.
    """
    reader = _Reader(Path(root))
    known = reader.without_experiments(config)
    loaders = _sum_of_loaders()
    for name, entry in known.datasets.items():
        _check_dataset(known.file_of("datasets", name), name, entry, loaders)
    for name, entry in known.methods.items():
        where = f"{known.file_of('methods', name)}: methods.{name}"
        if "classifier" in entry:
            check_known(where, "classifier", entry["classifier"], known.classifiers, "classifier")
        if "variant_of" in entry:
            check_known(where, "variant_of", entry["variant_of"], known.methods, "method")
        check_search(where, entry, known.tuning)
    experiments = reader.experiments(known)
    for name, protocol in known.protocols.items():
        where = f"{known.file_of('protocols', name)}: protocols.{name}"
        check_protocol(where, protocol, known.datasets)
    for name in known.config["experiments"]:
        check_known("config/config.yaml", "experiments", name, experiments, "experiment")
    MEMORY.save()
    return dataclasses.replace(known, experiments=experiments)


class _Reader:
    """Reads YAML files below a root and checks them against ``workflow/schemas``."""

    def __init__(self, root: Path):
        self.root = root

    def run(self, config: Mapping[str, Any] | None) -> dict:
        path = self.root / "config/config.yaml"
        content = dict(self._yaml(path)) | dict(config or {})
        where = "config/config.yaml (or --config)"
        settings = self._checked("config", content, where)
        refuse_passwords(settings, where)
        return settings

    def without_experiments(self, config: Mapping[str, Any] | None) -> Suite:
        """All but the experiments: the project's entries, then those of an own folder."""
        run = self.run(config)
        folder = Path(run["own"]).expanduser() if run.get("own") else None
        own = OwnFolder(folder, self.root / "workflow/schemas")
        entries, places = {}, {}
        for kind in KINDS:
            project = self.whole(kind)[kind]
            added = own.entries(kind, project)
            entries[kind] = project | added
            places |= {(kind, name): str(own.path / f"{kind}.yaml") for name in added}
        return Suite(
            run, **entries, experiments={}, tuning=self.whole("tuning"), own=own, places=places
        )

    def experiments(self, known: Suite) -> dict[str, Experiment]:
        folder = "config/experiments"
        files = {path.stem: path for path in experiment_files(self.root / folder, folder)}
        found = {}
        for name, path in files.items():
            where = f"{folder}/{path.name}"
            found[name] = self.experiment(where, name, self._yaml(path), known)
        for path in known.own.experiments(files):
            known.places["experiments", path.stem] = str(path)
            content = experiment_content(path)
            found[path.stem] = self.experiment(str(path), path.stem, content, known)
        return found

    def whole(self, kind: str) -> dict:
        path = self.root / f"config/{kind}.yaml"
        return self._checked(kind, self._yaml(path), f"config/{kind}.yaml")

    def experiment(self, where: str, name: str, content: dict, known: Suite) -> Experiment:
        raw = self._checked("experiment", content, where)
        if "study" in raw:
            return _study(where, name, raw, known)
        raw = _all_listed(raw, known)
        _check_names(where, raw, known)
        protocol = known.protocols[raw["protocol"]]
        form = functools.partial(self._check_form, where)
        check_vary(where, raw, protocol, known.datasets, form)
        tasks = tuple(listed_tasks(where, raw["tasks"], known.datasets))
        check_task_names(where, raw, tasks)
        check_domains(where, tasks, known.datasets)
        check_division(where, protocol, tasks, known.datasets)
        tuning = _tuned(where, raw, known, len(tasks))
        experiment = Experiment(
            name=name,
            title=raw["title"],
            question=raw["question"],
            answers=raw.get("answers"),
            tasks=tasks,
            protocol=raw["protocol"],
            methods=tuple(raw["methods"]),
            classifiers=tuning["choices"][:1] if tuning else tuple(raw["classifiers"]),
            overrides=raw.get("overrides", {}),
            picture=raw.get("picture"),
            timing=raw.get("timing"),
            audit=raw.get("audit"),
            notes=raw.get("notes", ""),
            vary=raw.get("vary"),
            found_by_search=raw.get("found_by_search", {}),
            probabilities=raw.get("probabilities", False),
            tuning=tuning,
        )
        _check_pictured_trial(where, experiment, known)
        return experiment

    def _check_form(self, where: str, protocol: dict) -> None:
        content = {"schema_version": 1, "protocols": {"varied": protocol}}
        self._checked("protocols", content, where)

    def _checked(self, kind: str, content: dict, where: str) -> dict:
        return checked(kind, content, where, self.root / "workflow/schemas")

    def _yaml(self, path: Path) -> dict:
        return read_yaml(path, path.relative_to(self.root))


def _study(where: str, name: str, raw: dict, known: Suite) -> Experiment:
    """An experiment that is one computation, not tasks x methods."""
    for text in raw["study"].get("domains", []):
        known_domain(where, text, known.datasets)
    for method, found in raw.get("found_by_search", {}).items():
        check_known(where, "found_by_search", method, [*known.methods, "data"], "method")
        for parameter in found:
            params, key = raw["study"].get("params", {}), f"found_by_search.{method}"
            check_known(where, key, parameter, params, "parameter of the study")
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
        found_by_search=raw.get("found_by_search", {}),
        study={"domains": [], "params": {}, "alone": False, **raw["study"]},
    )


def _tuned(where: str, raw: dict, known: Suite, n_tasks: int) -> dict | None:
    if "tuning" not in raw:
        return None
    for key in ("audit", "picture"):
        if key in raw:
            raise ConfigError(f"{where}: {key} has no place beside tuning; write a file of its own")
    if raw.get("vary", {}).get("of") == "methods":
        raise ConfigError(
            f"{where}: vary: candidates have their own values of a parameter; with tuning only a "
            "key of the protocol can be varied"
        )
    for method in raw["methods"]:
        if "search" not in known.methods[method]:
            raise ConfigError(
                f"{where}: methods: {method!r} has no search space; add a `search` to its entry in "
                f"{known.file_of('methods', method)}"
            )
    return tuned(where, raw, known.tuning, known.protocols[raw["protocol"]], n_tasks)


def _all_listed(raw: dict, known: Suite) -> dict:
    """The experiment with ``methods: all`` replaced by their names.

    Of a tuned experiment all that have a search space, else all that are no variant of another.
    """
    every = [
        name
        for name, entry in known.methods.items()
        if ("search" in entry if "tuning" in raw else "variant_of" not in entry)
    ]
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
    for classifier in raw.get("classifiers", []):
        check_known(where, "classifiers", classifier, known.classifiers, "classifier")
    own = "method of this experiment"
    for method in raw.get("overrides", {}):
        check_known(where, "overrides", method, raw["methods"], own)
    for method, found in raw.get("found_by_search", {}).items():
        for name in found:
            changed = raw.get("overrides", {}).get(method, {})
            check_known(where, f"found_by_search.{method}", name, changed, "override")
    for part in ("picture", "timing", "answers"):
        for method in raw.get(part, {}).get("methods", []):
            check_known(where, f"{part}.methods", method, raw["methods"], own)
    audit = raw.get("audit", {})
    for name, column in audit.get("columns", {}).items():
        if "method" in column:
            check_known(where, f"audit.columns.{name}", column["method"], raw["methods"], own)
    if "classifier" in audit:
        own = "classifier of this experiment"
        check_known(where, "audit.classifier", audit["classifier"], raw["classifiers"], own)
    if audit:
        published = [path.name for path in (PROJECT / "config/published").glob("*.csv")]
        check_known(where, "audit.published", audit["published"], published, "published table")


def _check_pictured_trial(where: str, experiment: Experiment, known: Suite) -> None:
    n_trials = known.protocols[experiment.protocol]["trials"]
    if experiment.picture and experiment.picture["trial"] >= n_trials:
        raise ConfigError(
            f"{where}: picture.trial: {experiment.picture['trial']}; the trials of protocol "
            f"{experiment.protocol!r} are 0..{n_trials - 1}"
        )


def _sum_of_loaders() -> str:
    """Sum over the modules of loaders, which the check of a dataset's entry imports."""
    files = sorted((PROJECT / "workflow/loaders").glob("*.py"))
    return sum_of(*(path.read_bytes() for path in files))


def _check_dataset(where: str, name: str, entry: dict, loaders: str) -> None:
    """Check an entry, unless an earlier run has, with the same loaders: they import SciPy."""
    key = sum_of("dataset", where, name, repr(entry), loaders)
    if MEMORY.get(key):
        return
    try:
        with importing():
            check_entry(name, entry, where)
    except BrokenModule as error:
        raise ConfigError(f"{where}: {name}: loader: {error}") from error
    except ValueError as error:
        raise ConfigError(str(error)) from None
    MEMORY.put(key, True)
