"""Tables of own data: numbers as numbers, labels as text, no index as a feature."""

import csv

import numpy as np
import pandas as pd
import pytest

from workflow.loaders._tables import (
    column_names,
    decimal_mark,
    fitting,
    read_table,
    refuse_index,
    sniffed,
    told_row,
)


def written(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path, separator):
    rows = [["a", "long name", "y"], ["1", "2.5", "u"], ["3", '"x,y;z"', "v"]]
    path = written(tmp_path / "t.csv", "\n".join(separator.join(row) for row in rows))
    assert sniffed(path) == separator
    assert list(read_table(path, ["y"]).columns) == rows[0]


def test_separators_that_divide_alike_are_asked_for(tmp_path):
    path = written(tmp_path / "t.csv", "a,b;c\n1,2;3\n")
    with pytest.raises(ValueError, match=r"',' and ';' both divide the lines alike"):
        sniffed(path)
    assert list(read_table(path, [], separator=";").columns) == ["a,b", "c"]


def test_decimal_commas(tmp_path):
    path = written(tmp_path / "t.csv", "a;y\n1,5;u\n-2,25;v\n")
    assert read_table(path, ["y"], decimal=",")["a"].tolist() == [1.5, -2.25]


@pytest.mark.parametrize("odd", ["NA", "<36,0"])
def test_a_cell_that_is_no_number_leaves_the_decimal_commas_of_the_others_numbers(tmp_path, odd):
    path = written(tmp_path / "t.csv", f"a;b;y\n37,2;1,5;u\n{odd};2,5;1,5\n")
    table = read_table(path, ["y"], decimal=",")
    assert table["a"].tolist() == ["37.2", odd]
    assert table["b"].tolist() == [1.5, 2.5]
    assert table["y"].tolist() == ["u", "1,5"]


@pytest.mark.parametrize("row", ["5.5", "5.5,1"])
def test_a_row_with_too_few_cells_is_refused_with_its_line(tmp_path, row):
    path = written(tmp_path / "t.csv", f'a,b,y\n\n"1\n",2,u\n{row}\n')
    with pytest.raises(ValueError, match=r"t\.csv: line 5 has [12] cells for 3 columns"):
        read_table(path, ["y"])
    assert len(read_table(written(path, "a,b,y\n1,2,\n3,4,v\n"), ["y"])) == 2


def test_a_column_of_lists_is_refused_with_its_name(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [1.0, 2.0], "embedding": [[1.0, 2.0], [3.0, 4.0]]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"t\.parquet: column 'embedding' holds lists; .*`drop:"):
        read_table(path, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;y\n1,5;u\n2;v\n", ","),
        ("a;y\n-,5e-3;u\n", ","),
        ("a;y\n0,125;u\n", ","),
        ("a;y\n1.5;u\n", "."),
        ("a;y\n1,5;u\n1.5;v\n", "."),  # both: what is wrong is said of the cell
        ("a;y\n1,250;u\n", "."),  # thousands?
        ("a;y\n1;u\n", "."),
        ("a;y\n01.02.2020;u,v\n", "."),
        ('a,y\n"1,5",u\n', "."),
    ],
)
def test_the_decimal_mark_is_found(tmp_path, text, expected):
    path = written(tmp_path / "t.csv", text)
    assert decimal_mark(path) == expected
    assert decimal_mark(path, sniffed(path)) == expected


def test_text_stays_text_and_numbers_are_exact(tmp_path):
    path = written(tmp_path / "t.csv", "x,y\n0.1,NA\n1e-310,01\n,\nnan,1.0\n")
    table = read_table(path, ["y", "elsewhere"])
    assert table["y"].tolist() == ["NA", "01", "", "1.0"]
    assert table["x"][0] == 0.1
    assert table["x"][1] == 1e-310
    assert table["x"].isna().tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3\n4,5,6\n", r"the first line holds numbers \(1, 2, 3\)"),
        ("a,b\n", "no samples: only the first line"),
        ("a,b\n1,2,3\n", "names 2 columns .* second has 3 cells"),
        ("a,a\n1,2\n", "column 'a' stands twice"),
        ("a,b\n1,2\n1,2,3\n", "cannot be read as a table .*Expected 2 fields"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(written(tmp_path / "t.csv", text), ["y"])


def test_parquet_reads_as_csv_does(tmp_path):
    table = pd.DataFrame(
        {
            "x": [1.0, np.nan, 2.0],
            "n": pd.array([1, None, 3], dtype="Int64"),
            "kind": pd.Categorical(["a", None, "b"]),
            "y": [3, 4, 3],
        },
        index=[7, 3, 5],
    )
    table.to_parquet(tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet", ["y"])
    assert list(read.columns) == ["x", "n", "kind", "y"]
    assert read["y"].tolist() == ["3", "4", "3"]
    assert read["kind"].isna().tolist() == [False, True, False]
    assert read.index.tolist() == [0, 1, 2]
    (tmp_path / "t.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(ValueError, match=r"cannot be read as \.parquet"):
        read_table(tmp_path / "t.parquet", [])


def test_times_stay_times_to_be_refused_as_features_alone(tmp_path):
    pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]), "x": [1.0]}).to_parquet(
        tmp_path / "t.parquet"
    )
    assert read_table(tmp_path / "t.parquet", [])["t"].dtype.kind == "M"
    assert read_table(tmp_path / "t.parquet", ["t"])["t"].tolist() == ["2020-01-01 00:00:00"]


