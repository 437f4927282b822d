"""Tables of new samples: columns by name, numbers, texts, and what is wrong with its place."""

import csv
import sys

import numpy as np
import pytest
from domain_alignment.cli import _tables
from domain_alignment.cli._tables import first_missing, read_samples
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

NAMES = ["height", "width"]


def written(folder, text, name="new.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("height,width\n1,2\n3,4.5\n", []),
        ("width,height\n2,1\n4.5,3\n", []),
        ("id;height;width\nx;1;2\ny;3;4.5", ["id"]),
        ("height\twidth\r\n1\t2\r\n3\t4.5\r\n", []),
        ('\ufeff"height" , "width"\n 1, 2\n3, 4.5\n\n'.replace(" ,", ","), []),
        ('note,height,width\n"a, b\nc",1,2\n"",3,4.5\n', ["note"]),
    ],
)
def test_columns_are_found_by_name(text, others, tmp_path):
    X, left_out = read_samples(written(tmp_path, text), NAMES, 2)
    np.testing.assert_array_equal(X, [[1, 2], [3, 4.5]])
    assert left_out == others


@pytest.mark.parametrize("header", ["", "a,b\n"])
def test_without_names_a_header_is_told_by_its_text(header, tmp_path):
    X, _ = read_samples(written(tmp_path, header + "1,2\n3,4\n"), None, 2)
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])


def test_missing_cells(tmp_path):
    X, _ = read_samples(written(tmp_path, "height,width\n,2\nNA,n/a\n"), NAMES, 2)
    np.testing.assert_array_equal(X, [[np.nan, 2], [np.nan, np.nan]])
    assert first_missing(X, NAMES) == "the first missing cell is in column 'height', row 0"
    assert first_missing(X[:, 1:], None) == "the first missing cell is in column number 1, row 1"
    assert first_missing(X[:1, 1:], None) == ""


def test_columns_of_text(tmp_path):
    table = written(tmp_path, "width,height\nNA,1\n,2\nred,\n")
    X, _ = read_samples(table, NAMES, 2, text=[1])
    assert X[:2].tolist() == [[1.0, "NA"], [2.0, None]]
    assert X[2, 1] == "red"
    assert np.isnan(X[2, 0])
    assert first_missing(X, NAMES).endswith("'height', row 2")


def test_arrays_and_parquet(tmp_path):
    X = np.array([[1.0, 2.0], [3.0, np.nan]])
    np.save(tmp_path / "new.npy", X)
    np.testing.assert_array_equal(read_samples(tmp_path / "new.npy", NAMES, 2)[0], X)
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"width": [2.0, None], "x": ["a", "b"], "height": [1, 3]})
    parquet.write_table(table, tmp_path / "new.parquet")
    found, left_out = read_samples(tmp_path / "new.parquet", NAMES, 2)
    np.testing.assert_array_equal(found, X)
    assert left_out == ["x"]


