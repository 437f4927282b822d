"""Candidates: distinct, equally many, drawn by names alone, and possible to construct."""

import copy
import dataclasses
import inspect
import itertools
import json
import warnings

import numpy as np
import pytest
import yaml
from domain_alignment.utils.validation import dense

from tests.workflow.trials.tuned_block import SEARCHED, SUITE, candidates
from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.candidates import OWN, PER_ALIGNMENT, in_words, numbered
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.suite import load_suite
from workflow.lib.trials.fitting import components
from workflow.lib.trials.preprocess import make_preprocessing

KINDS = list(SUITE.tuning["scalings"])
MANY = 100_000
ENTRY = {
    "estimator": "domain_alignment:PCAAligner",
    "params": {"n_components": 2},
    "classifier": "one_nn",
    "search": {"params": {"n_components": [2, 3, 4]}},
}


def as_text(drawn):
    """Every candidate, each a text that tells it from all others."""
    return [
        json.dumps([a.scaling, a.reduce, a.params, c["estimator"], c["params"]], sort_keys=True)
        for a, c in numbered(drawn)
    ]


def full_params(classifier):
    """All parameters of a classifier, with how many steps its solver may take."""
    if classifier["estimator"] == OWN:
        return {}
    return resolve_estimator(classifier["estimator"])(**classifier["params"]).get_params()


def every(name, kind, budget=MANY):
    return candidates(SUITE.methods[name], [kind] * 2, budget, name=name)


def scales_rows(name):
    estimator = resolve_estimator(SUITE.methods[name]["estimator"])
    parameter = inspect.signature(estimator).parameters.get("unit_rows")
    return parameter is not None and parameter.default


def takes(name, kind):
    return kind in SUITE.methods[name]["search"].get("values", KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEARCHED)
def test_every_method_has_as_many_candidates_as_an_experiment_asks(name, kind):
    expected = 32 if takes(name, kind) else 0
    texts = as_text(every(name, kind, 32))
    assert len(texts) == len(set(texts)) == expected
    # Nor twice in other words, as with a default that one of them spells out.
    made = [
        json.dumps([a.scaling, a.reduce, a.params, c["estimator"], full_params(c)], sort_keys=True)
        for a, c in numbered(every(name, kind, 32))
    ]
    assert len(set(made)) == expected


