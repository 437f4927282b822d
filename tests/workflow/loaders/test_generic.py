"""The generic loader: every format read alike, wrong names answered with what there is."""

import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from tests.workflow.loaders.matlab_files import save_v73
from workflow.loaders import files_of, load_described
from workflow.loaders.generic import Reader

FEATURES = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 1.0]])

LABELS = ["cat", "dog", "cat", "ant"]


def load_data(path, params, **changes):
    entry = {
        "loader": "generic:load",
        "files": {path.name: {"path": str(path)}},
        "domains": {"one": {"params": params}},
        "classes": 3,
        **changes,
    }
    return load_described("mine", entry, "one", {path.name: path})[:2]


def save_data(path):
    """The same data in each format; the file's stem says which."""
    columns = FEATURES.T.copy()
    text = np.array(LABELS)
    match path.name:
        case "dense.npz":
            np.savez(path, X=FEATURES, y=text)
        case "transposed.npz":
            np.savez(path, X=columns, y=text.astype(bytes))
        case "sparse.npz":
            csr = sparse.csr_array(FEATURES)
            parts = {f"X_{k}": getattr(csr, k) for k in ("data", "indices", "indptr", "shape")}
            np.savez(path, **parts, y=text[None])
        case "dense.mat":
            savemat(path, {"X": FEATURES, "y": np.array(LABELS, dtype=object)[:, None]})
        case "characters.mat":
            savemat(path, {"X": FEATURES.astype(np.float32), "y": text})
        case "sparse.mat":
            savemat(path, {"X": sparse.csc_array(FEATURES), "y": np.array(LABELS, dtype=object)})
        case "transposed.mat":
            savemat(path, {"X": columns, "y": np.array(LABELS, dtype=object)})
        case "v73_dense.mat":
            save_v73(path, X=FEATURES, y=LABELS)
        case "v73_sparse.mat":
            save_v73(path, X=sparse.csr_array(FEATURES), y=LABELS)
        case "v73_transposed.mat":
            save_v73(path, X=columns, y=LABELS)
        case _:
            rows = [[*row, label] for row, label in zip(FEATURES, LABELS, strict=True)]
            lines = ["x1,x2,x3,y"] + [",".join(map(str, row)) for row in rows]
            path.write_text("\ufeff" + "\n".join(lines))  # as spreadsheets write it
    return path


@pytest.mark.parametrize(
    "name",
    [
        "dense.npz",
        "transposed.npz",
        "sparse.npz",
        "dense.mat",
        "characters.mat",
        "sparse.mat",
        "transposed.mat",
        "v73_dense.mat",
        "v73_sparse.mat",
        "v73_transposed.mat",
        "table.csv",
    ],
)
def test_generic_loader_reads_each_format_alike(tmp_path, name):
    params = {"labels": "y", "transpose": "transposed" in name}
    params |= {} if name.endswith(".csv") else {"features": "X"}
    X, y = load_data(save_data(tmp_path / name), params)
    assert sparse.issparse(X) == ("sparse" in name)
    assert X.dtype == np.float64
    assert np.array_equal(X.toarray() if sparse.issparse(X) else X, FEATURES)
    assert y.tolist() == [1, 2, 1, 0]  # ant, cat, dog


def test_features_and_labels_in_two_files(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(FEATURES))
    np.savez(tmp_path / "y.npz", y=LABELS)
    paths = {name: tmp_path / name for name in ("x.npz", "y.npz")}
    params = {"labels": "y", "labels_file": "y.npz"}
    entry = {
        "loader": "generic:load",
        "files": {name: {} for name in paths},
        "domains": {"one": {"files": list(paths), "params": params}},
        "classes": 3,
    }
    X, y, _ = load_described("mine", entry, "one", paths)
    assert np.array_equal(X.toarray(), FEATURES)
    assert y.tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize(
    ("features", "expected"),
    [(None, [0, 1, 2]), ("x*", [0, 1, 2]), ("x[13]", [0, 2]), (["x3", "x1"], [2, 0])],
)
def test_columns_of_a_table(tmp_path, features, expected):
    path = save_data(tmp_path / "table.csv")
    X, _ = load_data(path, {"labels": "y", "features": features})
    assert np.array_equal(X, FEATURES[:, expected])


