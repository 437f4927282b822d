import numpy as np
import pytest
from domain_alignment.manifold._class_graphs import (
    class_graphs,
    class_laplacians,
    graph_laplacian,
    laplacian_factor,
)

from tests.methods import published_kema


def spread_out(matrix, graphs, sizes):
    """A matrix of the known samples among all samples."""
    starts = np.cumsum([0, *sizes])[:-1]
    at = np.concatenate([start + rows for start, rows in zip(starts, graphs.rows, strict=True)])
    full = np.zeros((sum(sizes), sum(sizes)))
    full[np.ix_(at, at)] = matrix
    return full


@pytest.fixture
def ys():
    rng = np.random.default_rng(0)
    return [np.r_[0, 1, 2, rng.integers(-1, 3, size)] for size in (9, 6, 4)]


def test_graphs_equal_the_definition(ys):
    graphs = class_graphs(ys)
    Ws, Wd = published_kema.class_weights(ys)
    sizes = [len(y) for y in ys]
    np.testing.assert_array_equal(spread_out(graphs.similarity, graphs, sizes), Ws)
    np.testing.assert_array_equal(spread_out(graphs.dissimilarity, graphs, sizes), Wd)
    for y, rows, groups in zip(ys, graphs.rows, graphs.groups, strict=True):
        np.testing.assert_array_equal(y[rows], groups)
        assert (groups >= 0).all()


def test_laplacians_have_the_scale_of_the_toolbox(ys):
    graphs = class_graphs(ys)
    sizes = [len(y) for y in ys]
    n_samples, total = sum(sizes), 77.0
    for found, weights in zip(
        class_laplacians(graphs, total, n_samples), published_kema.class_weights(ys), strict=True
    ):
        weights = weights + np.eye(n_samples)
        expected = published_kema.laplacian(weights * total / weights.sum())
        np.testing.assert_allclose(spread_out(found, graphs, sizes), expected, atol=1e-13)


def test_a_factor_of_a_connected_graph_lacks_one_column(ys):
    Ld = graph_laplacian(class_graphs(ys).dissimilarity, 0.3)
    C = laplacian_factor(Ld)
    assert C.shape == (len(Ld), len(Ld) - 1)
    np.testing.assert_allclose(C @ C.T, Ld, atol=1e-13)


def test_a_factor_of_a_graph_in_pieces_lacks_one_column_each():
    weights = np.zeros((7, 7))
    for i, j in ((0, 3), (3, 5), (1, 6)):  # and 2, 4 alone
        weights[i, j] = weights[j, i] = 1 + i
    C = laplacian_factor(graph_laplacian(weights))
    assert C.shape == (7, 3)
    np.testing.assert_allclose(C @ C.T, published_kema.laplacian(weights), atol=1e-14)


def all_pairs(ys, same):
    where = [(a, i, y) for a, labels in enumerate(ys) for i, y in enumerate(labels) if y >= 0]
    return [
        (a, i, b, j)
        for place, (a, i, y) in enumerate(where)
        for b, j, other in where[:place]
        if (y == other) == same
    ]


@pytest.mark.parametrize(
    ("which", "labels_too"),
    [
        (("similar",), True),
        (("similar",), False),
        (("dissimilar",), True),  # without labels, similarity has to come from somewhere
        (("similar", "dissimilar"), True),
        (("similar", "dissimilar"), False),
    ],
)
def test_the_pairs_of_the_labels_give_the_graphs_of_the_labels(ys, which, labels_too):
    pairs = {name: all_pairs(ys, name == "similar") for name in which}
    hidden = [np.full(len(y), -1) for y in ys]
    found, expected = class_graphs(ys if labels_too else hidden, **pairs), class_graphs(ys)
    np.testing.assert_array_equal(found.similarity, expected.similarity)
    np.testing.assert_array_equal(found.dissimilarity, expected.dissimilarity)
    for rows, exact in zip(found.rows, expected.rows, strict=True):
        np.testing.assert_array_equal(rows, exact)


