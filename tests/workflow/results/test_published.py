import pytest

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.results.published import FROM_MEMORY, PublishedTableError, read_published

SUITE = load_suite(PROJECT)


def test_a_wrong_published_table_names_its_line(tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("source,target,method,mean,std\nA,C,x,50,\nA,D,x,fifty,\n")
    with pytest.raises(PublishedTableError, match=r"wrong.csv: line 3: .*'fifty'.*in percent"):
        read_published(path)


def test_where_a_number_is_not_from_the_page_the_file_says_from_where(tmp_path):
    path = tmp_path / "table.csv"
    head = "source,target,method,mean,std,entered\n"
    path.write_text(f"{head}A,C,x,50,,from memory\nA,D,x,51,,\n")
    assert [row["entered"] for row in read_published(path)] == [FROM_MEMORY, ""]
    path.write_text(f"{head}A,C,x,50,,from hearsay\n")
    with pytest.raises(PublishedTableError, match=r"line 2: .*'from hearsay'.*from memory"):
        read_published(path)


@pytest.mark.parametrize(
    "path", sorted((PROJECT / "config/published").glob("*.csv")), ids=lambda path: path.stem
)
def test_the_published_tables_of_the_project(path):
    rows = read_published(path)
    cells = [(row["source"], row["target"], row["method"]) for row in rows]
    assert len(set(cells)) == len(cells)
    assert all(0 < row["mean"] <= 100 for row in rows)


@pytest.mark.parametrize("name", [n for n, e in SUITE.experiments.items() if e.audit])
def test_what_a_note_says_nobody_checked_is_marked(name):
    audit = SUITE.experiments[name].audit
    rows = read_published(PROJECT / "config/published" / audit["published"])
    for column, entry in audit.get("columns", {}).items():
        if "not checked against" in " ".join((entry.get("note") or "").split()):
            entered = {row["entered"] for row in rows if row["method"] == column}
            assert entered == {FROM_MEMORY}, column


def test_the_mean_of_a_printed_column():
    rows = read_published(PROJECT / "config/published/fma_table1_surf.csv")
    printed = [row["mean"] for row in rows if row["method"] == "fma_i"]
    assert len(printed) == 12
    assert sum(printed) / 12 == pytest.approx(51.6, abs=0.05)
