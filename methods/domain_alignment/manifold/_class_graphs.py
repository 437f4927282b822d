r"""The graphs that join (Ws) and part (Wd) labelled samples of all domains, and their Laplacians.

Both live on the l labelled samples alone, whichever domain these are of; all other rows of the
n x n matrices of the papers are zero and are never stored.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from domain_alignment.utils.validation import check_linked_by_labels, domain_name


@dataclass(frozen=True)
class ClassGraphs:
    """Similarity and dissimilarity graphs of the l samples that a fit knows something about.

    Attributes
    ----------
    rows : list of ndarray of int
        Which samples of each domain; the graphs are in this order, domain after domain.
    groups : list of ndarray of int
        Number of the class of each, or of the set of samples said to be similar.
    similarity, dissimilarity : ndarray of shape (l, l)
        Ws and Wd with entries 0 and 1.
    """

    rows: list
    groups: list
    similarity: np.ndarray
    dissimilarity: np.ndarray


def class_graphs(ys, similar=None, dissimilar=None):
    r"""Graphs by labels, by given pairs, or one of each.

    By labels, as in [1]_: :math:`W^s_{ij} = 1` if i and j share a class, i = j included, and
    :math:`W^d_{ij} = 1` if their classes differ. Given pairs replace one or both of them:

    - `similar`: :math:`W^s` is 1 at the pairs and on the diagonal of the samples in them;
    - `dissimilar`: :math:`W^d` is 1 at the pairs;
    - only `similar`, and no label at all: a set of samples tied by similar pairs, directly or not,
      is one object, and samples of different objects are dissimilar. This is alignment by
      correspondences.

    Parameters
    ----------
    ys : list of ndarray of int
        Labels of each domain, -1 where unknown.
    similar, dissimilar : array-like of int of shape (m, 4), optional
        Pairs, a line each: domain, sample, domain, sample. The two may be of one domain.

    Returns
    -------
    ClassGraphs

    Raises
    ------
    ValueError
        If the labels or the similar pairs do not link the domains, or a pair names a sample that
        does not exist, or nothing is dissimilar, or a domain takes no part.

    References
    ----------
    .. [1] D. Tuia, G. Camps-Valls. Kernel Manifold Alignment for Domain Adaptation. PLoS ONE 2016.

    Examples
    --------
    >>> graphs = class_graphs([np.array([0, -1]), np.array([1, 0])])
    >>> graphs.similarity
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    sizes = [len(y) for y in ys]
    similar = _stacked_pairs(similar, sizes, "similar")
    dissimilar = _stacked_pairs(dissimilar, sizes, "dissimilar")
    labels = np.concatenate(ys)
    labelled = labels >= 0
    by_labels = similar is None or (dissimilar is None and labelled.any())
    if by_labels:
        _check_linked(ys, similar, dissimilar)
    known = np.unique(
        np.concatenate(
            [np.flatnonzero(labelled) if by_labels else [], *_members(similar, dissimilar)]
        ).astype(np.intp)
    )
    same, differ = _label_weights(labels[known])
    Ws = same if similar is None else _pair_weights(similar, known, diagonal=True)
    groups = labels[known] if similar is None else _components(Ws)
    if dissimilar is not None:
        Wd = _pair_weights(dissimilar, known)
    else:
        Wd = differ if by_labels else _between_objects(Ws, groups)
    ends = np.cumsum(sizes)
    at = np.searchsorted(known, ends)[:-1]
    rows = [
        part - start
        for part, start in zip(np.split(known, at), ends - np.array(sizes), strict=True)
    ]
    _check_tied(Ws, rows)
    _check_parted(Wd, rows, by_labels)
    return ClassGraphs(rows, np.split(groups, at), Ws, Wd)


def _stacked_pairs(pairs, sizes, name):
    """Pairs as two columns of positions among the stacked samples of all domains, or None."""
    if pairs is None:
        return None
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 4 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(
            f"{name}: has shape {pairs.shape} and type {pairs.dtype}; give at least one line of "
            "four integers: domain, sample, domain, sample"
        )
    domains, samples = pairs[:, [0, 2]], pairs[:, [1, 3]]
    wrong = (domains < 0) | (domains >= len(sizes))
    if not wrong.any():
        wrong = (samples < 0) | (samples >= np.array(sizes)[domains])
    if wrong.any():
        line = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise ValueError(
            f"{name}: line {line} is {pairs[line].tolist()}, and the domains 0 to {len(sizes) - 1} "
            f"have {sizes} samples; give domain, sample, domain, sample, counted from 0"
        )
    starts = np.cumsum([0, *sizes])[:-1]
    stacked = starts[domains] + samples
    if (loops := stacked[:, 0] == stacked[:, 1]).any():
        line = int(np.flatnonzero(loops)[0])
        raise ValueError(f"{name}: line {line} pairs a sample with itself; drop it")
    return stacked


def _members(*lists):
    return [pairs.ravel() for pairs in lists if pairs is not None]


def _label_weights(labels):
    """Ws and Wd of labels; a label of -1 gives neither."""
    known = labels >= 0
    both = known[:, None] & known
    same = labels[:, None] == labels
    return (both & same).astype(float), (both & ~same).astype(float)


