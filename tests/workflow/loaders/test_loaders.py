"""Loaders on small made-up files of the documented formats; test_datasets.py reads real ones."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml
from scipy import sparse
from scipy.io import savemat

from workflow.loaders import (
    digits,
    files_of,
    load_domain,
    manifolds,
    mnist_usps,
    office_caltech,
)
from workflow.loaders._check import check_domain

CONFIG = Path(__file__).parents[3] / "config/datasets.yaml"
DATASETS = yaml.safe_load(CONFIG.read_text())["datasets"]
rng = np.random.default_rng(0)


# -- datasets that need no file ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "domain"),
    [(name, domain) for name in ("digits", "manifolds") for domain in DATASETS[name]["domains"]],
)
def test_shipped_domains_are_as_stated_and_the_same_each_time(name, domain):
    X, y = load_domain(name, DATASETS[name], domain, {})
    again, _ = load_domain(name, DATASETS[name], domain, {})
    assert np.array_equal(X, again)
    assert np.bincount(y).min() >= 50
    assert y.dtype == np.int64


def test_digits_share_no_image():
    from sklearn.datasets import load_digits

    images = load_digits().data
    full, _ = digits.load("full", {})
    half, _ = digits.load("half", {})
    plain, _ = digits.load("scanner", {}, rotation=0.0, blur=0.0)
    assert np.array_equal(np.vstack([full, plain]), np.vstack([images[:599], images[1198:]]))
    assert np.array_equal(half[0], images[599].reshape(4, 2, 4, 2).mean(axis=(1, 3)).ravel())


def test_scanner_turns_anticlockwise_and_keeps_the_range():
    turned = digits._scan(np.eye(8)[None, 1].repeat(8, 0)[None] * 16, 90.0, 0.0)[0]
    assert turned[6].min() > 15  # column 1 has become the row before the last
    blurred, _ = digits.load("scanner", {})
    assert blurred.min() >= 0
    assert blurred.max() <= 16


def test_unknown_domain_is_named():
    with pytest.raises(ValueError, match=r"no domain 'ful'\. Did you mean 'full'\? Known: full, h"):
        digits.load("ful", {})


def test_manifold_classes_are_quantiles_of_the_intrinsic_parameter():
    settings = {"noise": 0.3, "seed": 3, "samples": 90}
    _, y = manifolds.load("swiss_roll", {}, bins=7, **settings)
    position = manifolds.intrinsic_parameter("swiss_roll", **settings)
    assert np.ptp(np.bincount(y)) <= 1
    assert (np.diff(y[np.argsort(position)]) >= 0).all()
    assert 0 <= position.min() < 0.1 < 0.9 < position.max() <= 1


def test_manifold_points_lie_on_their_curve_without_noise():
    X, _ = manifolds.load("swiss_roll", {}, noise=0.0, seed=5)
    angle = 1.5 * np.pi * (1 + 2 * manifolds.intrinsic_parameter("swiss_roll", noise=0.0, seed=5))
    assert np.allclose(np.hypot(X[:, 0], X[:, 2]), angle)
    X, _ = manifolds.load("s_curve", {}, noise=0.0, seed=5)
    position = manifolds.intrinsic_parameter("s_curve", noise=0.0, seed=5)
    assert np.allclose(X[:, 0], np.sin(3 * np.pi * (position - 0.5)))


# -- published formats, made up ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("loader", "variable"),
    [(office_caltech.load_surf, "fts"), (office_caltech.load_decaf6, "feas")],
)
def test_office_caltech_features(tmp_path, loader, variable):
    counts = rng.integers(0, 200, (6, 4)).astype(np.uint8)
    labels = np.array([[1], [1], [2], [3], [10], [10]], dtype=np.uint8)
    savemat(tmp_path / "a.mat", {variable: counts, "labels": labels})
    X, y = loader("amazon", {"a.mat": tmp_path / "a.mat"})
    assert (X.dtype, y.dtype) == (np.float64, np.int64)
    assert np.array_equal(X, counts)
    assert y.tolist() == [0, 0, 1, 2, 9, 9]


def test_loader_of_one_file_refuses_another_number():
    with pytest.raises(
        ValueError, match=r"one file is expected, 0 came \(none\)\. Correct `files`"
    ):
        office_caltech.load_surf("amazon", {})


def cells(*rows):
    filled = np.empty(len(rows), dtype=object)
    for number, row in enumerate(rows):
        filled[number] = np.array(row, dtype=np.uint16)
    return filled


def save_splits(path, source, target, scored):
    train = {"source": cells(*source), "target": cells(*target)}
    test = {"source": cells(*([9],) * len(scored)), "target": cells(*scored)}
    savemat(path, {"train": train, "test": test, "param": {"num_trials": len(source)}})
    return path


def test_splits_count_from_zero(tmp_path):
    path = save_splits(tmp_path / "s.mat", [[1, 3], [2, 4]], [[5], [6]], [[6, 7], [5, 7]])
    trials = office_caltech.load_splits(path)
    assert [{name: rows.tolist() for name, rows in trial.items()} for trial in trials] == [
        {"source_labelled": [0, 2], "target_labelled": [4], "target_scored": [5, 6]},
        {"source_labelled": [1, 3], "target_labelled": [5], "target_scored": [4, 6]},
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([[1]], [[2]], [[2, 3]]), "trial 0: 1 target rows are labelled and scored"),
        (([[0]], [[2]], [[3]]), "trial 0: source_labelled must be distinct rows counted from 1"),
        (([[1, 1]], [[2]], [[3]]), "trial 0: source_labelled must be distinct"),
        (([[1], [2]], [[2], [4]], [[3]]), "the numbers of trials differ"),
    ],
)
def test_unusable_splits_are_refused(tmp_path, rows, message):
    path = save_splits(tmp_path / "s.mat", *rows)
    with pytest.raises(ValueError, match=message):
        office_caltech.load_splits(path)


def test_splits_of_another_form_are_refused(tmp_path):
    savemat(tmp_path / "s.mat", {"fts": np.eye(2)})
    with pytest.raises(
        ValueError, match=r"no struct 'train' with a field 'source'\. It holds: fts\."
    ):
        office_caltech.load_splits(tmp_path / "s.mat")


def save_v73(path, **variables):
    """Write arrays as MATLAB does: transposed, CSC for sparse, references for cell arrays."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            if sparse.issparse(value):
                columns, group = value.tocsc(), file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                group["jc"] = columns.indptr.astype(np.uint64)
                if value.nnz:
                    group["data"], group["ir"] = columns.data, columns.indices.astype(np.uint64)
            elif isinstance(value, list):
                stored = file.create_dataset(name, (1, len(value)), dtype=h5py.ref_dtype)
                for number, text in enumerate(value):
                    codes = np.array([[ord(c)] for c in text], dtype=np.uint16)
                    stored[0, number] = file.create_dataset(f"#refs#/{number}", data=codes).ref
            else:
                file[name] = np.asarray(value).T
    return path


