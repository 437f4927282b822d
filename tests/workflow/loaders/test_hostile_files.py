"""Files that are not what they seem: each is refused by name, and none reads another file."""

import ast
import os
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from tests.workflow.loaders.matlab_files import cells, save_v73
from workflow.lib.execution.guard import Limits
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.features import read_features, write_features
from workflow.lib.trials.loading import LoadFailed, load_guarded, load_splits_guarded
from workflow.loaders import _check, load_described
from workflow.loaders._check import check_domain
from workflow.loaders._matfiles import read_variables

ROOT = Path(__file__).parents[3]
X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
Y = np.array([0, 1, 0])
PROGRAM = sorted(path for part in ("workflow", "methods") for path in (ROOT / part).rglob("*.py"))
UNSAFE_MODULES = {"pickle", "joblib", "shelve", "marshal", "dill", "cloudpickle"}
NAMED = {"features": "X", "labels": "y"}


def entry(path, params):
    return {
        "loader": "generic:load",
        "files": {path.name: {"path": str(path)}},
        "domains": {"one": {"params": params}},
        "classes": 2,
    }


def load(path, params=NAMED):
    return load_described("mine", entry(path, params), "one", {path.name: path})[:2]


def refusal(path, params=NAMED):
    with pytest.raises(ValueError, match="dataset 'mine', domain 'one': ") as caught:
        load(path, params)
    assert path.name in str(caught.value)
    return str(caught.value)


def written(path, text):
    path.write_text(text)
    return path


# -- values that are no real numbers ----------------------------------------------------------


@pytest.mark.parametrize("form", ["npz", "v5", "v5 sparse", "v7.3"])
def test_complex_features_are_refused_not_cut_to_their_real_part(tmp_path, form):
    Z = X + 1j * X
    path = tmp_path / f"z.{'npz' if form == 'npz' else 'mat'}"
    if form == "npz":
        np.savez(path, X=Z, y=Y)
    elif form == "v7.3":
        with h5py.File(path, "w") as file:
            pairs = np.zeros(Z.T.shape, dtype=[("real", float), ("imag", float)])
            pairs["real"], pairs["imag"] = Z.T.real, Z.T.imag
            file["X"], file["y"] = pairs, Y[:, None]
    else:
        savemat(path, {"X": sparse.csc_array(Z) if "sparse" in form else Z, "y": Y})
    assert "complex numbers" in refusal(path)


def test_dates_are_no_features(tmp_path):
    dates = np.array([["2020-01-01"], ["2020-01-02"], ["2020-01-03"]], dtype="datetime64[D]")
    np.savez(tmp_path / "d.npz", X=dates, y=Y)
    assert "the features are not numbers (datetime64[D])" in refusal(tmp_path / "d.npz")


def test_dates_of_matlab_are_no_features(tmp_path):
    path = save_v73(tmp_path / "d.mat", X=X, y=Y)
    with h5py.File(path, "r+") as file:
        file["X"].attrs["MATLAB_class"] = np.bytes_("datetime")
    assert "'X' is of MATLAB's class 'datetime'; numbers are read" in refusal(path)


@pytest.mark.parametrize(("X", "y"), [(np.ma.array(X, mask=X > 2), Y), (X, np.ma.array(Y))])
def test_masked_arrays_are_refused(X, y):
    with pytest.raises(ValueError, match=r"mine.*one.*masked array.*impute or "):
        check_domain("mine.one", X, y, {}, 2)


# -- files of another kind --------------------------------------------------------------------


