"""What docstrings claim of cost: each O() of a class's Cost paragraph, and what it comes to.

In a Cost paragraph an O() is time, or memory where that word follows it or begins its sentence. A
list item that begins with a condition in double backticks, as

    - ``kernel == "linear" and n >= p``: O(n p^2) time, O(p^2) memory.

holds for the parameters and sizes that meet it, and for sparse features where it says ``sparse``;
what is said of new samples is not of a fit. ``len(C)`` in an O() is the number of the candidates
that a parameter lists. ``O(n^2) reads`` counts numbers that are read from memory, not products.
"""

import dataclasses
import inspect
import math
import re

# Symbols of docstrings for numbers of samples.
_SAMPLES = re.compile(r"[nN](_[ASTa])?$")
# Of numbers that are read one after the other, as by a product with a vector; and "per pass", "per
# Lanczos step", of a claim that does not count how many there are.
_READS = " reads"
_ABOUT = re.compile(rf"(?:{_READS}\b)?(?: per (?:[A-Z]\w+ )?\w+)?")
_CONDITION = re.compile(r"(?:^|(?<= ))- ``([^`]+)``: ")
_NEW_SAMPLES = re.compile(r"(?:New samples|``transform``)[^.]*\.")
_TOKEN = re.compile(r"\s*([A-Za-z_]+|\d+|[-+^(),*])")
_IN_CONDITIONS = {"__builtins__": {"len": len, "min": min}}


def cost_paragraph(cls):
    """The Cost paragraphs of a class's docstring, as one line; "" if it has none."""
    notes = inspect.getdoc(cls).partition("\nNotes\n")[2].partition("\nReferences\n")[0]
    notes = notes.partition("\nExamples\n")[0]
    found = re.search(r"^\*?Cost\b.*?(?=\n\n\*|\Z)", notes, re.MULTILINE | re.DOTALL)
    return " ".join(found.group().split()) if found else ""


@dataclasses.dataclass(frozen=True)
class Claims:
    """Each O() of time and of memory that a method claims of a fit."""

    time: list
    memory: list


def claims_for(paragraph, values):
    """What a Cost paragraph claims of a fit with these parameters and sizes.

    Parameters
    ----------
    paragraph : str
        Of :func:`cost_paragraph`.
    values : dict
        Parameters and sizes that conditions name, and ``sparse``.

    >>> text = "O(n p). - ``k``: O(n^2) time, O(n) memory. Memory: O(p). - ``not k``: O(n^3)."
    >>> claims_for(text, {"k": 1})
    Claims(time=['O(n p)', 'O(n^2)'], memory=['O(n)', 'O(p)'])
    """
    always, *items = _CONDITION.split(_NEW_SAMPLES.sub("", paragraph))
    texts = [always]
    for condition, text in zip(items[::2], items[1::2], strict=True):
        if eval(condition, dict(_IN_CONDITIONS), dict(values)):
            texts.append(text)
    time, memory = [], []
    for text in texts:
        for claim, after, sentence in _in_context(text):
            if after.startswith(" time and memory"):
                time.append(claim)
                memory.append(claim)
            elif after.startswith(" memory") or sentence.startswith("Memory"):
                memory.append(claim)
            else:
                time.append(claim)
    return Claims(list(dict.fromkeys(time)), list(dict.fromkeys(memory)))


def _in_context(text):
    """Each O() of a text, what follows it, and its sentence from the beginning on."""
    for start in re.finditer(r"\bO\(", text):
        claim = claims(text[start.start() :])[0]
        sentence = text[: start.start()].rpartition(". ")[2]
        yield claim, text[start.start() + len(claim) :], sentence


def claims(text):
    """Each O(...) of a text, with its brackets balanced and what it is of and per, each once.

    >>> claims("O(n p min(n, p)) time, O(n^2) per Lanczos step and O(n^2) memory; later O(n^2)")
    ['O(n p min(n, p))', 'O(n^2) per Lanczos step', 'O(n^2)']
    >>> claims("O(n p) for the rows and O(n^2) reads per step at most")
    ['O(n p)', 'O(n^2) reads per step']
    """
    found = []
    for start in re.finditer(r"\bO\(", text):
        depth, end = 1, start.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found.append(text[start.start() : _ABOUT.match(text, end).end()])
    return list(dict.fromkeys(found))


