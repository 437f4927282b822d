"""Labels of one's own files: what is wrong with them is said with the name that was meant."""

import pandas as pd
import pytest

from workflow.lib.config.own_columns import OwnDataError
from workflow.lib.config.own_labels import check_label, class_names, known_labels
from workflow.loaders import load_described
from workflow.loaders.generic import Reader

SOURCE = {"x": range(4), "kind": ["ash", "elm"] * 2}


def known(folder, target, source=SOURCE, unlabelled=("",), drop=(), missing="error"):
    """Names of the classes, and what is known of the target."""
    files = {"a.csv": pd.DataFrame(source), "b.csv": pd.DataFrame(target)}
    domains = {}
    for name, frame in files.items():
        frame.to_csv(folder / name, index=False)
        params = {"labels": "kind"} if "kind" in frame else {}
        params |= {"drop": [n for n in drop if n in frame]} if set(drop) & set(frame) else {}
        domains[name[0]] = {"files": [name], "params": params}
    entry = {
        "loader": "generic:load",
        "files": {name: {"path": str(folder / name)} for name in files},
        "params": {"unlabelled": list(unlabelled), "missing": missing},
        "domains": domains,
    }
    paths = {name: folder / name for name in files}
    names = class_names(Reader(entry, paths), ["a", "b"], "b", "kind")
    entry |= {"class_names": names, "classes": len(names)}
    labels = [load_described("mine", entry, domain, paths)[1] for domain in domains]
    return names, known_labels(entry, labels, "b")


@pytest.mark.parametrize(
    ("labels", "counts", "complete"),
    [
        (["ash", "elm", "elm"], {"ash": 1, "elm": 2}, True),
        (["ash", "", ""], {"ash": 1}, False),
        (["", "", ""], {}, False),
        (None, {}, False),
    ],
)
def test_what_is_known_of_the_target(tmp_path, labels, counts, complete):
    names, found = known(tmp_path, {"x": range(3)} | ({"kind": labels} if labels else {}))
    assert names == ["ash", "elm"]
    assert found.target_counts == counts
    assert found.target_complete is complete


def test_classes_that_are_numbers_are_in_their_order(tmp_path):
    names, _ = known(tmp_path, {"x": range(3)}, {"x": range(4), "kind": [10, 9, 10, 9]})
    assert names == ["9", "10"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            {"kind": ["ash", "?", "?"]},
            r"'\?' of the target \(2 rows, the first in row 1, line 3\)",
        ),
        ({"kind": ["ash", "?", "?"]}, r"if they mean unlabelled: --unlabelled '\?'"),
        (
            {"kind": ["Ash", "elm", "elm"]},
            r"'Ash' of the target \(1 row, .* did you mean 'ash'\?\)",
        ),
        ({"kind": ["Ash", "Elm", "Elm"]}, r"nor 'Elm' of the target \(2 rows"),
        ({"tree": ["ash", "elm", "elm"]}, r"no column 'kind', but 'tree' looks like its labels"),
        ({"Kind": [1, 2, 3]}, r"no column 'kind', but 'Kind' .* Call it 'kind' .* --drop Kind"),
    ],
)
def test_labels_of_the_target_that_no_source_has(tmp_path, target, expected):
    with pytest.raises(OwnDataError, match=expected):
        known(tmp_path, {"x": range(3), **target})


def test_what_means_unlabelled_or_is_left_out_is_not_refused(tmp_path):
    _, found = known(tmp_path, {"x": [1, 2], "kind": ["?", "ash"]}, unlabelled=["?"])
    assert found.target_counts
    for name in ("t", "t [x]"):  # as the refusal says it, though it is no pattern of itself
        _, found = known(tmp_path, {"x": [1, 2], name: ["ash", "elm"]}, drop=[name])
        assert not found.target_counts


