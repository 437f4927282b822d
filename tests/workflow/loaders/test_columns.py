"""Columns of tables: one order and one coding in all domains, nothing filled in unasked."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

from workflow.loaders._columns import (
    Coding,
    check_cells,
    chosen_columns,
    codings,
)
from workflow.loaders._pairing import HalfSharedError


def asked(tables, **changes):
    base = {"where": "t.csv", "categorical": (), "missing": "error"}
    return dict.fromkeys(tables, base | changes)


def encoded(tables, domain, **changes):
    coding = codings(tables, asked(tables, **changes))[domain]
    return coding.encode(tables[domain], "t.csv")[0]


A = pd.DataFrame({"x": [1.0, 2.0], "colour": ["red", "blue"], "on": [True, False]})
B = pd.DataFrame({"on": [False, True], "x": [3.0, 4.0], "colour": ["green", "red"]})


def test_domains_with_the_same_names_have_one_order_and_one_coding():
    both = {"a": A, "b": B}
    found = codings(both, asked(both))
    names = ["x", "colour=blue", "colour=green", "colour=red", "on"]
    assert found["a"].feature_names == found["b"].feature_names == names
    assert encoded(both, "a").tolist() == [[1, 0, 0, 1, 1], [2, 1, 0, 0, 0]]
    assert encoded(both, "b").tolist() == [[3, 0, 1, 0, 0], [4, 0, 0, 1, 1]]


def test_domains_with_other_names_keep_theirs():
    both = {"a": A, "b": pd.DataFrame({"p": [1.0], "q": [2.0]})}
    assert codings(both, asked(both))["b"].columns == ("p", "q")


def test_equally_many_features_of_which_some_have_other_names_are_refused():
    both = {
        "a": pd.DataFrame({"x": [1.0], "y": [1.0]}),
        "b": pd.DataFrame({"x": [1.0], "z": [1.0]}),
    }
    with pytest.raises(HalfSharedError, match="'b' has 'z' where 'a' has 'y'"):
        codings(both, asked(both))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            [1.0, "red"],
            r"column 'x': 'red' is not a number \(row 1\).*categorical: \[\"x\"\]",
        ),
        (["1,5", "2,5"], r"'1,5' is not a number .* decimal comma\? Save them as numbers"),
        (["1,234", "2,345,678.5"], r"'1,234' is not a number .* Commas between the thousands\?"),
        (["1,234", "2,5"], r"'1,234' is not a number .* decimal comma\?"),
        (
            pd.to_datetime(["2020-01-01", None]).tz_localize("UTC"),
            r"column 'x' holds times.*`drop: \[\"x\"\]`",
        ),
        (pd.to_timedelta([1, 2]), "column 'x' holds times"),
        ([1.0, np.inf], r"column 'x': infinite in row 1"),
        ([1.0, None], r"column 'x': 1 of 2 cells hold no value \(first in row 1.*`missing: drop`"),
        (["a", ""], r"column 'x': 1 of 2 cells hold no value"),
    ],
)
def test_a_cell_that_is_no_feature_is_named(column, message):
    with pytest.raises(ValueError, match=message):
        encoded({"a": pd.DataFrame({"x": column})}, "a")


@pytest.mark.parametrize(
    ("separator", "remedy"),
    [(",", "Say `separator: ','` and `decimal: ','`"), (";", "Say `decimal: ','`")],
)
def test_decimal_commas_are_answered_by_what_divides_the_columns(separator, remedy):
    table = pd.DataFrame({"x": ["1,5", "2,5"]})
    table.attrs["separator"] = separator
    with pytest.raises(ValueError, match=remedy):
        encoded({"a": table[["x"]]}, "a")


def test_the_remedy_for_a_name_of_quotes_is_of_the_form_of_an_entry():
    name = "5' 7\" h"
    with pytest.raises(ValueError, match="holds no value at all") as told:
        codings({"a": pd.DataFrame({name: [None, None]})}, asked({"a": 0}, missing="median"))
    assert yaml.safe_load(str(told.value).split("`")[1]) == {"drop": [name]}


def test_a_name_that_would_be_a_pattern_is_that_column():
    held = ["mass [kg]", "mass k", "y"]
    assert chosen_columns("t", held, None, ["mass [kg]"]) == ["mass k", "y"]
    assert chosen_columns("t", held, "mass [kg]", []) == ["mass [kg]"]
    table = pd.DataFrame([[1.0, 2.0], [2.0, 3.0]], columns=held[:2])
    found = codings({"a": table}, asked({"a": 0}, categorical=["mass [kg]"]))["a"]
    assert list(found.categories) == ["mass [kg]"]
    check_cells(table.assign(**{"mass [kg]": "x1"}), asked({"a": 0}, categorical=held[:1])["a"])


def test_numbers_that_name_kinds_are_categories_when_asked():
    table = pd.DataFrame({"zip": ["01", "10", "01"]})
    assert encoded({"a": table}, "a").ravel().tolist() == [1, 10, 1]
    assert encoded({"a": table}, "a", categorical=["z*"]).tolist() == [[1, 0], [0, 1], [1, 0]]


def test_a_column_of_names_of_samples_is_refused():
    table = pd.DataFrame({"x": range(30), "name": [f"s{n}" for n in range(30)]})
    with pytest.raises(ValueError, match=r"'name' holds 30 different texts in 30 rows.*drop"):
        codings({"a": table}, asked({"a": 0}))
    assert encoded({"a": table}, "a", categorical=["name"]).shape == (30, 31)


GAPS = pd.DataFrame({"x": [1.0, np.nan, 2.0, 6.0, 1.0], "k": ["u", "v", None, "v", "v"]})


@pytest.mark.parametrize(
    ("missing", "fill"), [("mean", 2.5), ("median", 1.5), ("most_frequent", 1.0)]
)
def test_missing_cells_are_filled_from_their_own_domain(missing, fill):
    other = pd.DataFrame({"x": [100.0], "k": ["u"]})
    X = encoded({"a": GAPS, "b": other}, "a", missing=missing)
    assert X[1].tolist() == [fill, 0, 1]
    assert X[2].tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="column 'x' holds no value at all"):
        encoded({"a": GAPS.assign(x=np.nan)}, "a", missing=missing)


def test_rows_with_missing_cells_are_dropped_when_asked():
    coding = codings({"a": GAPS}, asked({"a": 0}, missing="drop"))["a"]
    X, kept = coding.encode(GAPS, "t.csv")
    assert kept.tolist() == [0, 3, 4]
    assert X[:, 0].tolist() == [1, 6, 1]


def test_a_coding_survives_json_and_codes_new_rows():
    both = {"a": A, "b": B}
    coding = codings(both, asked(both, missing="mean"))["a"]
    again = Coding.of(json.loads(json.dumps(coding.as_dict())))
    assert again == coding
    new = pd.DataFrame(
        {"colour": ["violet", None], "extra": [1, 2], "on": ["True", ""], "x": [7, 8]}
    )
    X, _ = again.encode(new, "new.csv")
    assert X.tolist() == [[7, 0, 0, 0, 1], [8, 1, 0, 0, 0.5]]
    with pytest.raises(ValueError, match=r"new\.csv: no column 'x'"):
        again.encode(new.drop(columns="x"), "new.csv")


def test_chosen_columns():
    held = ["x1", "x2", "id"]
    assert chosen_columns("t", held, None, ["id"]) == ["x1", "x2"]
    assert chosen_columns("t", held, "x*", []) == ["x1", "x2"]
    assert chosen_columns("t", held, ["x2", "x1"], []) == ["x2", "x1"]
    with pytest.raises(ValueError, match="no column to drop that fits 'z'"):
        chosen_columns("t", held, None, ["z"])
    with pytest.raises(ValueError, match="no column is left"):
        chosen_columns("t", held, ["x1"], ["x*"])


def test_cells_that_can_be_no_feature_in_any_company_are_refused():
    check_cells(A, asked({"a": A})["a"])
    table = pd.DataFrame({"x": [1.0, None], "kind": [f"k{n}" for n in range(2)]})
    with pytest.raises(ValueError, match="column 'x': 1 of 2 cells hold no value"):
        check_cells(table, asked({"a": 0})["a"])
    check_cells(table, asked({"a": 0}, missing="mean")["a"])
    with pytest.raises(ValueError, match=r"'b' is not a number \(row 1\)"):
        check_cells(pd.DataFrame({"x": ["1", "b"]}), asked({"a": 0})["a"])


def test_empty_cells_of_the_columns_are_counted():
    table = pd.DataFrame({"x": [1.0, None], "c": ["", "red"], "other": [None, None]})
    assert Coding(("x", "c"), {"c": ("red",)}).empty_cells(table, "t.csv") == 2
