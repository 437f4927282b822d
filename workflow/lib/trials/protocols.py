"""Protocols: which rows a method sees, which labels it sees, and which rows are scored.

`sample_trials` turns the labels of whole domains into trials that show no scored label, and
`handed_labels` decides which of the shown labels a method is given. The process that fits methods
and trains classifiers reads labels from the file of trials alone, so no scored label reaches it.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.storage.artifacts import read_arrays, write_arrays

HIDDEN = -1


@dataclasses.dataclass(frozen=True)
class Trial:
    """One sample of a protocol for one task; one entry per domain, the target last.

    Attributes
    ----------
    rows : tuple of int ndarray
        Rows of each domain that a method sees.
    labels : tuple of int ndarray
        Label of each of these rows, -1 where it is hidden.
    scored : int ndarray
        Rows of the target domain on which predictions are scored.
    """

    rows: tuple[np.ndarray, ...]
    labels: tuple[np.ndarray, ...]
    scored: np.ndarray


def sample_trials(
    name: str,
    protocol: Mapping,
    task: Task,
    labels: Sequence[np.ndarray],
    splits: Sequence[Mapping] | None = None,
    n_training: Sequence[int] | None = None,
    class_names: Sequence[Sequence[str]] | None = None,
) -> list[Trial]:
    """Sample every trial of a protocol for one task.

    Parameters
    ----------
    name : str
        The protocol's name; each random trial is seeded by names (seed, protocol, task, domain,
        trial), so that adding a task or a trial changes no other.
    protocol : mapping
        Its entry of ``config/protocols.yaml``.
    task : Task
    labels : sequence of int ndarray
        All labels of each domain, the target last; -1 where nobody knows the label. Such rows are
        seen without a label, predicted, and (kind resampled apart, which leaves that to the
        evaluation, and leaves such rows of a source out) not among the scored ones.
    splits : sequence of mappings, optional
        Row indices per trial, for ``kind: official``: ``source_labelled``, ``target_labelled``
        and ``target_scored``.
    n_training : sequence of int, optional
        Number of training rows of each domain, its first ones, for ``kind: training_test`` and
        ``scored_rows: test``.
    class_names : sequence of sequences of str, optional
        Names of the classes of each domain in the order of their codes, where they are known.

    Raises
    ------
    ValueError
        If the domains' classes have other names, a class has fewer rows than the protocol labels,
        the split file does not hold the number of trials that the protocol asks for, or a trial
        would show the label of a scored row.
    """
    if class_names:
        _check_classes(task, class_names)
    if protocol["kind"] == "official":
        trials = _official(name, protocol, task, labels, splits)
    elif protocol["kind"] == "training_test":
        trials = [_training_test(labels, n_training)] * protocol["trials"]
    else:
        one = _SAMPLED[protocol["kind"]]
        if one is _random:
            one = functools.partial(_random, n_training=n_training, class_names=class_names)
        trials = [one(name, protocol, task, labels, t) for t in range(protocol["trials"])]
    if protocol["kind"] != "resampled":
        trials = [_of_known_labels(trial, labels[-1]) for trial in trials]
    for trial in trials:
        _check_hidden(f"task {task.name}: protocol {name}", trial)
    if protocol.get("source_rows") == "labelled":
        return [_labelled_sources(trial) for trial in trials]
    return trials


def sample_varied(
    name: str,
    protocol: Mapping,
    vary: Mapping | None,
    task: Task,
    labels: Sequence[np.ndarray],
    splits: Sequence[Mapping] | None = None,
    n_training: Sequence[int] | None = None,
    class_names: Sequence[Sequence[str]] | None = None,
) -> list[Trial]:
    """The trials of every value of a varied key of the protocol, one value after the other."""
    if vary is None:
        return sample_trials(name, protocol, task, labels, splits, n_training, class_names)
    return [
        trial
        for value in vary["values"]
        for trial in sample_trials(
            name,
            {**protocol, vary["parameter"]: value},
            task,
            labels,
            splits,
            n_training,
            class_names,
        )
    ]


def role_domains(roles: str, n_domains: int) -> list[int]:
    """Numbers of the domains that some roles name; the target is the last domain.

    Parameters
    ----------
    roles : {"none", "source", "target", "source+target"}
    n_domains : int
    """
    named = roles.split("+")
    target = n_domains - 1
    return [d for d in range(n_domains) if ("target" if d == target else "source") in named]


def labelled_rows(trial: Trial, roles: str) -> dict[int, np.ndarray]:
    """Mask of the visible rows with a label, by domain, for the domains that `roles` names."""
    return {d: trial.labels[d] != HIDDEN for d in role_domains(roles, len(trial.labels))}


def handed_labels(trial: Trial, sees_labels: str) -> list[np.ndarray]:
    """Labels that a method is handed: the trial's, less those that the method may not see.

    Parameters
    ----------
    trial : Trial
    sees_labels : {"none", "source", "source+target"}
    """
    seen = role_domains(sees_labels, len(trial.labels))
    return [
        labels if d in seen else np.full_like(labels, HIDDEN)
        for d, labels in enumerate(trial.labels)
    ]


def _check_classes(task: Task, class_names: Sequence[Sequence[str]]) -> None:
    """Codes are compared: they have to stand for the same classes in every domain."""
    domains = zip(task.domains, class_names, strict=True)
    named = [(ref, list(names)) for ref, names in domains if names]
    for ref, names in named[1:]:
        first, expected = named[0]
        if names != expected:
            raise ValueError(
                f"task {task.name}: the classes of {first} are {', '.join(expected)}, those of "
                f"{ref} {', '.join(names)}; give their datasets the same `class_names`"
            )


def _check_hidden(where: str, trial: Trial) -> None:
    known = trial.rows[-1][trial.labels[-1] != HIDDEN]
    shown = np.intersect1d(known, trial.scored)
    if len(shown):
        raise ValueError(
            f"{where}: {len(shown)} scored rows of the target are labelled too (first: row "
            f"{shown[0]}); correct the splits, a method would be told what it is asked"
        )


def _official(name, protocol, task, labels, splits) -> list[Trial]:
    if len(labels) != 2:
        raise ValueError(f"task {task.name}: protocol {name} has splits for pairs of domains only")
    if len(splits) != protocol["trials"]:
        raise ValueError(
            f"task {task.name}: the split file holds {len(splits)} trials, protocol {name} asks "
            f"for {protocol['trials']}; correct `trials` of the protocol"
        )
    labelled = [(split["source_labelled"], split["target_labelled"]) for split in splits]
    return [
        _trial(labels, chosen, split["target_scored"])
        for chosen, split in zip(labelled, splits, strict=True)
    ]


def _training_test(labels, n_training) -> Trial:
    """The training rows of every domain, the sources' with labels; the target's others scored."""
    seen = [np.arange(n) for n in n_training]
    labelled = [*seen[:-1], np.array([], dtype=int)]
    return _trial(labels, labelled, np.arange(n_training[-1], len(labels[-1])), seen)


def _full_source(name, protocol, task, labels, trial) -> Trial:
    everything = [np.arange(len(y)) for y in labels]
    labelled = [*everything[:-1], np.array([], dtype=int)]
    if "target_share" not in protocol:
        return _trial(labels, labelled, everything[-1])
    rng = _generator(protocol["seed"], name, task.name, "target", task.target, trial)
    n_seen = round(protocol["target_share"] * len(labels[-1]))
    seen = np.sort(rng.choice(everything[-1], n_seen, replace=False))
    visible = [*everything[:-1], seen]
    return _trial(labels, labelled, np.setdiff1d(everything[-1], seen), visible)


def _random(name, protocol, task, labels, trial, n_training=None, class_names=None) -> Trial:
    """Labelled rows of each class, and some without label; of a division its training rows."""
    chosen, visible = [], []
    drawn_from = labels
    if protocol.get("scored_rows") == "test":
        drawn_from = [y[:n] for y, n in zip(labels, n_training, strict=True)]
    for d, (ref, y) in enumerate(zip(task.domains, drawn_from, strict=True)):
        role = "target" if ref is task.domains[-1] else "source"
        rng = _generator(protocol["seed"], name, task.name, role, ref, trial)
        per_class = _per_class(protocol[f"{role}_per_class"], ref)
        where = f"domain {ref}: protocol {name}: {role}_per_class"
        counts = _counts(y, per_class, role, protocol, where, class_names[d] if class_names else ())
        picked = _pick(y, counts, rng)
        rest = np.setdiff1d(np.arange(len(y)), picked)
        limit = _unlabelled(protocol, role, len(y), len(picked))
        seen = rest if limit >= len(rest) else rng.choice(rest, limit, replace=False)
        chosen.append(picked)
        visible.append(np.sort(np.concatenate([picked, seen])))
    everything = np.arange(len(labels[-1]))
    asked = {"seen": visible[-1], "test": everything[len(drawn_from[-1]) :], "all": everything}
    scored = np.setdiff1d(asked[protocol.get("scored_rows", "all")], chosen[-1])
    return _trial(labels, chosen, scored, visible)


def _resampled(name, protocol, task, labels, trial) -> Trial:
    """All rows in trial 0, a share of them in the others; unknown labels stay unknown, and source
    rows that have none are left out.

    Of a domain with more than ``max_rows``, all rows are so many of them.
    """
    visible, chosen = [], []
    for ref, y in zip(task.domains, labels, strict=True):
        is_target = ref is task.domains[-1]
        rng = _generator(protocol["seed"], name, task.name, ref, trial)
        # Of all trials alike: what one shows is not hidden from a choice over all of them.
        same = _generator(protocol["seed"], name, task.name, ref, "shown")
        shown = _shown(protocol["target_labels"], y, same) if is_target else np.flatnonzero(y >= 0)
        rest = np.setdiff1d(np.arange(len(y)), shown) if is_target else shown[:0]
        share = protocol["share"] if trial else 1.0
        kept = shown if is_target else _share(shown, y, share, protocol["max_rows"], rng)
        others = _share(rest, np.zeros_like(y), share, protocol["max_rows"], rng)
        chosen.append(kept)
        visible.append(np.sort(np.concatenate([kept, others])))
    return _trial(labels, chosen, np.setdiff1d(visible[-1], chosen[-1]), visible)


def _shown(asked: str | int, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows of the target whose labels are shown: none, those that are known, or some per class.

    Some of each class would be no sample of the target where its classes are unequal, and what is
    right of them no accuracy to expect there.
    """
    known = np.flatnonzero(y != HIDDEN)
    if asked == "known":
        return known
    number = 0 if asked == "none" else asked * len(np.unique(y[known]))
    return np.sort(rng.choice(known, min(number, len(known)), replace=False))


