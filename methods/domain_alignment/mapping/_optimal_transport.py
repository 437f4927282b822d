"""Optimal transport of a source onto a target with the class regulariser of Courty et al."""

import warnings
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.mapping._class_plan import class_plan, held_matrices, tangent
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._optional import needed
from domain_alignment.utils._params import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from domain_alignment.utils._rows import near_zero
from domain_alignment.utils.validation import (
    dense,
    require_labelled,
)

# Matrices of the plan's size that POT's iteration in the log domain holds.
_HELD_BY_POT = 11
# Entries of a matrix from which its median is guessed, to a quarter of a per cent of their ranks.
_SAMPLED = 2**16
# Columns that are copied at a time.
_BATCH_COLUMNS = 256
# L1 error of the target's marginal that triggers a warning.
_MISPLACED = 0.05


class ClassRegularizedOT(Aligner):
    r"""Optimal transport of the labelled source onto the target, class by class (OT-lab).

    With uniform masses on the :math:`n_S` labelled source and the :math:`n_T` target samples, and
    the scaled squared Euclidean distances M, the plan solves ([1]_; the group term is that of
    [2]_, section 4.1, with p = 1/2)

    .. math:: \min_{\gamma \ge 0} \langle \gamma, M \rangle + \epsilon \sum_{ij} \gamma_{ij} \log
              \gamma_{ij} + \eta \sum_j \sum_c \Big(\sum_{i \in c} \gamma_{ij} + 10^{-3}\Big)^{1/2},
              \quad \gamma 1 = 1 / n_S, \quad \gamma^T 1 = 1 / n_T,

    by majorisation-minimisation: the concave group term is replaced by its tangent, which adds
    :math:`\eta\, W_{ij} = \tfrac\eta2 (\sum_{i' \in c(i)} \gamma_{i'j} + 10^{-3})^{-1/2}` to the
    cost, and the rest is solved by Sinkhorn's algorithm. Labelled source samples then move to
    their barycentres in the target, which stays fixed:

    .. math:: z_i = \sum_j \gamma_{ij} x^T_j \Big/ \sum_j \gamma_{ij} .

    Parameters
    ----------
    reg_e : float, default=0.1
        :math:`\epsilon`, weight of the entropy, in units of the scaled cost.
    reg_cl : float, default=1.0
        :math:`\eta`, weight of the group term, in the same units; 0 is plain entropic transport.
        Neither paper nor POT recommends values; 0.1 and 1 are untuned.
    cost_scaling : {"median", "max"} or None, default="median"
        Statistic that the squared distances are divided by. With None, POT's default, the problem
        depends on the units of the features: for z-scored SURF histograms, at squared distances of
        about 1600, the kernel underflows at this `reg_e` (see Raises).
    n_iterations : int, default=10
        Sinkhorn problems solved, the first without the group term; POT's default.
    max_sinkhorn_iter : int, default=200
        Iterations of each; POT's default.
    tol : float, default=1e-8
        Sinkhorn stops when the norm of the target's marginal error is below; POT's default.
    solver : {"sinkhorn", "sinkhorn_log"}, default="sinkhorn"
        Whether to iterate on the kernel :math:`\exp(-M / \epsilon)`, or in the log domain by POT,
        which cannot underflow and takes 25 to over 100 times as long.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, p)
        Source samples after transport, and the target itself.
    coupling_ : ndarray of shape (n_S, n_T)
        :math:`\gamma`, rows in the order of `labelled_rows_`.
    labelled_rows_ : ndarray of int of shape (n_S,)
        Labelled source rows; the others take no part in the plan.
    cost_scale_ : float
        Divisor of the squared distances.
    marginal_error_ : float
        :math:`\|\gamma^T 1 - 1/n_T\|_1`. The source's marginal is exact.
    n_components_ : int
        Number of features.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features, there are more than two, or the source
        has no labelled sample.
    AlignmentError
        If the kernel underflows, or the scale of the cost is 0 (all samples are equal).
    ImportError
        If ``solver="sinkhorn_log"`` and POT is not installed.

    Warns
    -----
    ConvergenceWarning
        If `marginal_error_` exceeds 0.05. 200 iterations leave 0.005 to 0.03 on SURF features.

    Notes
    -----
    *Cost.* O(n_S n_T p) for the distances and the barycentres, and O(n_iterations max_sinkhorn_iter
    n_S n_T) reads at most, as each Sinkhorn iteration reads the plan once. Memory: O(n_S
    n_T) for one matrix, two if n_S n_T / C is below 65536 (eleven in the log domain), and O(n p)
    for the samples that new ones follow. Unlabelled samples of the source, u of them, take O(u n_S
    p) besides, to find the labelled one that each follows. The plan is that of POT's
    ``SinkhornLpl1Transport``; that exponentiates each round's cost, of which the kernels are one
    matrix times a factor per class and target sample (``_class_plan.py``), and forms an n_T x n_S x
    C array for the tangent.

    *Underflow.* A factor of each column leaves every iterate unchanged, as the target's multipliers
    absorb it; with the largest entry of each column at 1 the kernel underflows only for source
    samples much farther from every target sample than its nearest one.

    *Labels* of the target are not used. Unlabelled and new source samples move with their nearest
    labelled source sample (:math:`x + z_i - x_i`; [3]_, as in POT); new target samples stay.

    *Sparse* features are accepted; barycentres and embeddings are dense.

    References
    ----------
    .. [1] N. Courty, R. Flamary, D. Tuia. Domain Adaptation with Regularized Optimal Transport.
       ECML PKDD 2014.
    .. [2] N. Courty, R. Flamary, D. Tuia, A. Rakotomamonjy. Optimal Transport for Domain
       Adaptation. IEEE TPAMI 39(9), 2017.
    .. [3] S. Ferradans, N. Papadakis, G. Peyré, J.-F. Aujol. Regularized Discrete Optimal
       Transport. SIAM Journal on Imaging Sciences 7(3), 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import ClassRegularizedOT
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> source = 6 * np.eye(2)[y] + rng.normal(size=(40, 2))
    >>> target = source + [8, -5] + rng.normal(size=(40, 2))
    >>> ot = ClassRegularizedOT().fit([source, target], [y, None])
    >>> distance = np.linalg.norm(ot.embeddings_[0][:, None] - target, axis=2)
    >>> bool(np.mean(y[distance.argmin(axis=0)] == y) > 0.9)  # nearest neighbour on the target
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "reg_e": POSITIVE,
        "reg_cl": NOT_NEGATIVE,
        "cost_scaling": [StrOptions({"median", "max"}), None],
        "n_iterations": COUNT,
        "max_sinkhorn_iter": COUNT,
        "tol": POSITIVE,
        "solver": [StrOptions({"sinkhorn", "sinkhorn_log"})],
    }

    def __init__(
        self,
        reg_e=0.1,
        reg_cl=1.0,
        cost_scaling="median",
        n_iterations=10,
        max_sinkhorn_iter=200,
        tol=1e-8,
        solver="sinkhorn",
    ):
        self.reg_e = reg_e
        self.reg_cl = reg_cl
        self.cost_scaling = cost_scaling
        self.n_iterations = n_iterations
        self.max_sinkhorn_iter = max_sinkhorn_iter
        self.tol = tol
        self.solver = solver

    unmoved_domains = (1,)  # the target
    _features_reason = "distances between the domains need equal features"

    @property
    def capabilities(self):
        """What this method can do."""
        return Capabilities(labels="source", nonlinear=True)

    def _fit(self, Xs, ys, models):
        source, target = Xs
        why = "labelled samples are what is transported"
        self.labelled_rows_ = require_labelled(ys[0], 0, why)
        self._anchors = source[self.labelled_rows_]
        self.coupling_ = self._plan(target, ys[0][self.labelled_rows_])
        self._check_marginal()
        mass = self.coupling_.sum(axis=1, keepdims=True)
        self._barycentres = safe_sparse_dot(self.coupling_, target, dense_output=True) / mass
        return [self._moved(source), dense(target)]

    def _moved(self, source):
        # Ties: of two equal samples the first is the nearest, but each has its own barycentre.
        Z = np.empty(source.shape)
        Z[self.labelled_rows_] = self._barycentres
        others = np.setdiff1d(np.arange(source.shape[0]), self.labelled_rows_)
        if others.size:
            Z[others] = self._follow_nearest(source[others])
        return Z

    def _plan(self, target, y):
        """Computed with the rows of each class together, returned in the order of `y`."""
        order = np.argsort(y, kind="stable")
        in_order = np.array_equal(order, np.arange(len(y)))
        codes = np.unique(y[order], return_inverse=True)[1]
        shape = len(y), target.shape[0]
        log = self.solver == "sinkhorn_log"
        held = _HELD_BY_POT if log else held_matrices(*shape, codes[-1] + 1)
        check_room(*shape, "optimal transport: the plan", n_arrays=held)
        anchors = self._anchors if in_order else self._anchors[order]
        cost = euclidean_distances(*near_zero(anchors, target), squared=True)
        self.cost_scale_ = self._scale(cost)
        cost /= self.cost_scale_
        plan = (self._by_pot if log else self._by_class)(cost, codes)
        if not in_order:
            _put_rows(plan, order)
        return plan

    def _scale(self, cost):
        if self.cost_scaling is None:
            return 1.0
        scale = float(_median(cost) if self.cost_scaling == "median" else cost.max())
        if not scale > 0:
            other = '"max" or None' if cost.max() > 0 else "None"
            raise AlignmentError(
                f"domains 0 and 1: the {self.cost_scaling} of their squared distances is 0, so it "
                f"cannot scale the cost; drop duplicates, or use cost_scaling={other}"
            )
        return scale

    def _by_class(self, cost, codes):
        largest = cost.max()
        try:
            return class_plan(
                cost,
                codes,
                reg_e=self.reg_e,
                reg_cl=self.reg_cl,
                n_rounds=self.n_iterations,
                max_iter=self.max_sinkhorn_iter,
                tol=self.tol,
            )
        except FloatingPointError as error:
            smaller = "" if self.cost_scaling == "max" else ', or cost_scaling="max"'
            raise AlignmentError(
                f"domains 0 and 1: exp(-cost / reg_e) underflows at reg_e={self.reg_e} and "
                f"costs up to {largest:.3g} (cost_scaling={self.cost_scaling!r}); use "
                f'solver="sinkhorn_log", a larger reg_e{smaller}'
            ) from error

    def _by_pot(self, cost, codes):
        """The same rounds by POT's iteration in the log domain, which takes each cost itself."""
        sinkhorn = needed("ot", 'ClassRegularizedOT(solver="sinkhorn_log")').sinkhorn
        marginals = [np.full(n, 1 / n) for n in cost.shape]
        starts = np.searchsorted(codes, np.arange(codes[-1] + 1))
        plan, penalty = None, 0.0
        for _ in range(self.n_iterations):
            if plan is not None:
                penalty = self.reg_cl * tangent(np.add.reduceat(plan, starts))[codes]
            plan = sinkhorn(
                *marginals,
                cost + penalty,
                self.reg_e,
                method="sinkhorn_log",
                numItermax=self.max_sinkhorn_iter,
                stopThr=self.tol,
                warn=False,  # the marginal of the final plan is checked instead
            )
        return plan

    def _check_marginal(self):
        n_target = self.coupling_.shape[1]
        self.marginal_error_ = float(abs(self.coupling_.sum(axis=0) - 1 / n_target).sum())
        if not self.marginal_error_ <= _MISPLACED:
            warnings.warn(
                f"after {self.max_sinkhorn_iter} Sinkhorn iterations the target's marginal is off "
                f"by {self.marginal_error_:.1%} of the mass; raise max_sinkhorn_iter or reg_e",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _follow_nearest(self, X):
        nearest = pairwise_distances_argmin(*near_zero(X, self._anchors))
        return dense(X - self._anchors[nearest]) + self._barycentres[nearest]

    def _transform(self, X, domain):
        return dense(X) if domain else self._follow_nearest(X)


def _median(A):
    """The median of all entries, of which those near that of a sample alone are copied."""
    if A.size <= 4 * _SAMPLED:
        return np.median(A)
    some = A.ravel()[np.random.default_rng(0).integers(A.size, size=_SAMPLED)]
    low, high = np.quantile(some, [0.47, 0.53])
    n_lower, inside = 0, []
    for rows in gen_batches(len(A), max(1, _SAMPLED // A.shape[1])):
        block = A[rows]
        from_low = block >= low
        n_lower += block.size - np.count_nonzero(from_low)
        inside.append(block[from_low & (block <= high)])
    inside = np.concatenate(inside)
    first, last = (A.size - 1) // 2 - n_lower, A.size // 2 - n_lower
    if not 0 <= first <= last < inside.size:  # all but impossible: 19 deviations of the sample's
        return np.median(A)
    inside.partition((first, last))
    return (inside[first] + inside[last]) / 2


def _put_rows(A, order):
    """Row r becomes row ``order[r]``, in place."""
    for columns in gen_batches(A.shape[1], _BATCH_COLUMNS):
        A[order, columns] = A[:, columns].copy()