def _pair_weights(pairs, known, diagonal=False):
    at = np.searchsorted(known, pairs)
    weights = np.zeros((known.size, known.size))
    weights[at[:, 0], at[:, 1]] = weights[at[:, 1], at[:, 0]] = 1
    if diagonal:
        weights[at.ravel(), at.ravel()] = 1
    return weights


def _components(weights):
    return connected_components(sparse.csr_array(weights), directed=False)[1]


def _between_objects(Ws, groups):
    involved = Ws.diagonal() > 0
    return (involved[:, None] & involved & (groups[:, None] != groups)).astype(float)


def _check_linked(ys, similar, dissimilar):
    """Raise ``ValueError`` unless labels that make one graph or both link all domains."""
    try:
        check_linked_by_labels(ys)
    except ValueError as error:
        if similar is None and dissimilar is None:
            raise
        given, made, else_ = "dissimilar", "similar", ""
        if dissimilar is None:
            given, made, else_ = "similar", "dissimilar", ", or no labels at all"
        raise ValueError(
            f"{error}. With {given} pairs alone the labels make the graph of the {made} samples: "
            f"give {made} pairs too{else_}"
        ) from error


def _check_tied(Ws, rows):
    """Raise ``ValueError`` unless similar samples tie all domains, directly or through others."""
    domain = _domain_of(rows)
    between = np.zeros((len(rows), len(rows)))
    at = np.nonzero(Ws)
    between[domain[at[0]], domain[at[1]]] = 1
    tied_to = _components(between)
    loose = np.flatnonzero(tied_to != tied_to[0])
    if loose.size:
        raise ValueError(
            f"{domain_name(loose[0])}: no similar pair ties it to domain 0, directly or through "
            "another domain; give pairs of samples of the two"
        )


def _domain_of(rows):
    return np.repeat(np.arange(len(rows)), [part.size for part in rows])


def _check_parted(Wd, rows, by_labels):
    if not Wd.any():
        raise ValueError(
            "all labelled samples are of one class, so there is nothing to tell apart; label "
            "samples of another class, or give dissimilar pairs"
            if by_labels
            else "all similar pairs are tied to one another, so there is nothing to tell apart; "
            "give pairs of another object, or dissimilar pairs"
        )
    domain = _domain_of(rows)
    for number in range(len(rows)):
        if not Wd[domain == number].any():
            raise ValueError(
                f"{domain_name(number)}: takes no part in the dissimilar pairs, which are all that "
                "spans the embedding; give pairs with its samples"
            )


def graph_laplacian(weights, scale=1.0):
    """Diagonal of row sums minus the weights, times a factor; the weights' diagonal cancels."""
    laplacian = -scale * weights
    np.fill_diagonal(laplacian, 0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return laplacian


def class_laplacians(graphs, total, n_samples):
    r"""Ls and Ld on the scale of the neighbour graph, as the KEMA toolbox's library has it.

    .. math:: W^s \leftarrow W^s \frac{S}{\sum_{ij} W^s_{ij} + n}, \qquad
              W^d \leftarrow W^d \frac{S}{\sum_{ij} W^d_{ij} + n}

    The paper has no such factors. The n comes from an identity that the toolbox adds to both
    graphs; it cancels in the Laplacians and stays in the factors.

    Parameters
    ----------
    graphs : ClassGraphs
    total : float
        S, the sum of the weights of the neighbour graphs of all domains.
    n_samples : int
        n, of all domains, labelled or not.

    Returns
    -------
    Ls, Ld : ndarray of shape (l, l)
    """
    return tuple(
        graph_laplacian(weights, total / (weights.sum() + n_samples))
        for weights in (graphs.similarity, graphs.dissimilarity)
    )


def laplacian_factor(laplacian):
    r"""A factor :math:`L = C C^T` with as many columns as L has rank.

    Of a connected graph the Laplacian without its last row and column is positive definite; with G
    its Cholesky factor, :math:`C = [G; -1^T G]` has l - 1 columns and :math:`C C^T = L`, since the
    rows of L sum to zero. Components are treated one by one.

    Parameters
    ----------
    laplacian : ndarray of shape (l, l)

    Returns
    -------
    factor : ndarray of shape (l, l - number of components)

    Notes
    -----
    Cost: O(l^3 / 3) time, O(l^2) memory. No threshold is needed, unlike with an eigendecomposition.

    Examples
    --------
    >>> laplacian_factor(np.array([[4.0, -4.0], [-4.0, 4.0]]))
    array([[ 2.],
           [-2.]])
    """
    n_parts, part = connected_components(sparse.csr_array(laplacian), directed=False)
    factor = np.zeros((len(laplacian), len(laplacian) - n_parts))
    start = 0
    for number in range(n_parts):
        nodes = np.flatnonzero(part == number)
        kept, stop = nodes[:-1], start + nodes.size - 1
        root = linalg.cholesky(laplacian[np.ix_(kept, kept)], lower=True) if kept.size else 0
        factor[kept, start:stop] = root
        factor[nodes[-1], start:stop] = -np.sum(root, axis=0) if kept.size else 0
        start = stop
    return factor