def test_labels_of_a_table_are_text_and_the_separator_is_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a; gas\n1;NA\n2;01\n3;1\n")
    X, y = load_data(path, {"labels": "gas", "separator": ";"})
    assert X.ravel().tolist() == [1, 2, 3]
    assert y.tolist() == [2, 0, 1]


def test_class_names_give_the_codes(tmp_path):
    path = save_data(tmp_path / "table.csv")
    _, y = load_data(path, {"labels": "y"}, class_names=["dog", "cat", "ant"])
    assert y.tolist() == [1, 0, 1, 2]
    np.savez(tmp_path / "n.npz", X=FEATURES, y=np.array([7.0, -5.0, 30.0, 7.0]))
    params = {"labels": "y", "features": "X"}
    assert load_data(tmp_path / "n.npz", params)[1].tolist() == [1, 0, 2, 1]  # by size, not text
    names = {"class_names": [30, "7", -5]}
    assert load_data(tmp_path / "n.npz", params, **names)[1].tolist() == [1, 2, 0, 1]
    (tmp_path / "n.csv").write_text("x,y\n1,10.0\n2,9\n3,10\n")
    assert load_data(tmp_path / "n.csv", {"labels": "y"}, classes=2)[1].tolist() == [1, 0, 1]


def test_a_code_means_the_same_class_in_every_domain(tmp_path):
    labels = {"one": ["cat", "dog"], "other": ["dog", "ant"]}
    for name, values in labels.items():
        np.savez(tmp_path / f"{name}.npz", X=np.eye(2), y=values)
    params = {"labels": "y", "features": "X"}
    entry = {
        "loader": "generic:load",
        "files": {f"{name}.npz": {"path": str(tmp_path / f"{name}.npz")} for name in labels},
        "domains": {name: {"files": [f"{name}.npz"], "params": params} for name in labels},
        "classes": 3,
    }
    assert files_of(entry, "one") == ["one.npz", "other.npz"]
    paths = {name: tmp_path / name for name in files_of(entry, "one")}
    assert load_described("mine", entry, "one", paths)[1].tolist() == [1, 2]
    assert load_described("mine", entry, "other", paths)[1].tolist() == [2, 0]
    named = {**entry, "class_names": ["ant", "cat", "dog"]}
    assert files_of(named, "one") == ["one.npz"]
    with pytest.raises(ValueError, match=r"the labels of domain 'other' \(other\.npz\) are needed"):
        load_described("mine", entry, "one", {"one.npz": paths["one.npz"]})


