"""Operations on the rows of a data matrix: scaling, centring, stacking, their span."""

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._memory import FEWER_FEATURES, check_room
from domain_alignment.utils.validation import dense

# Values, and rows, of which a changed copy is made at a time: 128 MB, and of narrow rows no more
# than wider ones that are made of them may take. Fewer are taken at once.
BLOCK_VALUES, BLOCK_ROWS = 2**24, 2**16

# Values whose copies (512 KB) stay in the cache of a core and, freed, in the process: those of 1 MB
# or more may go back to the system and are asked for anew, page by page, for every block.
COPIED_VALUES = 2**16

# Of more values that are not zero, as a share of all, products of sparse matrices take longer than
# those of dense ones (measured with 4096 columns).
FEW_VALUES = 0.05

# Products of rows find the values that both have: of more pairs of values, as a share of all, they
# take longer than dense ones (measured with 200 and with 4096 columns).
FEW_PAIRS = 0.01

# Values that stay in a cache (8 MB): sparse rows times more of them read memory for each value.
FEW_IN_CACHE = 2**20

# Where the square of a mean row is more than this many times the mean squared distance from it,
# squares of distances have lost four of sixteen digits in the squares of rows.
FAR_MEAN = 1e4

# Where no row is this many times as far from the mean, squared, as the median, none draws it away.
UNLIKE = 4

# Rows whose root mean square distance from their mean is a smaller share of it are equal.
EQUAL = 1e-12

# Where the variance of a column is a smaller share of its mean square, the difference of both has
# lost more than six of sixteen digits.
FAR = 1e-6


def row_blocks(X):
    """Slices of the rows of X, so that what is made of a block is small beside a large X."""
    return _blocks(X.shape[0], X.nnz if sparse.issparse(X) else X.size, BLOCK_VALUES)


def _blocks(n_rows, n_values, most):
    fitting = n_rows * most // max(n_values, 1)
    return gen_batches(n_rows, min(max(1, fitting), BLOCK_ROWS))


def map_rows(function, X, most=None):
    """``function(X)``, dense, of a function of each row by itself: block by block for a large X.

    Of at most so many values at a time, dense or not: few where it makes copies of the rows and
    reads little else, by default more, since a map of many values is read anew for each block.
    """
    # What it makes of sparse rows may be dense, and is copied while it is in a cache.
    default = FEW_IN_CACHE if sparse.issparse(X) else BLOCK_VALUES
    most = default if most is None else min(most, default)
    first, *others = _blocks(X.shape[0], X.shape[0] * X.shape[1], most)
    if not others:
        return function(X)
    part = function(X[first])
    check_room(X.shape[0], part.shape[1], "the embedding", instead=FEWER_FEATURES)
    mapped = np.empty((X.shape[0], part.shape[1]))
    mapped[first] = part
    for rows in others:
        mapped[rows] = function(X[rows])
    return mapped


def check_spread(features, name):
    """Raise AlignmentError if all samples are equal up to rounding, or beyond what has squares."""
    mean, total = features.mean(axis=0), np.vdot(features, features)
    if not np.finfo(float).tiny < total < np.inf and features.any():
        raise AlignmentError(
            f"{name}: values of up to {np.abs(features).max():.0e} are too small or too large to "
            "be squared in double precision; standardise the features"
        )
    # The difference of squares is cheap, and accurate unless it is tiny.
    if total - len(features) * (mean @ mean) > 1e-6 * total:
        return
    if not np.sum((features - mean) ** 2) > np.finfo(float).eps * total:
        raise AlignmentError(
            f"{name}: all are equal, so there is no direction to find; give samples that differ"
        )


def near_zero(X, Y):
    r"""Both matrices less the centre of Y, if this is far from zero; else as they are.

    For squared distances by :math:`|x|^2 + |y|^2 - 2 x^T y`, which keep no digit where a common
    offset is large beside them. Where it is not, centring would add rounding and save none:
    products of whole numbers are exact as they are.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    Y : ndarray or CSR matrix of shape (m, p)
        If it is `X` itself, the results are one object too. Sparse matrices stay.

    Returns
    -------
    X, Y : ndarray or CSR matrix

    Examples
    --------
    >>> near_zero(np.array([[1003.0]]), np.array([[1001.0], [999.0]]))
    (array([[3.]]), array([[ 1.],
           [-1.]]))
    """
    if sparse.issparse(X) or sparse.issparse(Y):
        return X, Y
    centre = far_centre(Y)
    if centre is None:
        return X, Y
    centred = Y - centre
    return centred if X is Y else X - centre, centred


