import numpy as np
import pandas as pd
import pytest
from domain_alignment.utils._class_labels import class_numbers, known_labels
from numpy.dtypes import StringDType


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([0, 2, -1, 2], [0, 2], [0, 1, -1, 1]),
        ([0.0, 2.0, np.nan, -1.0], [0, 2], [0, 1, -1, -1]),
        (np.array(["b", None, "a", -1], dtype=object), ["a", "b"], [1, -1, 0, -1]),
        (np.array(["b", "b", "a", "a"]), ["a", "b"], [1, 1, 0, 0]),
        (pd.Series(["b", np.nan, "a", pd.NA], dtype=object), ["a", "b"], [1, -1, 0, -1]),
        (pd.Series(["b", pd.NA, "a", "a"], dtype="string"), ["a", "b"], [1, -1, 0, 0]),
        (pd.Series([1, None, 3, 3], dtype="Int64"), [1, 3], [0, -1, 1, 1]),
        (pd.array([1, None, 3, 3], dtype="Int64"), [1, 3], [0, -1, 1, 1]),
        (pd.array([True, None, False, True], dtype="boolean"), [False, True], [1, -1, 0, 1]),
        (pd.array([1.0, None, 3.0, -1.0], dtype="Float64"), [1, 3], [0, -1, 1, -1]),
        (pd.Categorical(["b", None, "a", "a"]), ["a", "b"], [1, -1, 0, 0]),
        (np.array([True, False, True, True]), [False, True], [1, 0, 1, 1]),
        (["b", -1, "a", None], ["a", "b"], [1, -1, 0, -1]),
        (["b", np.nan, "a", "a"], ["a", "b"], [1, -1, 0, 0]),
        ([["b"], [np.nan], ["a"], ["a"]], ["a", "b"], [1, -1, 0, 0]),
        (np.array(["b", "a", "nan", "a"], dtype=object), ["a", "b", "nan"], [1, 0, 2, 0]),
        (np.array(["b", "a", "c", "a"], dtype=StringDType()), ["a", "b", "c"], [1, 0, 2, 0]),
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_classes_and_the_number_of_each_row(y, classes, codes):
    found, numbers = class_numbers(*known_labels(y, 4))
    assert found.tolist() == classes
    assert numbers.tolist() == codes


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([0, 1], r"labels have shape \(2,\) for 4 samples"),
        (["a", "-1", "b", "-1"], "row 1 holds the string '-1'; .*dtype=object"),
        (np.array(["a", "b", "-1", -1]), "row 2 holds the string '-1'; .*dtype=object"),
        (np.array(["a", "b", None, "-1"], dtype=object), "row 3 holds the string '-1'; "),
        (pd.Series(["a", "-1", "b", np.nan]), "row 1 holds the string '-1'; "),
        (pd.Series(["a", "-1", "b", pd.NA], dtype="string"), "row 1 holds the string '-1'; "),
        (np.array(["a", "-1", "b", "b"], dtype=StringDType()), "row 1 holds the string '-1'; "),
        (np.array(["a", np.nan, "b", "b"]), "row 1 holds the string 'nan'; .*dtype=object"),
        (["a", 3, "b", "b"], "strings and others, such as 3"),
        ([0, 1, np.inf, 1], r"Input y contains infinity \(first at row 2\)"),
        ([0.5, 1.5, 2.0, 1.0], "Unknown label type: continuous"),
        ([0, 1, -7, 1], "label -7 at row 2; labels count from 0, -1 is unlabelled"),
        ([0.0, 1.0, np.nan, -7.0], "label -7.0 at row 3; labels count from 0, -1 is unlabelled"),
        (np.array([None, 1, -7, -1], dtype=object), "label -7 at row 2; labels count from 0"),
        (pd.array([0, None, -7, 1], dtype="Int64"), "label -7 at row 2; labels count"),
        (np.array(["a", 3, -1, "b"], dtype=object), "strings and others, such as 3"),
        (np.ma.masked_equal([0, 1, 2, 1], 2), "1 of its labels are masked"),
    ],
)
def test_what_is_no_label_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        class_numbers(*known_labels(y, 4))


@pytest.mark.parametrize(
    ("values", "dtype", "classes"),
    [
        ([0, 1, None, 1], "Int64", [0, 1]),
        ([2**53 + 1, 2**53 + 2, None], "Int64", [2**53 + 1, 2**53 + 2]),
        ([True, None, False], "boolean", [False, True]),
        (["cat", None, "ash"], "category", ["ash", "cat"]),
        (["cat", None, "ash"], "string", ["ash", "cat"]),
    ],
)
def test_classes_are_those_that_a_series_of_pandas_holds(values, dtype, classes):
    y, known = known_labels(pd.Series(values, dtype=dtype), len(values))
    assert known.tolist() == [value is not None for value in values]
    found = np.unique(y[known]).tolist()
    assert found == classes
    assert [type(one) for one in found] == [type(one) for one in classes]
