"""Tasks of an experiment: what a file lists, their names and labels."""

import pytest

from workflow.lib.config.reading import ConfigError
from workflow.lib.config.tasks import (
    DomainRef,
    Task,
    check_domains,
    check_task_names,
    known_domain,
    listed_tasks,
)

DATASETS = {
    "surf": {"domains": {"amazon": {"short": "A"}, "dslr": {"short": "D"}, "webcam": {}}},
    "decaf": {"domains": {"amazon": {"short": "A"}, "dslr": {"short": "D6"}}},
}


def tasks_of(*entries):
    return tuple(listed_tasks("mine", entries, DATASETS))


def surf(name):
    return DomainRef("surf", name)


def test_domains_are_named_by_dataset_and_domain():
    ref = DomainRef.parse("surf.amazon")
    assert ref == surf("amazon")
    assert str(ref) == "surf.amazon"
    assert DomainRef.parse("gas.batch.1").domain == "batch.1"


def test_names_and_labels():
    (one, several, mixed) = tasks_of(
        {"source": "surf.amazon", "target": "surf.webcam"},
        {"source": ["surf.amazon", "surf.dslr"], "target": "surf.webcam"},
        {"source": "surf.webcam", "target": "decaf.dslr"},
    )
    assert (one.name, one.label(DATASETS)) == ("amazon-webcam", "A→webcam")
    assert (several.name, several.label(DATASETS)) == ("amazon+dslr-webcam", "A+D→webcam")
    assert (mixed.name, mixed.label(DATASETS)) == ("surf.webcam-decaf.dslr", "webcam→D6")
    assert several.domains == (surf("amazon"), surf("dslr"), surf("webcam"))


def test_all_pairs_are_ordered_pairs():
    names = [task.name for task in tasks_of({"all_pairs": "surf"})]
    assert len(names) == len(set(names)) == 6
    assert {"amazon-dslr", "dslr-amazon"} < set(names)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"all_pairs": "surff"}, "mine: tasks.all_pairs: unknown dataset 'surff'. Did you mean"),
        ({"source": "surf.amzon", "target": "surf.dslr"}, "surf.amzon: unknown domain of surf"),
        ({"source": "sruf.amazon", "target": "surf.dslr"}, "unknown dataset 'sruf'"),
    ],
)
def test_unknown_names_are_told(entry, expected):
    with pytest.raises(ConfigError) as caught:
        tasks_of(entry)
    assert expected in str(caught.value)


def test_a_known_domain_is_returned():
    assert known_domain("mine", "decaf.dslr", DATASETS) == DomainRef("decaf", "dslr")


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (Task((surf("amazon"),), surf("amazon")), "surf.amazon is source and target of one task"),
        (Task((surf("amazon"),) * 2, surf("dslr")), "surf.amazon is named twice as a source"),
    ],
)
def test_a_task_that_shows_its_own_answer_or_repeats_itself(task, expected):
    with pytest.raises(ConfigError, match=expected):
        check_domains("mine", (task,), DATASETS)


def test_one_label_for_two_sources_is_refused_and_for_a_source_and_a_target_is_not():
    decaf = DomainRef("decaf", "amazon")
    check_domains("mine", (Task((surf("amazon"),), decaf),), DATASETS)
    twice = (Task((surf("amazon"),), surf("dslr")), Task((decaf,), surf("dslr")))
    with pytest.raises(
        ConfigError, match=r"surf\.amazon and decaf\.amazon have the same label 'A'"
    ):
        check_domains("mine", twice, DATASETS)


def test_names_of_tasks_are_checked_wherever_they_are_used():
    (task,) = tasks_of({"source": "surf.amazon", "target": "surf.dslr"})
    check_task_names("mine", {}, (task,))
    with pytest.raises(ConfigError, match="'amazon-dslr' is listed twice"):
        check_task_names("mine", {}, (task, task))
    alike = [DomainRef("decaf", domain) for domain in ("amazon", "dslr")]
    with pytest.raises(ConfigError, match="surf and decaf both have a task 'amazon-dslr', and"):
        check_task_names("mine", {}, (task, Task((alike[0],), alike[1])))
    with pytest.raises(ConfigError, match=r"picture\.task: unknown task .* 'amazon-dsl'"):
        check_task_names("mine", {"picture": {"task": "amazon-dsl"}}, (task,))
    with pytest.raises(ConfigError, match=r"timing\.tasks: unknown task"):
        check_task_names("mine", {"timing": {"tasks": ["x"]}}, (task,))
