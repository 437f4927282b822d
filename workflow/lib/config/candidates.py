"""Candidates: the settings among which a tuned experiment chooses, equally many for every method.

A candidate is an alignment (a scaling of the features and parameters of the method) and a
classifier on its embedding. Several candidates share an alignment, since fitting one costs more
than training a classifier. The first candidate is the method's entry as it stands.

Candidates are drawn from names and a seed alone: neither the order of the methods nor their number
changes any, and no score is known yet. Scalings and kinds of classifier are dealt in turn, not
drawn: which of them a method may have would else be luck, and hide what its alignment is worth.
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
# As the last step.
_CENTRED = ("zscore",)

_KINDS = {
    "counts": "dense counts",
    "non_negative": "dense non-negative numbers",
    "real": "dense real numbers",
    "sparse_counts": "sparse counts",
}

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


@dataclasses.dataclass(frozen=True)
class Space:
    """What alignments are drawn from, beside the parameters of the method."""

    scalings: Mapping[str, tuple]
    bounds: Mapping[str, int]


def draw(
    name: str,
    entry: Mapping,
    default: Mapping,
    tuning: Mapping,
    kinds: Sequence[str],
    budget: int,
    seed: int,
    bounds: Mapping[str, int] | None = None,
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
    bounds : mapping, optional
        What is known of the domains: ``features`` that all of them have, ``most_features`` that
        one of them has, ``all_features`` of them together, ``other_classes`` (one less than there
        are). Of a parameter that is ``at_most`` one of them larger values are one.

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
    if _differ_in_features(len(kinds), bounds):
        entry = {**entry, "params": {**entry["params"], **search.get("between_features", {})}}
    space = Space(_scalings(search, tuning["scalings"], kinds, name), bounds or {})
    tried = _classifier_kinds(search, tuning["classifiers"])
    settings = _settings(rng, entry, space)
    per_alignment = min(PER_ALIGNMENT, sum(len(variants) for variants in tried))
    settings = settings[: math.ceil(budget / per_alignment)]
    drawn, known = [], set()
    for position, setting in enumerate(settings):
        share = len(range(position, budget, len(settings)))
        turn = position % len(tried)
        classifiers = _classifiers(rng, [*tried[turn:], *tried[:turn]])
        if position:
            classifiers = [{**one, "fixed": None} for one in classifiers]
        else:
            classifiers = _untuned_first(default, classifiers)
        untried = _untried(classifiers, entry, space, setting, known)
        scaling, reduce, params = setting
        kept = tuple(itertools.islice(untried, share))
        drawn.append(Alignment(scaling, space.scalings[scaling], params, reduce, kept))
    return drawn


def _differ_in_features(n_domains: int, bounds: Mapping[str, int] | None) -> bool:
    """Whether some domain has more features than another, as far as that is known."""
    known = bounds or {}
    return known.get("all_features", 0) != n_domains * known.get("features", 0)


def _untried(
    classifiers: Sequence[dict], entry: Mapping, space: Space, setting: tuple, known: set[str]
) -> Iterator[dict]:
    """Classifiers that with a setting answer otherwise than those known; each is added."""
    for one in classifiers:
        key = _canonical(_answering(one, entry, space, *setting))
        if key not in known:
            known.add(key)
            yield one


def _answering(
    one: Mapping, entry: Mapping, space: Space, scaling: str, reduce: int | None, params: Mapping
) -> list:
    """What the answers of a candidate hang on."""
    steps, classifier = space.scalings[scaling], [one["estimator"], one["params"]]
    if entry["estimator"] == _UNMOVING and reduce is None:
        if one["params"].get("metric") != "cosine":
            return [steps, *classifier]
        # Nearest neighbours by cosine are those of unit rows, whatever scaled the rows before.
        return [[_to_unit_rows(own) for own in steps], one["estimator"], one["params"] | _EUCLIDEAN]
    if one["estimator"] != OWN:
        of_predict = entry["search"].get("of_predict", ())
        params = {name: value for name, value in params.items() if name not in of_predict}
    return [_fitted_to(entry["search"], space, scaling, reduce, params), *classifier]


def _to_unit_rows(steps: Sequence[str]) -> list[str]:
    """Steps that end in unit rows; what scaled the rows directly before has no effect."""
    kept = list(steps)
    while kept and kept[-1] in _OF_ROWS:
        kept.pop()
    return [*kept, "l2_rows"]


def _settings(rng: random.Random, entry: Mapping, space: Space) -> list[tuple]:
    """Scaling, reduction and parameters of every alignment: the entry's own, then shuffled ones.

    They come in rounds of one for each scaling, as it arrives at the method.
    """
    search, own = entry["search"], entry["params"]
    first = (next(iter(space.scalings)), None, own)
    values = itertools.product(
        space.scalings, search.get("reduce", [None]), _grid(search.get("params", {}))
    )
    others = [(scaling, reduce, {**own, **params}) for scaling, reduce, params in values]
    others = [setting for setting in others if setting != first]
    others.sort(key=_canonical)  # the order of keys in a file decides nothing
    _shuffle(rng, others)
    fitted = [_fitted_to(search, space, *setting) for setting in (first, *others)]
    # That of the entry first, then in the order of the file.
    steps = [fitted[0][0], *space.scalings.values()]
    by_scaling: dict[str, dict] = {_canonical(own): {} for own in steps}
    for what, setting in zip(fitted, (first, *others), strict=True):
        by_scaling.setdefault(_canonical(what[0]), {}).setdefault(_canonical(what), setting)
    rounds = itertools.zip_longest(*(own.values() for own in by_scaling.values()))
    return [setting for row in rounds for setting in row if setting is not None]


def _fitted_to(
    search: Mapping, space: Space, scaling: str, reduce: int | None, params: Mapping
) -> list:
    """What a setting fits to what: two in other words may be one.

    Rows are scaled once, and no more components can be had than there are. All components of
    centred features are these features, turned; of others they are centred too.
    """
    steps, params = space.scalings[scaling], dict(params)
    for parameter, bound in search.get("at_most", {}).items():
        params[parameter] = min(params[parameter], space.bounds.get(bound, math.inf))
    most = space.bounds.get("most_features", math.inf)
    if reduce is not None and not (reduce >= most and all(own[-1:] == _CENTRED for own in steps)):
        # Components between both scalings of rows.
        return [steps, min(reduce, most), params]
    if "unit_rows" in params and all(own[-1:] == ("l2_rows",) for own in steps):
        params["unit_rows"] = True
    if params.get("unit_rows") or search.get("ignores_lengths"):
        steps = [_to_unit_rows(own) for own in steps]
    if all(own[-1:] == _CENTRED for own in steps):
        params = {k: v for k, v in params.items() if k not in search.get("idle_on_centred", ())}
    return [steps, None, params]


def takes_only(entry: Mapping) -> str:
    """What features a method takes, in words, for tasks that have none of its candidates."""
    return f"takes only {' and '.join(_KINDS[kind] for kind in entry['search']['values'])}"


def _scalings(search: Mapping, known: Mapping, kinds: Sequence[str], name: str) -> dict:
    """Steps of every domain by the name of a scaling that all their kinds have."""
    shared = [word for word in known[kinds[-1]] if all(word in known[kind] for kind in kinds)]
    allowed = [word for word in shared if word in search.get("scalings", shared)]
    if not allowed:
        raise ConfigError(
            f"methods.{name}.search.scalings: none of them is a scaling of "
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
    usual = [name for name, entry in known.items() if not entry.get("on_request")]
    for name in search.get("classifiers", usual):
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