def test_an_array_without_a_name_is_no_npz(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    assert "is one array (.npy), not named arrays" in refusal(tmp_path / "a.npz")


def test_pickles_are_not_read(tmp_path):
    import pickle

    (tmp_path / "p.npz").write_bytes(pickle.dumps({"X": X, "y": Y}))
    assert "cannot be read as .npz" in refusal(tmp_path / "p.npz")


@pytest.mark.parametrize("path", PROGRAM, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_can_turn_data_into_code(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            assert not {name.partition(".")[0] for name in names} & UNSAFE_MODULES
        elif isinstance(node, ast.Call):
            assert getattr(node.func, "id", None) not in ("eval", "exec", "compile")
            assert getattr(node.func, "attr", None) not in ("extract", "extractall")
            for keyword in node.keywords:
                unsafe = keyword.arg in ("allow_pickle", "shell")
                assert not (unsafe and getattr(keyword.value, "value", True))


@pytest.mark.parametrize("name", ["gone.npz", "gone.mat", "gone.csv"])
def test_a_dangling_link_is_named(tmp_path, name):
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises((ValueError, FileNotFoundError), match=name):
        load(tmp_path / name)


def test_a_damaged_array_is_named(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=np.arange(3000.0).reshape(3, 1000), y=Y)
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(content)
    assert "cannot be read as .npz" in refusal(path)


# -- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b,y\n1,2,0,9\n3,4,1,9\n", "names 3 columns (a, b, y), its second has 4 cells"),
        ("a,b,y\n1,2,0\n3,4,1,9\n", "Expected 3 fields in line 3, saw 4"),
        ("a,a,y\n1,2,0\n3,4,1\n", "column 'a' stands twice in the first line"),
        ("a,b,y\n1,2,0\n3,4\n", "t.csv: line 3 has 2 cells for 3 columns"),
        ("a,b,y\n1,2,0\n2020-01-01,4,1\n", "'2020-01-01' is not a number (row 1, line 3)"),
    ],
)
def test_tables_of_another_shape_than_their_first_line(tmp_path, text, expected):
    assert expected in refusal(written(tmp_path / "t.csv", text), {"labels": "y"})


def test_a_table_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\n1,caf\xe9\n")
    said = refusal(tmp_path / "t.csv", {"labels": "y"})
    assert "the encoding of its text is not UTF-8 (byte 0xe9); save it as UTF-8" in said
    (tmp_path / "t.csv").write_text("a,y\n1,u\n", encoding="utf-16")
    said = refusal(tmp_path / "t.csv", {"labels": "y"})
    assert "is UTF-16; save it as UTF-8" in said
    assert "iconv -f UTF-16 -t UTF-8 t.csv > utf8_t.csv" in said


# -- HDF5 that points elsewhere ---------------------------------------------------------------


def outside(folder):
    secret = folder / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = X.T
    (folder / "raw.bin").write_bytes(X.tobytes())
    return secret


def add_external_link(file, secret):
    file["X"] = h5py.ExternalLink(secret.name, "/X")


def add_soft_link_through_it(file, secret):
    file["other"] = h5py.ExternalLink(secret.name, "/")
    file["X"] = h5py.SoftLink("/other/X")


def add_external_storage(file, secret):
    raw = [(str(secret.with_name("raw.bin")), 0, X.nbytes)]
    file.create_dataset("X", X.shape, X.dtype, external=raw)


def add_virtual_dataset(file, secret):
    layout = h5py.VirtualLayout(X.shape, X.dtype)
    layout[:] = h5py.VirtualSource(str(secret), "X", X.shape)
    file.create_virtual_dataset("X", layout)


def add_part_of_a_sparse_matrix(file, secret):
    group = file.create_group("X")
    group.attrs["MATLAB_sparse"] = np.uint64(3)
    group["jc"], group["ir"] = np.arange(4, dtype=np.uint64), np.arange(3, dtype=np.uint64)
    group["data"] = h5py.ExternalLink(secret.name, "/X")


@pytest.mark.parametrize(
    "add",
    [
        add_external_link,
        add_soft_link_through_it,
        add_external_storage,
        add_virtual_dataset,
        add_part_of_a_sparse_matrix,
    ],
)
def test_hdf5_that_reads_another_file_is_refused(tmp_path, add):
    path = tmp_path / "x.mat"
    with h5py.File(path, "w") as file:
        add(file, outside(tmp_path))
        file["y"] = Y[:, None]
    assert "lies in another file" in refusal(path)


def test_a_link_within_the_file_is_followed_and_a_dangling_one_named(tmp_path):
    path = save_v73(tmp_path / "x.mat", Z=X, y=Y[None])
    with h5py.File(path, "r+") as file:
        file["X"], file["W"] = h5py.SoftLink("/Z"), h5py.SoftLink("/nowhere")
    assert np.array_equal(load(path)[0], X)
    assert "'W' leads nowhere" in refusal(path, {"features": "W", "labels": "y"})


def test_strings_of_any_length_are_labels_not_references(tmp_path):
    path = save_v73(tmp_path / "x.mat", X=X)
    with h5py.File(path, "r+") as file:
        file["y"] = ["cat", "dog", "cat"]
    assert load(path)[1].tolist() == [0, 1, 0]
    assert "not numbers" in refusal(path, {"features": "y", "labels": "y"})


def test_rows_of_any_length_are_refused(tmp_path):
    path = save_v73(tmp_path / "x.mat", y=Y[None])
    with h5py.File(path, "r+") as file:
        file.create_dataset("X", (3,), h5py.vlen_dtype(np.float64))
    assert "'X' holds neither numbers nor text" in refusal(path)


def test_an_empty_variable_is_empty(tmp_path):
    path = tmp_path / "x.mat"
    with h5py.File(path, "w") as file:
        file["X"] = np.array([0, 3], dtype=np.uint64)  # MATLAB stores the shape
        file["X"].attrs["MATLAB_empty"] = np.uint8(1)
    assert read_variables(path, ["X"])[0].shape == (0, 3)


# -- sizes ------------------------------------------------------------------------------------


def test_a_stated_size_is_checked_before_memory_is_asked_for(tmp_path):
    path = tmp_path / "x.mat"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (2**16, 2**16), np.float64, chunks=(256, 256))
        file["y"] = Y[:, None]
    assert path.stat().st_size < 10_000
    assert "'X' states 34.4 GB; at most 4.3 GB are read" in refusal(path)


