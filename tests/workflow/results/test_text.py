import pytest

from workflow.lib.results.text import (
    capitalized,
    count,
    fixed,
    interval,
    listed,
    number_text,
    p_text,
    percent,
    ranges,
    shortened,
    signed,
    some,
)


def test_none_is_empty():
    assert [fixed(None, 1), percent(None), signed(None), p_text(None)] == [""] * 4


def test_decimals():
    assert (fixed(1.25, 1), fixed(2, 0)) == ("1.2", "2")
    assert (fixed(-0.22, 2), fixed(-0.02, 1), fixed(0.0, 1)) == ("−0.22", "0.0", "0.0")
    assert (percent(0.3341), percent(1, 0)) == ("33.4", "100")
    assert (number_text(40.0), number_text(0.25)) == ("40", "0.25")


def test_a_number_and_the_same_as_a_share_have_the_same_last_digit():
    """Of 0.4665 a hundred times are above 46.65, and that is itself below what it is written as."""
    for number, share in ((46.65, 0.4665), (52.45, 0.5245)):
        mean = sum([number / 3] * 3)
        assert len({percent(share), fixed(number, 1), fixed(mean, 1), fixed(100 * share, 1)}) == 1
        assert len({signed(number), signed(100 * share), signed(-number)[1:].join(["+", ""])}) == 1


def test_names_keep_their_capitals():
    words = ["", "macro F1", "1-NN", "SVM of all"]
    assert [*map(capitalized, words)] == ["", "Macro F1", "1-NN", "SVM of all"]


@pytest.mark.parametrize(
    ("points", "text"), [(0.44, "+0.4"), (-1.24, "−1.2"), (-0.04, "0.0"), (0, "0.0")]
)
def test_a_difference_has_a_true_sign_unless_it_rounds_to_zero(points, text):
    assert signed(points) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        *((1, "1.000"), (0.0312, "0.031"), (0.0005, "0.001"), (0.00049, "5e-04")),
        *((1e-83, "1e-83"), (1e-120, "1e-99 or less"), (0.0, "1e-99 or less")),
    ],
)
def test_p_values(p, text):
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "task", "1 task"),
        (0, "task", "0 tasks"),
        (2, "class", "2 classes"),
        (1200, "t", "1,200 ts"),
    ],
)
def test_counts(number, noun, text):
    assert count(number, noun) == text


def test_lists():
    assert [listed([]), listed("a"), listed("ab")] == ["", "a", "a and b"]
    assert listed("abc", "or") == "a, b or c"


@pytest.mark.parametrize(
    ("numbers", "text"), [([0, 1, 2, 5], "0–2, 5"), ([3], "3"), ([], ""), ([1, 3], "1, 3")]
)
def test_ranges(numbers, text):
    assert ranges(numbers) == text


def test_shortened_is_one_line():
    assert shortened("a\n  b") == "a b"
    assert shortened("abcdef", 4) == "abc…"


def test_the_first_words_then_a_count_but_never_of_one():
    words = ["a", "b", "c", "d"]
    assert some(words, 4) == some(words, 3) == "a, b, c and d"
    assert some(words, 2) == "a, b and 2 more"
    assert some(words, 1, "task") == "a and 3 more tasks"
    assert some([], 2) == ""


def test_intervals_in_points():
    assert interval(-0.012, 0.034) == "−1.2 to +3.4"
    assert interval(0.1, 0.5, scale=1, digits=2) == "+0.10 to +0.50"
    assert interval(-0.012, 0.034, plus=False) == "−1.2 to 3.4"
    assert interval(None, 0.5) == interval(0.1, None) == ""


def test_an_end_near_0_says_on_which_side_it_lies():
    assert interval(-0.0148, -0.0004) == "−1.5 to −0.04"
    assert interval(0.0002, 0.034) == "+0.02 to +3.4"
    assert interval(-0.012, 0.0) == "−1.2 to 0.0"
    assert interval(-0.012, 0.00001) == "−1.2 to 0.0"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.05, "0.050"),
        (0.0501, "0.050"),
        (0.0497, "0.0497"),
        (0.04996, "0.04996"),
        (0.049, "0.049"),
    ],
)
def test_no_p_below_the_level_is_told_as_the_level(p, text):
    assert p_text(p) == text
