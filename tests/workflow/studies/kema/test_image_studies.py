"""The studies of KEMA on images and of what methods can do, on small made-up data."""

import numpy as np
import pytest

from workflow.studies.kema import faces as kema_faces
from workflow.studies.kema import latent as kema_latent
from workflow.studies.kema import primal_dual as kema_primal_dual
from workflow.studies.kema import taxonomy as kema_taxonomy


def complete(module, records, arrays):
    tables = module.tables(records, arrays)
    figures = module.figures(records, arrays)
    assert tuple(tables) == tuple(module.TABLES)
    assert set(figures) == set(module.FIGURES)
    for draw in figures.values():
        draw()
    return tables


def subject(seed, shape=(8, 8), n=8):
    """Images of three classes, each bright in another place."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n)
    X = rng.normal(scale=0.1, size=(3 * n, shape[0] * shape[1]))
    X[np.arange(3 * n), 5 * y] += 3
    return X, y


def test_faces_are_drawn_half_for_training_with_labels_for_some():
    y = np.repeat([0, 1, 2], 8)
    train, visible, test = kema_faces.draw(y, 3, np.random.default_rng(0))
    assert np.bincount(y[train]).tolist() == [4, 4, 4]
    assert np.bincount(visible + 1).tolist() == [3, 3, 3, 3]
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(24))
    known = visible >= 0
    np.testing.assert_array_equal(visible[known], y[train][known])


def test_three_subjects_of_different_resolutions_are_aligned():
    domains = {"a": subject(0, (4, 4)), "b": subject(1), "c": subject(2)}
    records, arrays = kema_faces.run(
        domains, {"mixed": ["a", "b", "c"]}, n_realisations=2, dimensions=[2]
    )
    tables = complete(kema_faces, records, arrays)
    assert [row[2].text for row in tables["errors"].rows] == ["1", "2", "3"]
    for number in (1, 2, 3):
        place = {"setting": "mixed", "subject": number, "dimensions": 2}
        assert np.mean(kema_faces.errors_of(records, method="linear", **place)) < 25


def test_the_dense_primal_is_run_up_to_its_limit_only():
    domains = {name: subject(seed) for seed, name in enumerate("abc")}
    records, arrays = kema_primal_dual.run(domains, factors=[0.5, 1, 2], shape=(8, 8), limit=200)
    tables = complete(kema_primal_dual, records, arrays)
    orders = [r["features"] for r in records if r["method"] == "dense"]
    assert orders == [48, 192, 768]
    done = [r["cpu_seconds"] is not None for r in records if r["method"] == "dense"]
    assert done == [True, True, False]
    assert tables["cost"].rows[-1][1].text == "not run"


def test_images_are_resized_by_blocks():
    X = np.arange(8.0).reshape(1, 8)
    np.testing.assert_allclose(kema_primal_dual.resized(X, (2, 4), 0.5), [[2.5, 4.5]])
    larger = kema_primal_dual.resized(X, (2, 4), 2).reshape(4, 8)
    np.testing.assert_allclose(larger[:2, :2], 0)
    np.testing.assert_allclose(larger[2:, -2:], 7)


def test_the_dense_primal_has_the_eigenvalues_of_ssma():
    """Where the labelled samples span all features, and there is no range to choose."""
    from workflow.studies.kema._toys import fit, make_aligner

    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(40, 3)) + 5, rng.normal(size=(40, 2)) - 5]
    ys = [np.arange(40) % 3, np.arange(40) % 3]
    aligner = make_aligner("ssma", 2)
    dense = kema_primal_dual.dense_primal(aligner, Xs, ys)
    np.testing.assert_allclose(dense, fit(aligner, Xs, ys).eigenvalues_, rtol=1e-3)


def test_the_first_dimensions_of_two_domains():
    domains = {"d.one": subject(0), "d.two": subject(1)}
    domains = {name: (np.abs(X), y) for name, (X, y) in domains.items()}
    tripled = {name: (np.vstack([X] * 3), np.tile(y, 3)) for name, (X, y) in domains.items()}
    tripled = {
        name: (X + 0.01 * np.random.default_rng(0).random(X.shape), y)
        for name, (X, y) in tripled.items()
    }
    records, arrays = kema_latent.run(
        tripled, tasks=[["d.one", "d.two"]], source_per_class=5, target_per_class=3, unlabelled=30
    )
    tables = complete(kema_latent, records, arrays)
    assert records[0]["accuracy"] > 60  # guessing: 33
    assert tables["accuracy"].rows[0][0].text == "one → two"


def test_the_taxonomy_lists_every_entry_and_what_it_declares():
    records, arrays = kema_taxonomy.run({})
    table = complete(kema_taxonomy, records, arrays)["taxonomy"]
    names = {r["method"]: r for r in records}
    assert names["kema_rbf"]["nonlinear"]
    assert not names["ssma"]["nonlinear"]
    assert names["source_only"]["labels"] == "none"
    assert len(table.rows) == len(records)
    used = [row[1].text for row in table.rows]
    assert used == sorted(used, key=["none", "source", "source and target"].index)


@pytest.mark.parametrize("n_labelled", [1, 3])
def test_the_first_labels_of_each_class_are_visible(n_labelled):
    y = np.array([1, 0, 1, 1, 0, 0])
    seen = kema_primal_dual.visible(y, n_labelled)
    assert np.bincount(seen[seen >= 0]).tolist() == [n_labelled, n_labelled]
