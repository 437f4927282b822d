"""Kernel principal components of all domains stacked."""

from typing import ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from domain_alignment.base import Capabilities
from domain_alignment.baselines._stacked import DOMAINS, StackedAligner, at_most
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import (
    distances,
    kernel_diagonal,
    median_gamma,
    pair_rounding,
    radial,
)
from domain_alignment.utils._dense_eigen import dense_eigenpairs
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._params import COUNT, FINITE, POSITIVE, StrOptions
from domain_alignment.utils._rows import far_centre, unit_rows
from domain_alignment.utils.eigen import DENSE_ROWS, fix_signs, lanczos
from domain_alignment.utils.validation import dense

# scikit-learn's rules: which shares of the largest eigenvalue are 0, and which negative ones are no
# rounding errors, unless they are tiny themselves.
_ZERO, _NEGATIVE, _TINY = 1e-12, 1e-5, 1e-10
# Rows of less than a fifth of this length are zero to it.
_SHORT = 1e-14
# What each kernel takes; scikit-learn's Nystroem refuses the others.
_PARAMS = {"rbf": ["gamma"], "poly": ["gamma", "degree", "coef0"], "linear": [], "cosine": []}


class KernelPCAAligner(StackedAligner):
    r"""Kernel principal components of all domains stacked: scikit-learn's KernelPCA.

    The leading eigenvectors of the centred kernel matrix of all samples, :math:`H K H \alpha_k =
    \lambda_k \alpha_k`, scaled to :math:`\|\alpha_k\|^2 = 1 / \lambda_k`; a sample has the
    coordinates :math:`\alpha_k^T H (k(X, x) - K 1 / n)` ([1]_, Eqs. 3.1 to 4.6). A baseline without
    alignment, like PCA.

    Parameters
    ----------
    n_components : int, default=20
        Fewer if there are fewer samples. Components of eigenvalue 0 are columns of zeros.
    kernel : {"rbf", "linear", "poly", "sigmoid", "cosine"}, default="rbf"
    gamma : "median" or float, default="median"
        Of "rbf", "poly" and "sigmoid": by default one over the median squared distance of all
        samples, which makes "rbf" scale-invariant. scikit-learn's default, 1 / n_features, suits
        features of variance 1; on unit rows it makes every kernel nearly linear.
    degree : int, default=3
    coef0 : float, default=1.0
        As in scikit-learn.
    eigen_solver : {"auto", "dense", "arpack"}, default="auto"
        "auto" takes Lanczos (ARPACK), to machine precision, for at most a tenth as many components
        as samples of more than 200, unless the kernel may have negative eigenvalues ("sigmoid", and
        "poly" with a negative `coef0`), of which Lanczos sees none.
    landmarks : int, optional
        Samples of all domains, drawn at random, by which the kernel matrix is approximated
        (Nyström, [2]_); `landmark_error_` says how well. By default it is exact, and its n^2
        numbers are held. "median" is then that of as many samples. Not for kernels that may have
        negative eigenvalues.
    random_state : int, RandomState instance or None, default=0
        Draws the landmarks.
    domains : {"all", "target"}, default="all"
        Whose samples are decomposed. The target's alone are a baseline of those who leave the
        source aside; a domain with other features is then embedded as zeros.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    decomposition_ : sklearn.decomposition.KernelPCA or sklearn.pipeline.Pipeline
        With landmarks scikit-learn's Nystroem, then its PCA. Of "rbf" and samples far from zero
        that of the samples less their mean.
    landmark_error_ : float or None
        Share of the trace of K that the landmarks leave out. What they leave out is positive
        semi-definite, so that this is its trace norm; None without landmarks.
    gamma_ : float or None
        The value used; None for "linear" and "cosine".
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features, unless ``domains="target"``, or landmarks
        are asked of a kernel that may have negative eigenvalues.
    AlignmentError
        If the kernel has significantly negative eigenvalues, as "sigmoid" may, or
        ``gamma="median"`` and all samples are equal.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the number of samples, or of landmarks.

    Notes
    -----
    Cost, for n samples of all domains; sparse features stay sparse. New samples: O(n p) each, with
    l landmarks O(l p + l^2).

    - ``landmarks is None``: O(n^2 p) time for the kernel and O(n^2) per step of Lanczos, five to
      ten times `n_components` of them, each of which reads half of the kernel matrix; O(n^2)
      memory, that matrix.
    - ``landmarks is None and eigen_solver == "dense"``: O(n^3) time for all eigenpairs.
    - ``landmarks is not None``: O(n landmarks p + n landmarks^2 + landmarks^3) time, O(n landmarks)
      memory.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller. Nonlinear Component Analysis as a Kernel Eigenvalue
       Problem. Neural Computation 10(5), 1998.
    .. [2] C. K. I. Williams, M. Seeger. Using the Nyström Method to Speed Up Kernel Machines.
       NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import KernelPCAAligner
    >>> rng = np.random.default_rng(0)
    >>> Xs = [rng.normal(size=(30, 5)), rng.normal(size=(20, 5))]
    >>> KernelPCAAligner(n_components=4).fit(Xs).embeddings_[1].shape
    (20, 4)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "kernel": [StrOptions({"rbf", "linear", "poly", "sigmoid", "cosine"})],
        "gamma": [StrOptions({"median"}), *POSITIVE],
        "degree": COUNT,
        "coef0": FINITE,
        "eigen_solver": [StrOptions({"auto", "dense", "arpack"})],
        "landmarks": [*COUNT, None],
        "random_state": ["random_state"],
        "domains": [StrOptions(set(DOMAINS))],
    }

    def __init__(
        self,
        n_components=20,
        kernel="rbf",
        gamma="median",
        degree=3,
        coef0=1.0,
        eigen_solver="auto",
        landmarks=None,
        random_state=0,
        domains="all",
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eigen_solver = eigen_solver
        self.landmarks = landmarks
        self.random_state = random_state
        self.domains = domains

    @property
    def capabilities(self):
        """What this instance can do; linear if the kernel is."""
        return Capabilities(
            labels="none",
            max_domains=None,
            heterogeneous=self.domains == "target",
            nonlinear=self.kernel != "linear",
        )

    # The mean row that was taken off the samples, if any; models of earlier versions have none.
    _origin = None

    def _check_room(self, Xs, ys):
        if self.landmarks is None:
            n_samples = sum(X.shape[0] for X in self._decomposed(Xs))
            check_room(n_samples, n_samples, "kernel PCA: the kernel matrix of all samples")

    def _decompose(self, X):
        self.landmark_error_ = None
        # scikit-learn's distances keep no digit where a common offset is large beside them.
        centres = self.kernel == "rbf" and not sparse.issparse(X)
        self._origin = far_centre(X) if centres else None
        X = self._features(X)
        return self._exact(X) if self.landmarks is None else self._by_landmarks(X)

    def _exact(self, X):
        n_components = at_most(self.n_components, X.shape[0], f"{X.shape[0]} samples")
        K = self._kernel_matrix(X)
        kpca = self._estimator(n_components, X.shape[0])
        try:
            few = kpca.eigen_solver == "arpack" and n_components < len(K)
            (_fit_lanczos if few else _fit_whole)(kpca, K)
        except ValueError as error:
            # Of validated input, only an indefinite kernel is rejected.
            raise AlignmentError(
                f"{self._samples_in_words}: kernel {self.kernel!r} has no principal components "
                f"({error}); use another kernel, or other values of gamma and coef0"
            ) from error
        # From here on it is the estimator that scikit-learn fits to the samples themselves.
        kpca.X_fit_, kpca.n_features_in_ = X, X.shape[1]
        kpca.gamma_ = 1 / X.shape[1] if self.gamma_ is None else self.gamma_
        return kpca

    def _by_landmarks(self, X):
        """Components of features F with F F' = C W^+ C', the kernel matrix in Nyström's form."""
        if self._may_be_indefinite:
            raise ValueError(
                f"landmarks need a kernel without negative eigenvalues, which {self.kernel!r} may "
                "have with these parameters; leave them out"
            )
        size = min(self.landmarks, X.shape[0])
        generator = check_random_state(self.random_state)
        some = X[np.sort(generator.choice(X.shape[0], size=size, replace=False))]
        self.gamma_ = self._gamma(
            some, name=f"{self._samples_in_words}, those drawn by landmarks={self.landmarks}"
        )
        n_components = at_most(self.n_components, size, f"{size} landmarks")
        params = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        params = {name: params[name] for name in _PARAMS[self.kernel]}
        features = Nystroem(kernel=self.kernel, n_components=size, random_state=generator, **params)
        features.set_output(transform="default")
        F = features.fit_transform(X)
        features.set_params(random_state=0)  # were it fitted again; no part of a model that draws
        trace = self._trace(X)
        self.landmark_error_ = max(0.0, 1 - np.einsum("ij,ij", F, F) / trace) if trace else 0.0
        return make_pipeline(features, _components_of(F, n_components, trace))

    def _trace(self, X):
        """Of the kernel matrix of all samples."""
        if self.kernel in ("rbf", "linear", "cosine"):
            return kernel_diagonal(X, self.kernel).sum()
        return ((self.gamma_ * kernel_diagonal(X, "linear") + self.coef0) ** self.degree).sum()

    @property
    def _may_be_indefinite(self):
        return self.kernel == "sigmoid" or (self.kernel == "poly" and self.coef0 < 0)

    def _kernel_matrix(self, X):
        """Of the samples; for "rbf" in the place of the distances that gamma is read from."""
        if self.kernel == "rbf":
            D = distances(X, X, "rbf")
            self.gamma_ = self._gamma(X, D)
            return radial(D, self.gamma_)
        self.gamma_ = self._gamma(X)
        params = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, metric=self.kernel, filter_params=True, **params)

    def _estimator(self, n_components, n_samples):
        return KernelPCA(
            n_components,
            kernel=self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            eigen_solver=self._solver(n_samples),
            random_state=0,  # of ARPACK's start vector, were it fitted again
        )

    def _features(self, X):
        """Samples as scikit-learn's estimators are given them."""
        if self._origin is not None:
            return dense(X) - self._origin
        return _without_short_rows(X) if self.kernel == "cosine" else X

    def _scores(self, X):
        return self.decomposition_.transform(self._features(X))

    def _training_scores(self, Xs):
        """Scores of the training samples without another kernel matrix."""
        if self.landmarks is not None:
            return super()._training_scores(Xs)
        kpca = self.decomposition_
        scores = kpca.eigenvectors_ * np.sqrt(kpca.eigenvalues_)
        return np.split(scores, np.cumsum([X.shape[0] for X in Xs])[:-1])

    def _solver(self, n_samples):
        if self.eigen_solver != "auto":
            return self.eigen_solver
        many = n_samples <= DENSE_ROWS or self.n_components > n_samples // 10
        return "dense" if self._may_be_indefinite or many else "arpack"

    def _gamma(self, X, D=None, name=None):
        """Of samples, called by name in messages, whose distances D may be known."""
        if self.kernel in ("linear", "cosine"):
            return None
        if self.gamma != "median":
            return self.gamma
        D = distances(X, X, "rbf") if D is None else D
        return median_gamma(D, pair_rounding(X, "rbf"), name or self._samples_in_words)


