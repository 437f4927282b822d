"""Keys of a protocol that need or exclude each other."""

import pytest

from workflow.lib.config.protocol_check import (
    check_division,
    check_protocol,
    check_vary,
    shows_target_labels,
)
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.tasks import DomainRef, Task

DATASETS = {
    "reviews": {
        "kind": "splits",
        "domains": {"books": {"training_samples": 3}, "dvd": {"training_samples": 4}},
    },
    "digits": {"domains": {"full": {}}},
}
DRAWN = {"kind": "random", "trials": 5, "seed": 0}


def refused(protocol):
    with pytest.raises(ConfigError) as caught:
        check_protocol("p", protocol, DATASETS)
    return str(caught.value)


@pytest.mark.parametrize(
    "protocol",
    [
        {"kind": "official", "trials": 20, "splits": "reviews"},
        {"kind": "full_source", "trials": 1},
        {"kind": "full_source", "trials": 5, "target_share": 0.5, "seed": 0},
        {"kind": "training_test", "trials": 1},
        {**DRAWN, "unlabelled_per_domain": 800, "scored_rows": "seen"},
        {**DRAWN, "scored_rows": "test", "preprocess": ["zscore"], "preprocess_rows": "seen"},
        {**DRAWN, "source_per_class": {"default": 20, "full": 3, "reviews.dvd": 8}},
    ],
)
def test_right_protocols(protocol):
    check_protocol("p", protocol, DATASETS)


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ({"kind": "official", "trials": 20, "splits": "review"}, "p: splits: unknown dataset"),
        ({"kind": "training_test", "trials": 2}, "p.trials: training_test samples nothing"),
        ({"kind": "full_source", "trials": 2}, "p.trials: full_source samples nothing"),
        ({"kind": "full_source", "trials": 2, "target_share": 0.5}, "p.target_share: the rows"),
        ({"kind": "training_test", "trials": 1, "target_share": 0.5}, "p: only protocols of kind"),
        ({"kind": "full_source", "trials": 1, "scored_rows": "seen"}, "p.scored_rows: only proto"),
        ({"kind": "official", "trials": 20, "splits": "digits"}, "p: splits: unknown dataset of s"),
        ({"kind": "official", "trials": 2, "splits": "reviews", "seed": 0}, "p.seed: protocols of"),
        ({"kind": "full_source", "trials": 1, "source_per_class": 5}, "p.source_per_class: protoc"),
        ({**DRAWN, "share": 0.5}, "p.share: protocols of kind random do not read it"),
        ({**DRAWN, "preprocess_rows": "all"}, "p.preprocess_rows: nothing is preprocessed"),
        ({**DRAWN, "source_per_class": {"default": 20, "ful": 3}}, "p: source_per_class: unknown"),
        (
            {**DRAWN, "scored_rows": "test", "target_share": 0.5},
            "p.target_share: scored_rows: test",
        ),
        (
            {**DRAWN, "scored_rows": "test", "preprocess": ["zscore"], "preprocess_rows": "all"},
            "p.preprocess_rows: with scored",
        ),
    ],
)
def test_wrong_protocols(protocol, expected):
    assert refused(protocol).startswith(expected)


@pytest.mark.parametrize(
    ("protocol", "shown"),
    [
        ({"kind": "official"}, True),
        ({"kind": "full_source"}, False),
        ({"kind": "training_test"}, False),
        ({"kind": "random", "target_per_class": 3}, True),
        ({"kind": "random", "target_per_class": {"dslr": 3}}, True),
        ({"kind": "random", "target_per_class": 0}, False),
        ({"kind": "resampled", "target_labels": "none"}, False),
        ({"kind": "resampled", "target_labels": "known"}, True),
        ({"kind": "resampled", "target_labels": 3}, True),
    ],
)
def test_which_protocols_show_labels_of_the_target(protocol, shown):
    assert shows_target_labels(protocol) is shown


VARIED = {"parameter": "target_per_class", "of": "protocol", "values": [1, 3], "label": "n"}


@pytest.mark.parametrize(
    ("vary", "protocol", "expected"),
    [
        ({"parameter": "trials"}, DRAWN, "unknown key of a protocol that can be varied 'trials'"),
        ({}, {"kind": "full_source", "trials": 1}, "changes nothing: protocols of kind full_sourc"),
        (
            {"parameter": "target_share", "values": [0.5, 0.9]},
            {**DRAWN, "scored_rows": "test"},
            "vary.values: 0.5: p.target_share: scored_rows: test",
        ),
        ({"scale": "log", "values": [0, 1]}, DRAWN, "a logarithmic axis needs values above 0"),
    ],
)
def test_what_is_varied_changes_the_protocol_to_right_ones(vary, protocol, expected):
    raw = {"vary": VARIED | vary, "protocol": "p"}
    with pytest.raises(ConfigError) as caught:
        check_vary("mine", raw, protocol, DATASETS, lambda content: None)
    assert expected in str(caught.value)


def test_each_value_has_the_form_of_the_key():
    seen = []
    check_vary("mine", {"vary": VARIED, "protocol": "p"}, DRAWN, DATASETS, seen.append)
    assert [protocol["target_per_class"] for protocol in seen] == [1, 3]
    check_vary("mine", {"protocol": "p"}, DRAWN, DATASETS, seen.append)
    assert len(seen) == 2


def test_an_override_of_what_is_varied_would_have_no_effect():
    vary = {"parameter": "n_components", "of": "methods", "values": [1, 2], "label": "n"}
    raw = {"vary": vary, "overrides": {"pca": {"n_components": 3}}}
    with pytest.raises(ConfigError, match=r"overrides\.pca\.n_components: it is varied; remove it"):
        check_vary("mine", raw, DRAWN, DATASETS, None)


def test_domains_need_the_division_that_a_protocol_follows():
    books, dvd, full = (
        DomainRef.parse(name) for name in ("reviews.books", "reviews.dvd", "digits.full")
    )
    check_division("mine.yaml", DRAWN, [Task((books,), full)], DATASETS)
    drawn = {**DRAWN, "scored_rows": "test"}
    for divided in ({"kind": "training_test", "trials": 1}, drawn):
        check_division("mine.yaml", divided, [Task((books,), dvd)], DATASETS)
        with pytest.raises(ConfigError, match=r"mine\.yaml: protocol: digits\.full has no divi"):
            check_division("mine.yaml", divided, [Task((books,), full)], DATASETS)


def test_at_most_is_for_random_protocols():
    with pytest.raises(ConfigError, match="at_most: only protocols of kind random"):
        check_protocol("p", {"kind": "full_source", "trials": 1, "at_most": True}, {})