def test_mnist_usps_has_samples_as_columns_in_matlab(tmp_path):
    pixels = {"Xs": rng.random((256, 5)), "Xt": rng.random((256, 3))}
    path = save_v73(tmp_path / "m.mat", **pixels, Ys=np.ones((5, 1)), Yt=np.array([[10.0, 1, 2]]).T)
    X, y = mnist_usps.load("usps", {"m.mat": path})
    assert np.array_equal(X, pixels["Xt"].T)
    assert y.tolist() == [9, 0, 1]
    assert mnist_usps.load("mnist", {"m.mat": path})[0].shape == (5, 256)


# -- own data ---------------------------------------------------------------------------------

FEATURES = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 1.0]])
LABELS = ["cat", "dog", "cat", "ant"]


def load_own(path, params, **changes):
    entry = {
        "loader": "generic:load",
        "files": {path.name: {"path": str(path)}},
        "domains": {"one": {"params": params}},
        "classes": 3,
        **changes,
    }
    return load_domain("mine", entry, "one", {path.name: path})


def save_own(path):
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
    X, y = load_own(save_own(tmp_path / name), params)
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
    X, y = load_domain("mine", entry, "one", paths)
    assert np.array_equal(X.toarray(), FEATURES)
    assert y.tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize(
    ("features", "expected"),
    [(None, [0, 1, 2]), ("x*", [0, 1, 2]), ("x[13]", [0, 2]), (["x3", "x1"], [2, 0])],
)
def test_columns_of_a_table(tmp_path, features, expected):
    path = save_own(tmp_path / "table.csv")
    X, _ = load_own(path, {"labels": "y", "features": features})
    assert np.array_equal(X, FEATURES[:, expected])