def test_parquet_without_its_package_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[parquet\]'.*\.csv"):
        read_samples(written(tmp_path, "", "new.parquet"), NAMES, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("height,width\n", "a header and no samples"),
        ("height\n1\n", r"has no column 'width'; the model needs them.*has 'height'"),
        ("1,2\n3,4\n", "has no column 'height', 'width'"),
        ("height,width,width\n1,2,3\n", "two columns 'width'"),
        ("height,width\n1,2\n3\n", "row 1 has 1 cells instead of 2"),
        (
            "height,width\n1,2\n3,tall\n",
            r"column width, sample 1 \(counted from 0\): 'tall' is no finite .*leave it empty",
        ),
        ("\nheight,width\n\n1,2\n\n3,x\n", r"sample 1 \(counted from 0\): 'x' is no finite number"),
        ('height;width\n1;"2,5"\n', r"column width, sample 0 .*: '2,5' is .*say --decimal ,$"),
        ("height,width\n1,1_000\n", "'1_000' is no finite number"),
        ("height,width\n1,-inf\n", "sample 0 .*'-inf' is no finite|-inf is no finite"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_samples(written(tmp_path, text), NAMES, 2)


def test_the_place_of_a_cell_is_told_alike_without_a_header(tmp_path):
    with pytest.raises(
        ValueError, match=r"column number 2, sample 1 \(counted from 0\): 'x' is no"
    ):
        read_samples(written(tmp_path, "1,2\n3,x\n"), None, 2)


def test_other_numbers_of_columns_and_other_files(tmp_path):
    with pytest.raises(ValueError, match=r"has 2 columns; the model, .* was fitted with 3"):
        read_samples(written(tmp_path, "1,2\n"), None, 3)
    np.save(tmp_path / "new.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"shape \(3,\)\); give one of shape \(samples, 2\)"):
        read_samples(tmp_path / "new.npy", NAMES, 2)
    with pytest.raises(ValueError, match="no text in UTF-8"):
        read_samples(written(tmp_path, "hé\n1\n", encoding="latin-1"), NAMES, 2)


@pytest.mark.parametrize("name", ["new.npz", "new.mat", "new.svmlight", "csr.npz"])
def test_of_the_arrays_of_a_file_that_with_the_right_columns_is_read(name, tmp_path):
    X, y = np.array([[1.0, 0.0], [3.0, 2.0], [0.0, 4.0]]), np.array([0, 1, 1])
    path = tmp_path / name
    if name == "new.npz":
        np.savez(path, X=X, y=y)
    elif name == "new.mat":
        savemat(path, {"X": X, "y": y[:, None]})
    elif name == "csr.npz":
        sparse.save_npz(path, sparse.csr_array(X))
    else:
        dump_svmlight_file(X, y, str(path), zero_based=True)
    found, left_out = read_samples(path, None, 2)
    assert left_out == []
    assert first_missing(found, None) == ""
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)


def test_files_without_the_array_or_with_two_are_refused(tmp_path):
    np.savez(tmp_path / "new.npz", a=np.ones((3, 2)), b=np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"several arrays \(a of shape \(3, 2\), b of shape"):
        read_samples(tmp_path / "new.npz", None, 2)
    (tmp_path / "new.mat").write_bytes(b"no matrix")
    with pytest.raises(ValueError, match=r"new\.mat: cannot be read .* save it as \.npy or \.csv"):
        read_samples(tmp_path / "new.mat", None, 2)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("ending", ["svmlight", "libsvm", "svm"])
def test_features_are_counted_as_in_the_model_s_own_files(zero_based, ending, tmp_path):
    X = np.array([[0.0, 2.0, 3.0, 0.0], [0.0, 7.0, 0.0, 0.0]])
    path = tmp_path / f"new.{ending}"
    dump_svmlight_file(X, [0, 1], str(path), zero_based=zero_based)
    found, _ = read_samples(path, None, 4, reading={"zero_based": zero_based})
    np.testing.assert_array_equal(found.toarray(), X)


def test_of_older_models_the_file_shows_it_or_it_is_asked_for(tmp_path):
    path = written(tmp_path, "0 1:2 2:3\n1 1:7\n", "new.svmlight")
    with pytest.raises(
        ValueError, match=r"new\.svmlight: its features 1 to 2 do not tell .*--first"
    ):
        read_samples(path, None, 4)
    np.testing.assert_array_equal(read_samples(path, None, 2)[0].toarray(), [[2, 3], [7, 0]])
    path = written(tmp_path, "0 0:2 2:3\n1 1:7\n", "new.svmlight")
    np.testing.assert_array_equal(
        read_samples(path, None, 4)[0].toarray(), [[2, 0, 3, 0], [0, 7, 0, 0]]
    )
    path = written(tmp_path, "0\n1\n", "new.svmlight")
    assert read_samples(path, None, 4)[0].shape == (2, 4)


@pytest.mark.parametrize(
    ("zero_based", "text"), [(False, "0 0:1 2:3\n"), (True, "0 1:1 4:2\n"), (None, "0 0:1 4:1\n")]
)
def test_features_that_the_model_has_not_are_refused(zero_based, text, tmp_path):
    path = written(tmp_path, text, "new.svmlight")
    with pytest.raises(ValueError, match=r"holds the features \d to \d, those of the model are"):
        read_samples(path, None, 4, reading={"zero_based": zero_based})


@pytest.mark.parametrize("mark", ["\t", ";", "|", ","])
def test_a_header_may_be_longer_than_a_cell_of_csv(mark, tmp_path):
    names, limit = [f"gene_{at:06}" for at in range(16_000)], csv.field_size_limit()
    rows = [mark.join(names), mark.join(["1"] * len(names))]
    X, _ = read_samples(written(tmp_path, "\n".join(rows)), names, len(names))
    assert X.shape == (1, 16_000)
    assert csv.field_size_limit() == limit


def test_what_csv_cannot_read_is_told_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_tables, "_LONGEST", 10)
    limit = csv.field_size_limit()
    with pytest.raises(ValueError, match=r"new\.csv: cannot be read as a table \(field larger"):
        read_samples(written(tmp_path, "height,width\n1,2\n"), NAMES, 2)
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("height;width\n1,5;2\n3;4,25\n", {"decimal": ","}),
        ("height;width;note\n1,5;2;a,b\n3;4,25;c\n", {"decimal": ","}),
        ("height;width\n1.5;2\n3;4.25\n", {"decimal": ","}),
        ("height,width\n1.5,2\n3,4.25\n", {"decimal": ","}),
        ("height width\n1.5 2\n3 4.25\n", {"separator": " "}),
        ("height width\n1,5 2\n3 4,25\n", {"separator": " ", "decimal": ","}),
        ("height,width\n1.5,2\n3,4.25\n", {"separator": " "}),
        ("height   width\n1.5 2\n\n 3\t  4.25 \n", {"separator": r"\s+"}),
        ("height:width\n1.5:2\n3:4.25\n", {"separator": ":"}),
    ],
)
def test_text_is_read_as_the_model_s_own_files(text, reading, tmp_path):
    X, _ = read_samples(written(tmp_path, text), NAMES, 2, reading=reading)
    np.testing.assert_array_equal(X, [[1.5, 2], [3, 4.25]])


