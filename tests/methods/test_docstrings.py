"""Docstrings of the public methods: their sections, parameters with defaults, and cost."""

import ast
import inspect
import math
import re
from pathlib import Path

import domain_alignment
import pytest
from domain_alignment import Aligner

_PUBLIC = [getattr(domain_alignment, name) for name in domain_alignment.__all__]
METHODS = [item for item in _PUBLIC if inspect.isclass(item) and Aligner in item.__mro__[1:]]
ORDER = [
    "Parameters",
    "Attributes",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
]
_HEADING = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)
# Descriptions are indented, so what starts a line names parameters: "a, b : type, default=1".
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?: : (.+))?$", re.MULTILINE)


def sections(cls):
    """Title to text of each section of a class's docstring."""
    _, *parts = _HEADING.split(inspect.getdoc(cls))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def documented(cls):
    """Pairs of names and their type, in order; "" where the entry refers to another class."""
    return [
        (names.split(", "), told) for names, told in _ENTRY.findall(sections(cls)["Parameters"])
    ]


# A result of an experiment in percentage points, and what is none: the largest standard error of an
# accuracy on 30 labelled rows, of which the criteria of choice speak.
_POINTS = re.compile(r"(\d[\d.]*) (?:percentage )?points")
_BOUND = f"{100 * 0.5 / math.sqrt(30):.0f}"


def points_told(source):
    """Numbers of points in the docstrings of a module's source."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    told = " ".join(" ".join((ast.get_docstring(node) or "").split()) for node in nodes)
    return set(_POINTS.findall(told))


def test_no_docstring_tells_a_difference_of_accuracies():
    """Nothing checks one; an accuracy in percent is a claim (`tests/claims.yaml`)."""
    modules = Path(domain_alignment.__file__).parent.rglob("*.py")
    told = {str(path): points_told(path.read_text("utf-8")) - {_BOUND} for path in modules}
    assert not {path: numbers for path, numbers in told.items() if numbers}


def test_a_difference_of_accuracies_is_caught():
    assert points_told('"""It gains 2 to 4 points."""') == {"4"}
    assert points_told('class A:\n    """Gains 0.15\n    percentage points."""') == {"0.15"}
    assert not points_told('"""The points of a grid."""')


@pytest.mark.parametrize("cls", METHODS)
def test_sections_in_their_order(cls):
    titles = list(sections(cls))
    assert titles == [title for title in ORDER if title in titles]
    assert {"Parameters", "Attributes", "Raises", "Notes"} <= set(titles)


@pytest.mark.parametrize("cls", METHODS)
def test_parameters_of_the_signature(cls):
    names = [name for entry, _ in documented(cls) for name in entry]
    assert names == list(inspect.signature(cls).parameters)


@pytest.mark.parametrize("cls", METHODS)
def test_defaults_of_the_signature(cls):
    signature = inspect.signature(cls).parameters
    for names, told in documented(cls):
        if not told or signature[names[0]].default is inspect.Parameter.empty:
            continue
        _, stated, values = told.partition("default=")
        values = [ast.literal_eval(value) for value in values.split(" and ")] if stated else [None]
        if len(values) == 1:
            values *= len(names)
        assert values == [signature[name].default for name in names], names


@pytest.mark.parametrize("cls", METHODS)
def test_cost(cls):
    assert re.search(r"^\*?Cost\b", sections(cls)["Notes"], re.MULTILINE)
