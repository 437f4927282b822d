"""CMU faces, on an archive made here in the documented form."""

import io
import tarfile

import numpy as np
import pytest

from workflow.loaders.faces import HEIGHT, WIDTH, load, reduced

POSES = ("left", "right", "straight", "up")
EXPRESSIONS = ("angry", "happy", "neutral", "sad")


def picture(value, shape=(WIDTH, HEIGHT)):
    pixels = np.full(shape[0] * shape[1], value, dtype=np.uint8)
    pixels[0] = 10
    return b"P5\n%d %d\n157\n" % shape + pixels.tobytes()


@pytest.fixture
def archive(tmp_path):
    """Two subjects; other resolutions and a bad scan beside the images."""
    files = {"faces/an2i/an2i_left_angry_open.pgm": b"P2\n128 120\n9\n1 2"}
    for subject, start in (("an2i", 0), ("sz24", 100)):
        for pose in POSES:
            for number, expression in enumerate(EXPRESSIONS):
                name = f"faces/{subject}/{subject}_{pose}_{expression}_open_2"
                files[f"{name}.pgm"] = picture(start + number)
    files["faces/sz24/sz24_up_neutral_sunglasses.bad"] = b""
    return {"cmu_faces.tar.gz": write(tmp_path, files)}


def write(folder, files):
    path = folder / "cmu_faces.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_a_subject_is_a_domain_and_expressions_are_classes(archive):
    X, y = load("any", archive, subject="sz24")
    assert X.shape == (12, WIDTH * HEIGHT)
    # neutral, happy, sad are 0, 1, 2; their pictures have the values 102, 101, 103.
    np.testing.assert_array_equal(np.round(255 * X[:, -1]), np.array([102, 101, 103])[y])
    assert X[0, 0] == pytest.approx(10 / 255)


def test_the_archive_of_a_repository_has_the_folder_below_another(archive, tmp_path):
    with tarfile.open(archive["cmu_faces.tar.gz"]) as original:
        files = {f"repository-0123/{m.name}": original.extractfile(m).read() for m in original}
    (tmp_path / "other").mkdir()
    moved = {"cmu_faces.tar.gz": write(tmp_path / "other", files)}
    for found, expected in zip(
        load("any", moved, subject="sz24"), load("any", archive, subject="sz24"), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_poses_as_classes_keep_every_expression(archive):
    X, y = load("any", archive, subject="an2i", classes="pose")
    assert np.bincount(y).tolist() == [4, 4, 4]
    assert sorted(np.round(255 * X[y == 1, -1])) == [0, 1, 2, 3]


def test_a_factor_averages_blocks(archive):
    full = load("any", archive, subject="an2i")[0]
    half = load("any", archive, subject="an2i", factor=2)[0]
    assert half.shape == (12, WIDTH * HEIGHT // 4)
    np.testing.assert_allclose(half[:, 0], (full[:, 0] + 3 * full[:, -1]) / 4)


def test_reduced_is_the_mean_over_blocks():
    image = np.arange(24.0).reshape(4, 6)
    np.testing.assert_allclose(reduced(image, 2)[1, 2], image[2:, 4:].mean())


def test_errors(archive, tmp_path):
    with pytest.raises(ValueError, match=r"no images of subject 'bob'. Known: an2i, sz24"):
        load("any", archive, subject="bob")
    with pytest.raises(ValueError, match="factor 7 does not divide 64 x 60"):
        load("any", archive, subject="an2i", factor=7)
    with pytest.raises(ValueError, match="'age' is unknown; take one of pose, expression"):
        load("any", archive, subject="an2i", classes="age")
    name = "faces/an2i/an2i_up_sad_open_2.pgm"
    for content, words in ((picture(1, (60, 64)), "not a binary PGM"), (picture(1)[:-1], "3839")):
        with pytest.raises(ValueError, match=words):
            load("any", {"a": write(tmp_path, {name: content})}, subject="an2i")
