r"""Bounds of the KEMA paper: on eigenvalues from n samples, on kernels from m random features.

Theorem and equation numbers are those of [1]_. Theorem 5 is not here: it bounds the error of
:math:`\hat K_d^{-1} \hat K_s`, and a kernel matrix of m < n random features has no inverse.

References
----------
.. [1] D. Tuia, G. Camps-Valls. Kernel Manifold Alignment for Domain Adaptation. PLoS ONE 11(2),
   2016, Theorems 2-6.
.. [2] J. Shawe-Taylor, C. Williams, N. Cristianini, J. Kandola. On the eigenspectrum of the Gram
   matrix and the generalization error of kernel-PCA. IEEE Trans. Inf. Theory 51(7), 2005.
.. [3] L. Mackey, M. Jordan, R. Chen, B. Farrell, J. Tropp. Matrix concentration inequalities via
   the method of exchangeable pairs. Annals of Probability 42(3), 2014.
.. [4] D. Lopez-Paz, S. Sra, A. Smola, Z. Ghahramani, B. Schölkopf. Randomized nonlinear component
   analysis. ICML 2014.
"""

from numbers import Integral

import numpy as np
from scipy import linalg


def residual_upper_bound(eigenvalues, diagonal, rank, *, radius, delta=0.05, ridge=0.0):
    r"""Theorem 2 (Eq. 13), or 3 (Eq. 15) with a ridge: how much r eigenvectors can miss.

    With probability at least :math:`1 - \delta` over n samples, the expected squared distance of a
    new sample from the span of the first r empirical eigenvectors is at most

    .. math:: \min_{1 \le \ell \le r} \Big[ \frac1n \sum_{j > \ell} \hat\lambda_j
              + \frac{1 + \sqrt\ell}{\sqrt n} \sqrt{\frac2n \sum_i K_{ii}^2} \Big]
              + R^2 \sqrt{\frac{18}{n} \ln \frac{2n}{\delta}} ,

    and at least the sum of the true eigenvalues after the r-th.

    Parameters
    ----------
    eigenvalues : array-like of shape (n,)
        All eigenvalues :math:`\hat\lambda` of the kernel matrix of n samples, or
        :math:`\hat\theta` of the regularised one, which stand for
        :math:`\hat\lambda = \hat\theta / (1 - \gamma \hat\theta)`. For KEMA, those of
        :math:`K_s^{-1} K_d`: the reciprocals of the eigenvalues of Eq. 6.
    diagonal : array-like of shape (n,)
        :math:`K_{ii}`; with a ridge :math:`K'_{ii}`, of the regularised matrix.
    rank : int
        r, from 1 to n.
    radius : float
        R, of a ball in the feature space that holds the support of the distribution.
    delta : float, default=0.05
        :math:`\delta`, between 0 and 1.
    ridge : float, default=0.0
        :math:`\gamma` of :math:`(K_s + \gamma K_d)^{-1} K_d`.

    Returns
    -------
    bound : float

    Raises
    ------
    ValueError
        If a number is out of its range, the lengths differ, or
        :math:`\gamma \hat\theta \ge 1`.

    Notes
    -----
    Departs from the paper in nothing; it is the theorem of [2]_, for a symmetric kernel matrix of
    independent samples. With a ridge the paper has the regularised matrix's smaller diagonal beside
    the eigenvalues of the other, and no proof. :math:`K_s^{-1} K_d` is neither symmetric nor made
    of independent entries, and the paper does not say why the theorem should carry over.

    Examples
    --------
    >>> round(residual_upper_bound(np.full(100, 1.0), np.ones(100), 2, radius=1.0), 2)
    2.49
    """
    values, n = _spectrum(eigenvalues, diagonal, rank, delta, ridge)
    # Of the spans of 1 to r eigenvectors, the tail that is left out.
    tails = (values.sum() - np.cumsum(values)[:rank]) / n
    spread = _spread(diagonal, rank, n)
    return float((tails + spread).min() + radius**2 * np.sqrt(18 / n * np.log(2 * n / delta)))


def projection_lower_bound(eigenvalues, diagonal, rank, *, radius, delta=0.05, ridge=0.0):
    r"""Theorem 2 (Eq. 14), or 3 (Eq. 16) with a ridge: how much r eigenvectors capture at least.

    With probability at least :math:`1 - \delta`, the expected squared norm of the projection of
    a new sample on the first r empirical eigenvectors is at least

    .. math:: \max_{1 \le \ell \le r} \Big[ \frac1n \sum_{j \le \ell} \hat\lambda_j
              - \frac{1 + \sqrt\ell}{\sqrt n} \sqrt{\frac2n \sum_i K_{ii}^2} \Big]
              - R^2 \sqrt{\frac{19}{n} \ln \frac{2 (n + 1)}{\delta}} ,

    and at most the sum of the first r true eigenvalues. Parameters, errors and notes are those of
    :func:`residual_upper_bound`.

    Examples
    --------
    >>> bound = projection_lower_bound(np.r_[1e6, np.zeros(9999)], np.ones(10**4), 1, radius=1.0)
    >>> round(bound, 1)
    99.8
    """
    values, n = _spectrum(eigenvalues, diagonal, rank, delta, ridge)
    heads = np.cumsum(values)[:rank] / n
    spread = _spread(diagonal, rank, n)
    margin = radius**2 * np.sqrt(19 / n * np.log(2 * (n + 1) / delta))
    return float((heads - spread).max() - margin)