def test_blank_lines_of_one_column_are_cells_without_a_value(tmp_path):
    """Else the labels below would belong to the features above."""
    labels = written(tmp_path / "l.csv", "y\np\n\nq\n\n\n")
    assert read_table(labels, ["y"])["y"].tolist() == ["p", "", "q"]
    numbers = read_table(written(tmp_path / "n.csv", "\nx\n1\n\n3\nnan\n"), [])["x"]
    np.testing.assert_array_equal(numbers, [1, np.nan, 3, np.nan])
    two = read_table(written(tmp_path / "t.csv", "x,y\n1,p\n\n3,q\n\n"), ["y"])
    assert two["y"].tolist() == ["p", "q"]


def test_a_separator_is_one_character_or_any_blanks(tmp_path):
    path = written(tmp_path / "t.csv", "a  b\n1 \t2\n")
    assert list(read_table(path, [], separator=r"\s+").columns) == ["a", "b"]
    for several in ("ab", "::"):
        with pytest.raises(ValueError, match=f"separator '{several}' is no single character"):
            column_names(path, separator=several)
        with pytest.raises(ValueError, match=f"separator '{several}' is no single character"):
            read_table(path, [], separator=several)


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_line_longer_than_a_cell_may_be_is_divided(tmp_path, separator):
    names = [f"a_column_of_a_long_name_{number}" for number in range(6000)]
    names[3] += ";x"  # a mark that divides nothing else
    rows = [names, ["0.125"] * len(names), ["2.5"] * len(names)]
    path = written(tmp_path / "t.csv", "\n".join(separator.join(row) for row in rows))
    before = csv.field_size_limit()
    assert sniffed(path) == separator
    assert column_names(path) == names
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("blank", ["\n", "\r\n", " \n\n", "\ufeff\n"])
def test_blank_lines_above_the_names_are_passed_over(tmp_path, blank):
    path = written(tmp_path / "t.csv", f"{blank}a,y\n1,u\n2,v\n")
    assert read_table(path, ["y"]).to_dict("list") == {"a": [1, 2], "y": ["u", "v"]}
    assert column_names(path) == ["a", "y"]


@pytest.mark.parametrize(
    ("text", "row", "line"),
    [
        ("a,b\n1,2\n3,4\n", 1, 3),
        ("\n \na,b\n1,2\n\n\n3,4\n", 1, 7),
        ('a,b\n1,"x\ny\nz"\n3,4\n', 1, 5),
        ('a,"b\nc"\r\n1,2\r\n  \r\n3,4\r\n', 1, 5),
        ("a,b\n,\n3,4\n", 1, 3),
        ("a  b\n1 2\n   \n 3  4\n", 1, 4),
        ("\na\n1\n\n\n4\n", 3, 6),
    ],
)
def test_a_row_is_told_with_the_line_it_begins_in(tmp_path, text, row, line):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    table = read_table(path, ["b"], r"\s+" if "a  b" in text else ",")
    assert told_row(table[table.columns[0]][row:], row) == f"row {row}, line {line}"
    assert str(table.iloc[row, 0])[0] in text.splitlines()[line - 1]


def test_a_row_of_a_file_without_lines_is_told_without_one(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "a.parquet")
    assert told_row(read_table(tmp_path / "a.parquet", []), 1) == "row 1"
    long = tmp_path / "a.csv"
    long.write_text(f"a,b\n1,{'x' * 200_000}\n2,y\n", encoding="utf-8")
    assert told_row(read_table(long, ["b"], ","), 1) == "row 1"


def test_names_are_meant_as_spelled_before_they_are_patterns(tmp_path):
    names = ["m[1]", "m1", "x"]
    assert fitting("m[1]", names) == ["m[1]"]
    assert fitting("m[1]", names[1:]) == fitting("m*", names[1:]) == ["m1"]
    table = read_table(written(tmp_path / "t.csv", "m[1],m1,x\n01,02,3\n"), ["m[1]"])
    assert table.iloc[0].tolist() == ["01", 2, 3]


def test_xlsx_names_the_package_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ValueError, match="need the package openpyxl"):
        read_table(tmp_path / "t.xlsx", [])


@pytest.mark.parametrize(("name", "start"), [("", 0), ("", 1), ("Unnamed: 0", 0), ("id", 1)])
def test_a_first_column_that_counts_the_rows_is_refused(tmp_path, name, start):
    table = pd.DataFrame({name: range(start, start + 4), "x": [1.0, 2, 3, 4]})
    with pytest.raises(ValueError, match=r"counts the rows: an index.*`drop: \['"):
        refuse_index(tmp_path / "t.csv", table, [name, "x"])
    refuse_index(tmp_path / "t.csv", table, ["x"])


def test_a_feature_without_a_name_is_refused(tmp_path):
    table = pd.DataFrame({"": [5, 3, 4], "x": [1.0, 2, 3]})
    with pytest.raises(ValueError, match="the first column has no name"):
        refuse_index(tmp_path / "t.csv", table, ["", "x"])
    with pytest.raises(ValueError, match="column 2 has no name"):
        refuse_index(tmp_path / "t.csv", table[["x", ""]], ["", "x"])
    refuse_index(tmp_path / "t.csv", table.set_axis(["id", "x"], axis=1), ["id", "x"])


@pytest.mark.parametrize("separator", ["::", r"\t"])
def test_a_separator_of_several_characters_is_refused_in_words(separator, tmp_path):
    (tmp_path / "a.csv").write_text("x::y\n1::2\n")
    assert decimal_mark(tmp_path / "a.csv", separator) == "."
    with pytest.raises(ValueError, match="separator"):
        read_table(tmp_path / "a.csv", [], separator=separator)


def test_a_decimal_comma_is_found_in_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('x;y\n"1,5";2\n')
    assert decimal_mark(tmp_path / "a.csv") == ","