def test_decimal_commas_beside_text_and_without_names(tmp_path):
    path = written(tmp_path, "height;width\n1,5;a,b\n")
    X, _ = read_samples(path, NAMES, 2, text=[1], reading={"decimal": ","})
    assert X.tolist() == [[1.5, "a,b"]]
    path = written(tmp_path, "1,5;2\n")
    assert read_samples(path, None, 2, reading={"decimal": ","})[0].tolist() == [[1.5, 2]]
    path = written(tmp_path, "height\n1,5\n")
    assert read_samples(path, NAMES[:1], 1, reading={"decimal": ","})[0].tolist() == [[1.5]]


def test_an_empty_cell_between_spaces_is_one(tmp_path):
    path = written(tmp_path, "height width\n 2\n")
    X, _ = read_samples(path, NAMES, 2, reading={"separator": " "})
    np.testing.assert_array_equal(X, [[np.nan, 2]])


def test_names_of_parquet_are_read_without_spaces_around_them(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({" height": [1], "width ": [2]}), tmp_path / "new.parquet")
    assert read_samples(tmp_path / "new.parquet", NAMES, 2)[0].tolist() == [[1, 2]]


def test_the_ending_of_a_file_may_be_in_capitals_and_coordinates_are_read(tmp_path):
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    np.save(tmp_path / "new.npy", X)
    (tmp_path / "new.npy").rename(tmp_path / "NEW.NPY")
    sparse.save_npz(tmp_path / "new.npz", sparse.coo_array(X))
    for name in ("NEW.NPY", "new.npz"):
        found, _ = read_samples(tmp_path / name, None, 2)
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)


def test_a_decimal_mark_that_is_the_delimiter_too_stands_in_quoted_cells(tmp_path):
    path = written(tmp_path, 'height,width\n"0,5","1,5"\n2.5,3\n')
    with pytest.raises(ValueError, match="say --decimal ,"):
        read_samples(path, NAMES, 2)
    X, _ = read_samples(path, NAMES, 2, reading={"decimal": ","})
    np.testing.assert_array_equal(X, [[0.5, 1.5], [2.5, 3.0]])
    path = written(tmp_path, 'height,width\n"0,5","tall"\n')
    with pytest.raises(ValueError, match="'tall' is no finite number; correct the cell"):
        read_samples(path, NAMES, 2, reading={"decimal": ","})


@pytest.mark.parametrize("text", ["height,width\n0.5,inf\n", "height;width\n0,5;inf\n"])
def test_an_infinity_is_named_whatever_the_decimal_mark(text, tmp_path):
    with pytest.raises(ValueError, match=r"column width, sample 0 .*inf is no finite number"):
        read_samples(written(tmp_path, text), NAMES, 2, reading={"decimal": ","})


def test_names_with_blanks_around_them_find_the_delimiter_too(tmp_path):
    path = written(tmp_path, "height (a, b, c);width\n1;2\n")
    X, _ = read_samples(path, [" height (a, b, c)", " width"], 2)
    np.testing.assert_array_equal(X, [[1.0, 2.0]])
