"""Mapping estimators of other packages behind this library's interface."""

import inspect
import sys
import warnings
from importlib import import_module
from textwrap import shorten
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._optional import EXTRAS, how_to_install
from domain_alignment.utils._params import StrOptions
from domain_alignment.utils.validation import (
    UNLABELLED,
    domain_name,
    require_labelled,
)

# What to install for an import name, where the two differ.
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
# In skada a positive number is a source, a negative one a target.
_SOURCE, _TARGET = 1, -2
# Relative difference up to which two embeddings of one sample agree.
_SAME_ROW = 1e-6
# Its solver stops at a tolerance of its own, below which all costs of small features lie: of
# features of 1e-6 the plan is not the best one. Costs up to 1 have the same plan.
_EXACT, _SMALL = "ot.da:EMDTransport", 1e-2
# Longest excerpt of another package's message; some print a whole array.
_LONGEST_MESSAGE = 300


class ExternalAligner(Aligner):
    r"""A mapping estimator of POT or skada, given by its address.

    Two interfaces are supported, recognised by their signatures:

    * POT's ``fit(Xs, ys, Xt, yt)`` and ``transform(Xs=...)``, of the classes in ``ot.da``: maps the
      source, leaves the target unchanged;
    * skada's ``fit_transform(X, y, sample_domain=...)`` and ``transform(..., allow_source=True)``,
      of the classes named ``...Adapter``: may map both.

    Parameters
    ----------
    estimator : str, default="ot.da:EMDTransport"
        Address of the class, ``"package.module:Class"`` or ``"package.module.Class"``.
    params : dict, optional
        Constructor arguments. For POT consider ``norm="median"``: by default the cost is unscaled,
        and entropic plans underflow on features of large norm.
    labels : {"none", "source", "source+target"}, default="source"
        Labels passed to the estimator. Unless "none", it is fitted on the labelled source samples
        only, and the others are mapped as new samples; POT and skada do not support unlabelled
        source samples.
    nonlinear : bool, default=True
        Whether the estimator's map is nonlinear, which it does not declare itself.
    random_state : int, default=0
        Passed to an estimator that takes one, unless set in `params`; skada's subspace alignment is
        random otherwise.
    densify : bool, default=False
        Whether sparse features are made dense, O(n p) memory; by default they are refused.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    estimator_ : object
        The fitted estimator.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ImportError
        If the package is not installed.
    ValueError
        If the address or the parameters are wrong, the class has neither interface or is no mapping
        (a reweighting), the domains differ in their features, are sparse (unless `densify`) or more
        than two, or no source sample is labelled unless ``labels="none"``.
    AlignmentError
        If the estimator fails, reports numerical errors (POT only warns of them), or returns
        non-finite values or rows in the wrong order.

    Notes
    -----
    *Order of rows.* skada 0.6's ``TransferComponentAnalysisAdapter`` and
    ``TransferJointMatchingAdapter`` return training rows source first, whatever the order of the
    input, so interleaved input gets misassigned embeddings. Here the source always comes first, and
    ``fit_transform`` must agree with ``transform`` of each domain; otherwise the fit fails.

    *New samples* are embedded by both interfaces. POT moves a new source sample with its nearest
    training sample, or, ``MappingTransport``, by the map that it learned: its training samples go
    to the barycentres of the plan, which that map only comes near to.

    *Cost*: that of the estimator, plus one ``transform`` for the check. POT's exact plan takes
    O(n_S n_T) memory and about O(n^3) time at worst; the training samples are moved by those of
    its entries that are not zero, at most n_S + n_T - 1, O(n p).

    References
    ----------
    .. [1] R. Flamary et al. POT: Python Optimal Transport. JMLR 22(78), 2021.
    .. [2] Y. Lalou et al. SKADA-Bench: Benchmarking Unsupervised Domain Adaptation Methods
       with Realistic Validation. 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import ExternalAligner
    >>> rng = np.random.default_rng(0)
    >>> source = rng.normal(size=(40, 3))
    >>> target = source[::-1] * 0.9 + 5
    >>> aligner = ExternalAligner("ot.da:EMDTransport", labels="none").fit([source, target])
    >>> bool(np.allclose(aligner.embeddings_[0], source * 0.9 + 5))
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [str],
        "params": [dict, None],
        "labels": [StrOptions({"none", "source", "source+target"})],
        "nonlinear": ["boolean"],
        "random_state": ["random_state"],
        "densify": ["boolean"],
    }

    def __init__(
        self,
        estimator="ot.da:EMDTransport",
        params=None,
        labels="source",
        nonlinear=True,
        random_state=0,
        densify=False,
    ):
        self.estimator = estimator
        self.params = params
        self.labels = labels
        self.nonlinear = nonlinear
        self.random_state = random_state
        self.densify = densify

    _features_reason = "estimators of POT and skada need equal features"

    @property
    def capabilities(self):
        """What this instance can do, as declared by its parameters."""
        return Capabilities(labels=self.labels, nonlinear=self.nonlinear)

    @property
    def unmoved_domains(self):
        """The target, of POT's estimators; known once fitted."""
        check_is_fitted(self, "embeddings_")
        return (1,) if self._is_pot else ()

    def _fit(self, Xs, ys, models):
        given, Xs = Xs, [self._dense(X, domain) for domain, X in enumerate(Xs)]
        rows = self._training_rows(ys[0])
        # Copies: POT keeps what it was fitted on, and the caller's arrays may change.
        source, target = Xs[0][rows], Xs[1].copy() if Xs[1] is given[1] else Xs[1]
        y_source = None if self.labels == "none" else ys[0][rows]
        y_target = ys[1] if self.labels == "source+target" else None
        self.estimator_ = self._create()
        fit = self._fit_pot if self._is_pot else self._fit_skada
        mapped, Z_target = self._guarded(fit, source, y_source, target, y_target)
        if rows.all():
            return [mapped, Z_target]
        Z = np.empty((len(rows), mapped.shape[1]))
        Z[rows], Z[~rows] = mapped, self._transform(Xs[0][~rows], 0)
        return [Z, Z_target]

    def _training_rows(self, y):
        if self.labels == "none":
            return np.ones(len(y), dtype=bool)
        why = f'labels={self.labels!r} fits the estimator on labelled ones (labels="none": on all)'
        require_labelled(y, 0, why)
        return y != UNLABELLED

    def _create(self):
        factory = _load(self.estimator)
        params = dict(self.params or {})
        try:
            accepted = inspect.signature(factory).parameters
            if "random_state" in accepted:
                params.setdefault("random_state", self.random_state)
            estimator = factory(**params)
        except TypeError as error:
            raise ValueError(
                f"params: {self.estimator} cannot be constructed with {params} ({error})"
            ) from error
        self._is_pot = _takes(estimator, "fit", "Xt")
        if not self._is_pot and not _takes(estimator, "fit_transform", "sample_domain"):
            raise ValueError(
                f"estimator: {self.estimator} has neither fit(Xs, ys, Xt, yt), as POT's classes in "
                "ot.da, nor fit_transform(X, y, sample_domain=...), as skada's ...Adapter classes; "
                "give the address of such a class"
            )
        return estimator

    def _fit_pot(self, source, y_source, target, y_target):
        if hasattr(self.estimator_, "metric"):  # it computes a cost of every pair, and a plan
            shape = len(source), len(target)
            check_room(*shape, f"{self.estimator}: cost and plan", n_arrays=2)
        if self.estimator == _EXACT and self.estimator_.norm is None and _are_near(source, target):
            self.estimator_.norm = "max"
        self.estimator_.fit(Xs=source, ys=y_source, Xt=target, yt=y_target)
        mapped = _by_few_shares(self.estimator_, source)
        if mapped is None:
            mapped = self._map(source, 0)
        return self._matrix(mapped, len(source)), target

    def _fit_skada(self, source, y_source, target, y_target):
        sample_domain = np.repeat([_SOURCE, _TARGET], [len(source), len(target)])
        hidden = np.full(len(target), UNLABELLED)
        y = None
        if y_source is not None:
            y = np.concatenate([y_source, hidden if y_target is None else y_target])
        both = np.vstack([source, target])
        Z = self._matrix(
            self.estimator_.fit_transform(both, y, sample_domain=sample_domain), len(both)
        )
        parts = Z[: len(source)], Z[len(source) :]
        for domain, (X, part) in enumerate(zip((source, target), parts, strict=True)):
            alone = self._matrix(self._map(X, domain), len(X))
            if alone.shape != part.shape or abs(alone - part).max() > _SAME_ROW * abs(Z).max():
                raise AlignmentError(
                    f"{domain_name(domain)}: fit_transform and transform of {self.estimator} "
                    "disagree, so its order of rows may be wrong; use another estimator"
                )
        return parts

    def _map(self, X, domain):
        if self._is_pot:
            return X if domain else self.estimator_.transform(Xs=X)
        sample_domain = np.full(len(X), _TARGET if domain else _SOURCE)
        return self.estimator_.transform(X, sample_domain=sample_domain, allow_source=True)

    def _transform(self, X, domain):
        X = self._dense(X, domain)
        return self._matrix(self._guarded(self._map, X, domain), len(X))

    def _dense(self, X, domain):
        if not sparse.issparse(X):
            return X
        if not self.densify:
            raise ValueError(
                f"{domain_name(domain)}: is sparse; POT and skada need dense features, "
                "X.toarray() or densify=True"
            )
        check_room(*X.shape, f"{domain_name(domain)}: its features made dense")
        return X.toarray()

    def _guarded(self, call, *args):
        with warnings.catch_warnings():
            # On numerical errors POT returns its last iterate, which may be meaningless.
            warnings.filterwarnings("error", "Warning: numerical errors", UserWarning)
            try:
                return call(*args)
            except (AlignmentError, ImportError, _NoMatrix):
                raise
            except Exception as error:  # another package may raise anything
                said = shorten(str(error), _LONGEST_MESSAGE)
                raise AlignmentError(
                    f"{self.estimator} failed with {type(error).__name__}: {said}; check whether "
                    f"it needs labels (labels={self.labels!r}) or other params, such as "
                    "norm='median' against numerical errors in POT"
                ) from error

    def _matrix(self, Z, n_rows):
        if not isinstance(Z, np.ndarray) or Z.ndim != 2 or len(Z) != n_rows:
            got = f"shape {Z.shape}" if isinstance(Z, np.ndarray) else f"a {type(Z).__name__}"
            raise _NoMatrix(
                f"estimator: {self.estimator} returned {got} for {n_rows} samples, not a matrix of "
                "as many rows; give an estimator that maps samples"
            )
        if not np.isfinite(Z).all():
            raise AlignmentError(f"{self.estimator} returned non-finite values; check its params")
        return Z


