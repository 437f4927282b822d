"""Raw rows of a table become the features that the loader made of them."""

import numpy as np
import pandas as pd
import pytest

from workflow.lib.trials.new_rows import decoded, fitted_coder, text_columns
from workflow.loaders._columns import codings

TABLE = pd.DataFrame(
    {
        "size": [1.0, np.nan, 4.0, 7.0],
        "colour": ["red", "blue", None, "red"],
        "wood": ["ash", "elm", "ash", "ash"],
        "open": [True, False, True, True],
    }
)
TABLE["open"] = TABLE["open"].astype(object)


def coding(table=TABLE, missing="median"):
    return codings(
        {"own": table}, {"own": {"where": "own.csv", "missing": missing, "categorical": ()}}
    )["own"]


def raw(table, own):
    """Rows as a saved model has them: numbers as floats, text or None."""
    columns = [
        [cell if isinstance(cell, str) else None for cell in table[name]]
        if name in own.categories
        else table[name].astype(float)
        for name in own.columns
    ]
    return np.array([list(row) for row in zip(*columns, strict=True)], dtype=object)


@pytest.mark.parametrize("missing", ["median", "mean", "most_frequent"])
def test_features_are_those_of_the_loader(missing):
    own = coding(missing=missing)
    expected, _ = own.encode(TABLE, "own.csv")
    found = fitted_coder(own).transform(raw(TABLE, own))
    assert found.dtype == float
    np.testing.assert_array_equal(found, expected)
    assert text_columns(own) == [1, 2]


def test_columns_may_have_any_name():
    """scikit-learn takes two underscores in the name of a part for a separator."""
    table = TABLE.rename(columns={"size": "value__mean", "colour": "__colour__"})
    own = coding(table)
    expected, _ = own.encode(table, "own.csv")
    np.testing.assert_array_equal(fitted_coder(own).transform(raw(table, own)), expected)


def test_numbers_alone_need_no_text():
    table = TABLE[["size"]]
    own = coding(table)
    found = fitted_coder(own).transform(table.to_numpy(float))
    np.testing.assert_array_equal(found, own.encode(table, "own.csv")[0])


def test_an_unknown_category_gives_zeros():
    own = coding()
    row = raw(TABLE, own)[:1]
    row[0, 1] = "green"
    found = fitted_coder(own).transform(row)
    assert dict(zip(own.feature_names, found[0], strict=True))["colour=red"] == 0
    assert found[0, 1:3].sum() == 0


def test_where_nothing_is_filled_in_an_empty_cell_is_refused():
    full = TABLE.dropna()
    own = coding(full, "error")
    coder = fitted_coder(own)
    np.testing.assert_array_equal(coder.transform(raw(full, own)), own.encode(full, "own.csv")[0])
    with pytest.raises(ValueError, match="NaN"):
        coder.transform(raw(TABLE, own))


def test_rows_are_found_again_from_their_features():
    own = coding()
    X, _ = own.encode(TABLE, "own.csv")
    rows = np.array(decoded(own, X), dtype=object)
    np.testing.assert_array_equal(fitted_coder(own).transform(rows), X)
    assert rows[0].tolist() == [1.0, "red", "ash", 1.0]