def far_centre(X):
    """Mean row of an ndarray, or of most of its rows, if it is far from zero for their spread.

    Of most, as a single row elsewhere, such as a missing one written as zeros, has a spread of its
    own that would hide how far away all others are.

    Returns
    -------
    centre : ndarray of shape (p,), or None

    Examples
    --------
    >>> far_centre(np.array([[1003.0], [1001.0], [1002.0], [0.0]]))
    array([1001.5])
    >>> far_centre(np.array([[3.0], [1.0], [2.0]]))
    """
    mean, squares = X.mean(axis=0), row_norms(X, squared=True)
    square = mean @ mean
    if square > FAR_MEAN * (squares.mean() - square):
        return mean
    away = squares - 2 * (X @ mean) + square
    median = np.median(away)
    if not away.max() > UNLIKE * median:
        return None
    near = X[away <= median]
    own = near.mean(axis=0)
    spread = np.sum((near - own) ** 2) / len(near)
    # Of more equal rows than others there is no spread to tell by.
    return own if spread > EQUAL**2 * (own @ own) and own @ own > FAR_MEAN * spread else None


def unit_rows(X):
    """Rows scaled to length 1, dense or sparse; zero rows stay zero.

    Examples
    --------
    >>> unit_rows(np.array([[3e-200, 4e-200], [0.0, 0.0], [3e200, 4e200]]))
    array([[0.6, 0.8],
           [0. , 0. ],
           [0.6, 0.8]])
    """
    with np.errstate(over="ignore"):
        lengths = row_norms(X)
    # scikit-learn takes rows shorter than 2e-15 for zero, and squares of 1e160 are infinite.
    odd = ~((lengths > 1e-14) & (lengths < np.inf))
    return normalize(_with_largest_entry_one(X, odd) if odd.any() else X)


def _with_largest_entry_one(X, rows):
    """Some rows, given by a mask, divided by their largest entry; the others as they are."""
    largest = abs(X).max(axis=1)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    divisors = np.where(rows & (largest > 0), largest, 1.0)
    if not sparse.issparse(X):
        return X / divisors[:, None]
    X = X.copy()
    X.data /= np.repeat(divisors, np.diff(X.indptr))
    return X


def stacked(parts):
    """Matrices of equal width one above the other: CSR if all are sparse, else an ndarray."""
    if all(map(sparse.issparse, parts)):
        return sparse.vstack(parts, format="csr")
    return np.concatenate([dense(part) for part in parts])


def in_place_of(members, parts):
    """Parts one above the other, with row i of a part at the place that its members name."""
    order = np.argsort(np.concatenate(members))
    return stacked(parts)[order]


def row_marks(X):
    """A sum of each row with fixed random weights, the same for equal rows only; O(nnz)."""
    weights = np.random.RandomState(0).uniform(-1, 1, X.shape[1])
    sums = X @ weights
    if not np.isfinite(sums).all():  # missing values, which a preprocessing fills in
        X = X.astype(float)
        cells = X.data if sparse.issparse(X) else X
        cells[~np.isfinite(cells)] = 0
        sums = X @ weights
    return sums


def row_basis(Xs, limit=None):
    """Orthonormal basis of the rows of matrices with the same features, of shape (p, n) for n rows.

    In its coordinates ``X @ basis`` inner products of rows are the same to rounding, so what knows
    samples by these alone can be computed with n dense features. None where n is not below p, the
    matrices differ in their features, or one is sparse and the basis of more than `limit` values,
    by default a block's.

    Cost: O(n^2 p) time, O(n p) memory, dense.
    """
    n_rows, widths = sum(X.shape[0] for X in Xs), {X.shape[1] for X in Xs}
    if len(widths) > 1 or n_rows >= min(widths):
        return None
    limit = BLOCK_VALUES if limit is None else limit
    if any(map(sparse.issparse, Xs)) and n_rows * min(widths) > limit:
        return None
    rows = np.concatenate([dense(X) for X in Xs])
    return linalg.qr(rows.T, mode="economic", check_finite=False)[0]


def of_width(X, width):
    """`X` if it has that many features; else zeros, since its features are others."""
    if X.shape[1] == width:
        return X
    shape = X.shape[0], width
    return sparse.csr_array(shape) if sparse.issparse(X) else np.zeros(shape)


