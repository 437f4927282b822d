"""One table as CSV, Markdown, LaTeX and HTML."""

import csv
import io
import re

import pytest

from workflow.lib.report.tables.model import (
    Table,
    TableCell,
    TableColumn,
    latex_text,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    without_column,
)

SAMPLE = Table(
    name="a_b",
    caption="50 % of <all> & more",
    columns=(TableColumn("Task_1"), TableColumn("X|Y", numeric=True, scores=True)),
    rows=(
        (TableCell("A→C"), TableCell("33.4", 33.41, "0.6", 0.61, bold=True)),
        (TableCell("a|b\nc*"), TableCell("data not available", kind="absent")),
        (
            TableCell("partial"),
            TableCell("−1.0", -1.0, "2.0", 2.0, count="17/20", title='"t"', kind="partial"),
        ),
    ),
    footer=((TableCell("Average"), TableCell("16.2", 16.2)),),
    notes=("See #1.",),
)


def test_csv_has_numbers_in_full():
    rows = list(csv.reader(io.StringIO(to_csv(SAMPLE))))
    assert rows[0] == ["Task_1", "X|Y", "X|Y std", "X|Y trials ok", "X|Y status"]
    assert rows[1] == ["A→C", "33.41", "0.61", "", "ok"]
    assert rows[2] == ["a|b\nc*", "", "", "", "data not available"]
    assert rows[3] == ["partial", "-1", "2", "17/20", "partial"]


def test_csv_cells_of_a_number_column_are_numbers_or_empty():
    rows = (
        (TableCell("a"), TableCell("1.5", 1.5, error=0.1), TableCell("1.10", 1.1)),
        (TableCell("b"), TableCell("failed", count="0/3", kind="failed"), TableCell("out of time")),
        (TableCell("c"), TableCell("–"), TableCell("")),
    )
    columns = (TableColumn("n"), TableColumn("score", True, True), TableColumn("seconds", True))
    head, *lines = csv.reader(io.StringIO(to_csv(Table("t", "c", columns, rows))))
    numbers = [head.index(name) for name in ("score", "score standard error", "seconds")]
    assert [[line[i] for i in numbers] for line in lines] == [
        ["1.5", "0.1", "1.1"],
        ["", "", ""],
        ["", "", ""],
    ]
    words = [head.index(name) for name in ("score trials ok", "score status", "seconds status")]
    assert [[line[i] for i in words] for line in lines] == [
        ["", "ok", "ok"],
        ["0/3", "failed", "out of time"],
        ["", "not compared", ""],
    ]


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_csv_text_is_a_formula(text):
    table = Table(
        "t", "c", (TableColumn(text), TableColumn("x")), ((TableCell(text), TableCell("y")),)
    )
    for line in csv.reader(io.StringIO(to_csv(table), newline="")):
        assert line[0] == f"'{text}".replace("\r", "\n")


def test_negative_numbers_and_dashes_stay_as_they_are():
    columns = (TableColumn("a"), TableColumn("b", numeric=True))
    rows = ((TableCell("-3"), TableCell("−1.0", -1.0)), (TableCell("–"), TableCell("+0.4", 0.4)))
    lines = list(csv.reader(io.StringIO(to_csv(Table("t", "c", columns, rows)))))
    assert lines[1:] == [["-3", "-1"], ["–", "0.4"]]


def test_markdown_is_one_line_per_row():
    lines = to_markdown(SAMPLE).splitlines()
    assert lines[2] == r"| Task\_1 | X\|Y |"
    assert lines[3] == "| :--- | ---: |"
    assert lines[4] == "| A→C | **33.4** ± 0.6 |"
    assert lines[5] == r"| a\|b c\* | data not available |"
    assert lines[6] == "| partial | −1.0 ± 2.0 (17/20) |"


def test_markdown_says_what_its_columns_are():
    """What a page shows where one points at a name; columns of one meaning are told together."""
    columns = [
        TableColumn("Method"),
        TableColumn("Rank", True, title="mean over the tasks"),
        TableColumn("A", True, title="gap here"),
        TableColumn("B_1", True, title="gap here"),
    ]
    told = to_markdown(Table("t", "Caption.", columns, (), notes=("A note.",)))
    assert "\n\nColumns. Rank: mean over the tasks; A, B\\_1: gap here.\n\nA note.\n" in told
    assert "Columns." not in to_markdown(Table("t", "Caption.", columns[:1], ()))


def test_latex_is_booktabs_and_escaped():
    text = to_latex(SAMPLE)
    assert r"\caption{50 \% of \textless{}all\textgreater{} \& more}" in text
    assert r"A$\to$C & \textbf{33.4} $\pm$ 0.6 \\" in text
    assert r"a|b c* & \emph{data not available} \\" in text
    assert r"$-$1.0 $\pm$ 2.0 (17/20)" in text
    assert r"\label{tab:a-b}" in text
    assert text.count(r"\midrule") == 2
    assert text.count("{") == text.count("}")


def test_latex_escapes_every_special_character():
    assert latex_text(r"\&%$#_{}~^") == (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}"
    )


def test_html_is_escaped_and_sortable():
    html = str(to_html(SAMPLE))
    assert "50 % of &lt;all&gt; &amp; more" in html
    assert "data-sort='33.41'" in html
    assert "title='&#34;t&#34;'" in html
    assert html.count("<button type='button'>") == 2
    # What has no value has no sort key, so it stays below.
    absent = re.search(r"<td[^>]*>data not available", html).group(0)
    assert "data-sort" not in absent
    assert "<tfoot>" in html


def test_equal_absent_neighbours_are_joined():
    gone = TableCell("data not available", kind="absent")
    table = Table(
        "t", "c", tuple(TableColumn(str(i), i > 0) for i in range(4)), ((EMPTY_LABEL, *[gone] * 3),)
    )
    html = str(to_html(table))
    assert html.count("data not available") == 1
    assert "colspan='3'" in html


EMPTY_LABEL = TableCell("row")


def test_without_column():
    table = without_column(SAMPLE, "X|Y")
    assert [len(row) for row in (table.columns, *table.rows, *table.footer)] == [1] * 5