def _share(rows, y, share: float, most: int, rng: np.random.Generator) -> np.ndarray:
    """A share of each class of some rows, of at most so many; at least one row of each class."""
    share *= min(1.0, most / max(1, len(rows)))
    if share == 1:
        return rows
    own = [rows[y[rows] == label] for label in np.unique(y[rows])]
    picked = [rng.choice(r, max(1, round(share * len(r))), replace=False) for r in own]
    return np.sort(np.concatenate([rows[:0], *picked]))


def _labelled_sources(trial: Trial) -> Trial:
    """The trial without the unlabelled rows of its sources."""
    known = [*labelled_rows(trial, "source").values(), slice(None)]
    return Trial(
        tuple(rows[kept] for rows, kept in zip(trial.rows, known, strict=True)),
        tuple(labels[kept] for labels, kept in zip(trial.labels, known, strict=True)),
        trial.scored,
    )


def _unlabelled(protocol: Mapping, role: str, n_rows: int, n_labelled: int) -> int:
    """Number of unlabelled rows that a method sees of a domain, at most."""
    limit = protocol.get("unlabelled_per_domain")
    limit = n_rows if limit is None else limit
    if role == "target" and "target_share" in protocol:
        limit = min(limit, max(0, round(protocol["target_share"] * n_rows) - n_labelled))
    return limit


