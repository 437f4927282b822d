r"""Compiled passes over the constraints of :class:`MarginProblem`.

Dual coordinate descent: with all variables but :math:`\alpha_{ij}` fixed, the minimum is at

.. math:: \alpha_{ij} \leftarrow \mathrm{clip}\Bigl(\alpha_{ij} - \frac{g_{ij}}{Q_{ij}},
          0, U_{ij}\Bigr), \quad
          g_{ij} = s_{ij} f_{ij} - r_{ij} + d_{ij} \alpha_{ij}, \quad
          Q_{ij} = H_{ii} K_{jj} + d_{ij}.

A step at (i, j) changes the scores of *all* hyperplanes, but the block of hyperplane i reads only
one vector: :math:`u = \sum_k H_{ik} \beta_k`, with :math:`f_{ij} = u^T x_j` (primal form), or its
image :math:`X u`, with :math:`f_{ij} = u_j` (Gram form). So u is computed once per block, a step is
one inner product and one update of u, independent of the number of hyperplanes, and the block
changes :math:`\beta_i` by the change of u over :math:`H_{ii}`. In the Gram form a step that changes
nothing, as most do near the optimum, costs O(1).
"""

import numpy as np

from domain_alignment.utils._optional import compiler

njit = compiler("The dual solver of MMDT and ARC-t")
# Allows reordered sums (for SIMD) but keeps infinities, the upper bounds of the squared hinge.
_ASSOCIATIVE = {"reassoc", "contract", "nsz"}


@njit(cache=True, inline="always")
def _next_random(state):
    """Xorshift64*, sufficient for a shuffle and reproducible across platforms."""
    word = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return (word * np.uint64(2685821657736338717)) >> np.uint64(33)


@njit(cache=True)
def _shuffle(order, length, state):
    for i in range(length - 1, 0, -1):
        j = _next_random(state) % np.uint64(i + 1)
        order[i], order[j] = order[j], order[i]


@njit(cache=True, inline="always")
def _best_value(value, gradient, curvature, upper):
    """Minimum over [0, upper] of a parabola, or of a line if the curvature is zero."""
    if curvature > 0.0:
        return min(max(value - gradient / curvature, 0.0), upper)
    if gradient < 0.0:
        return upper
    return 0.0 if gradient > 0.0 else value


@njit(cache=True, fastmath=_ASSOCIATIVE)
def _start_block(H_row, carried, u, before):
    u[:] = 0.0
    for k in range(carried.shape[0]):
        weight = H_row[k]
        if weight != 0.0:
            for c in range(u.shape[0]):
                u[c] += weight * carried[k, c]
    before[:] = u


@njit(cache=True, fastmath=_ASSOCIATIVE)
def _end_block(diagonal, u, before, carried_row):
    if diagonal > 0.0:
        for c in range(u.shape[0]):
            carried_row[c] += (u[c] - before[c]) / diagonal


@njit(cache=True, fastmath=_ASSOCIATIVE)
def sweep_dense(rows, gram, H, norms, dual, carried, problem, active, counts, classes, state):
    """One pass over the active constraints, one hyperplane at a time.

    Parameters
    ----------
    rows : ndarray of shape (n, D~), or K of shape (n, n) in the Gram form
    gram : bool
    H : ndarray of shape (m, m)
    norms : ndarray of shape (n,)
        Diagonal of K.
    dual : ndarray of shape (m, n)
        alpha; updated.
    carried : ndarray of shape (m, D~), or (m, n) in the Gram form
        beta, or beta X^T; updated.
    problem : tuple of (signs, margins, ridge, upper)
    active, counts : ndarray of int32 of shape (m, n) and (m,)
        The first ``counts[i]`` entries of row i are the points to visit.
    classes : ndarray of int of shape (m,)
        Order of the hyperplanes.
    state : ndarray of uint64 of shape (1,)
        State of the random shuffle; updated.

    Returns
    -------
    n_changed : int
        Number of steps that changed a dual variable.
    """
    signs, margins, ridge, upper = problem
    u, before = np.empty(carried.shape[1]), np.empty(carried.shape[1])
    n_changed = 0
    for i in classes:
        _start_block(H[i], carried, u, before)
        order, length = active[i], counts[i]
        _shuffle(order, length, state)
        h, weighting = H[i, i], i % ridge.shape[0]
        for place in range(length):
            j = order[place]
            score = 0.0
            if gram:
                score = u[j]
            else:
                for c in range(u.shape[0]):
                    score += u[c] * rows[j, c]
            old, d = dual[i, j], ridge[weighting, j]
            gradient = signs[i, j] * score - margins[i, j] + d * old
            new = _best_value(old, gradient, h * norms[j] + d, upper[weighting, j])
            if new != old:
                n_changed += 1
                dual[i, j] = new
                step = h * signs[i, j] * (new - old)
                for c in range(u.shape[0]):
                    u[c] += step * rows[j, c]
        _end_block(h, u, before, carried[i])
    return n_changed


