"""The domain of each row of stacked samples."""

import numpy as np

from domain_alignment.utils.cells import is_missing


def check_sample_domain(sample_domain, n_samples, target_domain=None):
    """Domain of each row as an array.

    Parameters
    ----------
    sample_domain : array-like of int or str of shape (n_samples,)
    n_samples : int
    target_domain : int or str, optional
        The target's. Without it the sign tells: sources are positive, the target is negative.

    Raises
    ------
    ValueError
        If it or an entry of it is missing, it has another length, or says nothing about which
        domain is the target.
    """
    if sample_domain is None:
        raise ValueError(
            "sample_domain is missing: give one number per sample, positive for sources and "
            "negative for the target (in scikit-learn's tools, after "
            "sklearn.set_config(enable_metadata_routing=True))"
        )
    _refuse_missing(sample_domain)
    sample_domain = np.asarray(sample_domain)
    if sample_domain.dtype.kind == "O":
        sample_domain = np.array(sample_domain.tolist())
    allowed = "iu" if target_domain is None else "iuU"
    if target_domain is None and sample_domain.dtype.kind == "U" and sample_domain.size:
        names = np.unique(sample_domain).tolist()
        raise ValueError(
            f"sample_domain holds the names {names}, which do not tell the target; name it, "
            f"target_domain={names[-1]!r} for instance"
        )
    if sample_domain.shape != (n_samples,) or sample_domain.dtype.kind not in allowed:
        raise ValueError(
            f"sample_domain has shape {sample_domain.shape} and dtype {sample_domain.dtype} for "
            f"{n_samples} samples; give one integer per sample"
            + ("" if target_domain is None else ", or one name")
        )
    if target_domain is None and not sample_domain.all():
        raise ValueError("sample_domain holds 0; sources must be positive and the target negative")
    # Unsigned numbers have no negative: that of 2 would be 254.
    return sample_domain.astype(np.int64) if sample_domain.dtype.kind == "u" else sample_domain


def _refuse_missing(sample_domain):
    """Refuse masked entries and those without a value, which among names would be one more."""
    if np.ma.isMaskedArray(sample_domain):
        missing = np.ma.getmaskarray(sample_domain)
    else:
        # Of a list NumPy would make the text "nan".
        as_objects = isinstance(sample_domain, list | tuple)
        entries = np.asarray(sample_domain, dtype=object if as_objects else None)
        if entries.dtype.kind != "O" or entries.ndim != 1:
            return
        missing = np.array([is_missing(entry) for entry in entries], dtype=bool)
    if missing.any():
        raise ValueError(
            f"sample_domain: {np.count_nonzero(missing)} of its entries are missing (the first in "
            f"row {np.flatnonzero(missing)[0]}); say the domain of each row, or drop these rows"
        )


def domains_in_order(sample_domain, target_domain=None):
    """Domains in the order of alignment: sources ascending, the target last.

    Raises
    ------
    ValueError
        If there is not at least one source and exactly one target.

    Examples
    --------
    >>> domains_in_order(np.array([2, 1, -3, 1])).tolist()
    [1, 2, -3]
    >>> domains_in_order(np.array(["dslr", "amazon", "webcam"]), "dslr").tolist()
    ['amazon', 'webcam', 'dslr']
    """
    domains = np.unique(sample_domain)
    if target_domain is None:
        sources, targets = domains[domains > 0], domains[domains < 0]
        need = "at least one source (positive) and exactly one target (negative)"
    else:
        is_target = domains == target_domain
        sources, targets = domains[~is_target], domains[is_target]
        need = f"at least one source and the target_domain {target_domain!r}"
    if not sources.size or targets.size != 1:
        raise ValueError(
            f"sample_domain names sources {sources.tolist()} and targets {targets.tolist()}; "
            f"need {need}"
        )
    return np.concatenate([sources, targets])


def fitted_domains(sample_domain, domains, target_domain=None):
    """Position of each row's domain among those of fit.

    With signs, a number names the domain and its sign the role, as in skada: if 3 was not in fit
    but -3 was, 3 is that domain.

    Raises
    ------
    ValueError
        If a row's domain was not in fit.

    Examples
    --------
    >>> fitted_domains(np.array([-3, 3, 1]), np.array([1, 2, -3])).tolist()
    [2, 2, 0]
    """
    if target_domain is None:
        other_role = ~np.isin(sample_domain, domains) & np.isin(-sample_domain, domains)
        sample_domain = np.where(other_role, -sample_domain, sample_domain)
    unknown = np.setdiff1d(sample_domain, domains)
    if unknown.size:
        raise ValueError(
            f"sample_domain holds {unknown[0].item()!r}, which was not in fit "
            f"(fitted: {domains.tolist()})"
        )
    order = np.argsort(domains)
    return order[np.searchsorted(domains, sample_domain, sorter=order)]
