"""The pieces by independent routes; a small run; the claim on surfaces without noise."""

import numpy as np
import pytest
from scipy.stats import rankdata

from workflow.lib.report.figures.style import render
from workflow.studies.fma import manifolds as study

SMALL = {"n_points": 150, "n_pairs": 20, "n_trials": 2, "noise_factors": [0.0, 1.0]}


@pytest.fixture(scope="module")
def result():
    return study.run({}, **SMALL)


def test_two_runs_are_equal(result):
    records, arrays = study.run({}, **SMALL)
    assert records == result[0]
    assert all(np.array_equal(arrays[name], result[1][name]) for name in result[1])


def test_pairs_have_the_same_rank_and_a_label_of_their_own():
    _, truth = study.draw_points(60, {"swiss_roll": 0.1, "s_curve": 0.1}, trial=4)
    ys = study.correspondences(truth, 15, trial=4)
    ranks = [rankdata(t) for t in truth]
    assert not np.array_equal(np.flatnonzero(ys[0] >= 0), np.flatnonzero(ys[1] >= 0))
    for label in range(15):
        one, other = (np.flatnonzero(y == label) for y in ys)
        assert len(one) == len(other) == 1
        assert ranks[0][one[0]] == ranks[1][other[0]]
    assert all(np.count_nonzero(y == -1) == 45 for y in ys)


def test_the_domains_alone_are_the_eigenvectors_of_their_graphs():
    Xs, truth = study.draw_points(80, {"swiss_roll": 0.0, "s_curve": 0.0}, trial=0)
    alone, _, _ = study.embed(Xs, study.correspondences(truth, 10, 0), 5, 2)
    for X, Z in zip(Xs, alone, strict=True):
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        W = np.zeros((80, 80))
        for i, row in enumerate(np.argsort(distances, axis=1)[:, 1:6]):
            W[i, row] = W[row, i] = 1
        degree = W.sum(axis=1)
        Z = Z * np.sqrt(degree)[:, None]
        L = np.eye(80) - W / np.sqrt(np.outer(degree, degree))
        values = np.linalg.eigvalsh(L)
        np.testing.assert_allclose(L @ Z, Z * values[1:3], atol=1e-8)


def test_measures_of_known_coordinates():
    truth = [np.linspace(0, 1, 11), np.linspace(0, 1, 21)]
    same = study.quality([-truth[0], -(truth[1] ** 3)], truth, tied=True)
    assert same["swiss_roll"] == same["s_curve"] == pytest.approx(1)
    assert 0.9 < same["together"] < 1
    opposed = study.quality([truth[0], -truth[1]], truth, tied=True)
    assert {round(opposed[name]) for name in study.DOMAINS} == {1, -1}
    free = study.quality([truth[0], -truth[1]], truth, tied=False)
    assert free["swiss_roll"] == free["s_curve"] == pytest.approx(1)
    assert study.transfer_error(truth, truth) == pytest.approx(0.5 * 10 / 21 * 0.1)


def test_the_better_sign_is_that_with_which_both_follow_the_truth():
    truth = [np.linspace(0, 1, 20), np.linspace(0, 1, 20) ** 2]
    for signs in ([1, -1], [-1, 1], [-1, -1]):
        coordinates = [sign * t for sign, t in zip(signs, truth, strict=True)]
        turned = study.better_turned(coordinates, truth)
        found = study.quality(turned, truth, tied=False)
        assert found["together"] == pytest.approx(study.quality(truth, truth, False)["together"])
        np.testing.assert_array_equal(np.abs(turned), np.abs(coordinates))


def test_alignment_brings_clean_surfaces_onto_one_parameter():
    (_, _, after), _ = study.run(
        {}, n_trials=1, noise={"swiss_roll": 0.05, "s_curve": 0.005}, n_points=400
    )
    assert after["together"] > 0.97
    assert after["transfer_error"] < 0.1


def test_the_finding_says_what_alignment_changes(result):
    records, arrays = result
    row = study.tables(records, arrays)["rank_correlation"].rows
    told = study.finding(records, arrays)
    assert told.startswith("Given 20 pairs, the surfaces come nearer to one parameter by both ")
    rhos, errors = ([cells[column].value for cells in row[3:6]] for column in (4, 5))
    assert told.endswith(
        f"{', '.join(f'{rho:.2f}' for rho in rhos)} and "
        f"{', '.join(f'{error:.1f}' for error in errors)} % at 1 times the noise."
    )
    for stage, number in (("after", 2), ("turned", 0)):
        best = {"together": 1.0, "transfer_error": 0.0}
        changed = [{**r, **best} if r["stage"] == stage else r for r in records]
        assert f"measures at {number} of 2 levels of noise" in study.finding(changed, arrays)


def test_names_of_figures_and_tables(result):
    records, _ = result
    assert len(records) == 2 * 2 * 3
    assert list(study.figures(*result)) == list(study.FIGURES)
    for draw in study.figures(*result).values():
        assert render(draw, "svg").startswith(b"<?xml")
    (name, table), *others = study.tables(*result).items()
    assert (name,) == study.TABLES
    assert not others
    after = [r["together"] for r in records if (r["noise_factor"], r["stage"]) == (1.0, "after")]
    assert table.rows[5][4].value == pytest.approx(np.mean(after))