@njit(cache=True, fastmath=_ASSOCIATIVE)
def sweep_sparse(rows, H, norms, dual, carried, problem, active, counts, classes, state):
    """:func:`sweep_dense` in the primal form, for rows = (data, indices, indptr) of a CSR X."""
    data, indices, indptr = rows
    signs, margins, ridge, upper = problem
    u, before = np.empty(carried.shape[1]), np.empty(carried.shape[1])
    n_changed = 0
    for i in classes:
        _start_block(H[i], carried, u, before)
        order, length = active[i], counts[i]
        _shuffle(order, length, state)
        h, weighting = H[i, i], i % ridge.shape[0]
        for place in range(length):
            j = order[place]
            score = 0.0
            for c in range(indptr[j], indptr[j + 1]):
                score += u[indices[c]] * data[c]
            old, d = dual[i, j], ridge[weighting, j]
            gradient = signs[i, j] * score - margins[i, j] + d * old
            new = _best_value(old, gradient, h * norms[j] + d, upper[weighting, j])
            if new != old:
                n_changed += 1
                dual[i, j] = new
                step = h * signs[i, j] * (new - old)
                for c in range(indptr[j], indptr[j + 1]):
                    u[indices[c]] += step * data[c]
        _end_block(h, u, before, carried[i])
    return n_changed


@njit(cache=True, fastmath=_ASSOCIATIVE)
def objective_terms(scores, dual, problem, costs, squared):
    """All sums of the primal and dual objectives, in one pass without temporaries.

    Returns
    -------
    quadratic, loss, linear, ridged : float
        sum(alpha s f), the loss, sum(alpha r) and sum(d alpha^2).
    worst : float
        Largest projected gradient.
    """
    signs, margins, ridge, upper = problem
    total = np.zeros(4)
    worst = 0.0
    for i in range(dual.shape[0]):
        w = i % ridge.shape[0]
        quadratic, loss, linear, ridged = 0.0, 0.0, 0.0, 0.0
        for j in range(dual.shape[1]):
            a, f = dual[i, j], signs[i, j] * scores[i, j]
            short = margins[i, j] - f
            quadratic += a * f
            linear += a * margins[i, j]
            ridged += a * a * ridge[w, j]
            if short > 0.0:
                loss += costs[w, j] * (short * short if squared else short)
            gradient = ridge[w, j] * a - short
            if (a > 0.0 or gradient < 0.0) and (a < upper[w, j] or gradient > 0.0):
                worst = max(worst, abs(gradient))
        total += np.array([quadratic, loss, linear, ridged])  # row sums first: less rounding
    return total[0], total[1], total[2], total[3], worst


@njit(cache=True)
def list_active(scores, dual, problem, threshold, active, counts):
    """List all variables but those held at a bound by a gradient above `threshold`."""
    signs, margins, ridge, upper = problem
    for i in range(dual.shape[0]):
        w = i % ridge.shape[0]
        length = 0
        for j in range(dual.shape[1]):
            a = dual[i, j]
            gradient = ridge[w, j] * a + signs[i, j] * scores[i, j] - margins[i, j]
            held = (a == 0.0 and gradient > threshold) or (
                a == upper[w, j] and gradient < -threshold
            )
            if not held:
                active[i, length] = j
                length += 1
        counts[i] = length
