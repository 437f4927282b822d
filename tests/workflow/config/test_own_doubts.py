"""Each oddity of one's own files is told with what to do; plain files have none."""

import numpy as np
import pandas as pd
import pytest

from tests.workflow.config.test_own_overview import table
from workflow.lib.config.own_data import Asked, configuration
from workflow.lib.config.own_doubts import doubts
from workflow.lib.config.own_overview import read_again


def doubted(folder, source, target, **changes):
    source.to_csv(folder / "a.csv", index=False)
    target.to_csv(folder / "b.csv", index=False)
    asked = Asked("mine", (folder / "a.csv", folder / "b.csv"), "kind", **changes)
    return doubts(read_again(configuration(asked)))


def test_plain_files_raise_no_doubt(tmp_path):
    counts = {"count": np.arange(24) % 5}
    assert doubted(tmp_path, table(**counts), table(**counts)) == []


SHUFFLED = np.random.default_rng(0).permutation(24)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("number", range(1000, 1024), range(5000, 5024)),
        ("number", SHUFFLED, 100 + SHUFFLED),
        ("number", 2 * SHUFFLED, 100 + 2 * SHUFFLED),  # leave out 23 of 47
        ("number", np.arange(24) ** 2, 10_000 - np.arange(24) ** 2),
        ("PatientID", SHUFFLED**3, 10**6 + SHUFFLED**3),
        ("id", SHUFFLED**3, 10**6 + SHUFFLED**3),
    ],
)
def test_a_number_of_the_sample_is_no_feature(tmp_path, name, first, second):
    (told,) = doubted(tmp_path, table(**{name: first}), table(**{name: second}))
    assert f"column {name!r} (a.csv, b.csv) has another whole number in every row" in told
    assert told.endswith(f"--drop {name}")
    assert doubted(tmp_path, table(), table()) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (SHUFFLED**3, 10**6 + SHUFFLED**3),  # neither in order nor close
        # In one file in order, in the other not, nor close: they leave out 25 of 49.
        (range(24), 100 + 2 * SHUFFLED + 2 * (SHUFFLED == 23)),
        (range(24), range(24)),  # the same in both files
        (np.arange(24) + 0.5, np.arange(24) + 100.5),
        ([1.0, np.nan, *range(3, 25)], range(100, 124)),
    ],
)
def test_other_columns_of_numbers_are_features(tmp_path, first, second):
    assert doubted(tmp_path, table(count=first), table(count=second)) == []


@pytest.mark.parametrize("unit", ["%", " kg", "°C", " km/h"])
def test_numbers_with_a_unit_behind_each_are_told(tmp_path, unit):
    tables = [table(load=[f"{n % 5 + first}.5{unit}" for n in range(24)]) for first in (0, 2)]
    (told,) = doubted(tmp_path, *tables)
    assert told.startswith(f"column 'load' (a.csv, b.csv) holds numbers with {unit.strip()!r}")
    assert "its 7 different texts become kinds without an order" in told
    assert doubted(tmp_path, *tables, reading={"categorical": ["load"]}) == []


@pytest.mark.parametrize(
    "kinds",
    [("2 doors", "4 doors"), ("1st", "2nd", "3rd"), ("3x", "ash", "5x"), ("a1", "a2", "a3")],
    ids=["two", "other endings", "some", "numbers at the end"],
)
def test_other_texts_with_numbers_are_kinds(tmp_path, kinds):
    tables = [table(size=[kinds[n % len(kinds)] for n in range(24)]) for _ in range(2)]
    assert doubted(tmp_path, *tables) == []


def test_columns_of_one_file_are_told_with_what_it_costs(tmp_path):
    few = table(kind="")
    few.loc[:5, "kind"] = ["ash", "elm"] * 3
    (told,) = doubted(tmp_path, table(extra=0.5), few)
    assert told.startswith("columns that not all files have: 'extra' only in a.csv. So only 8 meth")
    assert "--shared-columns (or --drop extra) compares 15 methods on the 3 columns" in told
    assert doubted(tmp_path, table(extra=0.5), few, shared_columns=True) == []
    (full,) = doubted(tmp_path, table(extra=0.5), few, budget="full")
    assert "only those that apply" in full


def test_columns_that_are_paired_by_order_are_told(tmp_path):
    other = pd.DataFrame({"p": np.arange(24) % 7, "q": 0.5, "r": 1.5, "s": 2.5})
    (told,) = doubted(tmp_path, table(), other)
    assert told == "no column has the same name in all files: columns are paired by their order"


def test_classes_that_are_written_differently_or_rare(tmp_path):
    source = table()
    source.loc[0, "kind"] = "Elm"
    told = doubted(tmp_path, source, table())
    assert told[0].startswith("classes 'Elm', 'elm' differ in case or spaces alone")
    assert told[1].startswith("classes with fewer than 5 labelled rows in the sources: Elm 1.")


def test_a_class_that_may_mean_none_is_told_with_what_to_say(tmp_path):
    source = table()
    source.loc[0, "kind"] = "NA"
    (told,) = [one for one in doubted(tmp_path, source, table()) if "counts as a class" in one]
    assert told == ("'NA' counts as a class; if it means that there is no label: --unlabelled NA")


def test_rare_classes_are_those_of_all_sources_together_whatever_the_target_has(tmp_path):
    """The target's labels are not what a classifier learns a class from."""
    some = table(10)
    some["kind"] = ["ash"] * 4 + ["elm"] * 5 + ["oak"]
    paths = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "target.csv"
    for path, frame in zip(paths, (some, some[1:], table(24)), strict=True):
        frame.to_csv(path, index=False)
    (told,) = [
        told
        for told in doubts(read_again(configuration(Asked("mine", paths, "kind"))))
        if told.startswith("classes with fewer")
    ]
    assert "in the sources: oak 2." in told
    (told,) = [t for t in doubted(tmp_path, some, table(40)) if t.startswith("classes with fewer")]
    assert "in the sources: ash 4, oak 1." in told


def test_a_small_target_is_told(tmp_path):
    (told,) = doubted(tmp_path, table(), table(19))
    assert told.startswith("the target has 19 rows, fewer than 20")
    assert doubted(tmp_path, table(), table(20)) == []


def test_dates_that_become_many_features_are_told(tmp_path):
    days = [f"2020-01-{day:02}" for day in range(1, 14)]
    dates = [*days, *days[:11]]
    (told,) = doubted(tmp_path, table(visit=dates), table(visit=dates))
    assert told.startswith("column 'visit' (a.csv, b.csv) holds 13 different texts")
    assert told.endswith("--drop visit")


def test_classes_that_no_label_of_the_target_names_are_told(tmp_path):
    some = table()
    names = sorted(set(some["kind"]))
    some["kind"] = [names[0] if place < 8 else "" for place in range(len(some))]
    (told,) = doubted(tmp_path, table(), some)
    assert told.startswith(f"the target's labels name no {names[1]}")
    assert "says nothing of these classes" in told
