"""Maps into the source's features: an identity, verdicts and errors."""

import numpy as np

from tests.workflow.studies.parts import complete
from workflow.loaders.kema_toys import realisation
from workflow.studies.kema import inversion as kema_inversion
from workflow.studies.kema._aligners import fit, training_set


def test_standardised_scores_of_a_domain_map_onto_itself():
    """Read as the source's own, with as many dimensions as features, they are the source."""
    domains = realisation(1, 0)
    Xs, ys = training_set(domains)
    for method in kema_inversion.METHODS:
        aligner = fit(kema_inversion.make_inverter(method, 2), [Xs[0], Xs[0]], [ys[0], ys[0]])
        raw = kema_inversion.map_scores(aligner, Xs[0], Xs[0], 2, "raw")
        assert raw.shape == Xs[0].shape
        if method == "ssma":
            both = kema_inversion.map_scores(aligner, Xs[0], Xs[0], 2, "standardised")
            np.testing.assert_allclose(both, Xs[0], atol=1e-6)


def test_inversion_says_what_comes_back():
    records, arrays = kema_inversion.run({}, toys=[3, 4], n_realisations=1, n_components=[2, 6])
    tables = complete(kema_inversion, records, arrays)
    said = {(row[0].text, row[1].text): row[-1].text for row in tables["verdict"].rows}
    assert said[("3", "SSMA")] == "position"
    assert said[("4", "KEMA, RBF → linear")] == "class only"
    assert kema_inversion.finding(records, arrays) == (
        "What comes back in which experiment, with the best reading of each method: KEMA, RBF → "
        "linear, class only in 3 and 4; SSMA, position in 3, class only in 4. KEMA has the smaller "
        "error in 0 of 2 experiments."
    )
    exact = [{**r, "error": 0.0} if r["method"] == "kema" else r for r in records]
    said = kema_inversion.finding(exact, arrays)
    assert "linear, position in 3 and 4; SSMA" in said
    assert said.endswith("in 2 of 2 experiments.")
    close = [{**r, "error": 0.309 if r["method"] == "kema" else 0.311} for r in records]
    assert kema_inversion.finding(close, arrays).endswith(
        "KEMA has the smaller error in 0 of 2 experiments, as SSMA has in 0; 2 equal."
    )
    assert kema_inversion.verdict([1.0], [2.0], [50.0]) == "neither"


def test_the_error_of_an_inversion():
    expected = np.zeros((2, 2))
    assert kema_inversion.mean_error(expected, np.array([[3.0, 4.0], [0.0, 0.0]])) == 2.5
