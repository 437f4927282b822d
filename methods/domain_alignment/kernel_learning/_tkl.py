"""Transfer kernel learning."""

import math
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernel_learning._domain_kernel import (
    DomainKernel,
    KernelParams,
    count_landmarks,
    draw_landmarks,
    with_landmarks,
)
from domain_alignment.kernel_learning._spectrum_qp import SOLVERS, solve_eigenspectrum
from domain_alignment.kernel_learning._transfer_eigensystem import TransferEigensystem
from domain_alignment.kernels._pairwise import PAIRWISE_KERNELS, kernel_diagonal
from domain_alignment.utils._memory import lasting
from domain_alignment.utils._params import COUNT, POSITIVE, Interval, StrOptions
from domain_alignment.utils.eigen import RANK_TOLERANCE

__all__ = ["TKL", "solve_eigenspectrum"]

# Entries of the spectrum below this share of the first are below rounding in the kernel: at z an
# extrapolated eigenvector is at most sqrt(k(z, z) / eigenvalue), with eigenvalues above the rank
# tolerance.
_NEGLIGIBLE = RANK_TOLERANCE * np.finfo(float).eps


class TKL(Aligner):
    r"""Transfer kernel learning: a kernel with the target's eigenvectors, fitted to the source.

    The eigenvectors of the target's kernel, :math:`K_X \Phi_X = \Phi_X \Lambda_X`, are extrapolated
    to the source, :math:`\bar\Phi_Z = K_{ZX} \Phi_X \Lambda_X^{-1}` (Nyström), and their spectrum
    is fitted to the source's kernel ([1]_, section 4; [2]_):

    .. math:: \min_\lambda \|\bar\Phi_Z \Lambda \bar\Phi_Z^T - K_Z\|_F^2 \quad \text{subject to}
              \quad \lambda_i \ge \zeta \lambda_{i+1}, \quad \lambda_r \ge 0,

    a quadratic program in r unknowns with :math:`Q = (\bar\Phi_Z^T\bar\Phi_Z) \circ
    (\bar\Phi_Z^T\bar\Phi_Z)` and :math:`r = \mathrm{diag}(\bar\Phi_Z^T K_Z \bar\Phi_Z)`. The
    learned kernel is :math:`\bar\phi(z)^T \Lambda\, \bar\phi(x)`; the embedding is its feature map
    :math:`\Lambda^{1/2} \bar\phi(z)`, so a linear SVM on it is the kernel SVM. Labels are not used.

    Parameters
    ----------
    kernel : {"rbf", "linear", "cosine", "laplacian", "precomputed"} or callable, default="rbf"
        With "precomputed" a domain is given by its rows of the kernel of all training samples,
        source columns first, ``Xs = [K[:m], K[m:]]``; new samples by their rows likewise.
    gamma : "median" or float, default="median"
        Of "rbf" and "laplacian": by default one over the median (squared Euclidean, or Manhattan)
        distance of distinct target samples, or target landmarks; unspecified in the report.
    zeta : float, default=2.0
        :math:`\zeta \ge 1`, the damping factor; 2 for text and 4 for images in the report.
    n_eigen : int, default=500
        r, the number of eigenvectors; fewer if the target's kernel has a smaller rank (eigenvalues
        above 1e-10 of the largest), or if the target is large and the others decide no embedding
        (see Notes; `nystrom_error_` is then that of fewer). min(500, n) in the report.
    solver : {"nnls", "clarabel", "osqp", "scs"}, default="nnls"
        See :func:`~domain_alignment.kernel_learning.solve_eigenspectrum`. "nnls" is exact and the
        fastest; the others need cvxpy (in a clone: ``pip install '.[tkl]'``).
    landmarks : int or "auto", optional
        Number of random samples of each domain for a Nyström approximation of its kernel; all of a
        smaller domain. By default the kernel is exact. "auto": exact up to 5000 samples in each
        domain, where each of about five matrices takes 200 MB, and 1000 landmarks in both if one
        has more; a linear or cosine kernel of fewer features than samples counts these instead.
        `landmark_errors_` says what the landmarks leave out.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks. Pass an int for reproducible output.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        :math:`\bar\Phi_Z \Lambda^{1/2}` and :math:`\Phi_X \Lambda^{1/2}`.
    n_components_ : int
        Number of entries of the spectrum above 2e-26 of the first; the others are below rounding.
    eigenspectrum_ : ndarray of shape (r,)
        :math:`\lambda`, descending.
    eigenvalues_ : ndarray of shape (r,)
        The target's own, descending.
    transfer_error_ : float
        :math:`\|\bar\Phi_Z \Lambda \bar\Phi_Z^T - K_Z\|_F`.
    nystrom_error_ : float
        The same with the target's own r eigenvalues. Not less than `transfer_error_` at zeta = 1.
    full_nystrom_error_ : float
        :math:`\|K_Z - K_{ZX} K_X^+ K_{XZ}\|_F`, all eigenvalues; computed on access, and a
        ``ValueError`` where only the first were computed.
    gamma_ : float or None
        The value used; None for kernels without one.
    landmarks_ : list of ndarray of int, or None
        Rows of each domain's landmarks.
    landmark_errors_ : list of float, or None
        :math:`1 - \mathrm{tr}(G G^T) / \mathrm{tr}(K)` of the source's and the target's kernel.
        What landmarks leave out is positive semi-definite, so that this is its trace norm, and a
        bound of its Frobenius norm, relative to :math:`\mathrm{tr}(K)`; measured, where
        :func:`~domain_alignment.distribution.nystrom_error_bound` bounds a priori. None without
        landmarks, and for a callable kernel, whose trace would need all pairs.
    eigensystem_ : TransferEigensystem
        The data of the quadratic program, for spectra, errors and embeddings at other damping
        factors and fewer eigenvectors without refitting.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features, there are more than two, a precomputed
        kernel has the wrong number of columns, or a kernel is not symmetric.
    AlignmentError
        If the target's kernel is zero or indefinite, the source has no similarity with the target,
        ``gamma="median"`` meets samples that are all equal, or the solver fails its checks.

    Notes
    -----
    *Cost*, for n_S source and n_T target samples, r eigenvectors. ``prepare`` is deferred: what a
    fit computes of a domain alone it keeps. Sparse features stay sparse. The report counts (d + r)
    times the square of all samples, with an iterative eigensolver. The linear and the cosine kernel
    of p features have a rank of at most p; the kernel, its spectrum and the errors are the same in
    every case. New samples: O(n p + n r) each, O(p r) without a kernel matrix, O(l p + l r) with l
    landmarks.

    - ``landmarks is None and not (kernel in ("linear", "cosine") and p < n_T)``: O(n_T^2 p) time
      for the target's distances or kernel and O(n_T^3) for its eigensystem, or O(n_T^2) per step of
      Lanczos for few of many samples; O(n_T^2) memory.
    - ``landmarks is None and kernel in ("linear", "cosine") and p < n_T``: the eigensystem of a p x
      p matrix, O(n_T p^2 + p^3) time, or O(p^2) per step of Lanczos; O(n_T (p + r) + p^2) memory.
    - ``landmarks is None and not (kernel in ("linear", "cosine") and p < n_T and 2 * p <= n_S)``:
      the kernels of the source with itself and with the target, O(n_S (n_S + n_T) p) time, and
      O(n_S n_T r + n_S^2 r + r^3) time for the spectrum; O(n_S (n_S + n_T)) memory.
    - ``landmarks is None and kernel in ("linear", "cosine") and p < n_T and 2 * p <= n_S``: no
      kernel matrix is formed: O((n_S + n_T) p (p + r) + n_S r^2 + r^3) time and O((n_S + n_T)(p +
      r) + p^2) memory.
    - ``landmarks is not None``: O((n_S + n_T) l p + (n_S + n_T) l^2 + l^3) time, O(n_T l + (n_S +
      n_T) r + l^2) memory: the kernels are computed in blocks of rows, by each fit.

    *Large zeta.* The constraints bind: from about 1.5 on, for the kernels of the report's data,
    :math:`\lambda_i = \lambda_1 \zeta^{1-i}` exactly, and a single number is learned. For any data
    an entry is at most :math:`\zeta^{1-i}` of the first, so that those beyond :math:`1 + 59 /
    \log\zeta` (87 for 2, 44 for 4) are below rounding. Of a target of more than 2000 samples (and
    features, if these are fewer and decide) only the others' eigenvectors are computed, if these
    are at most a tenth of them; damping factors below `zeta` then need another fit.

    *New samples.* The eigenvectors are those of the target's rows in `fit`, and such a row counts
    its similarity with itself: its coordinate i is :math:`\lambda_i / (\lambda_i - k(x, x))` times
    what the other rows give, with the target's eigenvalue :math:`\lambda_i`; new samples, like the
    source's, have no such part. Where few eigenvalues exceed :math:`k(x, x)` by much (few target
    rows, many features) new samples are classified worse than the rows of `fit`. More unlabelled
    target rows help, or a fit that includes the new ones.

    *Invariance.* If the target's kernel has multiple eigenvalues, the eigenvectors and the learned
    kernel are not unique. Otherwise it does not depend on the order of the samples, nor, for the
    radial and linear kernels, on rotations; scaling the kernel scales the learned one.

    *Departures from the report.* Its section 5 prints r without :math:`K_Z` and Q with two
    transposes; see :func:`~domain_alignment.kernel_learning.solve_eigenspectrum`. Section 7's
    "transfer error below Nyström error" holds at zeta = 1. Landmarks (section 5.2): the printed
    :math:`\bar\Phi_Z = K_{Z\hat Z} \bar\Phi_{\hat Z} \Lambda_{\hat X}^{-1}` divides by the
    eigenvalues twice and does not reduce to the exact formula when all samples are landmarks. Here
    the target's kernel is :math:`G G^T`, :math:`G = K_{X\hat X} K_{\hat X}^{-1/2}`, whose
    eigenvectors are orthonormal on all of X, extrapolated by :math:`K_{Z\hat X}`; the source's is
    :math:`K_{Z\hat Z} K_{\hat Z}^{-1} K_{\hat Z Z}` as printed, to which errors then refer.

    References
    ----------
    .. [1] M. E. Ullah, A. Aggarwal. Domain-Invariant Transfer Kernel Learning. Report, IIT Kanpur.
    .. [2] M. Long, J. Wang, J. Sun, P. S. Yu. Domain Invariant Transfer Kernel Learning. IEEE TKDE
       27(6), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import TKL
    >>> rng = np.random.default_rng(0)
    >>> source, target = rng.normal(size=(30, 4)), rng.normal(size=(40, 4)) + 0.5
    >>> tkl = TKL(zeta=1.0, n_eigen=10).fit([source, target])
    >>> tkl.transfer_error_ <= tkl.nystrom_error_
    True
    >>> tkl.transform(rng.normal(size=(5, 4)), domain=0).shape
    (5, 10)
    """

    _parameter_constraints: ClassVar[dict] = {
        "kernel": [StrOptions({*PAIRWISE_KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"median"}), *POSITIVE],
        "zeta": [Interval(Real, 1, None, closed="left")],
        "n_eigen": COUNT,
        "solver": [StrOptions(set(SOLVERS))],
        "landmarks": [*COUNT, StrOptions({"auto"}), None],
        "random_state": ["random_state"],
    }
    _model_type = DomainKernel
    _features_reason = "one kernel cannot compare them"

    def __init__(
        self,
        kernel="rbf",
        gamma="median",
        zeta=2.0,
        n_eigen=500,
        solver="nnls",
        landmarks=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.zeta = zeta
        self.n_eigen = n_eigen
        self.solver = solver
        self.landmarks = landmarks
        self.random_state = random_state

    @property
    def capabilities(self):
        """What this instance can do; linear if the kernel is."""
        return Capabilities(
            labels="none",
            nonlinear=callable(self.kernel) or self.kernel not in ("linear", "precomputed"),
        )

    @property
    def full_nystrom_error_(self):
        """Nyström error with all eigenvalues of the target; O(m^2 n) on first access."""
        return self.eigensystem_.full_nystrom_error

    def pairwise_kernel(self, X, domain_x, Y, domain_y):
        """The learned kernel between samples of any domains.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
        domain_x : int
            The domain of `X`, as in :meth:`transform`; used in messages only.
        Y : array-like or sparse matrix of shape (m, p)
        domain_y : int

        Returns
        -------
        K : ndarray of shape (n, m)
            ``transform(X, domain_x) @ transform(Y, domain_y).T``, positive semi-definite for X = Y.
        """
        return self._embed(X, domain_x) @ self._embed(Y, domain_y).T

    @property
    def _model_params(self):
        return KernelParams(self.kernel, self.gamma, self.landmarks)

    def _prepare(self, X, name):
        random_state = check_random_state(self.random_state)
        number = count_landmarks(X, self._model_params)
        rows = draw_landmarks(X.shape[0], number, random_state)
        return DomainKernel(lasting(X), rows, self._model_params, name)

    def _fit(self, Xs, ys, models):
        if self.kernel == "precomputed":
            _check_precomputed(Xs)
        source, target = with_landmarks(models, check_random_state(self.random_state))
        decisive = min(self.n_eigen, _decisive_entries(self.zeta))
        n_eigen = decisive if target.finds_alone(decisive) else self.n_eigen
        system = TransferEigensystem.of(source, target, n_eigen)
        spectrum = system.spectrum(self.zeta, solver=self.solver)
        if not spectrum[0] > 0:
            raise AlignmentError(
                "domain 0: its kernel vanishes on the target's eigenvectors, so nothing can be "
                "transferred; give features that the domains share, or another kernel"
            )
        self.eigensystem_ = system
        self.eigenspectrum_, self.eigenvalues_ = spectrum, system.eigenvalues
        self.transfer_error_, self.nystrom_error_ = system.both_errors(spectrum)
        self.gamma_ = system.target.gamma
        self.landmarks_ = None if target.rows is None else [source.rows, target.rows]
        self.landmark_errors_ = None if target.rows is None else _landmark_errors(Xs, system)
        self._roots = np.sqrt(spectrum[spectrum > _NEGLIGIBLE * spectrum[0]])
        return [v[:, : self._roots.size] * self._roots for v in system.vectors]

    def _transform(self, X, domain):
        return self.eigensystem_.target.extrapolate(X, self._roots.size) * self._roots


def _decisive_entries(zeta):
    """How many entries of a spectrum can be above the negligible: each is the last over zeta."""
    return math.inf if zeta == 1 else 1 + math.ceil(-math.log(_NEGLIGIBLE) / math.log(zeta))


def _landmark_errors(Xs, system):
    """Shares of the traces of both kernels that their approximations leave out."""
    kernel, traces = system.target.params.kernel, system.traces
    if callable(kernel):
        return None
    whole = _traces(Xs, kernel)
    return [max(0.0, 1 - part / all_) for part, all_ in zip(traces, whole, strict=True)]


def _traces(Xs, kernel):
    if kernel != "precomputed":
        return [kernel_diagonal(X, kernel).sum() for X in Xs]
    start = Xs[0].shape[0]
    return [Xs[0].diagonal().sum(), Xs[1].diagonal(start).sum()]


def _check_precomputed(Xs):
    m, n = (X.shape[0] for X in Xs)
    if Xs[0].shape[1] != m + n:
        raise ValueError(
            f"domains 0 and 1: have {Xs[0].shape[1]} columns; a precomputed kernel has one for "
            f"each of the {m} + {n} training samples, those of domain 0 first"
        )
    difference = abs(Xs[0][:, m:] - Xs[1][:, :m].T).max()
    if difference > 1e-8 * abs(Xs[0]).max():
        raise ValueError(
            f"domains 0 and 1: their precomputed kernels disagree across domains (by up to "
            f"{difference:.1e}); slice both from one symmetric matrix, K[:{m}] and K[{m}:]"
        )
