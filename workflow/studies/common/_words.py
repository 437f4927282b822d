"""Parts of the sentences in which studies say what they found."""

from collections.abc import Sequence


def span(values: Sequence[float], digits: int) -> str:
    """``0.9 to 3.2``, the least and the largest; one number where they print alike."""
    ends = (f"{end:z,.{digits}f}".replace("-", "−") for end in (min(values), max(values)))
    return " to ".join(dict.fromkeys(ends))
