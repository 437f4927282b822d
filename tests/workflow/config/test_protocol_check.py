"""Keys of a protocol that need or exclude each other."""

import pytest

from workflow.lib.config.protocol_check import (
    check_division,
    check_protocol,
    shows_target_labels,
)
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.tasks import DomainRef, Task

DATASETS = {
    "reviews": {"domains": {"books": {"training_samples": 3}, "dvd": {"training_samples": 4}}},
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
        {**DRAWN, "scored_rows": "test", "preprocess_rows": "seen"},
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
        (
            {**DRAWN, "scored_rows": "test", "target_share": 0.5},
            "p.target_share: scored_rows: test",
        ),
        (
            {**DRAWN, "scored_rows": "test", "preprocess_rows": "all"},
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
