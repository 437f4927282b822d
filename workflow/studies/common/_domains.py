"""Pairs of domains for studies, prepared by the steps that protocols name."""

from collections.abc import Mapping, Sequence


def prepared_pair(domains: Mapping, pair: Mapping) -> tuple[list, list]:
    """Features and labels of a source and a target.

    Parameters
    ----------
    domains : mapping of str to (X, y)
    pair : mapping
        ``source`` and ``target``, keys of `domains`, and ``preprocess``, a list of steps applied to
        each domain by itself.
    """
    from workflow.lib.trials.preprocess import make_preprocessing

    steps: Sequence[str] = pair.get("preprocess", [])
    read = [domains[pair[role]] for role in ("source", "target")]
    return [make_preprocessing(steps).fit_transform(X) for X, _ in read], [y for _, y in read]
