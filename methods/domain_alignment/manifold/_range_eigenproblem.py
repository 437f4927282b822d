r"""The eigenproblem of the KEMA family, restricted to the range of its right-hand side.

All members solve, with a matrix :math:`\Phi` that is block diagonal over the domains,

.. math:: \Phi^T (L + \mu L_s + \rho I) \Phi\, w = \lambda\, \Phi^T L_d \Phi\, w ,

where :math:`\Phi` is the kernel matrix K (KEMA), some of its columns (REKEMA), a kernel matrix of
random features (rKEMA) or the data (SSMA). The right-hand side is singular: Ld is zero outside the
l labelled rows and has rank l - 1. As in the authors' program, w is restricted to its range,
without further regularisation.

*Structure.* With :math:`L_d = C C^T`, the range is that of :math:`\Phi_l^T C`, where
:math:`\Phi_l` are the labelled rows: l - 1 columns. With
:math:`\Phi_{l,a}^T = B_a R_a` (QR, one domain at a time) and one small SVD,

.. math:: \mathrm{stack}_a(R_a C_a) = T \Sigma W^T, \qquad
          U_a = B_a T_a, \qquad F_a = \Phi_a U_a \Sigma^{-1},

:math:`U` holds the eigenvectors of :math:`\Phi^T L_d \Phi` and :math:`\Sigma^2` its eigenvalues;
the problem becomes :math:`F^T (L + \mu L_s + \rho I) F c = \lambda c` of order at most l - 1, and
:math:`w = U \Sigma^{-1} c` satisfies :math:`w^T \Phi^T L_d \Phi w = 1`. Neither side is formed.

*Accuracy.* The authors' program takes the range from the eigenvectors of the n x n matrix, where an
eigenvalue near the cut-off, n * 2e-16 of the largest, has a relative error of order 1/n. Here
:math:`\Sigma`, its root, is computed, with a relative error of about 1e-9 there. Eigenvectors near
the cut-off, mere rounding in that program, thus keep some correct digits.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._memory import FEWER_LABELS, check_room
from domain_alignment.utils.eigen import symmetric_eigenpairs
from domain_alignment.utils.validation import domain_name

_EPS = np.finfo(float).eps

# Eigenvalues below this count as zero: the others are ratios of variation within classes and
# neighbourhoods to that between classes, many orders larger.
_ZERO = 1e-12

# A domain vanishes below so many times the cut-off of the range.
_SMALL = 10

# Entries of a product with a Laplacian at a time (512 MB).
_BLOCK_ENTRIES = 2**26


@dataclass(frozen=True)
class GraphTerms:
    r"""The matrices between the columns: :math:`L + \mu L_s + \rho I` and :math:`L_d = C C^T`.

    Attributes
    ----------
    laplacians : list of CSR arrays of shape (n_a, n_a)
        Diagonal blocks of L.
    rows : list of ndarray of int
        Labelled samples of each domain.
    similarity : ndarray of shape (l, l)
        :math:`\mu L_s` on these, domain by domain.
    factor : ndarray of shape (l, rank of Ld)
        C.
    ridge : float
        :math:`\rho`.
    """

    laplacians: list
    rows: list
    similarity: np.ndarray
    factor: np.ndarray
    ridge: float

    def quadratic_form(self, scores):
        r""":math:`F^T (L + \mu L_s + \rho I) F` for scores F given per domain."""
        labelled = np.concatenate([F[at] for F, at in zip(scores, self.rows, strict=True)])
        form = labelled.T @ (self.similarity @ labelled)
        for laplacian, F in zip(self.laplacians, scores, strict=True):
            form += _between_columns(F, laplacian)
            if self.ridge:
                form += self.ridge * (F.T @ F)
        return (form + form.T) / 2


def _between_columns(F, laplacian):
    """F'LF, some columns at a time, so that of a large domain F alone is held."""
    batches = gen_batches(F.shape[1], max(1, _BLOCK_ENTRIES // len(F)))
    return np.hstack([F.T @ (laplacian @ F[:, columns]) for columns in batches])


@dataclass(frozen=True)
class RangeSolution:
    r"""Smallest eigenpairs in the range of the right-hand side.

    Attributes
    ----------
    eigenvalues : ndarray of shape (k,)
        Ascending.
    coefficients : list of ndarray of shape (q_a, k)
        The block of w of each domain.
    scores : list of ndarray of shape (n_a, k)
        :math:`\Phi_a w_a` of each domain.
    rank : int
        Dimension of the range kept.
    """

    eigenvalues: np.ndarray
    coefficients: list
    scores: list
    rank: int


def solve_in_range(columns, terms, n_components, rank="auto"):
    r"""Smallest eigenpairs of the problem above.

    Parameters
    ----------
    columns : list of Columns
        The matrices :math:`\Phi_a`, see :mod:`_kernel_operators`.
    terms : GraphTerms
    n_components : int
        Number of eigenpairs; fewer are returned, with a warning, if the range is smaller.
    rank : "auto" or int
        Dimensions of the range to keep. "auto": the number of eigenvalues of
        :math:`\Phi^T L_d \Phi`, of order q, above q * 2.2e-16 of the largest; q is the sum of the
        columns' ``order``.

    Returns
    -------
    RangeSolution

    Raises
    ------
    ValueError
        If `rank` exceeds the rank of Ld or the number of columns.
    AlignmentError
        If the labelled samples are all zero, `rank` exceeds their numerical rank, the eigenproblem
        fails its residual check, or an array exceeds the memory.

    Warns
    -----
    ConvergenceWarning
        If fewer components are returned, `rank` exceeds the "auto" rule, the eigenvalue 0 has more
        eigenvectors than are returned, or a domain is too small beside the others.

    Notes
    -----
    Cost: one product of each :math:`\Phi_a` with at most l columns, then O(n l^2 + l^3) time and
    O(n l) memory: the scores of all samples in l dimensions.
    """
    bases, spans = _labelled_spans(columns, terms)
    _check_overflow(*spans)
    left, singular, _ = linalg.svd(
        np.concatenate(spans), full_matrices=False, check_finite=False, lapack_driver="gesdd"
    )
    order = sum(part.order for part in columns)
    kept = _rank(singular, order, rank)
    ends = np.cumsum([len(span) for span in spans])[:-1]
    parts = np.split(left[:, :kept], ends)
    _warn_of_small(spans, np.sqrt(order * _EPS) * singular[0])
    n_samples = sum(laplacian.shape[0] for laplacian in terms.laplacians)
    check_room(n_samples, kept, "the scores of all samples", instead=FEWER_LABELS)
    scores = [
        _product(block, basis, part) / singular[:kept]
        for block, basis, part in zip(columns, bases, parts, strict=True)
    ]
    if n_components > kept:
        warnings.warn(
            f"n_components={n_components}, but the problem has rank {kept}, so the embedding has "
            f"{kept} columns. The rank is bounded by the number of labelled samples less one, of "
            f"features, of landmarks and of random features, and by rank={rank!r}",
            ConvergenceWarning,
            stacklevel=2,
        )
        n_components = kept
    form = terms.quadratic_form(scores)
    _check_overflow(form)
    values, vectors = symmetric_eigenpairs(form, n_pairs=n_components)
    _warn_of_cut(form, values)
    return RangeSolution(
        values,
        [
            basis @ (part / singular[:kept] @ vectors)
            for basis, part in zip(bases, parts, strict=True)
        ],
        [F @ vectors for F in scores],
        kept,
    )


def _warn_of_small(spans, cut):
    """Warn of a domain of which the rule for the rank leaves next to nothing."""
    for domain, span in enumerate(spans):
        if np.linalg.norm(span) <= _SMALL * cut:
            warnings.warn(
                f"{domain_name(domain)}: its features, or kernel, are so small beside those of the "
                "other domains that its samples vanish from the problem; scale the domains alike",
                ConvergenceWarning,
                stacklevel=3,
            )


def _warn_of_cut(form, kept):
    """Warn if the eigenvalue 0 has more eigenvectors than are kept."""
    if abs(kept[-1]) > _ZERO or kept.size == len(form):
        return
    n_zero = np.count_nonzero(linalg.eigvalsh(form) <= _ZERO)
    if n_zero > kept.size:
        warnings.warn(
            f"n_components={kept.size}, but the eigenvalue 0 has {n_zero} eigenvectors; the order "
            f"of the samples decides which are kept. Ask for {n_zero} components or more, or for "
            "a ridge",
            ConvergenceWarning,
            stacklevel=7,
        )


def _check_overflow(*matrices):
    if not all(np.isfinite(matrix).all() for matrix in matrices):
        raise AlignmentError(
            "products of kernel values (or features) overflow float64; scale the features down"
        )


def _labelled_spans(columns, terms):
    """Orthonormal bases of each domain's labelled rows, and the range in these bases."""
    ends = np.cumsum([at.size for at in terms.rows])[:-1]
    bases, spans = [], []
    for block, rows, factor in zip(columns, terms.rows, np.split(terms.factor, ends), strict=True):
        n_arrays = 2 if rows.size <= block.n_columns else 1  # with the basis, if that is as large
        what = "the rows of the labelled samples"
        check_room(rows.size, block.n_columns, what, n_arrays, FEWER_LABELS)
        basis, triangle = linalg.qr(block.at(rows).T, mode="economic", check_finite=False)
        bases.append(basis)
        spans.append(triangle @ factor)
    return bases, spans


def _product(columns, basis, part):
    """``columns @ basis @ part``, with the cheaper order of products."""
    if part.shape[1] < basis.shape[1]:
        return columns.times(basis @ part)
    return columns.times(basis) @ part


def _rank(singular, order, rank):
    """Number of leading singular values to keep; their squares are the eigenvalues."""
    if not singular.size or singular[0] <= 0:
        raise AlignmentError(
            "the labelled samples are all zero in their feature spaces; use other features or "
            "another kernel"
        )
    # Squares could overflow.
    above = int(np.count_nonzero(singular > np.sqrt(order * _EPS) * singular[0]))
    if rank == "auto":
        return above
    if rank > singular.size:
        raise ValueError(
            f"rank={rank}, but the labelled samples span at most {singular.size} dimensions in the "
            f"columns (samples, landmarks or features) of the problem; ask for at most that, or "
            f'use rank="auto" ({above} here)'
        )
    # Rounding turns zero singular values into about 2e-16 of the largest.
    numerical = int(np.count_nonzero(singular > order * _EPS * singular[0]))
    if rank > numerical:
        raise AlignmentError(
            f"rank={rank}, but the labelled samples span {numerical} dimensions in float64 (some "
            f"coincide, or the kernel has fewer features or is very smooth); use "
            f'rank="auto" ({above} here)'
        )
    if rank > above:
        warnings.warn(
            f"rank={rank} keeps directions below the rounding error of the authors' program, which "
            f"would keep {above}; these may dominate the embedding",
            ConvergenceWarning,
            stacklevel=4,
        )
    return rank
