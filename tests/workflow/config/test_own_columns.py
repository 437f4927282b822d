"""Columns of one's own tables: marks of each file, names that fit, columns that all have."""

import pytest

from workflow.lib.config.own_columns import (
    OwnDataError,
    keep_shared,
    leaving_out,
    marks,
    named_columns,
    nearest,
    not_in_all,
    shared,
    tables,
    told_not_in_all,
)

HELD = {"a": ["x", "y", "z"], "b": ["z", "x"], "c": ["x", "z", "w"]}


@pytest.fixture
def two(tmp_path):
    """A file of semicolons and decimal commas, and one of commas and decimal points."""
    (tmp_path / "a.csv").write_text("x;y;kind\n1,5;2,25;u\n3,5;4;v\n")
    (tmp_path / "b.csv").write_text("x,y,kind\n1.5,2.25,u\n3.5,4,v\n")
    return tmp_path / "a.csv", tmp_path / "b.csv"


def test_the_decimal_mark_is_that_of_each_file(two):
    assert [marks(path, {}) for path in two] == [(None, ","), (None, ".")]
    assert list(tables(two, {}).values()) == [["x", "y", "kind"]] * 2
    assert marks(two[0], {"decimal": ".", "separator": ";"}) == (";", ".")


@pytest.mark.parametrize("told", [{"decimal": ","}, {"separator": ";"}])
def test_a_mark_that_fits_one_file_alone_is_refused_with_the_other(two, told):
    with pytest.raises(OwnDataError, match=r"b\.csv: with --.* Leave the option out"):
        tables(two, told)


def test_names_with_commas_are_several_unless_a_column_is_called_that():
    held = {"p": ["a", "b", "c", "a,b"], "q": ["c"]}
    assert named_columns({"drop": ["b, c"]}, held)["drop"] == ["b", "c"]
    assert named_columns({"drop": ["a,b"], "separator": ";"}, held) == {
        "drop": ["a,b"],
        "separator": ";",
    }


def test_a_name_that_would_be_a_pattern_is_that_column():
    held = {"p": ["mass [kg]", "mass k", "a,b*", "a,bc"]}
    for told in ("mass [kg]", "a,b*"):
        assert named_columns({"drop": [told]}, held)["drop"] == [told]


@pytest.mark.parametrize("told", ["weigth", "size,weigth"])
def test_a_name_that_fits_nothing_is_answered_with_the_nearest(told):
    held = {"p": ["size", "weight"]}
    expected = r"--drop weigth: no column .* Did you mean 'weight'\? Columns: size, weight\."
    with pytest.raises(OwnDataError, match=expected):
        named_columns({"drop": [told]}, held)


def test_the_nearest_name_does_not_mind_case():
    assert nearest("staus", ["age", "status"]) == " Did you mean 'status'?"
    assert nearest("STATUS ", ["age", "status"]) == " Did you mean 'status'?"
    assert nearest("kind", ["age", "status"]) == ""


def test_columns_that_some_lack_are_told_with_the_files_that_have_them():
    assert shared(HELD) == ["x", "z"]
    apart = not_in_all(HELD)
    assert apart == {"y": ["a"], "w": ["c"]}
    files = {"a": "a.csv", "b": "b.csv", "c": "c.csv"}
    assert told_not_in_all(apart, files) == "'y' only in a.csv; 'w' only in c.csv"
    assert leaving_out(apart) == "--shared-columns (or --drop y --drop w)"
    assert leaving_out({f"{n}": [] for n in range(9)}) == "--shared-columns"


def test_shared_columns_are_kept_by_dropping_the_others_as_names():
    entry = {"domains": {"a": {"params": {"drop": ["q*"]}}, "b": {"params": {}}}}
    keep_shared(entry, {"a": ["x", "y[1]"], "b": ["x"]})
    assert entry["domains"]["a"]["params"]["drop"] == ["q*", "y[1]"]
    assert entry["domains"]["b"]["params"] == {}


def test_without_a_shared_column_nothing_is_left():
    with pytest.raises(OwnDataError, match="no column is in all files: a has x; b has y"):
        keep_shared({}, {"a": ["x"], "b": ["y"]})
