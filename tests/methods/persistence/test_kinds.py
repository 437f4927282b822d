"""Kinds in columns of text: one spelling, and which of them a fitted coding does not know."""

import numpy as np
import pandas as pd
from domain_alignment.persistence._kinds import kinds, unknown_kinds
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

ROWS = np.array([["a", 1.0, "north"], ["b", 2.0, "south"]], dtype=object)


def coder(**settings):
    encoder = OneHotEncoder(**{"handle_unknown": "ignore", "sparse_output": False, **settings})
    return make_column_transformer((encoder, [0, 2]), remainder="passthrough").fit(ROWS)


def new(*regions):
    return np.array([["a", 1.0, region] for region in regions], dtype=object)


def test_kinds_are_spelled_alike_and_all_signs_of_none_are_none():
    cells = [3, 3.0, np.int64(3), " 3 ", "red", "NA", "", "nan", None, np.nan, pd.NA, pd.NaT]
    assert kinds(cells) == ["3"] * 4 + ["red", "NA"] + [None] * 6


def test_unknown_ones_are_counted_with_an_example():
    rows = new("north", "North", None, "SOUTH")
    (told,) = unknown_kinds(coder(), rows, [0, 2], ["letter", "size", "region"])
    assert told.startswith("column 'region': 2 of 4 cells hold a kind")
    assert "first in row 1: 'North'; it knows 'north', 'south')" in told
    (told,) = unknown_kinds(make_pipeline(coder(), StandardScaler()), rows, [0, 2], None)
    assert told.startswith("column number 3: ")


def test_nothing_is_told_of_known_kinds_of_refusals_or_of_other_steps():
    assert unknown_kinds(coder(), new("north", None), [0, 2], None) == []
    assert unknown_kinds(coder(), new("east"), (), None) == []
    assert unknown_kinds(coder(handle_unknown="error"), new("east"), [0, 2], None) == []
    assert unknown_kinds(StandardScaler(), new("east"), [0, 2], None) == []
