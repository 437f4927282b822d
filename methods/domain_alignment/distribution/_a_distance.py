"""How well a linear machine tells two domains apart."""

import numpy as np
from scipy import linalg

from domain_alignment.exceptions import AlignmentError

# Newton's method on a piecewise quadratic function ends after finitely many steps, in practice ten.
_MOST_STEPS = 200


class DomainSeparator:
    r"""A linear support vector machine that separates a source from a target sample.

    With a constant feature, regularised like the others, and s = 1 in the source, -1 in the target:

    .. math:: \min_w\ \tfrac12 \|w\|^2 + \sum_i \max(0, 1 - s_i w^T (x_i, 1))^2 .

    This is liblinear's default problem with C = 1. Its solution is unique and found exactly, so the
    order of the samples decides nothing.

    Notes
    -----
    Newton's method with line search: the function is quadratic as long as the same samples violate
    their margin, and the method ends when they do. Cost: O(n q^2 + q^3) per step for q features.
    A separator that is fitted again starts from its last solution.

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
        """Return w, the constant's weight last, for samples of shape (m, q) and (n, q)."""
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
            From 0 (not told apart) to 2; 2 if a sample is empty, since nothing is then confused. A
            sample on the hyperplane counts as half an error.
        """
        if not len(source) or not len(target):
            return 2.0
        R = _signed(source, target)
        self._fit_signed(R)
        margins = R @ self._coef
        # Of equal domains w is zero but for rounding, which is not to decide.
        small = 1e-12 * np.abs(R).max()
        wrong = np.count_nonzero(margins < -small)
        undecided = np.count_nonzero(np.abs(margins) <= small)
        error = (wrong + undecided / 2) / len(margins)
        return float(max(0.0, 2 * (1 - 2 * error)))


def _signed(source, target):
    """Rows s_i (x_i, 1), whose product with w is to be 1 at least."""
    R = np.ones((len(source) + len(target), source.shape[1] + 1))
    R[: len(source), :-1], R[len(source) :, :-1] = source, target
    R[len(source) :] *= -1
    return R


def _least_squared_hinge(R, w):
    """Minimise |w|^2 / 2 + sum max(0, 1 - R w)^2, from a start."""
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
            return w  # the quadratic piece that was minimised holds its own minimum
    raise AlignmentError(
        f"the machine that separates the domains did not settle in {_MOST_STEPS} steps; "
        "the features are too badly scaled, standardise them"
    )


def _step_length(w, step, slack, change):
    """The first of 1, 1/2, 1/4, ... that lowers the objective by enough (Armijo)."""

    def objective(length):
        violation = np.maximum(slack - length * change, 0)
        moved = w + length * step
        return moved @ moved / 2 + violation @ violation

    start, slope = objective(0.0), w @ step - 2 * np.maximum(slack, 0) @ change
    length = 1.0
    while length > 1e-10 and objective(length) > start + 1e-4 * length * slope:
        length /= 2
    return length
