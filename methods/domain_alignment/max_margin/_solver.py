"""Transform step of LS-MMDT: from source hyperplanes and labelled target points."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot

from domain_alignment.max_margin._dual_descent import DualDescent
from domain_alignment.max_margin._dual_problem import MarginProblem
from domain_alignment.max_margin._low_rank_transform import TransformSolution, identity_scores
from domain_alignment.utils.validation import check_labels, check_matrix

# The Gram form computes an (n, n) matrix once; its steps then take O(n), or O(1) if they change
# nothing, against O(D~) in the primal form. Break-even in benchmarks.
GRAM_POINTS_PER_FEATURE = 1.5


def solve_transform(
    V,
    X,
    y,
    C,
    *,
    loss="squared_hinge",
    regularize="zero",
    tol=1e-6,
    max_sweeps=1000,
    random_state=None,
    form="auto",
    warm_start=None,
):
    r"""Learn a transform that puts target points on the correct side of source hyperplanes.

    Eq. (1) of [1]_: with :math:`s_{ij} = 1` if point j is of class i and -1 otherwise,

    .. math:: \min_W\ \tfrac12 \|W - W_0\|_F^2
              + \sum_j C_j \sum_i \max(0, 1 - s_{ij}\, v_i^T W x_j)^p

    Parameters
    ----------
    V : array-like of shape (m, D)
        Hyperplanes of the source, one per class.
    X : array-like or CSR matrix of shape (n, D~)
        Labelled points of the target.
    y : array-like of int of shape (n,)
        Classes 0 to m - 1; classes may be empty.
    C : float or array-like of shape (n,)
        Non-negative cost of margin violations, common or per point.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        p = 2 or p = 1. Left open in the paper; p = 2 in the authors' code.
    regularize : {"zero", "identity"}, default="zero"
        :math:`W_0`: zero as in Eq. (1), or the identity truncated to (D, D~) as in the authors'
        code.
    tol : float, default=1e-6
        Relative duality gap at which to stop, a bound on the relative error of the objective.
    max_sweeps : int, default=1000
        Maximum number of passes over all constraints.
    random_state : int, RandomState or None, default=None
        Order of coordinate updates. Does not affect the optimum.
    form : {"auto", "primal", "gram"}, default="auto"
        Whether to work with X or with :math:`K = X X^T`; "auto" decides by the sizes.
    warm_start : TransformSolution or array-like of shape (m, n), optional
        Initial dual variables, from a similar problem.

    Returns
    -------
    solution : TransformSolution

    Raises
    ------
    ValueError
        If an argument is invalid.

    Warns
    -----
    ConvergenceWarning
        If the gap exceeds `tol` after `max_sweeps`; ``solution.converged`` is then False.

    Notes
    -----
    *Method.* Dual coordinate descent [1]_ [2]_ with the classes as blocks (``_sweeps_numba.py``),
    with shrinking between exact evaluations of the gap. Small problems that converge slowly are
    finished by a finite Newton method for the squared hinge (``_finite_newton.py``), or an interior
    point method (``_interior_point.py``).

    *Cost.* Per sweep at most m n steps of O(D~), and O(m^2 D~); per evaluation of the gap a few
    BLAS products of these sizes. In the Gram form replace D~ by n and add O(n^2 D~) once. Memory:
    O(m D + (m + n) D~ + m n), and O(n^2) in the Gram form, where n is at most 1.5 D~.

    *Departures from the authors' code* [3]_. The identity enters the margins with the sign of the
    constraint, :math:`1 - s_{ij} v_i^T x_j`; the code subtracts :math:`v_i^T x_j` for both signs,
    which is a different problem. The paper's formula for :math:`\beta` lacks the sign.

    References
    ----------
    .. [1] E. Rodner, J. Hoffman, J. Donahue, T. Darrell, K. Saenko. Transform-based Domain
       Adaptation for Big Data. 2013, Eq. (1).
    .. [2] C.-J. Hsieh et al. A dual coordinate descent method for large-scale linear SVM. ICML
       2008.
    .. [3] liblinear-mmdt, https://github.com/erodner/liblinear-mmdt

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment.max_margin._mmdt import solve_transform
    >>> V = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> X = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0]])
    >>> solution = solve_transform(V, X, [0, 1, 2], C=10.0)
    >>> solution.scores(X, V).argmax(axis=1)
    array([0, 1, 2])
    >>> bool(solution.converged and solution.gap <= 1e-6)
    True
    """
    V, X = _checked_points(V, X)
    y = check_labels(y, X.shape[0])
    outside = (y < 0) | (y >= len(V))
    if outside.any():
        raise ValueError(
            f"y: label {y[outside][0]} at row {outside.argmax()}; V has {len(V)} hyperplanes, so "
            f"labels are 0 to {len(V) - 1} (leave out unlabelled points)"
        )
    C = _checked_costs(C, {"()": (), "(n,)": (X.shape[0],)})
    signs = np.where(y == np.arange(len(V))[:, None], np.int8(1), np.int8(-1))
    costs = np.broadcast_to(C, (1, X.shape[0])).copy()
    margins = np.ones(signs.shape)
    options = _checked_options(loss, regularize, tol, max_sweeps, form)
    return _solve(V, X, signs, margins, costs, options, warm_start, random_state)


def solve_similarities(
    V,
    X,
    S,
    C,
    *,
    margins=1.0,
    loss="squared_hinge",
    regularize="zero",
    tol=1e-6,
    max_sweeps=1000,
    random_state=None,
    form="auto",
    warm_start=None,
):
    r"""Learn a transform from real-valued similarities, the paper's general form of Eq. (1).

    .. math:: \min_W\ \tfrac12 \|W - W_0\|_F^2
              + \sum_{ij: S_{ij} \ne 0} C_{ij} \max(0, b_{ij} - S_{ij}\, v_i^T W x_j)^p

    :func:`solve_transform` is the case S = ±1, b = 1. In metric learning on pairs, as in ARC-t, V
    holds source points; S = 1, b = u requires a similarity of at least u within a class, and S =
    -1, b = -l of at most l between classes.

    Parameters
    ----------
    V : array-like of shape (m, D)
    X : array-like or CSR matrix of shape (n, D~)
    S : array-like of shape (m, n)
        Target similarities; 0 for unconstrained pairs.
    C : float or array-like of shape (n,) or (m, n)
        Non-negative costs.
    margins : float or array-like of shape (m, n), default=1.0
        b.
    loss, regularize, tol, max_sweeps, random_state, form, warm_start
        As for :func:`solve_transform`.

    Returns
    -------
    solution : TransformSolution

    Raises
    ------
    ValueError
        If an argument is invalid.

    Warns
    -----
    ConvergenceWarning
        As for :func:`solve_transform`.

    Notes
    -----
    Constraints are divided by :math:`|S_{ij}|`, which gives signs, margins
    :math:`b_{ij} / |S_{ij}|` and costs :math:`C_{ij} |S_{ij}|^p`; ``alpha`` refers to these.
    """
    V, X = _checked_points(V, X)
    shape = len(V), X.shape[0]
    S, margins = _checked_pairs(S, shape, "S"), _checked_pairs(margins, shape, "margins")
    C = _checked_costs(C, {"()": (), "(n,)": shape[1:], "(m, n)": shape})
    options = _checked_options(loss, regularize, tol, max_sweeps, form)
    size = np.abs(S)
    costs = C * size ** (2 if options.squared else 1)
    margins = np.divide(margins, size, out=np.zeros(shape), where=size > 0)
    signs = np.where(S < 0, np.int8(-1), np.int8(1))
    return _solve(V, X, signs, margins, costs, options, warm_start, random_state)


@dataclass(frozen=True)
class _Options:
    squared: bool
    regularize: str
    tol: float
    max_sweeps: int
    form: str


def _checked_options(loss, regularize, tol, max_sweeps, form):
    for name, value, known in (
        ("loss", loss, ("squared_hinge", "hinge")),
        ("regularize", regularize, ("zero", "identity")),
        ("form", form, ("auto", "primal", "gram")),
    ):
        if value not in known:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    if not 0 <= tol < np.inf:
        raise ValueError(f"tol is {tol}; give a relative duality gap, such as 1e-6")
    if max_sweeps < 1 or int(max_sweeps) != max_sweeps:
        raise ValueError(f"max_sweeps is {max_sweeps}; give an integer of at least 1")
    return _Options(loss == "squared_hinge", regularize, tol, int(max_sweeps), form)


def _checked_points(V, X):
    if sparse.issparse(V):
        raise ValueError("V: is sparse; hyperplanes are dense, give V.toarray()")
    X = check_matrix(X)
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    # A copy: the solution has the hyperplanes, and the caller's array may hold others by then.
    return np.array(check_matrix(V, "V"), order="C"), X


def _checked_costs(C, shapes):
    C = np.asarray(C, dtype=np.float64)
    if C.shape not in shapes.values():
        raise ValueError(f"C has shape {C.shape}; give one of shape {' or '.join(shapes)}")
    if not (np.isfinite(C).all() and (C >= 0).all()):
        raise ValueError("C: costs must be finite and non-negative")
    return C


def _checked_pairs(values, shape, name):
    values = np.asarray(values, dtype=np.float64)
    if values.shape not in {shape, ()} or (name == "S" and values.shape != shape):
        raise ValueError(
            f"{name} has shape {values.shape}; for {shape[0]} hyperplanes and {shape[1]} points "
            f"shape {shape} is needed"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: holds NaN or infinity; give finite numbers")
    return values


def _takes_gram_form(X, form):
    if form != "auto":
        return form == "gram"
    width = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
    return X.shape[0] <= GRAM_POINTS_PER_FEATURE * width


def _solve(V, X, signs, margins, costs, options, warm_start, random_state):
    if options.regularize == "identity":
        margins -= signs * identity_scores(V, X)
    problem = MarginProblem(V @ V.T, X, None, signs, margins, costs, options.squared)
    if _takes_gram_form(X, options.form):
        problem.K = problem.gram()
    descent = DualDescent(
        problem,
        _start(problem, warm_start),
        tol=options.tol,
        max_sweeps=options.max_sweeps,
        random_state=random_state,
    )
    descent.run()
    if not descent.converged:
        warnings.warn(
            f"the solver stopped at a relative duality gap of {descent.gap:.1e} after "
            f"{descent.n_sweeps} sweeps, above tol={options.tol:.1e}; raise max_sweeps or tol, or "
            "lower C",
            ConvergenceWarning,
            stacklevel=3,
        )
    return TransformSolution(
        V=V,
        beta=safe_sparse_dot(signs * descent.dual, X),
        alpha=descent.dual,
        regularize=options.regularize,
        objective=descent.primal,
        dual_objective=descent.bound,
        gap=descent.gap,
        n_sweeps=descent.n_sweeps,
        n_newton_steps=descent.n_newton_steps,
        form="primal" if problem.K is None else "gram",
        converged=descent.converged,
    )


def _start(problem, warm_start):
    if warm_start is None:
        return None
    dual = np.asarray(getattr(warm_start, "alpha", warm_start), dtype=np.float64)
    if dual.shape != problem.shape or not np.isfinite(dual).all():
        raise ValueError(
            f"warm_start holds dual variables of shape {dual.shape}; finite ones of shape "
            f"{problem.shape} are needed, one per hyperplane and point"
        )
    return np.clip(dual, 0.0, problem.upper)
