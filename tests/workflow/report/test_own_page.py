"""The page of an answer: the sentence first, files beside it, nothing of hidden labels in them."""

import dataclasses
import html
import json

import numpy as np
import pandas as pd
import pytest

from tests.workflow.own_example import NAMES, heterogeneous, own
from workflow.lib.report.own_page import labelling_frame, predictions_frame, write_answer
from workflow.lib.report.own_words import sentence

pytestmark = pytest.mark.whole_run


@pytest.fixture(scope="module")
def found():
    return own()


def test_the_sentence_is_the_first_line_and_names_are_escaped(found, tmp_path):
    write_answer(found, tmp_path)
    page = (tmp_path / "answer.html").read_text(encoding="utf-8")
    first, *others = (
        page.index(words)
        for words in ("Adapt: use CORAL.", "The gain is separated", "The best of 2 methods")
    )
    assert [first, *others] == sorted([first, *others])
    assert others[-1] < page.index("How it was found") < page.index("The shift")
    assert "&lt;elm&gt;" in page
    assert "<elm>" not in page
    assert "GFK: needs two domains" in page


def test_the_answer_in_numbers(found, tmp_path):
    write_answer(found, tmp_path)
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer["verdict"] == "use"
    assert answer["sentence"] == sentence(found)
    assert {"method", "candidate", "settings"} == set(answer["used"])
    assert answer["hidden_accuracy"]["method"] == pytest.approx(89 / 90)


def test_every_target_row_has_a_prediction_with_class_names(found, tmp_path):
    write_answer(found, tmp_path)
    frame = pd.read_csv(tmp_path / "predictions.csv")
    assert frame["row"].tolist() == list(range(90))
    assert set(frame["predicted"]) == set(NAMES)
    assert frame["confidence"].between(0.5, 1).all()
    assert frame["agreement"].isin([0.5, 1]).all()


def test_hidden_labels_change_no_file_but_the_check(found, tmp_path):
    written = []
    for known in (True, False):
        folder = tmp_path / str(known)
        write_answer(own(known=known), folder)
        answer = json.loads((folder / "answer.json").read_text())
        answer.pop("hidden_accuracy")
        written.append((answer, (folder / "predictions.csv").read_text()))
    assert written[0] == written[1]


def test_rows_to_label_are_those_of_disagreement(found):
    frame = labelling_frame(found)
    differ = np.flatnonzero(found.votes[0] != found.votes[1])
    assert set(frame["row"]) <= set(differ)
    assert "(1)" in frame["methods_say"].iloc[0]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.25, "The two give 25.0 % of the target's samples different classes;"),
        (0.0001, "The two give less than 0.1 % of the target's samples different classes;"),
        (0.0, "Both give every sample of the target the same class, so that there is no gain"),
    ],
)
def test_it_says_on_how_much_method_and_baseline_differ(found, tmp_path, share, words):
    answer = dataclasses.replace(found.answer, differing=share)
    write_answer(dataclasses.replace(found, answer=answer), tmp_path)
    assert words in html.unescape((tmp_path / "answer.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("n_labels", [0, 30])
def test_it_says_what_chooses_where_that_is_not_what_is_expected(found, tmp_path, n_labels):
    answer = dataclasses.replace(found.answer, n_labels=n_labels)
    write_answer(dataclasses.replace(found, answer=answer), tmp_path)
    page = (tmp_path / "answer.html").read_text(encoding="utf-8")
    assert ("so that another may have the higher expected accuracy" in page) == (not n_labels)


def test_rows_are_those_of_the_file(found):
    """Of a table that holds several domains, or of which rows were left out."""
    moved = dataclasses.replace(found, file_rows=2 * np.arange(90) + 7)
    assert predictions_frame(moved)["row"].tolist() == list(range(7, 187, 2))
    plain, told = labelling_frame(found)["row"], labelling_frame(moved)["row"]
    assert told.tolist() == (2 * plain + 7).tolist()


def test_domains_with_different_features_have_a_page(tmp_path):
    write_answer(heterogeneous(own()), tmp_path)
    assert "different features" in (tmp_path / "answer.html").read_text(encoding="utf-8")


def test_not_adapting_predicts_by_the_baseline():
    found = own(gain=False)
    np.testing.assert_array_equal(
        predictions_frame(found)["predicted"],
        np.asarray(NAMES)[found.answer.baseline.predicted],
    )