def test_labels_of_a_table_are_text_and_the_separator_is_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a; gas\n1;NA\n2;01\n3;1\n")
    X, y = load_own(path, {"labels": "gas", "separator": ";"})
    assert X.ravel().tolist() == [1, 2, 3]
    assert y.tolist() == [2, 0, 1]


def test_class_names_give_the_codes(tmp_path):
    path = save_own(tmp_path / "table.csv")
    _, y = load_own(path, {"labels": "y"}, class_names=["dog", "cat", "ant"])
    assert y.tolist() == [1, 0, 1, 2]
    np.savez(tmp_path / "n.npz", X=FEATURES, y=np.array([7.0, -1.0, 30.0, 7.0]))
    params = {"labels": "y", "features": "X"}
    assert load_own(tmp_path / "n.npz", params)[1].tolist() == [1, 0, 2, 1]  # by size, not text
    names = {"class_names": [30, "7", -1]}
    assert load_own(tmp_path / "n.npz", params, **names)[1].tolist() == [1, 2, 0, 1]
    (tmp_path / "n.csv").write_text("x,y\n1,10.0\n2,9\n3,10\n")
    assert load_own(tmp_path / "n.csv", {"labels": "y"}, classes=2)[1].tolist() == [1, 0, 1]


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
    assert load_domain("mine", entry, "one", paths)[1].tolist() == [1, 2]
    assert load_domain("mine", entry, "other", paths)[1].tolist() == [2, 0]
    named = {**entry, "class_names": ["ant", "cat", "dog"]}
    assert files_of(named, "one") == ["one.npz"]
    with pytest.raises(ValueError, match=r"the labels of domain 'other' \(other\.npz\) are needed"):
        load_domain("mine", entry, "one", {"one.npz": paths["one.npz"]})


