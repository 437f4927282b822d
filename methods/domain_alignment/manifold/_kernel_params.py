"""Parameters of KEMA that may be given once or per domain, and checks of a user's own kernel."""

import warnings
from numbers import Integral

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.kernels._bandwidth import parse_width
from domain_alignment.kernels._tiled import TILED_KERNELS, has_sigma
from domain_alignment.utils.validation import domain_name

# Asymmetry and negative eigenvalues of a kernel below this share of its size are rounding.
_ROUNDING = 1e-10


def is_per_domain(value):
    """Whether a parameter is given per domain, not once for all."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def one_per_domain(value, n_domains, what):
    """A list with one entry per domain, of a list or of one value for all.

    Raises
    ------
    ValueError
        If a list has another length.
    """
    if not is_per_domain(value):
        return [value] * n_domains
    if len(value) != n_domains:
        raise ValueError(
            f"{what} holds {len(value)} entries for {n_domains} domains; give one per domain, or "
            "one for all that is not in a list"
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

    None is right for a kernel that has no width, as in KEMA's ``sigma_``.
    """
    for domain, (sigma, kernel) in enumerate(zip(sigmas, kernels, strict=True)):
        if sigma is not None or has_sigma(kernel):
            parse_width(sigma, domain_name(domain))


def choose_landmarks(landmarks, sizes, random_state):
    """Landmark rows of each domain, None if there are to be none.

    A number is that of all domains together. It is shared out in proportion to the domains' sizes,
    by largest remainders and at least one each, and drawn without replacement within each domain.

    Parameters
    ----------
    landmarks : None, int, or list, tuple or array of rows per domain
    sizes : list of int
    random_state : numpy.random.RandomState

    Raises
    ------
    ValueError
        If there are too few or too many, or a row does not exist or comes twice.

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
            f"per domain and at most {sum(sizes)}, the number of all samples"
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
            f"{name}: landmarks have shape {rows.shape} and type {rows.dtype}; give a list of at "
            "least one row number per domain, or their number in all domains together"
        )
    if rows.min() < 0 or rows.max() >= size:
        raise ValueError(
            f"{name}: landmark rows are {rows.min()} to {rows.max()} of {size} samples; "
            "count from 0"
        )
    if np.unique(rows).size < rows.size:
        raise ValueError(f"{name}: a landmark row comes twice; give each once")


def check_own_kernel(block, name):
    """Check a user's kernel on the labelled samples.

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
        If it is not positive semi-definite. The eigenproblem is defined nevertheless.

    Notes
    -----
    Cost: O(l_a^3); the whole kernel is not looked at, for that would take O(n_a^3).
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
            f"{name}: the kernel is not positive semi-definite (an eigenvalue of {smallest:.1e} on "
            "the labelled samples); the eigenproblem is solved all the same, but the embedding is "
            "no projection in a feature space",
            ConvergenceWarning,
            stacklevel=2,
        )
