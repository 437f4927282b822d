r"""The plan of :class:`ClassRegularizedOT`: Sinkhorn on one kernel with a factor per class.

Round t of the majorisation is entropic transport for the cost :math:`M + \eta W_t`, where
:math:`W_t` depends on the class c of a source sample i and on the target sample j only. Its kernel
is

.. math:: \exp(-(M_{ij} + \eta W_{t, cj}) / \epsilon) = K_{ij} D_{t, cj}

up to a factor of each column, which the target's multipliers absorb. So K is computed once, and
the products of an iteration are those of its rows :math:`K_c` of each class,

.. math:: v_j = b_j \Big/ \sum_c D_{cj} p_{cj}, \qquad u_c = a / (K_c (D_c v)), \qquad
          p_c = K_c^T u_c .

The tangent is a by-product: class c has the mass :math:`D_{cj} p_{cj} v_j` in column j. A block of
rows that meets v and then the u that results stays in cache between: an iteration reads K once.

*Underflow.* With :math:`m_{cj} = \min_{i \in c} M_{ij}`, K is :math:`\exp(-(M_{ij} - m_{cj}) /
\epsilon)` and :math:`D_{cj}` is :math:`\exp(-(m_{cj} + \eta W_{cj}) / \epsilon)` over the largest
of its column. Both are at most 1, so neither is below their product, which is the kernel of the
whole cost less the least of its column: where that does not underflow, its factors do not.
"""

from itertools import pairwise

import numpy as np

# Offset in the group term, as in POT: it bounds the majorising weights of groups without mass.
_EPSILON = 1e-3
# Numbers in a block of rows: 2 MB, which a cache keeps from the first product to the second.
_BLOCK = 2**18
# Products with rows of fewer numbers take less time than the calls for them.
_FEW = 2**16


def class_plan(cost, codes, *, reg_e, reg_cl, n_rounds, max_iter, tol):
    r"""Plan of uniform marginals by majorisation-minimisation, written over the cost.

    Parameters
    ----------
    cost : ndarray of shape (n_S, n_T)
        M; overwritten.
    codes : ndarray of int of shape (n_S,)
        Classes 0, ..., C - 1 of the rows, ascending.
    reg_e, reg_cl : float
        :math:`\epsilon` and :math:`\eta`.
    n_rounds : int
        Sinkhorn problems, the first without the group term.
    max_iter, tol
        Iterations of each, and the norm of the target's marginal error that ends it; as in POT,
        with the same iterates, that is looked at after the first iteration and every tenth.

    Returns
    -------
    plan : ndarray of shape (n_S, n_T)

    Raises
    ------
    FloatingPointError
        If a multiplier is infinite or no number, as when a row of the kernel vanishes.

    Notes
    -----
    Cost: n_S n_T exponentials; O(n_S n_T) per iteration, O(n_T C) per tangent. The cost is the only
    matrix of its size, unless classes are small (:func:`held_matrices`): then K D is formed in each
    round.
    """
    # Infinity and NaN are looked for after each iteration.
    with np.errstate(all="ignore"):
        kernel, least = _kernel(cost, codes, reg_e)
        factor = _factor(least, reg_e)
        # Those of the first multipliers, 1 / n_S, which are the same in each round.
        first = _class_sums(kernel, codes, np.full(len(codes), 1 / len(codes)))
        for _ in range(n_rounds - 1):
            _, v, sums = _multipliers(kernel, codes, factor, first, max_iter, tol)
            factor = _factor(least + reg_cl * tangent(factor * sums * v), reg_e)
        u, v, _ = _multipliers(kernel, codes, factor, first, max_iter, tol)
        for rows, code in _blocks(codes, kernel.shape[1]):
            kernel[rows] *= u[rows, None]
            kernel[rows] *= factor[code] * v
    return kernel


def held_matrices(n_source, n_target, n_classes):
    """Matrices of the plan's size that :func:`class_plan` holds: 2 if classes are small, or 1."""
    return 1 if n_source * n_target >= _FEW * n_classes else 2


def tangent(mass):
    """Slope of the group term in the mass of a class in a column."""
    return 0.5 / np.sqrt(mass + _EPSILON)


def _kernel(cost, codes, reg_e):
    """K, written over the cost, and the least cost of each class in each column."""
    starts = np.searchsorted(codes, np.arange(codes[-1] + 1))
    least = np.minimum.reduceat(cost, starts, axis=0)
    for rows, code in _blocks(codes, cost.shape[1]):
        block = cost[rows]
        block -= least[code]
        block *= -1 / reg_e
        np.exp(block, out=block)
    return cost, least


def _factor(cost, reg_e):
    return np.exp((cost.min(axis=0) - cost) / reg_e)


def _multipliers(kernel, codes, factor, first, max_iter, tol):
    """u, v and the class sums p of the kernel with this factor per class."""
    if held_matrices(*kernel.shape, len(factor)) == 1:
        return _sinkhorn(kernel, codes, factor, first.copy(), max_iter, tol)
    formed = factor[codes]
    formed *= kernel
    one_class = np.zeros_like(codes), np.ones((1, kernel.shape[1])), (factor * first).sum(0)[None]
    u, v, _ = _sinkhorn(formed, *one_class, max_iter, tol)
    return u, v, _class_sums(kernel, codes, u)


def _sinkhorn(kernel, codes, factor, sums, max_iter, tol):
    n_source, n_target = kernel.shape
    u = np.empty(n_source)
    blocks = [(kernel[rows], u[rows], code) for rows, code in _blocks(codes, n_target)]
    for iteration in range(max_iter):
        v = 1 / n_target / np.einsum("cj,cj->j", factor, sums)
        weights = factor * v
        sums[:] = 0
        for rows, multipliers, code in blocks:
            np.dot(rows, weights[code], out=multipliers)
            np.divide(1 / n_source, multipliers, out=multipliers)
            sums[code] += multipliers @ rows
        if not (np.isfinite(u).all() and np.isfinite(v).all()):
            raise FloatingPointError("multipliers of the source or the target are not finite")
        if iteration % 10 == 0:
            error = v * np.einsum("cj,cj->j", factor, sums) - 1 / n_target
            if np.linalg.norm(error) < tol:
                break
    return u, v, sums


def _class_sums(kernel, codes, u):
    sums = np.zeros((codes[-1] + 1, kernel.shape[1]))
    for rows, code in _blocks(codes, kernel.shape[1]):
        sums[code] += u[rows] @ kernel[rows]
    return sums


def _blocks(codes, n_columns):
    """Rows of one class each, no more than a cache holds, and the class."""
    height = max(1, _BLOCK // n_columns)
    ends = np.searchsorted(codes, np.arange(codes[-1] + 1), side="right")
    for code, (first, end) in enumerate(pairwise([0, *ends])):
        for start in range(first, end, height):
            yield slice(start, min(start + height, end)), code