def _are_near(source, target):
    """Whether costs are small, but not all 0."""
    apart = max(abs(source - target[0]).max(), abs(target - source[0]).max())
    return 0 < apart < _SMALL


def _by_few_shares(estimator, source):
    """Where POT's ``transform`` moves its training samples by an exact plan; None for other maps.

    By the same rule: to the means of the target by the rows of the plan, and to zero where a row
    has no sum. POT multiplies all n_S x n_T entries, of which at most n_S + n_T - 1 are not zero.
    """
    plans = getattr(sys.modules.get("ot.da"), "BaseTransport", None)
    if plans is None or type(estimator).transform is not plans.transform:
        return None
    plan, known = (getattr(estimator, name, None) for name in ("coupling_", "xs_"))
    if known is not source or not isinstance(plan, np.ndarray):
        return None
    if np.count_nonzero(plan) > sum(plan.shape):
        return None
    shares = sparse.csr_array(plan)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares.data /= np.repeat(plan.sum(axis=1), np.diff(shares.indptr))
    shares.data = np.nan_to_num(shares.data, nan=0.0, posinf=0.0, neginf=0.0)
    return shares @ estimator.xt_


class _NoMatrix(ValueError):
    """An estimator's output is not a matrix of one row per sample."""


def _load(address):
    module_name, colon, name = address.partition(":")
    if not colon:
        module_name, _, name = address.rpartition(".")
    if not module_name or not name:
        raise ValueError(f"estimator: {address!r} is not an address; give 'package.module:Class'")
    package = module_name.partition(".")[0]
    try:
        import_module(package)
    except ImportError as error:
        if package in EXTRAS:
            raise ImportError(how_to_install(package, address)) from error
        raise ImportError(
            f"{address} needs the package {_DISTRIBUTIONS.get(package, package)}; install it "
            f"(pip install {_DISTRIBUTIONS.get(package, package)})"
        ) from error
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise ValueError(
            f"estimator: {module_name!r} of {address!r} cannot be imported ({error})"
        ) from error
    if not hasattr(module, name):
        raise ValueError(f"estimator: module {module_name} has no {name!r}; correct {address!r}")
    return getattr(module, name)


def _takes(estimator, method, argument):
    function = getattr(estimator, method, None)
    return callable(function) and argument in inspect.signature(function).parameters
