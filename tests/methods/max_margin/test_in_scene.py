from itertools import product

import numpy as np
import pytest
from domain_alignment.max_margin._in_scene import classify_in_scene


def test_the_best_of_the_candidates_in_all_their_forms():
    scores = np.array([[3.0, 2.0, 1.0], [0.0, -5.0, -2.0], [1.0, 9.0, 4.0]])
    mask = np.array([False, True, True])
    for candidates in ([1, 2], np.array([2, 1]), mask, np.tile(mask, (3, 1)), [[1, 2]] * 3):
        assert classify_in_scene(scores, candidates).tolist() == [1, 2, 1]
    assert classify_in_scene(scores, [[0], [1, 2], (0, 2)]).tolist() == [0, 2, 2]
    assert classify_in_scene(scores, [0, 1, 2]).tolist() == scores.argmax(axis=1).tolist()


def test_a_candidate_beats_what_is_absent_even_at_minus_infinity():
    assert classify_in_scene([[0.0, -np.inf]], [1]).tolist() == [1]


def test_the_cover_is_the_best_of_all_that_use_every_candidate():
    rng = np.random.default_rng(0)
    for _ in range(10):
        scores = rng.normal(size=(5, 4))
        candidates = [0, 2, 3]
        found = classify_in_scene(scores, candidates, cover=True)
        assert set(found) == set(candidates)
        valid = (
            choice for choice in product(candidates, repeat=5) if set(choice) == set(candidates)
        )
        best = max(scores[np.arange(5), choice].sum() for choice in valid)
        np.testing.assert_allclose(scores[np.arange(5), found].sum(), best)


def test_no_boxes():
    assert classify_in_scene(np.zeros((0, 3)), [1]).shape == (0,)


@pytest.mark.parametrize(
    ("scores", "candidates", "options", "message"),
    [
        ([1.0, 2.0], [0], {}, r"scores of shape \(2,\) must be a matrix"),
        ([[1.0, np.nan]], [0], {}, "without NaN"),
        ([[1.0, 2.0]], [2], {}, "candidates hold 2; the columns of scores are 0 to 1"),
        ([[1.0, 2.0]], [-1], {}, "candidates hold -1"),
        ([[1.0, 2.0]], [0.5], {}, "candidates have dtype float64; give column indices"),
        ([[1.0, 2.0]], [], {}, "box 0 has no candidate category"),
        ([[1.0, 2.0]] * 2, [[0], []], {}, "box 1 has no candidate category"),
        ([[1.0, 2.0]] * 2, [[0], [1], [0]], {}, "candidates holds 3 sets for 2 boxes"),
        ([[1.0, 2.0]], [0, 1], {"cover": True}, "cover: 2 candidates for 1 boxes"),
        ([[1.0, 2.0]] * 2, [[0], [1]], {"cover": True}, "cover one scene at a time"),
    ],
)
def test_wrong_arguments(scores, candidates, options, message):
    with pytest.raises(ValueError, match=message):
        classify_in_scene(scores, candidates, **options)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[0, -np.inf], [0, -np.inf]], {0, 1}),
        ([[-np.inf, -np.inf], [0, 1]], {0, 1}),
        ([[np.inf, 0], [0, 1]], {0, 1}),
    ],
)
def test_infinite_scores_are_covered_too(scores, expected):
    assert {*classify_in_scene(scores, [0, 1], cover=True)} == expected


def test_without_a_box_nothing_is_covered():
    assert classify_in_scene(np.zeros((0, 3)), [0], cover=True).shape == (0,)