NPZ = {"features": "X", "labels": "y"}


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("dense.npz", {**NPZ, "features": "Z"}, r"npz: no array 'Z'\. It holds: X, y\. Name one"),
        ("dense.npz", {**NPZ, "labels": "z"}, r"npz: no array 'z'\. It holds: X, y\. Name one"),
        ("dense.npz", {"labels": "y"}, r"`features` is missing: name the array .* It holds: X, y"),
        ("dense.npz", {**NPZ, "features": ["X"]}, r"a list of columns is for tables"),
        ("dense.npz", {**NPZ, "features": "y"}, r"dense\.npz: the features are not numbers"),
        (
            "dense.npz",
            {**NPZ, "labels": "X"},
            r"'X' have shape \(4, 3\); expected one label per s",
        ),
        (
            "dense.npz",
            {**NPZ, "transpose": True},
            r"4 labels, features 3 x 4\. Set `transpose: false`",
        ),
        ("dense.npz", {**NPZ, "labels_file": "y.npz"}, r"file 'y\.npz' is not among the files of"),
        (
            "dense.mat",
            {**NPZ, "features": "Z"},
            r"no variable 'Z'\. It holds: X \(4 x 3\), y \(4 x",
        ),
        (
            "v73_sparse.mat",
            {**NPZ, "labels": "Z"},
            r"no variable 'Z'\. It holds: X \(sparse\), y \(",
        ),
        ("dense.mat", {"labels": "y"}, r"`features` is missing: name the variable"),
        ("table.csv", {"labels": "z"}, r"no column 'z'\. It holds: x1, x2, x3, y\. Name one"),
        (
            "table.csv",
            {"labels": "y", "features": ["x9"]},
            r"no column 'x9'\. It holds: x1, x2, x3",
        ),
        (
            "table.csv",
            {"labels": "y", "features": "q*"},
            r"no column that fits 'q\*'\. It holds: x1",
        ),
    ],
)
def test_wrong_names_are_answered_with_what_there_is(tmp_path, name, params, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_data(save_data(tmp_path / name), params)
    assert str(caught.value).startswith("dataset 'mine', domain 'one': ")


def test_other_unusable_files(tmp_path):
    def refusal(name, content, params=NPZ, **changes):
        path = tmp_path / name
        path.write_bytes(content) if isinstance(content, bytes) else content(path)
        with pytest.raises(ValueError, match="dataset 'mine', domain 'one': ") as caught:
            load_data(path, params, **changes)
        return str(caught.value)

    def objects(path):
        np.savez(path, X=FEATURES, y=np.array(LABELS, dtype=object))

    def columns(path):
        csc = sparse.csc_array(FEATURES)
        parts = {part: getattr(csc, part) for part in ("data", "indices", "indptr", "shape")}
        np.savez(path, **parts, format=b"csc", y=LABELS)

    def half_labels(path):
        np.savez(path, X=FEATURES, y=[0.5, 1, 2, 0])

    def missing(path):
        np.savez(path, X=[[1.0], [np.nan], [2.0]], y=[0, 1, 2])

    def struct(path):
        savemat(path, {"X": {"a": 1.0}, "y": [0, 1, 2]})

    def struct_v73(path):
        with h5py.File(path, "w") as file:
            file["X/a"], file["y"] = 1.0, [[0.0, 1.0, 2.0]]

    assert "Save labels as `labels.astype(str)`" in refusal("o.npz", objects)
    assert "stored as csc. Save it as CSR" in refusal("c.npz", columns, {"labels": "y"})
    assert "label '0.5' in row 0 of 'y' is not a class" in refusal("h.npz", half_labels)
    assert "1 of 3 samples hold(s) NaN or infinity (first at row 1, feature 0)" in refusal(
        "n.npz", missing
    )
    assert "'X' is a struct. Name one of the matrices inside: X.a" in refusal("s.mat", struct)
    assert "'X' is a struct. Name one of the matrices inside: X.a" in refusal("t.mat", struct_v73)
    assert "cannot be read as .npz" in refusal("bad.npz", b"PK\x03\x04 cut off")
    assert "cannot be read as a MATLAB file" in refusal("bad.mat", b"not a matrix" * 20)
    assert "cannot be read as a table" in refusal("empty.csv", b"", {"labels": "y"})
    assert "does not read '.txt' files" in refusal("data.txt", b"1 2 3")
    table = b"x,y\n1,a\n,b\n3,c\n"
    found = refusal("gap.csv", table, {"labels": "y"})
    assert "column 'x': 1 of 3 cells hold no value (first in row 1, line 3)" in found
    assert "label '' in row 1" in refusal("gap.csv", table, {"labels": "x"})
    found = refusal("two.csv", b"x,y\n1,a\n2,b\n", {"labels": "y"})
    assert "expected 3 classes, found 2 labels in all domains: a, b. Correct `classes`" in found
    names = {"class_names": ["a", "q", "c"]}
    coded = refusal("gap.csv", b"x,y\n1,a\n2,b\n", {"labels": "y"}, **names)
    assert "label 'b' (row 1 of domain 'one') is not among the classes a, q, c. Add it" in coded


# -- domains together -------------------------------------------------------------------------


def dataset(folder, domains, classes=2, **more):
    """Entry and paths of a dataset whose domains are tables, given as (text, params)."""
    for name, (text, _) in domains.items():
        (folder / f"{name}.csv").write_text(text)
    entry = {
        "loader": "generic:load",
        "files": {f"{name}.csv": {"path": "x"} for name in domains},
        "domains": {
            name: {"files": [f"{name}.csv"], "params": params}
            for name, (_, params) in domains.items()
        },
        "classes": classes,
        **more,
    }
    return entry, {name: folder / name for name in entry["files"]}


def test_minus_one_is_unlabelled_not_a_class(tmp_path):
    domains = {"one": ("x,y\n1,-1\n2,1\n3,2\n", {"labels": "y"})}
    entry, paths = dataset(tmp_path, domains)
    _, y, about = load_described("mine", entry, "one", paths)
    assert y.tolist() == [-1, 0, 1]
    assert about["unlabelled"] == 1
    with pytest.raises(ValueError, match=r"expected 3 classes, found 2 .* 1 rows are unlabelled"):
        load_described("mine", entry | {"classes": 3}, "one", paths)
    named = entry | {"classes": 3, "class_names": [-1, 1, 2]}
    assert load_described("mine", named, "one", paths)[1].tolist() == [0, 1, 2]


def test_further_values_and_whole_domains_may_be_unlabelled(tmp_path):
    domains = {
        "one": ("x,y\n1,a\n2,b\n", {"labels": "y"}),
        "some": ("x,y\n1,\n2,?\n3,b\n", {"labels": "y", "unlabelled": ["", "?"]}),
        "none": ("x\n1\n2\n", {}),
    }
    entry, paths = dataset(tmp_path, domains)
    assert load_described("mine", entry, "some", paths)[1].tolist() == [-1, -1, 1]
    assert load_described("mine", entry, "none", paths)[1].tolist() == [-1, -1]
    del entry["domains"]["some"]["params"]["unlabelled"]
    with pytest.raises(ValueError, match=r"label '' in row 0 of 'y'"):
        load_described("mine", entry, "some", paths)


def test_one_file_with_a_column_of_domains(tmp_path):
    (tmp_path / "all.csv").write_text("batch,x,y\nb1,1,u\nb2,2,v\nb1,3,v\n")
    entry = {
        "loader": "generic:load",
        "files": {"all.csv": {"path": "x"}},
        "params": {"labels": "y"},
        "domains": {
            name: {"params": {"rows": {"column": "batch", "value": name}}} for name in ("b1", "b2")
        },
        "classes": 2,
    }
    paths = {"all.csv": tmp_path / "all.csv"}
    X, y, _ = load_described("mine", entry, "b1", paths)
    assert X.ravel().tolist() == [1, 3]
    assert y.tolist() == [0, 1]
    assert load_described("mine", entry, "b2", paths)[0].ravel().tolist() == [2]
    entry["domains"]["b2"]["params"] = {"rows": {"column": "batch", "value": "b3"}}
    with pytest.raises(ValueError, match=r"no row has 'b3' in column 'batch'. It holds: b1, b2"):
        load_described("mine", entry, "b2", paths)


def test_columns_in_another_order_are_aligned_by_name(tmp_path):
    domains = {
        "one": ("a,b,y\n1,2,u\n3,4,v\n", {"labels": "y"}),
        "two": ("y,b,a\nu,20,10\nv,40,30\n", {"labels": "y"}),
    }
    entry, paths = dataset(tmp_path, domains, class_names=["u", "v"])
    assert files_of(entry, "two") == ["one.csv", "two.csv"]
    X, _, about = load_described("mine", entry, "two", paths)
    assert X.tolist() == [[10, 20], [30, 40]]
    assert about["feature_names"] == ["a", "b"]


def test_what_a_kind_of_file_would_ignore_is_refused(tmp_path):
    """Rows that are not looked at would be those of another domain, with its labels."""
    (tmp_path / "a.svmlight").write_text("0 1:1\n1 1:2\n")
    (tmp_path / "a.csv").write_text("x,y\n1,u\n2,v\n")
    for name, params, told in (
        ("a.svmlight", {"rows": {"column": "k", "value": 1}}, "`rows` is for tables"),
        ("a.svmlight", {"drop": ["k"]}, "`drop` is for tables"),
        ("a.svmlight", {"separator": ";"}, "`separator` is for tables"),
        ("a.svmlight", {"decimal": ","}, "`decimal` is for tables"),
        ("a.svmlight", {"features": "X"}, "`features` is for files that name what they hold"),
        ("a.svmlight", {"labels": "y"}, "`labels` is for files that name what they hold"),
        ("a.csv", {"labels": "y", "transpose": True}, "`transpose` is for arrays"),
        ("a.csv", {"labels": "y", "flatten": True}, "`flatten` is for arrays"),
    ):
        entry = {
            "loader": "generic:load",
            "files": {name: {"path": "x"}},
            "domains": {"one": {"files": [name], "params": params}},
            "classes": 2,
        }
        with pytest.raises(ValueError, match=told):
            load_described("mine", entry, "one", {name: tmp_path / name})


def test_a_pandas_index_is_refused(tmp_path):
    entry, paths = dataset(tmp_path, {"one": (",x,y\n0,1,u\n1,2,v\n", {"labels": "y"})})
    with pytest.raises(ValueError, match="the first column without a name counts the rows"):
        load_described("mine", entry, "one", paths)
    entry["domains"]["one"]["params"]["drop"] = [""]
    assert load_described("mine", entry, "one", paths)[0].ravel().tolist() == [1, 2]


def test_dropped_rows_take_their_labels_along(tmp_path):
    params = {"labels": "y", "missing": "drop"}
    entry, paths = dataset(tmp_path, {"one": ("x,y\n1,u\n,u\n3,v\n", params)})
    X, y, about = load_described("mine", entry, "one", paths)
    assert X.ravel().tolist() == [1, 3]
    assert y.tolist() == [0, 1]
    assert about["dropped"] == 1
    assert about["rows"].tolist() == [0, 2]


def test_rows_of_a_file_are_told_where_a_domain_has_not_all_of_it(tmp_path):
    table = "x,y,site\n1,u,a\n2,v,b\n,u,b\n4,v,b\n"
    params = {"labels": "y", "missing": "drop", "rows": {"column": "site", "value": "b"}}
    entry, paths = dataset(tmp_path, {"one": (table, params)})
    assert load_described("mine", entry, "one", paths)[2]["rows"].tolist() == [1, 3]
    params["rows"]["value"] = "a"
    entry, paths = dataset(tmp_path, {"one": (table, params)})
    entry["class_names"] = ["u", "v"]
    assert "rows" not in load_described("mine", entry, "one", paths)[2]


def test_the_remedy_is_inferred_from_the_numbers(tmp_path):
    savemat(tmp_path / "t.mat", {"X": np.zeros((5, 3)), "y": np.array([1, 2, 1])})
    with pytest.raises(ValueError, match=r"3 labels, features 5 x 3\. Set `transpose: true`"):
        load_data(tmp_path / "t.mat", {"labels": "y", "features": "X"}, classes=2)


def test_images_and_structs(tmp_path):
    images = np.arange(12.0).reshape(2, 2, 3)
    savemat(tmp_path / "t.mat", {"data": {"X": images, "y": np.array([1, 2, 1])}})
    params = {"labels": "data.y", "features": "data.X", "transpose": True, "flatten": True}
    X, y = load_data(tmp_path / "t.mat", params, classes=2)
    assert X.tolist() == [images[:, :, n].ravel().tolist() for n in range(3)]
    assert y.tolist() == [0, 1, 0]
    with h5py.File(tmp_path / "u.mat", "w") as file:
        file["data/X"], file["data/y"] = images.T, [[1.0, 2.0, 1.0]]
    assert np.array_equal(load_data(tmp_path / "u.mat", params, classes=2)[0], X)
    for name in ("t.mat", "u.mat"):
        with pytest.raises(ValueError, match=r"'data' is a struct.*data\.X, data\.y"):
            load_data(tmp_path / name, params | {"features": "data"}, classes=2)
        with pytest.raises(ValueError, match=r"'data' has no field 'Z'. It holds: X, y"):
            load_data(tmp_path / name, params | {"features": "data.Z"}, classes=2)


def test_arrays_in_two_npy_files(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(2))
    np.save(tmp_path / "y.npy", np.array(["u", "v"]))
    entry = {
        "loader": "generic:load",
        "files": {"x.npy": {"path": "x"}, "y.npy": {"path": "y"}},
        "domains": {"one": {"params": {"labels_file": "y.npy"}}},
        "classes": 2,
    }
    paths = {name: tmp_path / name for name in entry["files"]}
    assert load_described("mine", entry, "one", paths)[1].tolist() == [0, 1]


def test_a_column_of_labels_of_one_file_is_a_feature_of_none(tmp_path):
    domains = {
        "one": ("a,b,y\n1,2,u\n3,4,v\n", {"labels": "y"}),
        "two": ("a,b,y\n5,6,u\n7,8,v\n", {}),  # a target whose entry names no labels
    }
    entry, paths = dataset(tmp_path, domains, class_names=["u", "v"])
    X, y, _ = load_described("mine", entry, "two", paths)
    assert X.tolist() == [[5, 6], [7, 8]]
    assert y.tolist() == [-1, -1]


def test_a_reader_tells_columns_cells_and_rows(tmp_path):
    domains = {
        "one": ("a,b,y,site\n1,2,u,p\n3,4,v,q\n5,6,u,q\n", {"labels": "y", "drop": ["a"]}),
        "two": ("a,y\n5,u\n", {"labels": "y"}),
    }
    domains["one"][1]["rows"] = {"column": "site", "value": "q"}
    entry, paths = dataset(tmp_path, domains, class_names=["u", "v"])
    reader = Reader(entry, paths)
    assert reader.columns("one") == ["b"]
    assert reader.column("one", "a").tolist() == [3, 5]
    assert reader.rows("one", [0]).tolist() == [1]
    tables = reader.tables()
    assert {name: list(table.columns) for name, table in tables.items()} == {
        "one": ["b"],
        "two": ["a"],
    }
    assert reader.codings(tables)["two"].columns == ("a",)


def test_an_array_has_no_columns(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(2))
    entry = {"files": {"x.npy": {"path": "x"}}, "domains": {"one": {"params": {}}}, "classes": 2}
    reader = Reader(entry, {"x.npy": tmp_path / "x.npy"})
    assert reader.columns("one") is None
    assert reader.rows("one", [1]).tolist() == [1]
    assert reader.tables() == {}


@pytest.mark.parametrize("asked", [["code"], ["co*"]])
def test_a_category_of_one_domain_is_text_in_every_table(tmp_path, asked):
    """Also where a pattern names it: "01" is not 1."""
    cells = {"a.csv": ["01", "1", "10", "01"], "b.csv": ["1", "01", "10", "1"]}
    for name, codes in cells.items():
        rows = [f"{code},{kind}" for code, kind in zip(codes, "xyxy", strict=True)]
        (tmp_path / name).write_text("\n".join(["code,spam?", *rows]))
    params = {"labels": "spam?"}
    entry = {
        "loader": "generic:load",
        "files": {name: {"path": str(tmp_path / name)} for name in cells},
        "domains": {
            "a": {"files": ["a.csv"], "params": {**params, "categorical": asked}},
            "b": {"files": ["b.csv"], "params": params},
        },
        "classes": 2,
    }
    paths = {name: tmp_path / name for name in cells}
    for domain, file in (("a", "a.csv"), ("b", "b.csv")):
        X, _, about = load_described("mine", entry, domain, paths)
        assert about["feature_names"] == ["code=01", "code=1", "code=10"]
        np.testing.assert_array_equal(
            X.argmax(axis=1), [["01", "1", "10"].index(c) for c in cells[file]]
        )