def _without_short_rows(X):
    """The same samples to the cosine, with rows that scikit-learn takes for zero of length 1.

    The others stay, since unit rows that it scales anew differ in their last digits.
    """
    short = np.flatnonzero(row_norms(X) < _SHORT)
    some = X[short]
    if not (some.nnz if sparse.issparse(some) else some.any()):
        return X
    X = X.copy()
    X[short] = unit_rows(some)
    return X


def _components_of(F, n_components, trace):
    """PCA of Nyström's features, without the axes that are rounding of the kernel's."""
    with np.errstate(invalid="ignore"):  # shares of no variance at all
        components = PCA(n_components, svd_solver="covariance_eigh").fit(F)
    components.set_output(transform="default")
    # Along these, Nyström's inverse root makes much of what is new in other samples.
    values = components.explained_variance_ * (len(F) - 1)
    components.components_[values <= _least(values, trace)] = 0.0
    return components


def _least(values, trace):
    """Up to which an eigenvalue is 0, so that what rounding leaves of a constant kernel is too."""
    return max(_ZERO * values.max(), 10 * np.finfo(float).eps * trace)


def _fit_whole(kpca, K):
    """scikit-learn's own fit, which centres the kernel matrix in place.

    Of multiple eigenvalues its solver may find too few (see `dense_eigenpairs`), or none.
    """
    params = {"kernel": kpca.kernel, "copy_X": True, "eigen_solver": kpca.eigen_solver}
    kpca.set_params(kernel="precomputed", copy_X=False, eigen_solver="dense")
    try:
        found = len(kpca.fit(K).eigenvalues_)
    except (linalg.LinAlgError, ValueError):
        found = 0  # if the kernel is not to blame, another solver finds them
    kpca.set_params(**params)
    if found < kpca.n_components:
        _keep(kpca, *dense_eigenpairs(K, first=len(K) - kpca.n_components), np.trace(K))


def _fit_lanczos(kpca, K):
    r"""What scikit-learn fits, of products :math:`H (K (H v))` with half of K each."""
    kpca._centerer = KernelCenterer().set_output(transform="default").fit(K)

    def product(v):
        # The transpose is in Fortran order, so BLAS takes it without a copy.
        product = linalg.blas.dsymv(1.0, K.T, v - v.mean())
        return product - product.mean()

    operator = LinearOperator(K.shape, matvec=product, dtype=float)
    _keep(kpca, *lanczos(operator, kpca.n_components, "kernel PCA", which="LA"), np.trace(K))


def _keep(kpca, values, vectors, trace):
    """What scikit-learn keeps of the eigenpairs of the centred kernel matrix."""
    if values.min() < min(-_NEGATIVE * values.max(), -_TINY):
        raise ValueError(f"it has the eigenvalue {values.min():.2g}")
    order = np.argsort(-values, kind="stable")
    kpca.eigenvalues_ = np.where(values > _least(values, trace), values, 0.0)[order]
    kpca.eigenvectors_ = (vectors * fix_signs(vectors))[:, order]
