"""The filters against their projectors, written out; the measures on blocks with known answers."""

import numpy as np
import pytest

from workflow.lib.report.figures.style import render
from workflow.studies.fma import filtering as study

SMALL = {"n_nodes": 8, "edge_probabilities": [0.4, 0.6], "links": [3], "n_seeds": 4}


@pytest.fixture(scope="module")
def result():
    return study.run({}, **SMALL)


def test_two_runs_are_equal(result):
    records, arrays = study.run({}, **SMALL)
    assert records == result[0]
    assert all(np.array_equal(arrays[name], result[1][name]) for name in result[1])


def test_every_setting_reading_and_matrix_has_a_record(result):
    records, arrays = result
    assert len(records) == 2 * 1 * 4 * 2 * 3
    assert sorted(arrays) == sorted(f"{r}/{m}" for r in study.READINGS for m in study.MATRICES)


def test_graphs_are_connected_and_links_are_distinct_edges_between_them():
    graphs, pairs = study.draw_graphs(10, 0.3, 7, seed=3)
    for graph in graphs:
        np.testing.assert_array_equal(graph, graph.T)
        assert not graph.diagonal().any()
        assert (np.linalg.matrix_power(graph + np.eye(10), 10) > 0).all()
    assert len({tuple(pair) for pair in pairs}) == 7
    with pytest.raises(ValueError, match=r"none of 1000 graphs .* probability 0.0 was connected"):
        study.draw_graphs(10, 0.0, 7, seed=3)


@pytest.mark.parametrize("reading", study.READINGS)
def test_filters_are_projections_of_the_joint_laplacian(reading):
    graphs, pairs = study.draw_graphs(9, 0.4, 5, seed=2)
    matrices = study.filtered(*study.laplacian_parts(graphs, pairs, reading))
    W = np.zeros((18, 18))
    W[:9, :9], W[9:, 9:] = graphs
    degree = W.sum(axis=1)
    for i, j in pairs:
        W[i, 9 + j] = W[9 + j, i] = 1
    L = np.diag(W.sum(axis=1)) - W
    if reading == "normalised":
        L = L / np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(matrices["original"], L, atol=1e-12)
    P = np.zeros((18, 18))
    for alone, nodes in zip(graphs, (slice(0, 9), slice(9, 18)), strict=True):
        block = np.diag(alone.sum(axis=1)) - alone
        if reading == "normalised":
            block = block / np.sqrt(np.outer(degree[nodes], degree[nodes]))
        _, values, vectors = np.linalg.svd(block)  # largest first
        assert values[4] > values[5] + 1e-6, "the half is not unique: draw other graphs"
        vectors = vectors[::-1][:4]
        P[nodes, nodes] = vectors.T @ vectors
    np.testing.assert_allclose(matrices["subgraph"], P @ L @ P, atol=1e-10)
    vectors = np.linalg.svd(L)[2][::-1][:9]
    Q = vectors.T @ vectors
    np.testing.assert_allclose(matrices["standard"], Q @ L @ Q, atol=1e-10)


@pytest.mark.parametrize("reading", study.READINGS)
def test_filters_keep_the_whole_space_of_an_eigenvalue_and_follow_the_nodes(reading):
    # A star's Laplacians have the eigenvalue 1 four times: no two of its eigenvectors are the half.
    star, path = np.zeros((6, 6)), np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    star[0, 1:] = star[1:, 0] = 1
    pairs = np.array([[1, 0], [4, 3]])
    one = study.filtered(*study.laplacian_parts([star, path], pairs, reading))
    order = np.array([2, 4, 1, 0, 3, 5])  # the old number of each new node
    pairs[:, 0] = np.argsort(order)[pairs[:, 0]]
    graphs = [star[np.ix_(order, order)], path]
    other = study.filtered(*study.laplacian_parts(graphs, pairs, reading))
    both = np.concatenate([order, np.arange(6, 12)])
    for name, matrix in one.items():
        np.testing.assert_allclose(other[name], matrix[np.ix_(both, both)], atol=1e-9)


def test_roughness_of_known_blocks():
    chain = np.diag([1.0, 2, 1]) - np.diag([1.0, 1], 1) - np.diag([1.0, 1], -1)
    assert study.graph_roughness(np.ones((3, 3)), chain, chain) == pytest.approx(0, abs=1e-12)
    values, vectors = np.linalg.eigh(chain)
    block = np.outer(vectors[:, 1], vectors[:, 2])
    assert study.graph_roughness(block, chain, chain) == pytest.approx(values[1] + values[2])
    assert study.picture_roughness(np.ones((4, 4))) == 0
    checks = np.indices((4, 4)).sum(axis=0) % 2 * 2 - 1
    assert study.picture_roughness(checks) == pytest.approx(24 * 4 / 16)


def test_unrelated_cells_have_the_picture_roughness_that_is_stated():
    blocks = np.random.default_rng(0).normal(size=(400, 20, 20))
    assert np.mean([study.picture_roughness(b) for b in blocks]) == pytest.approx(3.8, abs=0.02)


def test_the_claim_counts_the_paired_differences(result):
    records, arrays = result
    table = study.tables(records, arrays)["claim"]
    by_hand = [
        one["graph_roughness"] - other["graph_roughness"]
        for one, other in zip(
            [r for r in records if r["matrix"] == "subgraph"],
            [r for r in records if r["matrix"] == "standard"],
            strict=True,
        )
        if one["reading"] == "plain" and one["edge_probability"] == 0.4
    ]
    assert table.rows[0][2].value == pytest.approx(np.mean(by_hand))
    assert table.rows[0][2].spread == pytest.approx(np.std(by_hand, ddof=1))
    assert table.rows[0][3].text == f"{sum(value < 0 for value in by_hand)} of 4"


def test_the_finding_counts_the_draws_of_all_settings(result):
    records, arrays = result
    told = study.finding(records, arrays)
    assert told == (
        "Mostly yes: of 8 draws, the block is smoother after the subgraph filter than after the "
        "standard one in 75 % (D − W) and 88 % (normalised) as measured in the picture, by "
        "differences of neighbouring cells, and in 100 % (D − W) and 100 % (normalised) as "
        "measured on the graphs, where the filter keeps it smooth by construction."
    )
    swapped = {"subgraph": "standard", "standard": "subgraph", "original": "original"}
    other = [{**r, "matrix": swapped[r["matrix"]]} for r in records]
    assert study.finding(other, arrays).startswith("No: of 8 draws")
    rough = [{**r, "picture_roughness": 9.0} if r["matrix"] == "subgraph" else r for r in records]
    assert study.finding(rough, arrays).startswith("It depends: ")
    assert "0 % (D − W) and 0 % (normalised) as measured in the" in study.finding(rough, arrays)


def test_names_of_figures_and_tables(result):
    assert list(study.figures(*result)) == list(study.FIGURES)
    assert list(study.tables(*result)) == list(study.TABLES)
    for draw in study.figures(*result).values():
        assert render(draw, "svg").startswith(b"<?xml")


def test_a_draw_to_show_that_is_not_drawn_is_refused():
    with pytest.raises(ValueError, match="none of the settings"):
        study.run({}, **SMALL, shown={"edge_probability": 0.9, "links": 3, "seed": 0})