@pytest.mark.parametrize("budget", [16, 32])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["source_only", "target_only", "source_and_target"])
def test_no_two_candidates_on_features_as_they_are_give_the_same_answers(name, kind, budget):
    """Nearest neighbours by cosine are those of unit rows: a baseline has as many tries."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 3.0, size=12), size=(400, 12)) + 1.0 * (kind != "sparse_counts")
    X, y = X[X.sum(axis=1) > 0], rng.integers(3, size=400)[X.sum(axis=1) > 0]
    nearest = set()
    found = numbered(every(name, kind, budget))
    assert len(found) == budget
    for alignment, classifier in found:
        if classifier["estimator"].endswith("KNeighborsClassifier"):
            Z = make_preprocessing(alignment.steps[-1]).fit_transform(X)
            model = resolve_estimator(classifier["estimator"])(**classifier["params"])
            answers = model.fit(Z[:200], y[:200]).predict(Z[200:])
            assert answers.tobytes() not in nearest, (alignment.scaling, classifier["words"])
            nearest.add(answers.tobytes())
    assert len(nearest) > 1


def in_unit_rows(steps):
    """The same, of which the lengths of rows at the end have no effect, but where they are one."""
    kept = list(steps)
    while kept and kept[-1] in ("l1_rows", "l2_rows"):
        kept.pop()
    return (*kept, "l2_rows")


def arriving(name, alignment):
    """The steps after which a method gets its features: it may scale rows itself, or ignore it."""
    unit = alignment.params.get("unit_rows") or "ignores_lengths" in SUITE.methods[name]["search"]
    unit = unit and alignment.reduce is None
    return tuple(in_unit_rows(own) if unit else own for own in alignment.steps)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEARCHED)
def test_scalings_are_dealt_and_not_drawn(name, kind):
    """Which scalings a method may have was luck: some never had the one that served others best."""
    drawn = every(name, kind, 32)
    found = [arriving(name, one) for one in drawn]
    counts = [found.count(one) for one in {arriving(name, one) for one in every(name, kind)}]
    assert bool(counts) == takes(name, kind)
    assert not counts or min(counts) >= 1
    assert not counts or max(counts) - min(counts) <= 1


@pytest.mark.parametrize("name", sorted(set(SEARCHED) - {"ot_exact", "target_rbf_svm"}))
def test_kinds_of_classifier_are_dealt_in_turn(name):
    # Without the first, which has the entry's own classifier.
    found = [one["estimator"] for _, one in numbered(every(name, "non_negative", 32))[1:]]
    unmoved = SUITE.methods[name]["estimator"].endswith("NoAdaptation")
    # On features as they are there are few different nearest neighbours.
    few = {"sklearn.neighbors:KNeighborsClassifier"} if unmoved else set()
    counts = [found.count(one) for one in set(found) - few]
    assert max(counts) - min(counts) <= 4


def bounds_of_equal(n_features):
    return {
        "features": n_features,
        "most_features": n_features,
        "all_features": 2 * n_features,
    }


def two_domains(kind, n_samples=120, n_features=12, n_classes=6):
    """Samples of classes that differ; every row and column has values."""
    y = np.arange(n_samples) % n_classes
    Xs = []
    for number in range(2):
        rng = np.random.default_rng(number)
        sizes = np.random.default_rng(9).gamma(0.6, 3.0, size=(n_classes, n_features))
        X = rng.poisson(sizes[y] * np.exp(0.3 * rng.normal(size=(n_samples, n_features)))) + 0.0
        X[:, 0] += 1
        Xs.append(X if kind == "counts" else X + np.abs(rng.normal(size=X.shape)) - 2)
    return Xs, y


@pytest.mark.parametrize("kind", ["counts", "real"])
@pytest.mark.parametrize("name", sorted(set(SEARCHED) - {"target_only", "source_and_target"}))
def test_no_two_settings_fit_the_same(name, kind):
    """Rows are scaled once, and of twelve features none gives twenty components."""
    # With as many components as features MEDA's features are unit rows, whatever was scaled.
    n_features = 45 if name == "meda" else 12
    entry, (Xs, y) = SUITE.methods[name], two_domains(kind, n_features=n_features)
    shown = {
        "none": [None, None],
        "source": [y, None],
        "source+target": [y, np.where(np.arange(120) < 18, y, -1)],
    }[entry["sees_labels"]]
    bounds = {**bounds_of_equal(n_features), "other_classes": 5}
    predicted_by = entry["search"].get("of_predict", ())
    found = {}
    for a in candidates(entry, [kind] * 2, 32, name=name, bounds=bounds):
        scaled = [make_preprocessing(s).fit_transform(X) for s, X in zip(a.steps, Xs, strict=True)]
        if a.reduce:
            fitted = components(scaled, a.reduce)
            scaled = [one.transform(X) for one, X in zip(fitted, scaled, strict=True)]
        model = resolve_estimator(entry["estimator"])(**a.params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = np.vstack([dense(Z) for Z in model.fit(scaled, shown).embeddings_])
        of_predict = json.dumps([a.params.get(key) for key in predicted_by])
        found.setdefault((a.reduce, of_predict), []).append((a, Z @ Z.T))
    for (a, A), (b, B) in itertools.chain(
        *(itertools.combinations(own, 2) for own in found.values())
    ):
        if name == "ot_lab" and all(one.params["reg_e"] == 0.01 for one in (a, b)):
            continue  # a plan that is of one class by itself pays for none, whatever that costs
        same = np.allclose(A, B, rtol=0, atol=1e-9 * abs(A).max())
        assert not same, (a.scaling, a.params, b.scaling, b.params)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("n_features", [4, 30])
def test_few_features_and_classes_leave_as_many_distinct_candidates(name, kind, n_features):
    """On own data few columns must not give a method fewer tries than others have."""
    bounds = {**bounds_of_equal(n_features), "other_classes": 1}
    drawn = candidates(SUITE.methods[name], [kind] * 2, 16, name=name, bounds=bounds)
    assert len(numbered(drawn)) == (16 if takes(name, kind) else 0)
    at_most = SUITE.methods[name]["search"].get("at_most", {})
    for a, b in itertools.combinations(drawn, 2):
        bounded = [
            {k: min(v, bounds[at_most[k]]) if k in at_most else v for k, v in one.params.items()}
            for one in (a, b)
        ]
        alike = (a.scaling, a.reduce, bounded[0]) == (b.scaling, b.reduce, bounded[1])
        assert not alike or SUITE.methods[name]["estimator"].endswith("NoAdaptation")


@pytest.mark.parametrize(
    ("kind", "widths", "reductions"),
    [
        ("real", (20, 20), {"standard": {None}, "raw": {None, 20}}),
        ("real", (20, 800), {"standard": {None, 20, 40}, "raw": {None, 20, 40}}),
        ("real", (800, 800), {"standard": {None, 20, 40}, "raw": {None, 20, 40}}),
    ],
)
def test_a_reduction_is_another_setting_unless_it_only_turns_the_features(kind, widths, reductions):
    """Of 800 features it leaves as many as it says, whatever few the other domain has."""
    entry = SUITE.methods["mmdt"]
    search = {**entry["search"], "reduce": [None, 20, 40], "params": {}}
    bounds = {
        "features": min(widths),
        "most_features": max(widths),
        "all_features": sum(widths),
    }
    drawn = candidates({**entry, "search": search}, [kind] * 2, 999, name="mmdt", bounds=bounds)
    for scaling, expected in reductions.items():
        found = [
            min(a.reduce, max(widths)) if a.reduce else None for a in drawn if a.scaling == scaling
        ]
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_features_as_they_are_and_reduced_are_two_candidates():
    """Nearest neighbours by cosine are those of unit rows, but not those of components of these."""
    entry = SUITE.methods["source_only"]
    entry = {**entry, "search": {"classifiers": ["one_nn"], "reduce": [None, 5]}}
    bounds = bounds_of_equal(12)
    drawn = numbered(candidates(entry, ["non_negative"] * 2, MANY, bounds=bounds))
    plain = [one for one in drawn if one[0].reduce is None]
    # The entry's own classifier, and four scalings: of rows as they are, raw and z-scored ones by
    # cosine are the unit ones.
    assert (len(plain), len(drawn) - len(plain)) == (1 + 4, 2 * 4)


def test_a_classifier_meets_an_embedding_once():
    """MEDA's weights are those of its own prediction: 1-NN on its embedding knows none."""
    texts = [
        json.dumps([a.scaling, a.params["n_components"], c["estimator"], c["params"]])
        for a, c in numbered(every("meda", "counts", 32))
        if c["estimator"] != OWN
    ]
    assert len(texts) == len(set(texts)) > 8


