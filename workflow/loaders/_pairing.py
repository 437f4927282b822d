"""Features of several domains by their names: what methods would pair wrongly is refused."""

from collections.abc import Mapping, Sequence

from workflow.loaders._labels import listing


class HalfSharedError(ValueError):
    """Two domains have equally many features of which only some have the same names."""


def refuse_unpaired(named: Mapping[str, Sequence[str] | None]) -> None:
    """Refuse features that methods would pair by position though their names say otherwise.

    For domains that were read one by one; those read together have one order already.

    Parameters
    ----------
    named : mapping
        Names of the features by domain; None of a domain that names none.

    Raises
    ------
    ValueError
        If two domains have the same names in another order.
    HalfSharedError
        If two domains have equally many features of which only some have the same names.
    """
    found: dict[str, Sequence[str]] = {}
    for domain, names in named.items():
        if names is None:
            continue
        for other, known in found.items():
            if list(names) != list(known) and set(names) == set(known):
                one, another = next(p for p in zip(names, known, strict=True) if p[0] != p[1])
                raise ValueError(
                    f"domains {domain!r} and {other!r} have the same features in another order: "
                    f"the first that differs is {one!r} in one, {another!r} in the other, and "
                    "methods would pair them by position. Give one order for all: "
                    "`params: {features: [NAME, ...]}` of the dataset."
                )
        refuse_half_shared(domain, names, found)
        found[domain] = names


def refuse_half_shared(
    domain: str, mine: Sequence[str], found: Mapping[str, Sequence[str]]
) -> None:
    """Refuse equally many features, some under other names: a method would pair the wrong ones.

    Parameters
    ----------
    domain : str
    mine : sequence of str
        Names of its features.
    found : mapping
        Those of other domains.

    Raises
    ------
    HalfSharedError
    """
    for other, theirs in found.items():
        shared = set(mine) & set(theirs)
        if len(mine) == len(theirs) and shared and shared != set(mine):
            only = [name for name in mine if name not in shared]
            others = [name for name in theirs if name not in shared]
            raise HalfSharedError(
                f"domain {domain!r} has {listing(list(map(repr, only)))} where {other!r} has "
                f"{listing(list(map(repr, others)))}, and both have equally many features: methods "
                "would pair them by position. Rename the columns alike, or leave out what is in "
                "one domain alone: `drop`."
            )