def _per_class(asked: int | Mapping[str, int], ref: DomainRef) -> int:
    """Of a mapping that of the dataset's domain, else of the domain's name, else the default."""
    if isinstance(asked, int):
        return asked
    return asked.get(str(ref), asked.get(ref.domain, asked["default"]))


def _counts(
    y: np.ndarray, per_class: int, role: str, protocol: Mapping, where: str, names: Sequence[str]
) -> dict[int, int]:
    """Rows to label of each class; with ``at_most`` of the target at least one is left to score."""
    counts = {}
    for label in np.unique(y[y != HIDDEN]):
        n_rows = int((y == label).sum())
        counts[int(label)] = per_class
        if protocol.get("at_most"):
            counts[int(label)] = min(per_class, n_rows - (role == "target"))
        elif n_rows < per_class:
            named = f"class {label}" + (f" ({names[label]})" if len(names) else "")
            raise ValueError(
                f"{where}: {named} has {n_rows} rows, {per_class} are asked for; set a smaller "
                "number for this domain, or `at_most: true` to take what there is"
            )
    return counts


def _pick(y: np.ndarray, counts: Mapping[int, int], rng: np.random.Generator) -> np.ndarray:
    """So many rows of each class, at random."""
    picked = [
        rng.choice(np.flatnonzero(y == label), count, replace=False)
        for label, count in counts.items()
    ]
    return np.sort(np.concatenate([np.array([], dtype=int), *picked]))