@pytest.mark.parametrize("name", ["ls_mmdt", "arct"])
def test_between_different_features_no_column_is_tied_to_another(name):
    def drawn(n_source, n_target):
        bounds = {"features": min(n_source, n_target), "all_features": n_source + n_target}
        return candidates(SUITE.methods[name], ["real"] * 2, 32, name=name, bounds=bounds)

    assert {a.params["regularize"] for a in drawn(800, 600)} == {"zero"}
    assert not any("regularize" in a.params for a in drawn(800, 800))
    for a, b in zip(drawn(800, 600), drawn(800, 800), strict=True):
        assert (a.scaling, a.reduce, a.classifiers) == (b.scaling, b.reduce, b.classifiers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEARCHED)
def test_every_candidate_can_be_constructed(name, kind):
    drawn = every(name, kind)
    assert bool(drawn) == takes(name, kind)
    texts = as_text(drawn)
    assert len(texts) == len(set(texts))
    make = resolve_estimator(SUITE.methods[name]["estimator"])
    for params in {json.dumps(a.params): a.params for a in drawn}.values():
        make(**params)._validate_params()
    for steps in {steps for a in drawn for steps in a.steps}:
        make_preprocessing(steps)
    classifiers = {c["words"]: c for _, c in numbered(drawn) if c["estimator"] != OWN}
    for classifier in classifiers.values():
        estimator = resolve_estimator(classifier["estimator"])(**classifier["params"])
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()


