"""KEMA's per-domain parameters, and checks of user-supplied kernels."""

import warnings
from numbers import Integral

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.kernels._bandwidth import parse_width
from domain_alignment.kernels._tiled import TILED_KERNELS, has_sigma
from domain_alignment.utils.validation import domain_name

# Relative asymmetry and negative eigenvalues of a kernel below this are rounding.
_ROUNDING = 1e-10


def is_per_domain(value):
    """Whether a parameter is given per domain rather than once for all."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def one_per_domain(value, n_domains, what):
    """Expand a parameter to a list with one entry per domain.

    Raises
    ------
    ValueError
        If a list has the wrong length.
    """
    if not is_per_domain(value):
        return [value] * n_domains
    if len(value) != n_domains:
        raise ValueError(
            f"{what} holds {len(value)} entries for {n_domains} domains; give one per domain, or a "
            "single value that is not in a list"
        )
    return list(value)


def check_kernels(kernels):
    """Raise ``ValueError`` if an entry is neither a known kernel nor a function."""
    known = (*TILED_KERNELS, "precomputed")
    for domain, kernel in enumerate(kernels):
        if not callable(kernel) and kernel not in known:
            raise ValueError(
                f"{domain_name(domain)}: unknown kernel {kernel!r}. Known: {', '.join(known)}, "
                "or a function of two sets of samples"
            )


def check_widths(sigmas, kernels):
    """Raise ``ValueError`` if an entry is neither a positive number nor a known rule.

    None is allowed for a kernel without a width, as in KEMA's ``sigma_``.
    """
    for domain, (sigma, kernel) in enumerate(zip(sigmas, kernels, strict=True)):
        if sigma is not None or has_sigma(kernel):
            parse_width(sigma, domain_name(domain))


def choose_landmarks(landmarks, sizes, random_state):
    """Landmark rows of each domain, or None for no landmarks.

    A number is the total over all domains, apportioned to the domains' sizes by largest remainders,
    at least one each, and sampled without replacement within each domain.

    Parameters
    ----------
    landmarks : None, int, or list, tuple or array of rows per domain
    sizes : list of int
    random_state : numpy.random.RandomState

    Raises
    ------
    ValueError
        If there are too few or too many, or a row does not exist or is repeated.

    Examples
    --------
    >>> [rows.size for rows in choose_landmarks(5, [60, 40], np.random.RandomState(0))]
    [3, 2]
    """
    if landmarks is None:
        return None
    if isinstance(landmarks, Integral):
        counts = _shares(int(landmarks), sizes)
        return [
            np.sort(random_state.choice(size, count, replace=False))
            for size, count in zip(sizes, counts, strict=True)
        ]
    chosen = [np.asarray(rows) for rows in one_per_domain(landmarks, len(sizes), "landmarks")]
    for domain, (rows, size) in enumerate(zip(chosen, sizes, strict=True)):
        _check_landmarks(rows, size, domain_name(domain))
    return chosen


def _shares(total, sizes):
    if not len(sizes) <= total <= sum(sizes):
        raise ValueError(
            f"landmarks={total} for {len(sizes)} domains of {sizes} samples; ask for at least one "
            f"per domain and at most {sum(sizes)}, all samples"
        )
    exact = total * np.array(sizes) / sum(sizes)
    counts = np.maximum(np.floor(exact).astype(int), 1)
    while counts.sum() != total:
        missing = exact - counts
        if counts.sum() < total:
            counts[np.argmax(missing)] += 1
        else:
            counts[np.argmin(np.where(counts > 1, missing, np.inf))] -= 1
    return counts


def _check_landmarks(rows, size, name):
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
        raise ValueError(
            f"{name}: landmarks have shape {rows.shape} and dtype {rows.dtype}; give at least one "
            "row number per domain, or the total number of landmarks"
        )
    if rows.min() < 0 or rows.max() >= size:
        raise ValueError(
            f"{name}: landmark rows are {rows.min()} to {rows.max()} of {size} samples; "
            "count from 0"
        )
    if np.unique(rows).size < rows.size:
        raise ValueError(f"{name}: a landmark row is repeated; give each once")


def check_own_kernel(block, name):
    """Check a user-supplied kernel on the labelled samples.

    Parameters
    ----------
    block : ndarray of shape (l_a, l_a)

    Raises
    ------
    ValueError
        If it is not symmetric.

    Warns
    -----
    ConvergenceWarning
        If it is not positive semi-definite; the eigenproblem is still well defined.

    Notes
    -----
    Cost: O(l_a^3); checking the whole kernel would take O(n_a^3).
    """
    size = np.abs(block).max()
    if np.abs(block - block.T).max() > _ROUNDING * size:
        raise ValueError(
            f"{name}: the kernel is not symmetric (k(x, y) and k(y, x) differ by up to "
            f"{np.abs(block - block.T).max():.1e}); symmetrise it"
        )
    relative = block / size if size else block
    smallest = size * np.linalg.eigvalsh((relative + relative.T) / 2)[0]
    if smallest < -_ROUNDING * size * len(block):
        warnings.warn(
            f"{name}: the kernel is not positive semi-definite (eigenvalue {smallest:.1e} on the "
            "labelled samples); the eigenproblem is solved, but the embedding is not a projection "
            "in a feature space",
            ConvergenceWarning,
            stacklevel=2,
        )
