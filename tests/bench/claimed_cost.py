"""What docstrings claim of cost: each O() of a class's Cost paragraph, and its power of n."""

import inspect
import re

# Symbols of docstrings for numbers of samples.
_SAMPLES = re.compile(r"[nN](_[ASTa])?$")
# "per pass", "per Lanczos step": of a claim that does not count how many there are.
_PER = re.compile(r" per (?:[A-Z]\w+ )?\w+")
_TOKEN = re.compile(r"\s*([A-Za-z_]+|\d+|[-+^(),*])")


def cost_paragraph(cls):
    """The Cost paragraphs of a class's docstring, as one line; "" if it has none."""
    notes = inspect.getdoc(cls).partition("\nNotes\n")[2].partition("\nReferences\n")[0]
    notes = notes.partition("\nExamples\n")[0]
    found = re.search(r"^\*?Cost\b.*?(?=\n\n\*|\Z)", notes, re.MULTILINE | re.DOTALL)
    return " ".join(found.group().split()) if found else ""


def claims(text):
    """Each O(...) of a text, with its brackets balanced and what it is per, without repetition.

    >>> claims("O(n p min(n, p)) time, O(n^2) per Lanczos step and O(n^2) memory; later O(n^2)")
    ['O(n p min(n, p))', 'O(n^2) per Lanczos step', 'O(n^2)']
    """
    found = []
    for start in re.finditer(r"\bO\(", text):
        depth, end = 1, start.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        per = _PER.match(text, end)
        found.append(text[start.start() : per.end() if per else end])
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
    tokens = _TOKEN.findall(claim[1:])
    degree, rest = _product(tokens)
    if rest:
        raise ValueError(f"cannot read {claim!r} from {rest[0]!r} on")
    return degree


def _sum(tokens):
    degree, tokens = _product(tokens)
    while tokens and tokens[0] in "+-":
        other, tokens = _product(tokens[1:])
        degree = max(degree, other)
    return degree, tokens


def _product(tokens):
    degree = 0
    while tokens and tokens[0] not in ("+", "-", ")", ","):
        if tokens[0] == "*":
            tokens = tokens[1:]
        factor, tokens = _factor(tokens)
        if tokens and tokens[0] == "^":
            factor, tokens = factor * int(tokens[1]), tokens[2:]
        degree += factor
    return degree, tokens


def _factor(tokens):
    head, tokens = tokens[0], tokens[1:]
    if head == "(":
        degree, tokens = _sum(tokens)
        return degree, tokens[1:]
    if head not in ("min", "nnz") or not tokens or tokens[0] != "(":
        return int(bool(_SAMPLES.match(head))), tokens
    parts = []
    while tokens[0] != ")":
        degree, tokens = _sum(tokens[1:])
        parts.append(degree)
    # nnz(X) grows with the samples.
    return (1 if head == "nnz" else min(parts)), tokens[1:]
