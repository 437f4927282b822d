"""The loader of the original faces on small made-up files of the described form."""

import numpy as np
import pytest
from scipy.io import savemat

from workflow.loaders import song_faces
from workflow.loaders._check import check_domain

HEIGHT, WIDTH = 6, 5
rng = np.random.default_rng(0)
FACES = rng.integers(0, 256, size=(12, HEIGHT, WIDTH)).astype(np.uint8)
SUBJECTS = np.repeat([1, 2, 3], 4)
EXPRESSIONS = np.tile([1, 2, 3, 1], 3)
SIZE = {"height": HEIGHT, "width": WIDTH}


@pytest.fixture
def saved(tmp_path):
    def save(**changed):
        stored = {
            # MATLAB unrolls each image column by column.
            "images": np.stack([face.ravel(order="F") for face in FACES]),
            "subjects": SUBJECTS,
            "expressions": EXPRESSIONS,
        }
        path = tmp_path / "face.mat"
        savemat(path, stored | changed)
        return {"face.mat": path}

    return save


def test_one_subject_with_its_expressions(saved):
    X, y = song_faces.load("subject2", saved(), subject=2, **SIZE)
    np.testing.assert_array_equal(X, FACES[4:8].reshape(4, -1))
    np.testing.assert_array_equal(y, [0, 1, 2, 0])
    check_domain("song_faces.subject2", X, y, {"samples": 4, "features": 30}, 3)


def test_images_may_be_columns(saved):
    rows = song_faces.load("s", saved(), subject=1, **SIZE)[0]
    turned = np.stack([face.ravel(order="F") for face in FACES]).T
    np.testing.assert_array_equal(song_faces.load("s", saved(images=turned), 1, **SIZE)[0], rows)


def test_blocks_are_averaged_with_smaller_ones_at_the_edge(saved):
    X, _ = song_faces.load("s", saved(), subject=1, factor=2, **SIZE)
    assert X.shape == (4, 3 * 3)
    first = FACES[0].astype(float)
    assert X[0, 0] == pytest.approx(first[:2, :2].mean())
    assert X[0, 2] == pytest.approx(first[:2, 4:].mean())
    assert X[0, 8] == pytest.approx(first[4:, 4:].mean())


@pytest.mark.parametrize(("factor", "features"), [(1, 66836), (2, 16786), (5, 2728)])
def test_the_sizes_of_the_paper(factor, features):
    blank = np.zeros((1, song_faces.HEIGHT, song_faces.WIDTH))
    assert song_faces.reduced(blank, factor)[0].size == features


@pytest.mark.parametrize(
    ("changed", "asked", "said"),
    [
        ({}, {"subject": 4}, "no image of subject 4"),
        ({"images": np.zeros((12, 7))}, {"subject": 1}, r"shape \(12, 7\); for 12 images of 30"),
        ({"subjects": np.full(12, 0.5)}, {"subject": 1}, "'subjects' should hold whole numbers"),
        ({"expressions": [1, 2]}, {"subject": 1}, "'expressions' has 2 numbers, 'subjects' has 12"),
        ({}, {"subject": 1, "factor": 0}, "factor 0"),
        ({}, {"subject": 1, "images": "img"}, "no variable 'img'"),
    ],
)
def test_files_of_another_form_are_refused(saved, changed, asked, said):
    with pytest.raises(ValueError, match=said):
        song_faces.load("s", saved(**changed), **(SIZE | asked))