def column_products(X):
    """Products X'X of the columns of X, dense or CSR, as a dense matrix of shape (p, p).

    Cost: O(n p^2); of sparse X with few values O(sum of the squares of their number per row).

    Raises
    ------
    AlignmentError
        If this machine cannot hold them.

    Examples
    --------
    >>> column_products(sparse.csr_array([[1.0, 0.0], [3.0, 0.0]]))
    array([[10.,  0.],
           [ 0.,  0.]])
    """
    n_rows, n_columns = X.shape
    check_room(n_columns, n_columns, "the products of the features", instead=FEWER_FEATURES)
    if not sparse.issparse(X):
        return X.T @ X
    if X.nnz <= FEW_VALUES * n_rows * n_columns:
        return (X.T @ X).toarray()
    blocks = gen_batches(n_rows, max(1, BLOCK_VALUES // n_columns))
    return sum(own.T @ own for own in (X[rows].toarray() for rows in blocks))


def row_products(X, Y):
    """Products XY' of all pairs of rows, dense or CSR, as a dense matrix of shape (n, m).

    Cost: O(n m p); of sparse X and Y with few values O(values that pairs of rows share).

    Raises
    ------
    AlignmentError
        If this machine cannot hold those of sparse rows.

    Examples
    --------
    >>> row_products(sparse.csr_array([[1.0, 2.0]]), sparse.csr_array([[3.0, 0.0], [1.0, 1.0]]))
    array([[3., 3.]])
    """
    if not (sparse.issparse(X) and sparse.issparse(Y)):
        return np.asarray(X @ Y.T)
    # They may be far larger than what they are made of.
    check_room(X.shape[0], Y.shape[0], "the products of the samples")
    if X.nnz * Y.nnz <= FEW_PAIRS * np.prod([*X.shape, *Y.shape], dtype=float):
        return (X @ Y.T).toarray()
    products = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    for columns in _blocks(Y.shape[0], Y.shape[0] * Y.shape[1], BLOCK_VALUES):
        others = Y[columns].toarray().T
        for rows in _blocks(X.shape[0], X.shape[0] * X.shape[1], BLOCK_VALUES):
            np.matmul(X[rows].toarray(), others, out=products[rows, columns])
    return products


def times_map(X, B):
    """``X @ B`` for a dense B, of rows X, dense or CSR; many values are made dense in blocks.

    Examples
    --------
    >>> times_map(sparse.csr_array([[1.0, 2.0]]), np.eye(2))
    array([[1., 2.]])
    """
    many = sparse.issparse(X) and X.nnz > FEW_VALUES * X.shape[0] * X.shape[1]
    return map_rows(lambda rows: rows.toarray() @ B, X) if many and B.size > FEW_IN_CACHE else X @ B


def centred_gram(X, mean, by_samples):
    """Gram matrix of the centred rows of X, or of its centred columns.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    mean : ndarray of shape (p,)
        Mean row.
    by_samples : bool
        Whether to return the products of rows.

    Returns
    -------
    gram : ndarray of shape (n, n) or (p, p)

    Notes
    -----
    For products of columns no centred copy of a large X is made. Of sparse X the mean is taken off
    afterwards, but off a column whose mean is far larger than its deviations before it is squared.

    Examples
    --------
    >>> centred_gram(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([2.0, 0.0]), True)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if not sparse.issparse(X):
        if by_samples:
            centred = X - mean
            return centred @ centred.T
        return sum(own.T @ own for own in (X[rows] - mean for rows in row_blocks(X)))
    far = _far_from_zero(X, mean)
    if by_samples:
        kept = np.setdiff1d(np.arange(X.shape[1]), far) if far.size else slice(None)
        some = X[:, kept]
        gram = row_products(some, some)
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, None]
        centred = dense(X[:, far]) - mean[far]
        return gram + centred @ centred.T if far.size else gram
    gram = column_products(X) - X.shape[0] * np.outer(mean, mean)
    if far.size:
        gram[far] = 0.0
        for rows in row_blocks(X):
            centred = dense(X[rows][:, far]) - mean[far]
            gram[far] += (X[rows].T @ centred).T - np.outer(centred.sum(axis=0), mean)
        gram[:, far] = gram[far].T
        gram[np.ix_(far, far)] = centred_gram(dense(X[:, far]), mean[far], by_samples=False)
    return gram


def _far_from_zero(X, mean):
    """Columns of a sparse matrix whose variance is lost among squares: nearly all are not zero."""
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
    deviations = squares - X.shape[0] * mean**2
    return np.flatnonzero(deviations < FAR * squares)
