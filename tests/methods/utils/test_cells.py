"""Cells of tables mean the same to the command and to the benchmark's loader."""

import math

import pytest
from domain_alignment.cli._tables import read_samples
from domain_alignment.utils.cells import category, number, spelled

from workflow.loaders._columns import codings
from workflow.loaders._tables import read_table

CELLS = "size,open,kind\n1,true,red\nNA,False,NA\n n/a ,TRUE,\nnull,false, 3.0\n2.5,true,nan\n"


@pytest.mark.parametrize("cell", ["tall", "2,5", "1_000", "inf", "-Infinity"])
def test_what_is_no_finite_number_is_refused(cell):
    with pytest.raises(ValueError):  # noqa: PT011  (Python's own words, which callers replace)
        number(cell)


def test_names_have_one_spelling():
    assert [spelled(name) for name in (3, 3.0, b"3", "3.", None)] == ["3"] * 4 + [""]
    assert [category(cell) for cell in ("NaN", " red ", math.nan)] == [None, "red", None]


@pytest.mark.parametrize("mark", [",", ";", "|", "\t"])
def test_both_readers_find_the_same(mark, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(CELLS.replace(",", mark))
    table = read_table(path, ["kind"])
    asked = {"where": "new.csv", "missing": "median", "categorical": ("kind",)}
    coding = codings({"own": table}, {"own": asked})["own"]
    assert coding.categories == {"kind": ("3", "NA", "red")}
    assert coding.fills["size"] == 1.75
    X, _ = read_samples(path, list(coding.columns), 3, text=[2])
    assert X[:, 2].tolist() == ["red", "NA", None, "3", None]
    assert X[:, 1].tolist() == [1, 0, 1, 0, 1]
    found = [None if math.isnan(value) else value for value in X[:, 0]]
    assert found == [1, None, None, None, 2.5]