def test_the_size_of_an_array_in_an_archive_is_checked(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, y=Y)
    header = b"\x93NUMPY\x01\x00v\x00" + (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (65536, 65536), }".ljust(117) + b"\n"
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X.npy", header)
    assert "'X' states 34.4 GB; at most 4.3 GB are read" in refusal(path)


def test_the_sizes_in_a_mat_file_are_checked(tmp_path, monkeypatch):
    savemat(tmp_path / "x.mat", {"X": np.zeros((100, 100)), "y": Y}, do_compression=True)
    monkeypatch.setattr(_check, "MAX_BYTES", 50_000)
    assert "'X' states 0.0 GB; at most " in refusal(tmp_path / "x.mat")


# -- sparse features --------------------------------------------------------------------------


def wide(X):
    """As MATLAB v7.3 gives it: 64-bit indices, columns of a row in any order, one entry twice."""
    stored = sparse.csr_array(X)
    stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    return stored


def test_sparse_features_are_stored_in_canonical_form_with_short_indices(tmp_path):
    data, indices, indptr = [1.0, 2.0, 0.5, 1.5], [2, 0, 2, 1], [0, 3, 4]
    stored = sparse.csr_array((2, 3))
    stored.data, stored.indices = np.array(data), np.array(indices, dtype=np.int64)
    stored.indptr = np.array(indptr, dtype=np.int64)
    write_features(tmp_path / "x.npz", stored, {})
    found = read_features(tmp_path / "x.npz")
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert found.has_canonical_format
    assert found.toarray().tolist() == [[2.0, 0.0, 1.5], [0.0, 1.5, 0.0]]
    assert stored.indices.tolist() == indices  # the caller's is left alone


def test_sparse_matrices_of_matlab_are_taken_by_methods(tmp_path):
    from domain_alignment import FMA

    rng = np.random.default_rng(0)
    dense = rng.random((40, 6)) * (rng.random((40, 6)) < 0.6)
    path = save_v73(tmp_path / "x.mat", X=sparse.csr_array(dense), y=np.arange(40)[None] % 2)
    features, _ = load(path)
    write_features(tmp_path / "x.npz", features, {})
    features = read_features(tmp_path / "x.npz")
    assert features.indices.dtype == np.int32
    labels = np.arange(40) % 2
    FMA(n_components=2, n_neighbors=5).fit([features, features], [labels, labels])


def test_features_that_need_long_indices_say_so(tmp_path, monkeypatch):
    from workflow.lib.storage import features

    monkeypatch.setattr(features, "_INT32_MAX", 1)
    with pytest.warns(UserWarning, match="64-bit indices"):
        write_features(tmp_path / "x.npz", wide(X), {})
    assert np.array_equal(read_features(tmp_path / "x.npz").toarray(), X)


def test_complex_and_masked_features_are_not_stored(tmp_path):
    for bad in (X + 1j, np.ma.array(X, mask=X > 2), sparse.csr_array(X + 1j)):
        with pytest.raises(ValueError, match=r"x\.npz: features must be real numbers"):
            write_features(tmp_path / "x.npz", bad, {})


# -- in a child -------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path):
    def call(path, dataset=None, memory_mb=2000, seconds=60):
        outputs = {"features": tmp_path / "f.npz", "labels": tmp_path / "l.npz"}
        named = {name: str(file) for name, file in outputs.items()}
        load_guarded(
            "mine",
            dataset or entry(path, NAMED),
            "one",
            {path.name: path},
            named,
            Limits(seconds, memory_mb),
            tmp_path,
        )
        return outputs

    return call