@pytest.mark.parametrize("name", SEARCHED)
def test_the_first_candidate_is_the_entry_as_it_stands(name):
    entry = SUITE.methods[name]
    kind = entry["search"].get("values", KINDS)[0]
    first = every(name, kind)[0]
    classifier = SUITE.classifiers[entry.get("classifier", OWN)]
    assert first.params == entry.get("params", {})
    assert first.reduce is None
    allowed = entry["search"].get("scalings", SUITE.tuning["scalings"][kind])
    assert first.scaling == next(word for word in SUITE.tuning["scalings"][kind] if word in allowed)
    found = first.classifiers[0]
    assert found["estimator"] == classifier["estimator"]
    assert found["params"] == classifier.get("params", {})


@pytest.mark.parametrize("name", [name for name in SEARCHED if scales_rows(name)])
def test_what_scales_rows_by_itself_also_tries_not_to(name):
    tried = {(a.scaling, a.params.get("unit_rows")) for a in every(name, "real")}
    assert {("raw", False), ("raw", True)} <= tried


def test_a_smaller_budget_has_the_alignments_of_a_larger_one():
    settings = [
        [(a.scaling, a.params) for a in candidates(ENTRY, ["real"] * 2, budget)]
        for budget in (8, 16, 32)
    ]
    for fewer, more in itertools.pairwise(settings):
        assert more[: len(fewer)] == fewer


