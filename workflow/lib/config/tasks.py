"""Domains and tasks: what an experiment file lists, as checked objects."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workflow.lib.config.reading import ConfigError, check_known


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


def parts_of(domains: Mapping[str, dict], name: str) -> list[str]:
    """The domains, by a dataset's entries of them, of which one is put together; itself if none."""
    return domains[name].get("params", {}).get("pooled") or [name]


def _short(datasets: Mapping[str, dict], ref: DomainRef) -> str:
    return datasets[ref.dataset]["domains"][ref.domain].get("short", ref.domain)


def bounds_of(task: Task, datasets: Mapping[str, dict]) -> dict[str, int]:
    """What bounds parameters of methods on a task, as far as the data sets' entries say it."""
    entries = [datasets[ref.dataset] for ref in task.domains]
    parts = zip(entries, task.domains, strict=True)
    features = [entry["domains"][ref.domain].get("features") for entry, ref in parts]
    bounds = {}
    if None not in features:
        bounds = {
            "features": min(features),
            "most_features": max(features),
            "all_features": sum(features),
        }
    if "classes" in entries[-1]:
        bounds["other_classes"] = entries[-1]["classes"] - 1
    return bounds


def check_task_names(where: str, raw: dict, tasks: tuple[Task, ...]) -> None:
    named: dict[str, Task] = {}
    for task in tasks:
        if task.name not in named:
            named[task.name] = task
        elif named[task.name] == task:
            raise ConfigError(f"{where}: tasks: {task.name!r} is listed twice; remove one of them")
        else:
            both = f"{named[task.name].target.dataset} and {task.target.dataset}"
            raise ConfigError(
                f"{where}: tasks: {both} both have a task {task.name!r}, and pages tell tasks by "
                "name; write an experiment for each"
            )
    names = list(named)
    if "picture" in raw:
        check_known(where, "picture.task", raw["picture"]["task"], names, "task of this experiment")
    for name in raw.get("timing", {}).get("tasks", []):
        check_known(where, "timing.tasks", name, names, "task of this experiment")


def listed_tasks(where: str, entries: list[dict], datasets: dict[str, dict]) -> Iterator[Task]:
    for entry in entries:
        if "all_pairs" in entry:
            dataset = entry["all_pairs"]
            check_known(where, "tasks.all_pairs", dataset, datasets, "dataset")
            refs = [DomainRef(dataset, domain) for domain in datasets[dataset].get("domains", {})]
            if len(refs) < 2:
                raise ConfigError(
                    f"{where}: tasks.all_pairs: {dataset} has {len(refs)} domains, which make no "
                    "pair; name a dataset with more"
                )
            for source, target in itertools.permutations(refs, 2):
                yield Task((source,), target)
        else:
            sources = [entry["source"]] if isinstance(entry["source"], str) else entry["source"]
            refs = [known_domain(where, text, datasets) for text in (*sources, entry["target"])]
            yield Task(tuple(refs[:-1]), refs[-1])


def known_domain(where: str, text: str, datasets: dict[str, dict]) -> DomainRef:
    ref = DomainRef.parse(text)
    check_known(where, "tasks", ref.dataset, datasets, "dataset")
    domains = datasets[ref.dataset].get("domains", {})
    check_known(where, f"tasks: {text}", ref.domain, domains, f"domain of {ref.dataset}")
    return ref


def check_domains(where: str, tasks: Sequence[Task], datasets: dict[str, dict]) -> None:
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
        _check_classes(where, task, datasets)
    # A record names its source and its target by their labels. One label may stand for a source
    # and for another target (the same domain in two sets of features), but for no two of either.
    _check_labels(where, (ref for task in tasks for ref in task.sources), datasets)
    _check_labels(where, (task.target for task in tasks), datasets)


def _check_classes(where: str, task: Task, datasets: dict[str, dict]) -> None:
    """Codes of classes have to mean the same in all datasets of a task."""
    target = datasets[task.target.dataset]
    for name in {ref.dataset for ref in task.sources} - {task.target.dataset}:
        for key in ("classes", "class_names"):
            mine, other = datasets[name].get(key), target.get(key)
            if None not in (mine, other) and mine != other:
                raise ConfigError(
                    f"{where}: tasks: {name} and {task.target.dataset} have other `{key}`: "
                    f"{mine} and {other}. A task needs the same classes in the same order"
                )


def _check_labels(where: str, refs: Iterable[DomainRef], datasets: dict[str, dict]) -> None:
    named: dict[str, DomainRef] = {}
    for ref in refs:
        label = _short(datasets, ref)
        other = named.setdefault(label, ref)
        if other != ref:
            raise ConfigError(
                f"{where}: tasks: {other} and {ref} have the same label {label!r}; "
                "give one of them another `short` in the entry of its data set"
            )