def power(claim):
    """Highest power of the number of samples in an O(), other symbols being constants.

    >>> [power(claim) for claim in ("O(n^2 p)", "O((m + n)^2)", "O(n_S n_T p + p^3)", "O(p^2)")]
    [2, 2, 2, 0]
    >>> power("O(n p) per pass")
    1
    >>> power("O(n p min(n, p) + min(n, p)^3)")  # of many samples the features are fewer
    1
    """
    return _degree(_parsed(claim))


def operations(claim, sizes):
    """Additions and multiplications of an O() whose constants are those of matrix products.

    A cube counts two thirds of itself, as in a factorisation of a matrix of that order, all else
    two per term.

    Parameters
    ----------
    claim : str
    sizes : dict of str to float
        Value of each symbol; also ``nnz``, the values of all samples, and of ``len(C)`` for a
        parameter ``C``.

    >>> operations("O(n^2 p + p^3)", {"n": 10, "p": 3})
    618.0
    >>> operations("O(sum_a n_a^2)", {"sum_a": 2, "n_a": 5})  # of both domains
    100.0
    >>> operations("O(cv len(C) l^2)", {"cv": 3, "len(C)": 4, "l": 5})
    600.0
    """
    return 2.0 * _value(_parsed(claim), sizes)


def numbers_read(claim, sizes):
    """What an O() of reads comes to.

    >>> numbers_read("O(n^3) reads", {"n": 10})
    1000.0
    """
    return float(_value(_parsed(claim), sizes, of_cube=1))


def of_reads(claim):
    """Whether an O() counts numbers that are read.

    >>> of_reads("O(n^2) reads per step"), of_reads("O(n^2) per step")
    (True, False)
    """
    return _READS in claim


def _degree(term):
    if isinstance(term, int):
        return 0
    if isinstance(term, str):
        return int(bool(_SAMPLES.match(term)))
    how, *parts = term
    if how == "^":
        return parts[1] * _degree(parts[0])
    if how == "nnz":  # it grows with the samples
        return 1
    if how == "len":
        return 0
    return {"+": max, "*": lambda degrees: sum(degrees), "min": min}[how](list(map(_degree, parts)))


def _value(term, sizes, of_cube=3):
    if isinstance(term, int):
        return term
    if isinstance(term, str):
        return sizes[term]
    how, *parts = term
    if how == "^":
        return _value(parts[0], sizes, of_cube) ** parts[1] / (of_cube if parts[1] == 3 else 1)
    if how == "nnz":
        return sizes["nnz"]
    if how == "len":
        return sizes[f"len({parts[0]})"]
    values = [_value(part, sizes, of_cube) for part in parts]
    return {"+": sum, "*": math.prod, "min": min}[how](values)


# ---- an O() as numbers, symbols and (operation, parts ...)


def _parsed(claim):
    tokens = _TOKEN.findall(claim[1 : claim.rindex(")") + 1])  # without what it is per
    term, rest = _product(tokens)
    if rest:
        raise ValueError(f"cannot read {claim!r} from {rest[0]!r} on")
    return term


def _sum(tokens):
    term, tokens = _product(tokens)
    parts = [term]
    while tokens and tokens[0] in "+-":
        term, tokens = _product(tokens[1:])
        parts.append(term)
    return ("+", *parts), tokens


def _product(tokens):
    parts = []
    while tokens and tokens[0] not in ("+", "-", ")", ","):
        if tokens[0] == "*":
            tokens = tokens[1:]
        factor, tokens = _factor(tokens)
        if tokens and tokens[0] == "^":
            factor, tokens = ("^", factor, int(tokens[1])), tokens[2:]
        parts.append(factor)
    return ("*", *parts), tokens


def _factor(tokens):
    head, tokens = tokens[0], tokens[1:]
    if head == "(":
        term, tokens = _sum(tokens)
        return term, tokens[1:]
    if head.isdigit():
        return int(head), tokens
    if head == "nnz":
        return (head,), _after(tokens)
    if head == "len":
        return (head, tokens[1]), _after(tokens)
    if head != "min" or not tokens or tokens[0] != "(":
        return head, tokens
    parts = []
    while tokens[0] != ")":
        part, tokens = _sum(tokens[1:])
        parts.append(part)
    return (head, *parts), tokens[1:]


def _after(tokens):
    """What follows ``nnz`` or ``len``, and the name in brackets if there is one."""
    return tokens[tokens.index(")") + 1 :] if tokens and tokens[0] == "(" else tokens
