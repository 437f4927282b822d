r"""Similarity (Ws) and dissimilarity (Wd) graphs of labelled samples, and their Laplacians.

Only the l labelled samples of all domains are stored; all other rows of the papers' n x n matrices
are zero.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from domain_alignment.utils._memory import FEWER_LABELS, check_room
from domain_alignment.utils.validation import check_linked_by_labels, domain_name

# Of the labelled samples with each other: both graphs, a Laplacian and a factor of the other one.
_HELD = 4


@dataclass(frozen=True)
class ClassGraphs:
    """Similarity and dissimilarity graphs of the l labelled or paired samples.

    Attributes
    ----------
    rows : list of ndarray of int
        Labelled or paired samples of each domain; the graphs are in this order, domain by domain.
    groups : list of ndarray of int
        Class of each sample, or its connected component in the graph of similar pairs.
    similarity, dissimilarity : ndarray of shape (l, l)
        Ws and Wd, with entries 0 and 1.
    """

    rows: list
    groups: list
    similarity: np.ndarray
    dissimilarity: np.ndarray


def class_graphs(ys, similar=None, dissimilar=None):
    r"""Class graphs from labels, from given pairs, or one of each.

    From labels, as in [1]_: :math:`W^s_{ij} = 1` if i and j share a class, including i = j, and
    :math:`W^d_{ij} = 1` if their classes differ. Pairs replace one or both graphs:

    - `similar`: :math:`W^s` is 1 at the pairs and on the diagonal of their samples;
    - `dissimilar`: :math:`W^d` is 1 at the pairs;
    - `similar` alone and no label: samples in different connected components are dissimilar
      (alignment by correspondences).

    Parameters
    ----------
    ys : list of ndarray of int
        Labels of each domain, -1 where unknown.
    similar, dissimilar : array-like of int of shape (m, 4), optional
        Pairs, one per row: domain, sample, domain, sample. Both samples may be of one domain.

    Returns
    -------
    ClassGraphs

    Raises
    ------
    ValueError
        If the labels or the similar pairs do not link the domains, a pair names a sample that does
        not exist, no samples are dissimilar, or a domain has no dissimilar pair.
    AlignmentError
        If the graphs and their Laplacians exceed the memory.

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
    check_graphs(known.size)
    same, differ = _label_weights(labels[known])
    Ws = same if similar is None else _pair_weights(similar, known, diagonal=True)
    groups = labels[known] if similar is None else _components(Ws)
    if dissimilar is not None:
        Wd = _pair_weights(dissimilar, known)
    else:
        Wd = differ if by_labels else _between_components(Ws, groups)
    ends = np.cumsum(sizes)
    at = np.searchsorted(known, ends)[:-1]
    rows = [
        part - start
        for part, start in zip(np.split(known, at), ends - np.array(sizes), strict=True)
    ]
    _check_connected(Ws, rows)
    _check_dissimilar(Wd, rows, by_labels)
    return ClassGraphs(rows, np.split(groups, at), Ws, Wd)


def check_graphs(n_labelled):
    """Raise ``AlignmentError`` if graphs of so many labelled samples exceed the memory."""
    what = "the class graphs of the labelled samples"
    check_room(n_labelled, n_labelled, what, n_arrays=_HELD, instead=FEWER_LABELS)


def _stacked_pairs(pairs, sizes, name):
    """Pairs as positions among the stacked samples of all domains, shape (m, 2), or None."""
    if pairs is None:
        return None
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 4 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(
            f"{name}: has shape {pairs.shape} and dtype {pairs.dtype}; give at least one row of "
            "four integers: domain, sample, domain, sample"
        )
    domains, samples = pairs[:, [0, 2]], pairs[:, [1, 3]]
    wrong = (domains < 0) | (domains >= len(sizes))
    if not wrong.any():
        wrong = (samples < 0) | (samples >= np.array(sizes)[domains])
    if wrong.any():
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise ValueError(
            f"{name}: row {row} is {pairs[row].tolist()}, but domains 0 to {len(sizes) - 1} "
            f"have {sizes} samples; give domain, sample, domain, sample, counted from 0"
        )
    starts = np.cumsum([0, *sizes])[:-1]
    stacked = starts[domains] + samples
    if (loops := stacked[:, 0] == stacked[:, 1]).any():
        row = int(np.flatnonzero(loops)[0])
        raise ValueError(f"{name}: row {row} pairs a sample with itself; drop it")
    return stacked