def _spectrum(eigenvalues, diagonal, rank, delta, ridge):
    values = np.sort(np.asarray(eigenvalues, dtype=float))[::-1]
    n = values.size
    if np.shape(diagonal) != (n,):
        raise ValueError(
            f"diagonal has shape {np.shape(diagonal)} for {n} eigenvalues; give both of the same "
            "n x n matrix"
        )
    if not isinstance(rank, Integral) or rank not in range(1, n + 1):
        raise ValueError(f"rank={rank} of {n} eigenvalues; give 1 to {n}")
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta} is a probability of failure; give one between 0 and 1")
    if ridge * values[0] >= 1:
        raise ValueError(
            f"ridge={ridge} times the largest eigenvalue {values[0]:.3g} is not below 1, which it "
            "is for eigenvalues of the regularised matrix; give those"
        )
    return values / (1 - ridge * values), n


def _spread(diagonal, rank, n):
    """The Rademacher term for spans of 1 to r eigenvectors."""
    sizes = np.arange(1, rank + 1)
    return (1 + np.sqrt(sizes)) / np.sqrt(n) * np.sqrt(2 / n * np.sum(np.square(diagonal)))


def matrix_bernstein_mean(variance, radius, n):
    r"""Theorem 4 (Eq. 17): :math:`E |\sum_i Z_i| \le \sqrt{3 \sigma^2 \ln n} + R \ln n`.

    Parameters
    ----------
    variance : float
        :math:`\sigma^2 = \max(|\sum_i E Z_i^T Z_i|, |\sum_i E Z_i Z_i^T|)`, spectral norms.
    radius : float
        R, with :math:`|Z_i| \le R` always.
    n : int
        Order of the independent random matrices, each of mean zero; at least 4.

    Notes
    -----
    It holds for n of at least 4, where it follows from Tropp's
    :math:`\sqrt{2 \sigma^2 \ln 2n} + \frac{R}{3} \ln 2n`; for n = 1 it reads 0, which is wrong.

    Raises
    ------
    ValueError
        If n is below 4.
    """
    if n < 4:
        raise ValueError(f"n={n}: the bound on the mean is false below n = 4")
    return float(np.sqrt(3 * variance * np.log(n)) + radius * np.log(n))


def random_features_bound(n, m, ridge):
    r"""Theorem 6 (Eq. 21) as printed: the error of rKEMA's regularised problem.

    .. math:: E |(\hat K_d + \gamma I)^{-1} \hat K_s - (K_d + \gamma I)^{-1} K_s| \le
              \frac1\gamma \Big( \sqrt{\frac{3 n^2 \ln n}{m}} + \frac{2 n \ln n}{m} \Big)

    in the spectral norm, for kernel matrices of entries at most 1.

    Parameters
    ----------
    n : int
        Samples; at least 4, see :func:`matrix_bernstein_mean`.
    m : int
        Random features of each of the two kernels.
    ridge : float
        :math:`\gamma > 0`.

    Notes
    -----
    The printed proof is not one. It takes the error for a sum of independent terms, which the
    inverse of a sum is not, and so leaves out the error of :math:`\hat K_d`; and it bounds a
    random feature's square by 1, as Eq. 11 without its factor 2 would have it. For a bound with
    a proof see :func:`proved_random_features_bound`. The measured errors of the paper's Fig. 9 and
    of our tests stay below both.

    Examples
    --------
    >>> round(random_features_bound(100, 1000, ridge=1.0), 2)
    12.67
    """
    error = matrix_bernstein_mean(n**2 / m, 2 * n / m, n)
    return error / _positive(ridge)


def proved_random_features_bound(n, m, ridge):
    r"""A bound like Theorem 6 that its own lemma does prove.

    With E the error of a kernel matrix, :math:`(\hat K_d + \gamma)^{-1} \hat K_s - (K_d +
    \gamma)^{-1} K_s = (\hat K_d + \gamma)^{-1} (E_s - E_d (K_d + \gamma)^{-1} K_s)`, so its norm is
    at most :math:`|E_s| / \gamma + n |E_d| / \gamma^2`. Each E is a mean of m independent matrices
    :math:`2 z z^T - K` with :math:`|z|^2 \le n`: :math:`R = 2n / m` and
    :math:`\sigma^2 \le 2 n |K| / m \le 2 n^2 / m`. By Theorem 4,

    .. math:: \Big( \frac1\gamma + \frac{n}{\gamma^2} \Big)
              \Big( \sqrt{\frac{6 n^2 \ln n}{m}} + \frac{2 n \ln n}{m} \Big) .

    Parameters are those of :func:`random_features_bound`; n is at least 4.
    """
    error = matrix_bernstein_mean(2 * n**2 / m, 2 * n / m, n)
    return (1 + n / _positive(ridge)) / ridge * error


def random_features_error(Kd, Ks, Zd, Zs, ridge, norm=2):
    r"""What Theorem 6 bounds, and Fig. 9 shows: the error committed by given random features.

    Parameters
    ----------
    Kd, Ks : ndarray of shape (n, n)
        Positive semi-definite kernel matrices.
    Zd, Zs : ndarray of shape (n, m)
        Independent random features with :math:`\hat K = Z Z^T`, as those of
        :class:`FourierFeatures`.
    ridge : float
        :math:`\gamma > 0`.
    norm : 2 or "fro", default=2
        Spectral as in the theorem, or Frobenius as in the caption of Fig. 9.

    Returns
    -------
    error : float
    """
    identity = _positive(ridge) * np.eye(len(Kd))
    exact = linalg.solve(Kd + identity, Ks, assume_a="pos")
    approximate = linalg.solve(Zd @ Zd.T + identity, Zs @ Zs.T, assume_a="pos")
    return float(linalg.norm(approximate - exact, norm))


def _positive(ridge):
    if not ridge > 0:
        raise ValueError(f"ridge={ridge}: there is no bound without a ridge; give one above 0")
    return ridge