NPZ = {"features": "X", "labels": "y"}


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("dense.npz", {**NPZ, "features": "Z"}, r"npz: no array 'Z'\. It holds: X, y\. Name one"),
        ("dense.npz", {**NPZ, "labels": "z"}, r"npz: no array 'z'\. It holds: X, y\. Name one"),
        ("dense.npz", {"labels": "y"}, r"`features` is missing: name the array .* It holds: X, y"),
        ("dense.npz", {**NPZ, "features": ["X"]}, r"a list of columns is for \.csv files"),
        ("dense.npz", {**NPZ, "features": "y"}, r"dense\.npz: the features are not numbers"),
        ("dense.npz", {**NPZ, "labels": "X"}, r"labels 'X' have shape \(4, 3\); one label per s"),
        ("dense.npz", {**NPZ, "transpose": True}, r"3 labels expected, shape \(4,\) came"),
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
        ("table.csv", {"labels": "x1"}, r"column 'y': 'cat' in row 0 \(line 2\) is not a number"),
    ],
)
def test_wrong_names_are_answered_with_what_there_is(tmp_path, name, params, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_own(save_own(tmp_path / name), params)
    assert str(caught.value).startswith("dataset 'mine', domain 'one': ")


def test_other_unusable_files(tmp_path):
    def refusal(name, content, params=NPZ, **changes):
        path = tmp_path / name
        path.write_bytes(content) if isinstance(content, bytes) else content(path)
        with pytest.raises(ValueError, match="dataset 'mine', domain 'one': ") as caught:
            load_own(path, params, **changes)
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
    assert "1 of 3 samples hold(s) NaN or infinity (first at row 1)" in refusal("n.npz", missing)
    assert "'X' is a struct. Save the matrices inside" in refusal("s.mat", struct)
    assert "'X' is a struct. Save the matrices inside" in refusal("t.mat", struct_v73)
    assert "cannot be read as .npz" in refusal("bad.npz", b"PK\x03\x04 cut off")
    assert "cannot be read as a MATLAB file" in refusal("bad.mat", b"not a matrix" * 20)
    assert "cannot be read as a table" in refusal("empty.csv", b"", {"labels": "y"})
    assert "files of kind '.txt' are not read" in refusal("data.txt", b"1 2 3")
    table = b"x,y\n1,a\n,b\n3,c\n"
    assert "samples hold(s) NaN" in refusal("gap.csv", table, {"labels": "y"})
    assert "label '' in row 1" in refusal("gap.csv", table, {"labels": "x"})
    found = refusal("two.csv", b"x,y\n1,a\n2,b\n", {"labels": "y"})
    assert "3 classes expected, 2 labels found in all domains: a, b. Correct `classes`" in found
    names = {"class_names": ["a", "q", "c"]}
    coded = refusal("gap.csv", b"x,y\n1,a\n2,b\n", {"labels": "y"}, **names)
    assert "label 'b' (row 1 of domain 'one') is not among the classes a, q, c. Add it" in coded


# -- the check of what came -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            np.eye(2),
            [0, 1],
            r"'two': 3 samples expected, 2 came \(shape 2 x 2\)\. Correct the entry",
        ),
        (np.ones((3, 4)), [0, 1, 0], r"2 features expected, 4 came"),
        (np.ones((2, 3)), [0, 1], r"3 samples expected, 2 came .*exchanged: samples are rows"),
        (np.ones((3, 2)), [0, 1], r"3 labels expected, shape \(2,\) came"),
        (np.ones((3, 2)), [0.0, 1, 0], r"labels must be integers; float64 came"),
        (
            np.ones((3, 2)),
            [0, 1, 2],
            r"labels 0\.\.1 expected \(2 classes\), 0\.\.2 came \(first .* 2",
        ),
        (np.ones((3, 2)), [0, -1, 1], r"-1\.\.1 came \(first outside at row 1: -1\)"),
        (np.ones(3), [0, 1, 0], r"an array of 1 dimension\(s\) came"),
        ([[1.0]], [0], r"a list came"),
        (np.ones((3, 2), np.float32), [0, 1, 0], r"X must be float64; float32 came"),
        (sparse.csc_array(np.ones((3, 2))), [0, 1, 0], r"a sparse matrix of format csc came"),
        (
            np.array([[1, 2], [3, np.inf], [5, 6]]),
            [0, 1, 0],
            r"1 of 3 samples .* \(first at row 1\)",
        ),
        (sparse.csr_array([[0, 1], [0, 0], [0, np.nan]]), [0, 1, 0], r"\(first at row 2\)"),
    ],
)
def test_domain_that_differs_from_its_entry_is_refused(X, y, message):
    with pytest.raises(ValueError, match="dataset 'set', domain 'two': ") as caught:
        check_domain("set.two", X, np.array(y), {"samples": 3, "features": 2}, 2)
    assert caught.match(message)


def test_domain_as_its_entry_says_is_accepted():
    for X in (np.ones((3, 2)), sparse.csr_array(np.eye(3, 2))):
        check_domain("set.two", X, np.array([0, 1, 1]), {"samples": 3, "features": 2}, 2)
        check_domain("set.two", X, np.array([0, 1, 1], np.uint8), {}, 5)
    with pytest.raises(ValueError, match="there are no samples"):
        check_domain("set.two", np.ones((0, 2)), np.array([], int), {}, 2)