@pytest.mark.whole_run
def test_a_domain_is_loaded_in_a_child_of_its_own(tmp_path, guarded):
    np.savez(tmp_path / "x.npz", X=X, y=Y)
    outputs = guarded(tmp_path / "x.npz")
    assert np.array_equal(read_features(outputs["features"]), X)
    assert read_arrays(outputs["labels"])[0]["y"].tolist() == Y.tolist()
    about = read_arrays(outputs["labels"])[1]
    assert about["class_names"] == ["0", "1"]
    assert (about["samples"], about["features"], about["unlabelled"]) == (3, 3, 0)


def test_what_the_loader_refuses_is_said_as_it_said_it(tmp_path, guarded):
    np.savez(tmp_path / "x.npz", X=X, Y=Y)
    with pytest.raises(LoadFailed, match=r"dataset 'mine', domain 'one': .*no array 'y'"):
        guarded(tmp_path / "x.npz")


def loader_that(monkeypatch, tmp_path, body):
    """An entry of a loader of our own, in a package that the child finds."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "hostile_loader.py").write_text(f"def load(domain, paths):\n{body}")
    (folder / "sitecustomize.py").write_text(
        f"import workflow.loaders as loaders\nloaders.__path__.append({str(folder)!r})\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
    return {
        "loader": "hostile_loader:load",
        "files": {},
        "domains": {"one": {}},
        "classes": 2,
    }


@pytest.mark.whole_run
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)\n", "SIGSEGV"),
        ("    while True:\n        pass\n", "limit of 3 s"),
        ('    a = b"x" * (800 << 20)\n    import time\n    time.sleep(20)\n', "limit of 400 MB"),
    ],
)
def test_a_loader_that_dies_is_named_with_its_files(tmp_path, monkeypatch, guarded, body, expected):
    dataset = loader_that(monkeypatch, tmp_path, body)
    path = tmp_path / "x.mat"
    path.write_bytes(b"")
    with pytest.raises(LoadFailed) as caught:
        guarded(path, dataset, memory_mb=400, seconds=3)
    assert expected in str(caught.value)
    assert "dataset 'mine', domain 'one'" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_of_a_mat_file_give_a_message_or_a_domain(tmp_path, guarded, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path / "x.mat"
    savemat(path, {"X": X, "y": Y[None]}, do_compression=bool(seed % 2))
    content = bytearray(path.read_bytes())
    for place in rng.integers(128, len(content), 6):
        content[place] ^= 1 << rng.integers(8)
    path.write_bytes(content)
    try:
        guarded(path)
    except LoadFailed as error:
        message = str(error)
    else:
        message = "dataset 'mine', domain 'one': the flipped bits do not matter"
    assert "dataset 'mine', domain 'one'" in message


def test_official_trials_are_read_in_a_child_too(tmp_path):
    rows = {"source": cells([1, 2]), "target": cells([3])}
    test = {"source": cells([9]), "target": cells([1, 2])}
    savemat(tmp_path / "s.mat", {"train": rows, "test": test})
    loader, limits = "office_caltech:load_splits", Limits(60, 2000)
    (found,) = load_splits_guarded(loader, tmp_path / "s.mat", limits, tmp_path)
    assert {name: found[name].tolist() for name in found} == {
        "source_labelled": [0, 1],
        "target_labelled": [2],
        "target_scored": [0, 1],
    }
    (tmp_path / "s.mat").write_bytes(b"no matrix" * 100)
    with pytest.raises(LoadFailed, match=r"s\.mat: cannot be read as a MATLAB file"):
        load_splits_guarded(loader, tmp_path / "s.mat", limits, tmp_path)


def fuzzed(content, seed):
    rng = np.random.default_rng(seed)
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), 5):
        damaged[place] ^= 1 << rng.integers(8)
    return bytes(damaged if seed % 4 else damaged[: rng.integers(len(damaged))])


@pytest.mark.parametrize("kind", ["x.mat", "x.npz", "x.csv"])
def test_damaged_files_are_refused_with_the_name_of_their_domain(tmp_path, kind):
    path = tmp_path / kind
    if kind == "x.mat":
        save_v73(path, X=X, y=Y[None])
    elif kind == "x.npz":
        np.savez_compressed(path, X=X, y=Y)
    else:
        path.write_text("a,b,y\n1,2,0\n3,4,1\n5,6,0\n")
    content, refused = path.read_bytes(), []
    params = {"labels": "y"} if kind == "x.csv" else NAMED
    for seed in range(60):
        path.write_bytes(fuzzed(content, seed))
        try:
            load(path, params)
        except ValueError as error:
            refused.append(str(error))
        # Else the damage is in a number or between the values.
    # Of the binary files at least those are refused whose end is missing.
    assert len(refused) >= (1 if kind == "x.csv" else 15)
    assert all(message.startswith("dataset 'mine', domain 'one': ") for message in refused)
