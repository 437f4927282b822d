"""Numbers, times and lists as text: decimals, percent, signs, plurals."""

import time
from collections.abc import Iterable, Sequence

# Behind the name of a method, or a setting, that was found by searching.
SEARCH_MARK = "†"


def with_mark(label: str, searched: bool) -> str:
    """A name, with the mark of a setting or reading that was found by searching."""
    return f"{label} {SEARCH_MARK}" if searched else label


def fixed(value: float | None, digits: int) -> str:
    """``1.234`` as ``1.2``, ``-0.22`` with a true minus sign; zero has none, None is empty."""
    if value is None:
        return ""
    text = f"{_rounded(value, digits):.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def percent(fraction: float | None, digits: int = 1) -> str:
    """``0.3341`` as ``33.4``; empty for None."""
    return "" if fraction is None else f"{_rounded(100 * fraction, digits):.{digits}f}"


def signed(points: float | None, digits: int = 1) -> str:
    """``+0.4`` or ``−1.2`` with a true minus sign; zero has no sign, None is empty."""
    if points is None:
        return ""
    text = f"{_rounded(abs(points), digits):.{digits}f}"
    if float(text) == 0:
        return text
    return ("+" if points > 0 else "−") + text


def _rounded(value: float, digits: int) -> float:
    """What sums in another order differ by must not decide a last digit."""
    return round(value, digits + 8)


def moment(seconds: float) -> str:
    """``2026-11-23 07:44 UTC``."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def number_text(number: float) -> str:
    """``40.0`` as ``40``, ``0.25`` as ``0.25``."""
    return f"{number:.10g}"


def p_text(p: float | None) -> str:
    """A p-value with three decimals, as a power of ten below 0.0005; empty for None.

    More decimals where it would be told as 0.050 and is below. One too small for a float arrives as
    zero, which no probability of a test is.
    """
    if p is None:
        return ""
    if p < 1e-99:
        return "1e-99 or less"
    if p < 0.0005:
        return f"{p:.0e}"
    digits = next((d for d in range(3, 8) if p >= 0.05 or float(f"{p:.{d}f}") < 0.05), 8)
    return f"{p:.{digits}f}"


def capitalized(words: str) -> str:
    """``1-NN and SVM`` as it is, ``macro F1`` as ``Macro F1``: only the first letter may change."""
    return words[:1].upper() + words[1:]


def count(number: int, noun: str) -> str:
    """``1 task``, ``12 tasks``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}es" if noun.endswith("s") else f"{number:,} {noun}s"


def listed(words: Iterable[str], conjunction: str = "and") -> str:
    """``a, b and c``."""
    words = list(words)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def some(words: Iterable[str], most: int, noun: str = "") -> str:
    """``a, b, c and 4 more tasks``: the first words, then a count, never of one alone."""
    words = list(words)
    rest = len(words) - most
    if rest < 2:
        return listed(words)
    return listed([*words[:most], count(rest, f"more {noun}") if noun else f"{rest:,} more"])


def interval(
    low: float | None,
    high: float | None,
    scale: float = 100.0,
    digits: int = 1,
    plus: bool = True,
) -> str:
    """The ends of an interval of fractions in points, ``−1.2 to +3.4``; empty for None.

    Without ``plus`` those of a loss or a size, ``−1.2 to 3.4``.
    """
    if low is None or high is None:
        return ""
    text = signed if plus else fixed

    def end(value: float) -> str:
        # A second digit where the first would hide on which side of 0 an end lies.
        hidden = not round(value, digits) and round(value, digits + 1)
        return text(value, digits + 1 if hidden else digits)

    return f"{end(scale * low)} to {end(scale * high)}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending ``[0, 1, 2, 5]`` as ``0–2, 5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def shortened(text: str, length: int = 400) -> str:
    """One line of at most ``length`` characters."""
    text = " ".join(str(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
