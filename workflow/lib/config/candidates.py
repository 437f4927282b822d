"""Candidates: the settings among which a tuned experiment chooses, equally many for every method.

A candidate is an alignment (a scaling of the features and parameters of the method) and a
classifier on its embedding. Several candidates share an alignment, since fitting one costs more
than training a classifier. The first candidate is the method's entry as it stands.

Candidates are drawn from names and a seed alone: neither the order of the methods nor their number
changes any, and no score is known yet.
"""

import dataclasses
import itertools
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence

from workflow.lib.config.reading import ConfigError

# In place of a classifier's estimator: the method's own `predict`.
OWN = "own"

# Leaves features as they are, so that on them cosine and unit rows are one thing.
_UNMOVING = "domain_alignment:NoAdaptation"

_EUCLIDEAN = {"metric": "euclidean"}
_OF_ROWS = ("l1_rows", "l2_rows")

# Candidates that share an alignment, where the space of alignments is large enough.
PER_ALIGNMENT = 4


@dataclasses.dataclass(frozen=True)
class Alignment:
    """A scaling, parameters of a method, and the classifiers that are tried on the embedding.

    Attributes
    ----------
    scaling : str
        Its name in ``config/tuning.yaml``.
    steps : tuple of tuple of str
        Preprocessing steps of each domain, the target last.
    params : dict
        Parameters of the method's class.
    reduce : int or None
        Principal components to which the scaled features are reduced beforehand.
    classifiers : tuple of dict
        ``estimator``, ``params`` and ``words`` of each, and its name as ``fixed`` where it is one
        that every method's untuned embedding is given.
    """

    scaling: str
    steps: tuple[tuple[str, ...], ...]
    params: dict
    reduce: int | None
    classifiers: tuple[dict, ...]


def draw(
    name: str,
    entry: Mapping,
    default: Mapping,
    tuning: Mapping,
    kinds: Sequence[str],
    budget: int,
    seed: int,
) -> list[Alignment]:
    """Draw the candidates of one method for domains of some kinds of features.

    Parameters
    ----------
    name : str
        The method's name; its draws depend on it and on the seed only.
    entry : mapping
        The method's entry with a ``search``.
    default : mapping
        ``estimator``, ``params`` and ``words`` of the entry's own classifier.
    tuning : mapping
        ``config/tuning.yaml``.
    kinds : sequence of str
        Kind of features of each domain, the target last.
    budget : int
        Number of candidates.
    seed : int

    Returns
    -------
    list of Alignment
        With ``budget`` classifiers in all, or fewer if there are no more distinct candidates;
        empty if the method does not take such features.
    """
    search = entry["search"]
    if not set(kinds) <= set(search.get("values", kinds)):
        return []
    rng = random.Random(f"{seed}/{name}")
    scalings = _scalings(search, tuning["scalings"], kinds, name)
    tried = _classifier_kinds(search, tuning["classifiers"])
    settings = _settings(rng, entry, scalings)
    per_alignment = min(PER_ALIGNMENT, sum(len(variants) for variants in tried))
    settings = settings[: math.ceil(budget / per_alignment)]
    drawn, known = [], set()
    for position, (scaling, reduce, params) in enumerate(settings):
        share = len(range(position, budget, len(settings)))
        classifiers = _classifiers(rng, tried)
        if position:
            classifiers = [{**one, "fixed": None} for one in classifiers]
        else:
            classifiers = _untuned_first(default, classifiers)
        steps = scalings[scaling]
        if entry["estimator"] == _UNMOVING:
            classifiers = _unlike(classifiers, steps, known)
        kept = tuple(itertools.islice(classifiers, share))
        drawn.append(Alignment(scaling, steps, params, reduce, kept))
    return drawn


def _unlike(classifiers: Sequence[dict], steps: Sequence, known: set[str]) -> Iterator[dict]:
    """Classifiers of scaled features that answer otherwise than those known; each is added.

    Nearest neighbours by cosine are those of unit rows, whatever scaled the rows before.
    """
    for one in classifiers:
        of_steps, params = steps, one["params"]
        if params.get("metric") == "cosine":
            of_steps, params = [_to_unit_rows(own) for own in steps], params | _EUCLIDEAN
        key = _canonical([of_steps, one["estimator"], params])
        if key not in known:
            known.add(key)
            yield one


def _to_unit_rows(steps: Sequence[str]) -> list[str]:
    """Steps that end in unit rows; what scaled the rows directly before has no effect."""
    kept = list(steps)
    while kept and kept[-1] in _OF_ROWS:
        kept.pop()
    return [*kept, "l2_rows"]


