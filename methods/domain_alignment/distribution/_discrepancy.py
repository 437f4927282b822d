"""Distances of two domains: mean differences, MMD, and the bound of the Nyström error."""

from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from domain_alignment.kernels._pairwise import (
    PAIRWISE_KERNELS,
    distances,
    has_gamma,
    inner_features,
    kernel_matrix,
    median_gamma,
    pair_rounding,
)
from domain_alignment.utils._rows import near_zero
from domain_alignment.utils.eigen import RANK_TOLERANCE, symmetric_eigenpairs
from domain_alignment.utils.validation import check_domains, check_equal_features

_BATCH_ROWS = 1000


def maximum_mean_discrepancy(source, target, kernel="rbf", gamma="median"):
    r"""Maximum mean discrepancy: distance of two kernel mean embeddings.

    .. math:: \mathrm{MMD}(Z, X) = \Bigl\| \tfrac1m \sum_i \phi(z_i) - \tfrac1n \sum_j \phi(x_j)
              \Bigr\|_{\mathcal H}

    ([1]_, section 3.1; the square root of the biased estimate of [2]_, Eq. 5.)

    Parameters
    ----------
    source : array-like or sparse matrix of shape (m, p)
    target : array-like or sparse matrix of shape (n, p)
    kernel : {"linear", "cosine", "rbf", "laplacian"} or callable, default="rbf"
        Use "linear" on the embeddings of an aligner.
    gamma : "median" or float, default="median"
        Of a radial kernel: by default one over the median (squared) distance within the target, as
        in :class:`~domain_alignment.TKL`, so the result is not symmetric.

    Returns
    -------
    discrepancy : float
        Non-negative; about 1e-8 of the norms (the root of rounding) for equal samples.

    Raises
    ------
    ValueError
        If the kernel is unknown or the domains differ in their number of features.
    AlignmentError
        If ``gamma="median"`` and all target samples are equal.

    Notes
    -----
    Cost: O((m + n)^2 p) time; memory for 1000 x max(m, n) numbers, O(n^2) with the median.

    References
    ----------
    .. [1] M. E. Ullah, A. Aggarwal. Domain-Invariant Transfer Kernel Learning. Report, IIT Kanpur.
    .. [2] A. Gretton, K. Borgwardt, M. Rasch, B. Schölkopf, A. Smola. A Kernel Two-Sample Test.
       JMLR 13, 2012.

    Examples
    --------
    >>> maximum_mean_discrepancy([[0.0], [2.0]], [[3.0], [5.0]], kernel="linear")
    3.0
    """
    source, target, gamma = _checked(source, target, kernel, gamma)
    if kernel == "linear":  # a common offset cancels, and would take the digits
        source, target = near_zero(source, target)
    pairs = ((source, source), (target, target), (source, target))
    within_source, within_target, across = (_mean(A, B, kernel, gamma) for A, B in pairs)
    # A squared norm is negative only by rounding.
    return float(np.sqrt(max(within_source + within_target - 2 * across, 0.0)))


def mean_differences(y, pseudo, classes):
    r"""Sample weights of the differences of the domains' means, marginal and per class.

    The vectors e and :math:`e_c` of the MMD matrices ([1]_, section 3): :math:`X^T e` is the source
    mean minus the target mean, :math:`X^T e_c` the same within class c.

    Parameters
    ----------
    y : ndarray of int of shape (n_S,)
        Source labels, -1 where unlabelled.
    pseudo : ndarray of int of shape (n_T,)
        Pseudo-labels of the target, -1 where there is none.
    classes : ndarray of int of shape (C,)

    Returns
    -------
    weights : ndarray of shape (n_S + n_T, 1 + C)
        e, then :math:`e_c` in the order of `classes`: 1 / (number of samples) in the source, minus
        that in the target; zeros in a domain that has no sample of the class.

    References
    ----------
    .. [1] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer Feature Learning with Joint
       Distribution Adaptation. ICCV 2013.

    Examples
    --------
    >>> mean_differences(np.array([5, 5, 7]), np.array([5]), np.array([5, 7])).round(2)
    array([[ 0.33,  0.5 ,  0.  ],
           [ 0.33,  0.5 ,  0.  ],
           [ 0.33,  0.  ,  1.  ],
           [-1.  , -1.  , -0.  ]])
    """
    overall = np.r_[np.full(len(y), 1 / len(y)), np.full(len(pseudo), -1 / len(pseudo))]
    by_class = np.vstack([_averages(y, classes), -_averages(pseudo, classes)])
    return np.column_stack([overall, by_class])


def _averages(y, classes):
    """Averaging weights per class, one column each; zeros for an empty class."""
    members = (y[:, None] == classes).astype(float)
    return members / np.maximum(members.sum(axis=0), 1)


