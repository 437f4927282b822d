"""Docstrings of the public methods: their sections, parameters with defaults, and cost."""

import ast
import inspect
import re

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