def _settings(rng: random.Random, entry: Mapping, scalings: Mapping) -> list[tuple]:
    """Scaling, reduction and parameters of every alignment: the entry's own, then shuffled."""
    search, own = entry["search"], entry["params"]
    first = (next(iter(scalings)), None, own)
    values = itertools.product(
        scalings, search.get("reduce", [None]), _grid(search.get("params", {}))
    )
    others = [(scaling, reduce, {**own, **params}) for scaling, reduce, params in values]
    others = [setting for setting in others if setting != first]
    others.sort(key=_canonical)  # the order of keys in a file decides nothing
    _shuffle(rng, others)
    return [first, *others]


def _scalings(search: Mapping, known: Mapping, kinds: Sequence[str], name: str) -> dict:
    """Steps of every domain by the name of a scaling that all their kinds have."""
    shared = [word for word in known[kinds[-1]] if all(word in known[kind] for kind in kinds)]
    allowed = [word for word in shared if word in search.get("scalings", shared)]
    if not allowed:
        raise ConfigError(
            f"config/methods.yaml: methods.{name}.search.scalings: none of them is a scaling of "
            f"{' and '.join(sorted(set(kinds)))} features in config/tuning.yaml; add one"
        )
    return {word: tuple(tuple(known[kind][word]) for kind in kinds) for word in allowed}


def _grid(values: Mapping[str, Sequence]) -> list[dict]:
    return [
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    ]


def _classifier_kinds(search: Mapping, known: Mapping) -> list[list[dict]]:
    """Every variant of each kind of classifier that the method is given."""
    kinds = []
    for name in search.get("classifiers", known):
        if name == OWN:
            own = {"fixed": None, "words": "its own classifier", "estimator": OWN, "params": {}}
            kinds.append([own])
            continue
        entry = known[name]
        kinds.append(
            [
                {
                    "fixed": name if params == entry.get("fixed") else None,
                    "words": f"{entry['label']} ({_settings_in_words(params)})",
                    "estimator": entry["estimator"],
                    "params": {**entry.get("params", {}), **params},
                }
                for params in _grid(entry["search"])
            ]
        )
    return kinds


def _classifiers(rng: random.Random, kinds: Sequence[Sequence[dict]]) -> list[dict]:
    """All distinct classifiers in a shuffled order, one of each kind in turn."""
    left = [sorted(variants, key=_canonical) for variants in kinds]
    for variants in left:
        _shuffle(rng, variants)
    rows = itertools.zip_longest(*left)
    return [classifier for row in rows for classifier in row if classifier is not None]


def _untuned_first(default: Mapping, classifiers: Sequence[dict]) -> list[dict]:
    """The method's own classifier, the fixed ones, the others; none twice."""

    def same(one: Mapping) -> bool:
        return (one["estimator"], one["params"]) == (default["estimator"], default["params"])

    fixed = next((one["fixed"] for one in classifiers if same(one)), None)
    others = [one for one in classifiers if not same(one)]
    others.sort(key=lambda one: one["fixed"] is None)  # stable: the shuffled order stays
    return [{**default, "fixed": fixed}, *others]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _shuffle(rng: random.Random, items: list) -> None:
    """Fisher–Yates by `random`, whose numbers no release of Python has changed."""
    for last in range(len(items) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        items[last], items[other] = items[other], items[last]


def numbered(alignments: Sequence[Alignment]) -> list[tuple[Alignment, dict]]:
    """Every candidate by its number: those of the first alignment first."""
    return [(alignment, one) for alignment in alignments for one in alignment.classifiers]


def in_words(alignment: Alignment, classifier: Mapping, defaults: Mapping) -> str:
    """A candidate in words: scaling, parameters that differ from the entry's, classifier."""
    changed = {k: value for k, value in alignment.params.items() if defaults.get(k) != value}
    reduced = [f"{alignment.reduce} principal components"] if alignment.reduce else []
    settings = [_settings_in_words(changed)] if changed else []
    return "; ".join([alignment.scaling, *reduced, *settings, classifier["words"]])


def _settings_in_words(params: Mapping) -> str:
    """``ridge = 0.1, reg = 10.0``; parameters that are in a mapping stand beside the others."""
    return ", ".join(
        _settings_in_words(value) if isinstance(value, Mapping) else f"{name} = {value}"
        for name, value in params.items()
    )
