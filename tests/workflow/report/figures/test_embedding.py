import dataclasses
import re

import matplotlib as mpl
import numpy as np
import pytest

from tests.workflow.report_example import rich_view
from workflow.lib.report.figures import embedding, style


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=4)


def test_an_embedding_names_its_classes_and_outlines_labelled_samples(view):
    names = ["back_pack", "bike", *(f"class {number}" for number in range(2, 10))]
    view.suite.datasets["office"]["class_names"] = names
    labelled = [np.arange(290) % 29 == 0, np.arange(150) % 15 == 0]
    pictured = {
        method: {**picture, "labelled": labelled} for method, picture in view.pictured.items()
    }
    figure = embedding.embedding_figure(dataclasses.replace(view, pictured=pictured))
    del view.suite.datasets["office"]["class_names"]
    words = [text.get_text() for text in figure.findobj(mpl.text.Text)]
    assert {"back pack", "bike", "outlined: labelled"} <= set(words)
    outlined = [c for c in figure.axes[0].collections if c.get_linewidths()[0] > 0]
    assert sum(len(marks.get_offsets()) for marks in outlined) == 20


def test_the_plane_is_the_joint_principal_plane():
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((40, 5)) * [3, 2, 1, 0.1, 0.1], rng.standard_normal((30, 5))
    points = np.vstack(embedding.plane([one, other]))
    joint = np.vstack([one, other])
    values = np.linalg.eigvalsh(np.cov(joint.T))[::-1]
    np.testing.assert_allclose(np.cov(points.T), np.diag(values[:2]), atol=1e-10)
    flipped = np.vstack(embedding.plane([one[::-1], other]))
    np.testing.assert_allclose(flipped[:40][::-1], points[:40], atol=1e-10)
    np.testing.assert_array_equal(embedding.plane([one[:, :2]])[0], one[:, :2])
    assert embedding.plane([one[:, :1], other[:, :1]])[1][0, 1] == 1


def test_a_method_that_moves_all_samples_to_one_point_is_drawn():
    for points in embedding.plane([np.ones((10, 5)), np.ones((8, 5))]):
        np.testing.assert_array_equal(points, 0)


def test_the_plane_needs_one_space():
    with pytest.raises(ValueError, match="different widths"):
        embedding.plane([np.zeros((3, 4)), np.zeros((3, 5))])


def test_a_large_picture_stays_small(view):
    rng = np.random.default_rng(0)
    big = {
        "embeddings": [rng.standard_normal((4000, 3)), rng.standard_normal((3000, 3))],
        "labels": [rng.integers(10, size=4000), rng.integers(10, size=3000)],
        "domains": ["webcam", "dslr"],
    }
    crowded = dataclasses.replace(view, pictured={"plain": big, "fma_i": big})
    svg = style.render(lambda: embedding.embedding_figure(crowded), "svg")
    assert len(svg) < 1_000_000
    assert re.search(rb"<image[^>]*data:image/png", svg)