def _members(*lists):
    return [pairs.ravel() for pairs in lists if pairs is not None]


def _label_weights(labels):
    """Ws and Wd of labels; rows of unlabelled samples (-1) are zero."""
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


def _between_components(Ws, groups):
    involved = Ws.diagonal() > 0
    return (involved[:, None] & involved & (groups[:, None] != groups)).astype(float)


def _check_linked(ys, similar, dissimilar):
    """Raise ``ValueError`` if a graph is made from labels and these do not link all domains."""
    try:
        check_linked_by_labels(ys)
    except ValueError as error:
        if similar is None and dissimilar is None:
            raise
        given, missing, hint = "dissimilar", "similar", ""
        if dissimilar is None:
            given, missing, hint = "similar", "dissimilar", ", or no labels at all"
        raise ValueError(
            f"{error}. With {given} pairs alone, the {missing} graph comes from the labels: "
            f"give {missing} pairs too{hint}"
        ) from error


def _check_connected(Ws, rows):
    """Raise ``ValueError`` unless similar pairs connect all domains."""
    domain = _domain_of(rows)
    between = np.zeros((len(rows), len(rows)))
    at = np.nonzero(Ws)
    between[domain[at[0]], domain[at[1]]] = 1
    component = _components(between)
    unlinked = np.flatnonzero(component != component[0])
    if unlinked.size:
        raise ValueError(
            f"{domain_name(unlinked[0])}: no similar pair links it to domain 0, directly or "
            "through another domain; give pairs that do"
        )


def _domain_of(rows):
    return np.repeat(np.arange(len(rows)), [part.size for part in rows])


def _check_dissimilar(Wd, rows, by_labels):
    if not Wd.any():
        raise ValueError(
            "all labelled samples are of one class; label samples of another class, or give "
            "dissimilar pairs"
            if by_labels
            else "all similar pairs are in one connected component; give pairs in another one, or "
            "dissimilar pairs"
        )
    domain = _domain_of(rows)
    for number in range(len(rows)):
        if not Wd[domain == number].any():
            raise ValueError(
                f"{domain_name(number)}: has no dissimilar pair, and these span the embedding; "
                "give pairs with its samples"
            )


def graph_laplacian(weights, scale=1.0):
    """``scale * (diag(W 1) - W)``; the diagonal of `weights` is ignored."""
    laplacian = -scale * weights
    np.fill_diagonal(laplacian, 0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return laplacian


def class_laplacians(graphs, total, n_samples):
    r"""Ls and Ld on the scale of the neighbour graph, as in the KEMA toolbox's library.

    .. math:: W^s \leftarrow W^s \frac{S}{\sum_{ij} W^s_{ij} + n}, \qquad
              W^d \leftarrow W^d \frac{S}{\sum_{ij} W^d_{ij} + n}

    The paper has no such factors. The n comes from an identity that the toolbox adds to both
    graphs, which cancels in the Laplacians but not in the factors.

    Parameters
    ----------
    graphs : ClassGraphs
    total : float
        S, the total weight of the neighbour graphs of all domains.
    n_samples : int
        n, over all domains, labelled or not.

    Returns
    -------
    Ls, Ld : ndarray of shape (l, l)
    """
    return tuple(
        graph_laplacian(weights, total / (weights.sum() + n_samples))
        for weights in (graphs.similarity, graphs.dissimilarity)
    )


def laplacian_factor(laplacian):
    r"""Full-rank factor C of a graph Laplacian, :math:`L = C C^T`.

    The Laplacian of a connected graph without its last row and column is positive definite; with
    its Cholesky factor G, :math:`C = [G; -1^T G]`, since the rows of L sum to zero. Components are
    factorised separately.

    Parameters
    ----------
    laplacian : ndarray of shape (l, l)

    Returns
    -------
    factor : ndarray of shape (l, l - number of components)

    Notes
    -----
    Cost: O(l^3 / 3) time, O(l^2) memory. Unlike an eigendecomposition, it needs no threshold.

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
