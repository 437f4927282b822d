"""Images are the features, upright and in place."""

import numpy as np
import pytest

from workflow.lib.report.figures.style import render
from workflow.studies.fma import digits_montage as study


def made_up(n_samples, side, seed):
    rng = np.random.default_rng(seed)
    return rng.random((n_samples, side * side)), np.arange(n_samples) % 10


DOMAINS = {"made_up.mnist": made_up(70, 16, 0), "made_up.other": made_up(50, 16, 1)}


def test_images_are_distinct_rows_of_the_features():
    records, arrays = study.run(DOMAINS, n_images=48, seed=2)
    for name, (X, y) in DOMAINS.items():
        rows = arrays[f"{name}/rows"]
        assert np.unique(rows).size == 48
        np.testing.assert_array_equal(arrays[f"{name}/images"].reshape(48, -1), X[rows])
        np.testing.assert_array_equal(arrays[f"{name}/labels"], y[rows])
    assert [record["samples"] for record in records] == [70, 50]
    assert records[0]["fewest_per_class"] == 7


def test_the_seed_decides():
    same, other = (study.run(DOMAINS, seed=seed)[1]["made_up.mnist/rows"] for seed in (0, 1))
    again = study.run(DOMAINS, seed=0)[1]["made_up.mnist/rows"]
    np.testing.assert_array_equal(same, again)
    assert not np.array_equal(same, other)


def test_a_montage_holds_every_pixel_at_its_place():
    images = np.arange(10 * 2 * 3).reshape(10, 2, 3).astype(float)
    sheet = study.montage(images)
    assert sheet.shape == (2 * 4 + 2, 8 * 5 + 2)
    np.testing.assert_array_equal(sheet[2:4, 2:5], images[0])
    np.testing.assert_array_equal(sheet[6:8, 7:10], images[9])
    assert np.count_nonzero(~np.isnan(sheet)) == images.size
    assert np.isnan(sheet[6:8, 10:]).all()


def test_figure_and_table():
    result = study.run(DOMAINS)
    assert list(study.figures(*result)) == list(study.FIGURES)
    assert render(study.figures(*result)["montage"], "svg").startswith(b"<?xml")
    tables = study.tables(*result)
    assert tuple(tables) == study.TABLES
    assert [row[0].text for row in tables["digits"].rows] == ["MNIST", "other"]
    assert [row[2].text for row in tables["digits"].rows] == ["16 × 16"] * 2


def test_the_finding_says_what_the_features_hold():
    records, arrays = study.run(DOMAINS)
    assert study.finding(records, arrays) == (
        "To the methods, MNIST is 70 images of 16 × 16 pixels with values from 0.00 to 1.00 (48 "
        "are shown, of 10 classes) and other is 50 images of 16 × 16 pixels with values from 0.00 "
        "to 1.00 (48 are shown, of 10 classes)."
    )
    few = study.finding([{**records[0], "least": -0.5, "shown": 3, "classes_shown": 1}], arrays)
    assert few.endswith("with values from −0.50 to 1.00 (3 are shown, of 1 class).")


def test_what_is_no_image_or_too_little_is_refused():
    X, y = made_up(60, 4, 0)
    with pytest.raises(ValueError, match=r"d\.a: 15 features are no square image"):
        study.run({"d.a": (X[:, 1:], y)})
    with pytest.raises(ValueError, match=r"d\.a: has 60 samples; n_images is 61"):
        study.run({"d.a": (X, y)}, n_images=61)