def nystrom_error_bound(source, target, kernel="rbf", gamma="median"):
    r"""Bound on the error of extrapolating the target's kernel to the source.

    .. math:: \|K_Z - K_{ZX} K_X^{-1} K_{XZ}\|_F \le 4 m \sqrt{C_k m n \epsilon}
              + C_k m n \epsilon \, \|K_X^{-1}\|_F

    for m source and n target samples ([1]_, section 7, which defines neither constant; after [2]_).
    Here :math:`\epsilon = \sum_i \min_j d(z_i, x_j)^2` is the quantisation error of the source by
    its nearest target samples, and :math:`C_k` any constant with

    .. math:: (k(a, b) - k(c, d))^2 \le C_k \bigl(d(a, c)^2 + d(b, d)^2\bigr).

    Parameters
    ----------
    source : array-like or sparse matrix of shape (m, p)
    target : array-like or sparse matrix of shape (n, p)
    kernel : {"linear", "cosine", "rbf", "laplacian"}, default="rbf"
        In this order :math:`C_k` is :math:`2 \max\|x\|^2` over both domains, 2 (d between unit
        rows), :math:`4 \gamma / e` and :math:`2 \gamma^2` (d the Manhattan distance).
    gamma : "median" or float, default="median"

    Returns
    -------
    bound : float
        Infinity if :math:`K_X` is singular (an eigenvalue below 1e-10 of the largest), which the
        theorem excludes.

    Raises
    ------
    ValueError
        If the kernel is a callable or unknown, or the domains differ in their number of features.
    AlignmentError
        If ``gamma="median"`` and all target samples are equal.

    Notes
    -----
    *Proof.* Let P map every source sample to its nearest target sample, :math:`K_{ZX} = P K_X + B`
    and :math:`K_Z = P K_X P^T + A`. The error matrix is
    :math:`A - P B^T - B P^T - B K_X^{-1} B^T` with :math:`\|A\|^2 \le 2 m C_k \epsilon`,
    :math:`\|B\|^2 \le n C_k \epsilon`, :math:`\|P B^T\|^2 \le m n C_k \epsilon`, all in the
    Frobenius norm. The sum is below the printed bound, by a factor of m in its first term.

    *Tightness.* The bound is loose, and vacuous for nearly singular :math:`K_X`. The report also
    claims that the transfer error is below the Nyström error; this holds if the target's
    eigenvalues satisfy the damping constraint, which only zeta = 1 ensures.

    Cost: O(n^2 p + m n p + n^3) time, O(n^2) memory.

    References
    ----------
    .. [1] M. E. Ullah, A. Aggarwal. Domain-Invariant Transfer Kernel Learning. Report, IIT Kanpur,
       section 7.
    .. [2] K. Zhang, I. W. Tsang, J. T. Kwok. Improved Nyström Low-Rank Approximation and Error
       Analysis. ICML 2008.

    Examples
    --------
    >>> nystrom_error_bound([[0.0], [1.0]], [[0.0], [1.0], [3.0]], kernel="rbf", gamma=1.0)
    0.0
    """
    if callable(kernel):
        raise ValueError(
            "kernel: the bound's constant is unknown for a callable; "
            "give one of linear, cosine, rbf, laplacian"
        )
    source, target, gamma = _checked(source, target, kernel, gamma)
    values, _ = symmetric_eigenpairs(kernel_matrix(target, target, kernel, gamma))
    if values[0] <= RANK_TOLERANCE * values[-1]:
        return float("inf")
    inverse_norm = np.linalg.norm(1 / values)
    m, n = source.shape[0], target.shape[0]
    spread = _kernel_constant(source, target, kernel, gamma)
    spread *= m * n * _encoding_error(source, target, kernel)
    return float(4 * m * np.sqrt(spread) + spread * inverse_norm)


def _checked(source, target, kernel, gamma):
    (source, target), _ = check_domains([source, target])
    check_equal_features([source, target], "one kernel cannot compare them")
    if not callable(kernel) and kernel not in PAIRWISE_KERNELS:
        known = ", ".join(PAIRWISE_KERNELS)
        raise ValueError(f"kernel: unknown {kernel!r}; known: {known}, or a callable")
    if not has_gamma(kernel):
        return source, target, None
    if gamma == "median":
        D, rounding = distances(target, target, kernel), pair_rounding(target, kernel)
        return source, target, median_gamma(D, rounding, "the target")
    if not (isinstance(gamma, Real) and 0 < gamma < np.inf):
        raise ValueError(f'gamma={gamma!r}; give "median" or a number above 0')
    return source, target, float(gamma)


def _mean(X, Y, kernel, gamma):
    batches = gen_batches(X.shape[0], _BATCH_ROWS)
    total = sum(kernel_matrix(X[rows], Y, kernel, gamma).sum() for rows in batches)
    return total / (X.shape[0] * Y.shape[0])


def _kernel_constant(source, target, kernel, gamma):
    if kernel == "linear":
        return 2 * max(row_norms(X, squared=True).max() for X in (source, target))
    if kernel == "cosine":
        return 2.0
    return 4 * gamma / np.e if kernel == "rbf" else 2 * gamma**2


def _encoding_error(source, target, kernel):
    """Sum over the source of the squared distance to the nearest target sample."""
    source, target = (inner_features(X, kernel) for X in (source, target))
    batches = gen_batches(source.shape[0], _BATCH_ROWS)
    nearest = [distances(source[rows], target, kernel).min(axis=1) for rows in batches]
    nearest = np.concatenate(nearest)
    return float(np.square(nearest).sum() if kernel == "laplacian" else nearest.sum())
