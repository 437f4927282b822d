r"""Laplacian of the correspondences between domains.

An edge of weight w joins any two samples of different domains with the same label. With
:math:`W^*_{ij} = w` for such pairs, :math:`L_c = \mathrm{diag}(W^* 1) - W^* = w A A^T`, where A is
the incidence matrix of Dernbach & Towsley (2020), section 3: one column per pair, with 1 and -1 at
its two samples. A has thousands of columns and is never formed: counts of and sums over the
labelled samples per domain and class suffice.
"""

import numpy as np

from domain_alignment.utils.validation import UNLABELLED


def labelled_rows(ys):
    """Labelled rows, and their classes numbered consistently over the domains.

    Returns
    -------
    rows : list of ndarray of int
        Positions of the labelled samples of each domain.
    classes : list of ndarray of int
        Their classes, numbered 0..C-1.
    n_classes : int
    """
    rows = [np.flatnonzero(y != UNLABELLED) for y in ys]
    known, codes = np.unique(
        np.concatenate([y[labelled] for y, labelled in zip(ys, rows, strict=True)]),
        return_inverse=True,
    )
    ends = np.cumsum([part.size for part in rows])[:-1]
    return rows, np.split(codes, ends), known.size


def partners(classes, n_classes):
    """Number of corresponding samples of each labelled sample, one array per domain."""
    counts = np.array([np.bincount(part, minlength=n_classes) for part in classes])
    others = counts.sum(axis=0) - counts
    return [row[part].astype(float) for row, part in zip(others, classes, strict=True)]


def projected_laplacian(bases, ys, weight):
    r""":math:`E^T L_c E` for the block-diagonal matrix E of the domains' bases.

    With the class sums :math:`s_{ac}` of the rows of domain a labelled c, and the number
    :math:`m_i` of partners of row i, block (a, a) is :math:`w \sum_i m_i e_i e_i^T` and block (a,
    b) is :math:`-w \sum_c s_{ac} s_{bc}^T`.

    Parameters
    ----------
    bases : list of ndarray of shape (n_a, k_a)
    ys : list of ndarray of int of shape (n_a,)
    weight : float

    Returns
    -------
    projected : ndarray of shape (K, K), K the sum of the k_a

    Notes
    -----
    Cost: O(l K^2) time for l labelled samples, O((l + K) K) memory, for any number of pairs.

    Examples
    --------
    Two samples labelled 0 in each domain, hence four pairs; all coordinates are 1.

    >>> one = np.ones((2, 1))
    >>> projected_laplacian([one, one], [np.array([0, 0])] * 2, 1.0)
    array([[ 4., -4.],
           [-4.,  4.]])
    """
    rows, classes, n_classes = labelled_rows(ys)
    ends = np.cumsum([0] + [basis.shape[1] for basis in bases])
    projected = np.zeros((ends[-1], ends[-1]))
    sums = np.zeros((n_classes, ends[-1]))
    numbers = np.arange(n_classes)
    for a, n_partners in enumerate(partners(classes, n_classes)):
        block = slice(ends[a], ends[a + 1])
        labelled = bases[a][rows[a]]
        sums[:, block] = (numbers[:, None] == classes[a]) @ labelled
        projected[block, block] = labelled.T @ (n_partners[:, None] * labelled)
    between = sums.T @ sums
    for a in range(len(bases)):
        block = slice(ends[a], ends[a + 1])
        between[block, block] = 0
    return weight * (projected - between)


def laplacian(ys, weight):
    r""":math:`L_c` restricted to the labelled rows of all domains.

    Returns
    -------
    rows : list of ndarray of int
        The labelled rows of each domain.
    restricted : ndarray of shape (l, l)
        In the order of `rows`, domain by domain.
    """
    rows, classes, n_classes = labelled_rows(ys)
    domain = np.repeat(np.arange(len(rows)), [part.size for part in rows])
    codes = np.concatenate(classes)
    edges = (codes[:, None] == codes) & (domain[:, None] != domain)
    n_partners = np.concatenate(partners(classes, n_classes))
    return rows, weight * (np.diag(n_partners) - edges)
