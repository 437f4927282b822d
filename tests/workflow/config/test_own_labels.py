"""Labels of one's own files: what is wrong with them is said with the name that was meant."""

import pandas as pd
import pytest

from workflow.lib.config.own_columns import OwnDataError
from workflow.lib.config.own_labels import check_label, known_labels
from workflow.loaders.generic import Reader

SOURCE = {"x": range(4), "kind": ["ash", "elm"] * 2}


def known(folder, target, source=SOURCE, unlabelled=("",), drop=()):
    files = {"a.csv": pd.DataFrame(source), "b.csv": pd.DataFrame(target)}
    domains = {}
    for name, frame in files.items():
        frame.to_csv(folder / name, index=False)
        params = {"labels": "kind"} if "kind" in frame else {}
        params |= {"drop": [n for n in drop if n in frame]} if set(drop) & set(frame) else {}
        domains[name[0]] = {"files": [name], "params": params}
    entry = {
        "files": {name: {} for name in files},
        "params": {"unlabelled": list(unlabelled)},
        "domains": domains,
    }
    reader = Reader(entry, {name: folder / name for name in files})
    return known_labels(reader, ["a", "b"], "b", "kind")


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
    found = known(tmp_path, {"x": range(3)} | ({"kind": labels} if labels else {}))
    assert found.classes == ["ash", "elm"]
    assert found.target_counts == counts
    assert found.target_complete is complete


def test_classes_that_are_numbers_are_in_their_order(tmp_path):
    found = known(tmp_path, {"x": range(3)}, {"x": range(4), "kind": [10, 9, 10, 9]})
    assert found.classes == ["9", "10"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            {"kind": ["ash", "?", "?"]},
            r"'\?' of the target \(2 rows, the first in row 1, line 3 .*",
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
    assert known(tmp_path, {"x": [1, 2], "kind": ["?", "ash"]}, unlabelled=["?"]).target_counts
    assert not known(tmp_path, {"x": [1, 2], "t": ["ash", "elm"]}, drop=["t"]).target_counts


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
