"""Proxy A-distance: how well a linear classifier separates two domains."""

import numpy as np
from scipy import linalg

from domain_alignment.exceptions import AlignmentError

# Newton's method is finite on a piecewise quadratic function; about ten steps in practice.
_MOST_STEPS = 200


class DomainSeparator:
    r"""Linear support vector machine that separates source from target samples.

    With a constant feature, regularised like the others, and s = 1 in the source, -1 in the target:

    .. math:: \min_w\ \tfrac12 \|w\|^2 + \sum_i \max(0, 1 - s_i w^T (x_i, 1))^2 .

    This is liblinear's default problem with C = 1. The solution is unique and computed exactly, so
    the order of the samples has no effect.

    Notes
    -----
    Newton's method with line search; it terminates once the set of margin violations is stable.
    Cost: O(n q^2 + q^3) per step for q features. Refitting starts from the last solution.

    Examples
    --------
    >>> separator = DomainSeparator()
    >>> separator.proxy_distance(np.array([[2.0], [3.0]]), np.array([[-2.0], [-3.0]]))
    2.0
    >>> separator.proxy_distance(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]]))
    0.0
    """

    def __init__(self):
        self._coef = None

    def fit(self, source, target):
        """Return w, the intercept last, for samples of shape (m, q) and (n, q)."""
        self._fit_signed(_signed(source, target))
        return self._coef

    def _fit_signed(self, R):
        start = np.zeros(R.shape[1]) if self._coef is None else self._coef
        self._coef = _least_squared_hinge(R, start)

    def proxy_distance(self, source, target):
        r"""The proxy A-distance :math:`2(1 - 2\epsilon)`, with the training error as epsilon.

        Parameters
        ----------
        source : ndarray of shape (m, q)
        target : ndarray of shape (n, q)
            Either may be empty.

        Returns
        -------
        distance : float
            From 0 (inseparable) to 2 (separable, or one set is empty). A sample on the hyperplane
            counts as half an error.
        """
        if not len(source) or not len(target):
            return 2.0
        R = _signed(source, target)
        self._fit_signed(R)
        margins = R @ self._coef
        # Equal domains give w = 0 up to rounding, which must not decide the sign; nor must that of
        # products with long rows.
        small = 1e-12 * max(1.0, np.abs(R).max() * np.linalg.norm(self._coef))
        wrong = np.count_nonzero(margins < -small)
        undecided = np.count_nonzero(np.abs(margins) <= small)
        error = (wrong + undecided / 2) / len(margins)
        return float(max(0.0, 2 * (1 - 2 * error)))


def _signed(source, target):
    """Rows s_i (x_i, 1): their products with w are the margins."""
    R = np.ones((len(source) + len(target), source.shape[1] + 1))
    R[: len(source), :-1], R[len(source) :, :-1] = source, target
    R[len(source) :] *= -1
    return R


def _least_squared_hinge(R, w):
    """Minimise |w|^2 / 2 + sum max(0, 1 - R w)^2, starting from w."""
    slack = 1 - R @ w
    for _ in range(_MOST_STEPS):
        violated = slack > 0
        active = R[violated]
        hessian = 2 * (active.T @ active)
        hessian[np.diag_indices_from(hessian)] += 1
        goal = linalg.solve(hessian, 2 * active.sum(axis=0), assume_a="pos", check_finite=False)
        step = goal - w
        if np.linalg.norm(step) <= 1e-12 * np.linalg.norm(goal):
            return goal
        change = R @ step
        length = _step_length(w, step, slack, change)
        w, slack = w + length * step, slack - length * change
        if length == 1 and np.array_equal(slack > 0, violated):
            return w  # the minimiser of this quadratic piece lies within it
    raise AlignmentError(
        f"the domain separator did not converge in {_MOST_STEPS} steps; "
        "the features are badly scaled, standardise them"
    )


def _step_length(w, step, slack, change):
    """The first of 1, 1/2, 1/4, ... with sufficient decrease (Armijo)."""

    def objective(length):
        violation = np.maximum(slack - length * change, 0)
        moved = w + length * step
        return moved @ moved / 2 + violation @ violation

    start, slope = objective(0.0), w @ step - 2 * np.maximum(slack, 0) @ change
    length = 1.0
    while length > 1e-10 and objective(length) > start + 1e-4 * length * slope:
        length /= 2
    return length