@pytest.mark.parametrize("budget", [1, 2, 5, 31, 32, 33])
def test_the_budget_is_kept(budget):
    drawn = candidates(ENTRY, ["counts"] * 2, budget)
    assert len(numbered(drawn)) == budget
    # As many as hold it; those beyond full alignments are dealt to the first.
    shares = [len(alignment.classifiers) for alignment in drawn]
    assert len(shares) == -(-budget // PER_ALIGNMENT)
    assert sorted(shares, reverse=True) == shares
    assert shares[0] - shares[-1] <= 1


def test_draws_depend_on_the_seed_and_the_name():
    texts = [
        as_text(candidates(ENTRY, ["real"] * 2, 8, seed, name))
        for seed, name in ((0, "a"), (0, "a"), (1, "a"), (0, "b"))
    ]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert texts[0] != texts[3]
    assert len({text[0] for text in texts}) == 1  # the entry as it stands


def test_the_fixed_classifiers_are_those_of_the_untuned_embedding():
    first, *others = candidates(ENTRY, ["real"] * 2, 32)
    fixed = {one["fixed"]: one for one in first.classifiers if one["fixed"]}
    assert set(fixed) == {n for n, e in SUITE.tuning["classifiers"].items() if "fixed" in e}
    assert first.classifiers[0] is fixed["one_nn"]  # this entry's own, named once
    assert not any(one["fixed"] for alignment in others for one in alignment.classifiers)


def test_domains_of_different_kinds_share_scalings_by_name():
    drawn = candidates(ENTRY, ["counts", "real"], MANY)
    steps = {alignment.scaling: alignment.steps for alignment in drawn}
    assert steps["standard"] == (("l1_rows", "zscore"), ("zscore",))


@pytest.mark.parametrize("kinds", list(itertools.permutations(KINDS, 2)), ids="-".join)
def test_a_scaling_that_one_domain_has_alone_is_none(kinds):
    shared = set.intersection(*(set(SUITE.tuning["scalings"][kind]) for kind in kinds))
    assert {alignment.scaling for alignment in candidates(ENTRY, kinds, MANY)} == shared


def test_scalings_that_no_kind_has_are_an_error_that_names_the_entry():
    entry = ENTRY | {"search": {"scalings": ["standard"]}}
    with pytest.raises(ConfigError, match=r"methods\.mine\.search\.scalings: none of them"):
        candidates(entry, ["sparse_counts"] * 2, 8, name="mine")


def test_words_name_what_differs_from_the_entry():
    own, other = candidates(ENTRY | {"search": {"reduce": [7], **ENTRY["search"]}}, ["real"] * 2, 8)
    defaults = ENTRY["params"]
    assert in_words(own, own.classifiers[0], defaults) == "standard; 1-NN"
    said = in_words(other, other.classifiers[0], defaults)
    assert said.startswith(f"{other.scaling}; 7 principal components; ")
    changed = other.params["n_components"] != 2
    assert (f"n_components = {other.params['n_components']}" in said) == changed


def test_words_name_parameters_in_a_mapping_without_braces():
    (own, *_) = candidates(ENTRY, ["real"] * 2, 8)
    own = dataclasses.replace(own, params={"params": {"reg": 0.1, "max_iter": 9}})
    said = in_words(own, own.classifiers[0], {"params": {}})
    assert said == "standard; reg = 0.1, max_iter = 9; 1-NN"


def changed_methods(content, change):
    content["methods"] = change(content["methods"])


@pytest.mark.parametrize(
    "change",
    [
        lambda methods: dict(reversed(methods.items())),
        lambda methods: {
            **{f"{name}_again": entry for name, entry in methods.items()},
            **methods,
        },
    ],
    ids=["other order", "twice as many"],
)
def test_order_and_number_of_methods_change_no_candidate(project, edit, change):
    """A method's job receives its own candidates and nothing of other methods."""
    tuned = {
        "schema_version": 1,
        "title": "t",
        "question": "q",
        "tasks": [{"source": "digits.full", "target": "digits.half"}],
        "protocol": "raw_full_source",
        "methods": SEARCHED,
        "tuning": {"chosen_by": "circular"},
    }
    path = project / "config/experiments/mine.yaml"
    found = []
    for edited in (False, True):
        if edited:
            edit("config/methods.yaml", lambda content: changed_methods(content, change))
            names = list(yaml.safe_load((project / "config/methods.yaml").read_text())["methods"])
            tuned["methods"] = [n for n in names if n.removesuffix("_again") in SEARCHED]
        path.write_text(yaml.safe_dump(tuned))
        suite = load_suite(project)
        task = suite.experiments["mine"].tasks[0]
        found.append({name: suite.candidates("mine", name, task) for name in SEARCHED})
    assert found[0] == found[1]


def test_three_domains_of_equal_features_are_equal():

    def drawn(*widths):
        bounds = {"features": min(widths), "all_features": sum(widths)}
        return candidates(SUITE.methods["ls_mmdt"], ["real"] * 3, 8, name="ls_mmdt", bounds=bounds)

    assert not any("regularize" in a.params for a in drawn(800, 800, 800))
    assert {a.params["regularize"] for a in drawn(800, 800, 600)} == {"zero"}


def test_a_method_takes_the_kinds_of_all_domains_or_has_no_candidate():
    assert candidates(SUITE.methods["kema_int"], ["counts"] * 2, 8, name="kema_int")
    assert candidates(SUITE.methods["kema_int"], ["counts", "real"], 8, name="kema_int") == []


def test_the_order_of_values_in_a_file_decides_no_classifier():
    turned = copy.copy(SUITE.tuning)
    turned["classifiers"] = {
        name: {**one, "search": {k: list(v)[::-1] for k, v in one["search"].items()}}
        for name, one in SUITE.tuning["classifiers"].items()
    }
    other = dataclasses.replace(SUITE, tuning=turned)
    entry = SUITE.methods["coral"]
    assert candidates(entry, ["real"] * 2, 32) == candidates(entry, ["real"] * 2, 32, suite=other)