@pytest.mark.parametrize("labels", [[-1, 0, 1] * 2, [-1, 1] * 3, [-1.0, 0.0, 1.0] * 2])
def test_minus_one_in_a_source_is_a_class_or_said_to_be_none(tmp_path, labels):
    source = {"x": range(6), "kind": labels}
    expected = r"a\.csv: -1 means unlabelled, and [23] of 6 rows .* --unlabelled=-1"
    with pytest.raises(OwnDataError, match=expected):
        known(tmp_path, {"x": range(3)}, source)


def test_minus_one_that_is_said_or_stands_in_the_target_alone_is_unlabelled(tmp_path):
    three, two = ({"x": range(6), "kind": kinds} for kinds in ([-1, 0, 1] * 2, [0, 1] * 3))
    names, found = known(tmp_path, three, three, unlabelled=["", "-1"])
    assert names == ["0", "1"]
    assert (found.target_counts, found.target_complete) == ({"0": 2, "1": 2}, False)
    assert known(tmp_path, three, two)[1] == found


@pytest.mark.parametrize(
    ("cells", "labels", "counts", "complete"),
    [
        ([None, None, 3, 4], ["ash", "elm", "", ""], {}, False),
        ([None, 2, 3, 4], ["ash", "elm", "", ""], {"elm": 1}, False),
        ([1, 2, None, None], ["ash", "elm", "", ""], {"ash": 1, "elm": 1}, True),
    ],
)
def test_labels_of_rows_that_are_left_out_are_not_known(tmp_path, cells, labels, counts, complete):
    _, found = known(tmp_path, {"x": cells, "kind": labels}, missing="drop")
    assert (found.target_counts, found.target_complete) == (counts, complete)


@pytest.mark.parametrize(
    ("cells", "labels", "expected"),
    [
        ([1, None, 3, None], ["ash", "elm"] * 2, r"a\.csv: no row of the class 'elm' is left: "),
        ([1, None, 3, None], ["", "elm", "", "ash"], r"a\.csv: no labelled row is left: every "),
    ],
)
def test_a_source_whose_labelled_rows_are_left_out_is_refused(tmp_path, cells, labels, expected):
    source = {"x": cells, "kind": labels}
    with pytest.raises(OwnDataError, match=expected + ".*another --missing"):
        known(tmp_path, {"x": range(3)}, source, missing="drop")
    assert known(tmp_path, {"x": range(3)}, source, missing="median")


@pytest.mark.parametrize("cells", [[1], [1, None, None]])
def test_a_target_of_one_row_is_refused(tmp_path, cells):
    with pytest.raises(OwnDataError, match=r"b\.csv: the target has 1 row that is read; at least"):
        known(tmp_path, {"x": cells, "z": 1}, SOURCE | {"z": 1}, missing="drop")


def test_labels_that_are_measured_are_no_classes(tmp_path):
    measured = {"x": range(200), "kind": [f"{n}.5" for n in range(200)]}
    with pytest.raises(OwnDataError, match="200 different labels in 200 labelled rows"):
        known(tmp_path, {"x": range(3), "kind": ["ash"] * 3}, measured)


def test_a_source_without_labels_is_told_what_was_meant(tmp_path):
    with pytest.raises(OwnDataError, match=r"a\.csv: .* no column 'kind', .* mean 'kinds'\?"):
        known(tmp_path, SOURCE, {"x": range(4), "kinds": ["ash", "elm"] * 2})
    with pytest.raises(OwnDataError, match="no cell of its column 'kind' names a class"):
        known(tmp_path, SOURCE, {"x": range(4), "kind": [""] * 4})


def test_a_label_that_no_table_has_is_answered_with_the_nearest():
    held = {"a": ["x", "status"], "b": ["x"]}
    check_label("status", held, True)
    check_label("staus", held, False)  # an array of another file may have the name
    with pytest.raises(OwnDataError, match=r"staus: no file .* mean 'status'\? Columns: x, status"):
        check_label("staus", held, True)
    with pytest.raises(OwnDataError, match=r"Say --label COLUMN; the columns: x, status"):
        check_label(None, held, True)