def _of_known_labels(trial: Trial, labels: np.ndarray) -> Trial:
    """The trial without scored rows whose label nobody knows."""
    scored = trial.scored[labels[trial.scored] != HIDDEN]
    return dataclasses.replace(trial, scored=scored)


def _generator(*names: object) -> np.random.Generator:
    key = "/".join(str(name) for name in names)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key.encode()).digest()[:16]))


def _trial(labels, labelled, scored, visible=None) -> Trial:
    visible = visible or [np.arange(len(y)) for y in labels]
    shown = [
        np.where(np.isin(rows, chosen), y[rows], HIDDEN)
        for y, rows, chosen in zip(labels, visible, labelled, strict=True)
    ]
    return Trial(tuple(visible), tuple(shown), np.asarray(scored))


_SAMPLED = {"full_source": _full_source, "random": _random, "resampled": _resampled}


def write_trials(path: Path | str, trials: Sequence[Trial], meta: dict) -> None:
    """Write trials; the file holds row numbers and visible labels, nothing hidden."""
    arrays = {}
    for t, trial in enumerate(trials):
        arrays[f"{t}/scored"] = trial.scored
        for d, (rows, labels) in enumerate(zip(trial.rows, trial.labels, strict=True)):
            arrays[f"{t}/{d}/rows"] = rows
            arrays[f"{t}/{d}/labels"] = labels
    shape = {"n_trials": len(trials), "n_domains": len(trials[0].rows) if trials else 0}
    write_arrays(path, arrays, {**meta, **shape})


def read_trials(path: Path | str) -> tuple[list[Trial], dict]:
    """Read what `write_trials` wrote: the trials and the file's ``meta``."""
    arrays, meta = read_arrays(path)
    domains = range(meta["n_domains"])
    trials = [
        Trial(
            rows=tuple(arrays[f"{t}/{d}/rows"] for d in domains),
            labels=tuple(arrays[f"{t}/{d}/labels"] for d in domains),
            scored=arrays[f"{t}/scored"],
        )
        for t in range(meta["n_trials"])
    ]
    return trials, meta
