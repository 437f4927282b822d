"""The spirals of the KEMA paper: what each distortion does, and to whom."""

import numpy as np
import pytest
import yaml

from workflow.loaders import load_described
from workflow.loaders.kema_toys import TOYS, WAYS, load, realisation, spirals


def spiral_position(X):
    """Position along a spiral of 0.064 t (cos t, sin t), up to noise."""
    angle, radius = np.arctan2(X[:, 1], X[:, 0]), np.linalg.norm(X, axis=1)
    return angle + 2 * np.pi * np.round((radius / 0.064 - angle) / (2 * np.pi))


@pytest.mark.parametrize("toy", TOYS)
def test_the_toolbox_labels_20_per_class_of_1000_and_tests_on_the_others(toy):
    for domain in realisation(toy, seed=3):
        assert np.bincount(domain.labelled.y).tolist() == [20, 20, 20]
        assert (len(domain.unlabelled.y), len(domain.test.y)) == (470, 1000)
        assert np.isfinite(domain.test.X).all()
        shared = np.intersect1d(domain.labelled.t, np.r_[domain.unlabelled.t, domain.test.t])
        assert not shared.size


@pytest.mark.parametrize("toy", TOYS)
def test_the_text_labels_60_per_class_beside_1000(toy):
    for domain in realisation(toy, seed=3, way="text"):
        assert np.bincount(domain.labelled.y).tolist() == [60, 60, 60]
        assert (len(domain.unlabelled.y), len(domain.test.y)) == (1000, 1000)


@pytest.mark.parametrize("way", WAYS)
def test_dimensions_are_those_of_table_2(way):
    widths = [tuple(domain.test.X.shape[1] for domain in realisation(toy, 0, way)) for toy in TOYS]
    assert widths == [(2, 2), (3, 2), (3, 3), (3, 3), (3, 3), (52, 52)]


def test_the_target_is_the_spiral_of_the_formula():
    target = realisation(1, 0)[1].test
    middle = 0.075  # of the uniform noise
    error = np.abs(spiral_position(target.X - middle) - target.t)
    assert np.median(error) < 0.2


def test_rows_of_the_test_parts_share_their_position():
    source, target = realisation(2, 1)
    np.testing.assert_array_equal(source.test.t, target.test.t)
    assert not np.array_equal(source.labelled.t, target.labelled.t)


@pytest.mark.parametrize(("way", "bent"), [("toolbox", 0), ("text", 1)])
def test_the_third_experiment_makes_one_domain_a_line(way, bent):
    domains = realisation(3, 0, way)
    planes = [domain.test.X[:, :2] for domain in domains]
    residuals = [np.linalg.svd(plane - plane.mean(0))[1] for plane in planes]
    ratio = [values[1] / values[0] for values in residuals]
    assert ratio[bent] < 0.15 < 0.5 < ratio[1 - bent]


@pytest.mark.parametrize("way", WAYS)
def test_classes_run_backwards_in_the_target_of_experiments_4_and_5(way):
    for toy in TOYS:
        source, target = realisation(toy, 0, way)
        assert np.all(np.diff(source.test.y) >= 0)
        assert np.all(np.diff(target.test.y) * (-1 if toy in (4, 5) else 1) >= 0)


def test_the_noise_of_the_sixth_experiment():
    for way, size in (("toolbox", 0.05), ("text", 1.0)):
        X = realisation(6, 0, way)[0].test.X
        assert X[:, 2:].std() == pytest.approx(size, rel=0.02)


def test_realisations_repeat_and_differ():
    once, again, other = (realisation(5, seed)[0].test.X for seed in (0, 0, 1))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_other_numbers_of_samples():
    for domain in spirals(0, labelled_per_class=100, unlabelled=150):
        assert np.bincount(domain.labelled.y).tolist() == [100, 100, 100]
        assert (len(domain.unlabelled.y), len(domain.test.y)) == (150, 1000)


@pytest.mark.parametrize("name", ["kema_toys", "kema_toys_text"])
def test_the_entries_are_what_the_loader_returns(name):
    with open("config/datasets.yaml", encoding="utf-8") as stream:
        entry = yaml.safe_load(stream)["datasets"][name]
    for domain in entry["domains"]:
        load_described(name, entry, domain, {})


def test_unknown_names():
    with pytest.raises(ValueError, match="no domain 'toy7_source'"):
        load("toy7_source", {}, way="text")
    with pytest.raises(ValueError, match="toys are 1 to 6, ways toolbox, text"):
        realisation(1, 0, "paper")
