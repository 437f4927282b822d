"""The one rule by which rows and columns get their verdict, and that nothing else words it."""

import re
from pathlib import Path

import pytest

from workflow.lib.results.equivalence import Error
from workflow.lib.results.verdicts import RULE, column_grade, grade, verdict


@pytest.mark.parametrize(
    ("difference", "error", "expected"),
    [
        (0.0, None, "reproduced"),
        (0.9, None, "reproduced"),
        (1.1, None, "close"),
        (-3.0, None, "close"),
        (3.01, None, "not reproduced"),
        # Within 3 points by two one-sided t tests, 19 degrees of freedom: 2 / 1.15 > 1.73.
        (1.0, Error(1.15, 19), "reproduced"),
        (-1.0, Error(1.15, 19), "reproduced"),
        # 2 / 1.16 < 1.73: as near, but too uncertain to be called equivalent.
        (1.0, Error(1.16, 19), "close"),
        (0.0, Error(2.0, 19), "close"),
        (1.01, Error(0.1, 19), "close"),
        (3.01, Error(0.1, 19), "not reproduced"),
    ],
)
def test_the_rule_of_a_row(difference, error, expected):
    assert grade(difference, error) == expected


@pytest.mark.parametrize(
    ("mean", "rows", "expected"),
    [
        ("reproduced", ["reproduced"] * 9 + ["not reproduced"], "reproduced"),
        ("reproduced", ["reproduced"] * 8 + ["close"] * 2, "close"),
        ("close", ["reproduced"] * 10, "close"),
        # What cancels in the mean stands in the rows.
        ("reproduced", ["reproduced"] * 8 + ["not reproduced"] * 2, "rows disagree"),
        ("close", ["reproduced", "close"] + ["not reproduced"] * 6, "rows disagree"),
        ("not reproduced", ["close"] * 10, "not reproduced"),
    ],
)
def test_the_rule_of_a_column(mean, rows, expected):
    assert column_grade(mean, rows) == expected


def test_a_search_is_no_reproduction_and_does_not_hide_a_failure():
    for found in ("reproduced", "close"):
        assert verdict(found, found_by_search=True) == "matched after search"
        assert verdict(found, found_by_search=False) == found
    for found in ("rows disagree", "not reproduced"):
        assert verdict(found, found_by_search=True) == found


def test_the_rule_says_what_it_does_not_test():
    assert "points off, which nothing tests;" in RULE
    assert "takes the rows for independent, though they may share domains and trials" in RULE


PROJECT = Path(__file__).parents[3]
POINTS = r"\b\d+(?:\.\d+)? (?:percentage )?points?\b"
GRADE = r"(?:\breproduced\b|[“\"`*]close[”\"`*])"
# A bound in figures beside the name of a grade, in one sentence, or the rule before the test of
# equivalence.
WORDED = re.compile(
    rf"{POINTS}[^.|;]{{0,100}}?{GRADE}|{GRADE}[^.|;]{{0,100}}?{POINTS}"
    r"|standard errors?\W+and\W+at most"
)


def worded(text):
    """Where a text words the rule, whatever the ends of its lines and its comment signs."""
    return WORDED.findall(re.sub(r"\s*\n[\s#>]*", " ", text).replace("*and*", "and"))


def test_no_other_file_words_the_rule():
    tops = ("workflow", "config", "reports", "methods", "README.md", "CONTRIBUTING.md")
    paths = [
        path
        for top in tops
        for path in ([PROJECT / top] if "." in top else PROJECT.glob(f"{top}/**/*"))
    ]
    files = [p for p in paths if p.suffix in {".py", ".md", ".rst", ".j2", ".yaml"}]
    # Pages of results print numbers beside verdicts, and the rule itself from its constant.
    files = [p for p in files if PROJECT / "reports/reference" not in p.parents]
    assert len(files) > 300
    found = {str(p.relative_to(PROJECT)): worded(p.read_text("utf-8")) for p in files}
    assert not {name: words for name, words in found.items() if words}


@pytest.mark.parametrize(
    "text",
    [
        "within 1 point a row counts as reproduced, within 3 points\nas close.",
        '# is "reproduced", otherwise at most 3 points\n# is "close"',
        "# At most 2 standard errors *and* at most 1 point apart",
    ],
)
def test_what_words_the_rule_is_found(text):
    assert worded(text)
