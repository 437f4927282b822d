"""The solution of LS-MMDT's solver: a low-rank transform in factored form."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from domain_alignment.utils._params import StrOptions
from domain_alignment.utils._rows import map_rows, times_map
from domain_alignment.utils.validation import check_matrix, dense

REGULARIZERS = [StrOptions({"auto", "identity", "zero"})]


def regularizer(asked, n_source, n_target):
    """W_0 of a parameter `regularize`: of "auto", the identity where it is square, else zero."""
    if asked != "auto":
        return asked
    return "identity" if n_source == n_target else "zero"


@dataclass(frozen=True)
class TransformSolution:
    r"""Transform :math:`W = W_0 + V^T \beta` from target to source, in factored form.

    Attributes
    ----------
    V : ndarray of shape (m, D)
    beta : ndarray of shape (m, D~)
    alpha : ndarray of shape (m, n)
        Non-negative dual variables; usable as a warm start.
    regularize : {"zero", "identity"}
        :math:`W_0`: zero, or the identity truncated to (D, D~).
    objective, dual_objective : float
        Primal objective of W, and a lower bound on the optimum.
    gap : float
        (objective - dual_objective) / abs(objective); 0 if both are 0.
    n_sweeps : int
        Passes over the constraints; a Newton step counts as one.
    n_newton_steps : int
        Number of Newton steps among them.
    form : {"primal", "gram"}
    converged : bool
        Whether the gap is within the tolerance.
    """

    V: np.ndarray = field(repr=False)
    beta: np.ndarray = field(repr=False)
    alpha: np.ndarray = field(repr=False)
    regularize: str
    objective: float
    dual_objective: float
    gap: float
    n_sweeps: int
    n_newton_steps: int
    form: str
    converged: bool

    @classmethod
    def untrained(cls, n_source, n_target, regularize):
        """W = W_0 for the given numbers of features."""
        V, beta, alpha = np.zeros((0, n_source)), np.zeros((0, n_target)), np.zeros((0, 0))
        return cls(V, beta, alpha, regularize, 0.0, 0.0, 0.0, 0, 0, "primal", True)

    @property
    def is_identity(self):
        """Whether W = I by construction, so that target samples stay."""
        square = self.V.shape[1] == self.beta.shape[1]
        return self.regularize == "identity" and square and not len(self.V)

    def apply(self, X):
        """Map target samples of shape (k, D~) to the source: X W^T, in O(k m (D + D~)).

        Dense, but `X` itself if W = I.
        """
        X = self._checked(X)
        if self.is_identity:
            return X
        # Of sparse rows a dense copy is made.
        return map_rows(self.moved, X) if sparse.issparse(X) else self.moved(X)

    def moved(self, X):
        """X W^T of rows that were checked, all at once."""
        Z = times_map(X, self.beta.T) @ self.V
        if self.regularize == "identity":
            shared = min(Z.shape[1], X.shape[1])
            Z[:, :shared] += dense(X[:, :shared])
        return Z

    def scores(self, X, hyperplanes):
        """X W^T U^T for hyperplanes U of shape (l, D), without X W^T of more than l rows."""
        X, hyperplanes = self._checked(X), check_matrix(hyperplanes, "hyperplanes")
        if hyperplanes.shape[1] != self.V.shape[1]:
            raise ValueError(
                f"hyperplanes have {hyperplanes.shape[1]} features, the source has "
                f"{self.V.shape[1]}; give hyperplanes of the source"
            )
        if X.shape[0] <= len(hyperplanes):  # fewer to map than hyperplanes to map back
            return self.moved(X) @ hyperplanes.T
        values = times_map(X, self.beta.T) @ (self.V @ hyperplanes.T)
        if self.regularize == "identity":
            values += identity_scores(hyperplanes, X).T
        return values

    def to_dense(self):
        """W as an ndarray of shape (D, D~); O(m D D~) time and O(D D~) memory."""
        W = self.V.T @ self.beta
        if self.regularize == "identity":
            np.einsum("ii->i", W[: min(W.shape), : min(W.shape)])[:] += 1.0
        return W

    def _checked(self, X):
        X = check_matrix(X)
        if X.shape[1] != self.beta.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features; the transform was learned with {self.beta.shape[1]}"
            )
        return X


def identity_scores(V, X):
    """V W_0 X^T for the truncated identity W_0."""
    shared = min(V.shape[1], X.shape[1])
    part = X if shared == X.shape[1] else X[:, :shared]  # of sparse X a copy
    return times_map(part, V[:, :shared].T).T
