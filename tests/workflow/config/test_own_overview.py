"""What is said of one's own files before the run: what was read, and what is odd in it."""

import numpy as np
import pandas as pd
import pytest

from workflow.lib.config.own_data import Asked, configuration
from workflow.lib.config.own_overview import overview


def table(n=24, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["size", "weight"])
    frame["colour"] = np.where(np.arange(n) % 3, "red", "blue")
    kinds = ["ash" if i % 2 else "elm" for i in range(n)]
    return frame.assign(**{"kind": kinds, **columns})


@pytest.fixture
def said(tmp_path):
    """Function that writes tables, the target last, and returns the lines that are said."""

    def lines(changes=None, **tables):
        paths = [tmp_path / f"{name}.csv" for name in tables]
        for path, frame in zip(paths, tables.values(), strict=True):
            frame.to_csv(path, index=False)
        asked = Asked(**{"name": "mine", "paths": tuple(paths), "label": "kind", **(changes or {})})
        return overview(configuration(asked))

    return lines


def test_roles_rows_labels_features_and_empty_cells_are_told(said):
    new = table(20, kind="")
    new.loc[:2, "kind"] = ["ash", "elm", "elm"]
    new.loc[3:5, "size"] = None
    assert said(old=table(), new=new) == [
        "read:",
        "  old.csv: source, 24 rows, 24 labelled: ash 12, elm 12",
        "  new.csv: target, 20 rows, 3 labelled: ash 1, elm 2",
        "  features: 4, made of 3 columns: size, weight, colour (2 kinds)",
        "  empty cells: new.csv 3; filled by the column's median in the same file, of text by the "
        "most frequent",
        "  target labels: methods see the 3 that there are, as labels to learn",
    ]


@pytest.mark.parametrize(
    ("target", "changes", "expected"),
    [
        (table(), {}, "hidden from all methods, used to check the answer alone"),
        (table().drop(columns="kind"), {}, "none"),
        (
            table(),
            {"shown": 2},
            "methods see 2 times as many as classes, of rows drawn at random; the others check the "
            "answer",
        ),
    ],
)
def test_it_is_told_who_sees_the_targets_labels(said, target, changes, expected):
    assert f"  target labels: {expected}" in said(changes, old=table(), new=target)


def test_rows_that_are_left_out_are_not_counted(said):
    old, new = table(30), table(24)
    old.loc[:5, "size"] = new.loc[:9, "size"] = None
    new.loc[10:, "kind"] = ""
    lines = said({"missing": "drop"}, old=old, new=new)
    assert lines[1:3] == [
        "  old.csv: source, 24 of 30 rows, 24 labelled: ash 12, elm 12",
        "  new.csv: target, 14 of 24 rows, 0 labelled",
    ]
    assert "  empty cells: old.csv 6, new.csv 10; their rows are left out" in lines
    assert "  target labels: none" in lines


def test_domains_of_one_file_are_told_apart(said):
    both = pd.concat([table(site="Ulm"), table(site="Bonn")])
    lines = said({"domain": "site", "target": "Bonn"}, all=both)
    assert lines[1].startswith("  all.csv [Ulm]: source, 24 rows")
    assert lines[2].startswith("  all.csv [Bonn]: target, 24 rows")
    assert "  empty cells: none" in lines


def test_sources_that_become_one_are_told_by_their_files(said):
    lines = said(a=table(), b=table(30), target=table())
    assert lines[1:5] == [
        "  a.csv: source, 24 rows, 24 labelled: ash 12, elm 12",
        "  b.csv: source, 30 rows, 30 labelled: ash 15, elm 15",
        "  the sources are put together into one of 54 rows",
        "  target.csv: target, 24 rows, 24 labelled: ash 12, elm 12",
    ]


def test_arrays_have_no_columns_to_tell(tmp_path):
    for name in ("a", "b"):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(24, 3), kind=np.arange(24) % 2)
    paths = (tmp_path / "a.npz", tmp_path / "b.npz")
    lines = overview(configuration(Asked("mine", paths, "kind", features="X")))
    assert lines[1] == "  a.npz: source, 24 rows, 24 labelled: 0 12, 1 12"
    hidden = "  target labels: hidden from all methods, used to check the answer alone"
    assert lines[3:] == ["  features: 3", hidden]


def test_a_decimal_comma_is_told(said, tmp_path):
    (tmp_path / "c.csv").write_text("kind;size\n" + "ash;1,5\nelm;2,5\n" * 12)
    asked = Asked("mine", (tmp_path / "c.csv", tmp_path / "b.csv"), "kind")
    table()[["size", "kind"]].to_csv(tmp_path / "b.csv", index=False)
    lines = overview(configuration(asked))
    assert lines[1].endswith("; decimal comma")
    assert "comma" not in lines[2]


def test_many_files_and_warnings_stay_few_lines(said):
    ids = {f"n{i}_id": range(100 * i, 100 * i + 24) for i in range(9)}
    lines = said(
        **{f"s{i}": table(**ids) for i in range(9)}, last=table(**ids).drop(columns="kind")
    )
    assert len(lines) <= 16
    assert "  and 6 more sources" in lines
    assert any(line.startswith("  last.csv: target") for line in lines)