def test_correspondences_alone_make_each_tied_set_an_object():
    hidden = [np.full(4, -1), np.full(3, -1)]
    graphs = class_graphs(hidden, similar=[(0, 3, 1, 0), (0, 1, 1, 2)])
    as_labels = class_graphs([np.array([-1, 1, -1, 0]), np.array([0, -1, 1])])
    np.testing.assert_array_equal(graphs.similarity, as_labels.similarity)
    np.testing.assert_array_equal(graphs.dissimilarity, as_labels.dissimilarity)
    # The same object in the same group.
    assert graphs.groups[0].tolist() == graphs.groups[1][::-1].tolist()


def test_similar_pairs_do_not_take_the_place_of_dissimilar_labels():
    ys = [np.array([0, 1, -1]), np.array([1, 0, -1])]
    graphs = class_graphs(ys, similar=[(0, 2, 1, 2)])
    assert [rows.tolist() for rows in graphs.rows] == [[0, 1, 2], [0, 1, 2]]
    assert graphs.similarity.sum() == 4  # the pair and its two diagonal entries
    assert graphs.dissimilarity.sum() == 8


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 0, 1)], "has shape"),
        (np.zeros((0, 4), dtype=int), "at least one row"),
        ([(0.0, 0.0, 1.0, 0.0)], "four integers"),
        ([(0, 0, 1, 0), (0, 9, 1, 0)], "row 1 is"),
        ([(0, 0, 2, 0)], "row 0 is"),
        ([(0, -1, 1, 0)], "counted from 0"),
        ([(0, 1, 0, 1)], "pairs a sample with itself"),
    ],
)
def test_pairs_that_do_not_exist(pairs, message):
    with pytest.raises(ValueError, match=f"similar: .*{message}"):
        class_graphs([np.full(3, -1)] * 2, similar=pairs)


def test_one_class_parts_nothing():
    with pytest.raises(ValueError, match="all labelled samples are of one class"):
        class_graphs([np.array([0, 0, -1])] * 2)
    with pytest.raises(ValueError, match="all similar pairs are in one connected component"):
        class_graphs([np.array([-1, -1])] * 2, similar=[(0, 0, 1, 1)])


def test_a_domain_without_labels_or_pairs():
    with pytest.raises(ValueError, match=r"domain 1 .* none of its 2 samples is labelled"):
        class_graphs([np.array([0, 1]), np.array([-1, -1])])
    with pytest.raises(ValueError, match="domain 2: no similar pair links it to domain 0"):
        class_graphs([np.full(2, -1)] * 3, similar=[(0, 0, 1, 0), (0, 1, 1, 1)])
    with pytest.raises(ValueError, match="domain 1: has no dissimilar pair"):
        class_graphs([np.full(2, -1)] * 2, [(0, 0, 1, 0)], [(0, 0, 0, 1)])


def test_similar_pairs_must_tie_the_domains():
    unknown = [np.full(4, -1)] * 3
    with pytest.raises(ValueError, match="domain 1: no similar pair links it to domain 0"):
        class_graphs(unknown[:2], similar=[(0, 0, 0, 1), (1, 2, 1, 3)])
    through_another = [(0, 0, 2, 0), (0, 1, 2, 1), (2, 0, 1, 0), (2, 1, 1, 1)]
    assert class_graphs(unknown, similar=through_another).similarity.shape == (6, 6)


@pytest.mark.parametrize(
    ("given", "advice"),
    [("similar", "give dissimilar pairs too, or no labels at all"), ("dissimilar", "give similar")],
)
def test_labels_beside_one_kind_of_pairs(given, advice):
    pairs = {given: [(0, 0, 1, 0), (0, 1, 1, 1)]}
    with pytest.raises(ValueError, match=rf"domain 1 .*With {given} pairs alone, .*{advice}"):
        class_graphs([np.array([0, 1]), np.array([-1, -1])], **pairs)
