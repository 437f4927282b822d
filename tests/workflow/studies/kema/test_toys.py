"""Errors on the toys near those of the authors' program."""

import numpy as np
import pytest

from tests.workflow.studies.parts import complete
from workflow.studies.kema import toys as kema_toys


def test_toys_near_the_authors_program():
    records, arrays = kema_toys.run({}, toys=[2], n_realisations=2, dimensions=[1, 2])
    tables = complete(kema_toys, records, arrays)
    place = {"toy": 2, "classifier": "lda", "dimensions": 2}
    for domain in ("source", "target"):
        assert np.mean(kema_toys.errors_of(records, method="rbf_15", domain=domain, **place)) < 8
    linear = kema_toys.errors_of(records, method="linear", domain="target", **place)
    assert np.mean(linear) > 12  # a linear map does not unfold the target
    assert len(tables["reference"].rows) == 6
    assert kema_toys.finding(records, arrays).startswith(
        "Of 1 experiment, on the target in 2 dimensions, errors are lower than without adaptation "
        "by KEMA, RBF, 15 × mean with LDA in no. 2 ("
    )
    every = [{**record, "toy": toy} for record in records for toy in range(1, 7)]
    assert "Of what the paper says of its errors, " in kema_toys.finding(every, arrays)
    assert kema_toys.finding(every, arrays).endswith(" of 6 statements hold here.")
    ssma = kema_toys.errors_of(records, method="ssma", domain="target", **place)
    assert ssma == linear


def test_toys_of_the_text_have_no_reference():
    records, arrays = kema_toys.run({}, "text", toys=[1], n_realisations=1, dimensions=[2])
    tables = complete(kema_toys, records, arrays)
    others = [{**r, "dimensions": r["dimensions"] and 3} for r in records]
    assert "the target in 3 dimensions" in kema_toys.finding(others, arrays)
    assert "nan" not in kema_toys.finding(others, arrays)
    assert "by KEMA, RBF, half median with LDA in " in kema_toys.finding(
        others, arrays
    )  # its setup's
    first, *rest = tables["reference"].rows[0]
    assert first.text == "the authors’ program has no data of the text’s setup"
    assert {cell.kind for cell in (first, *rest)} == {"absent"}
    assert not tables["claims"].rows  # they are about other experiments
    assert "the paper says" not in kema_toys.finding(records, arrays)
    with pytest.raises(ValueError, match="take one of toolbox, text"):
        kema_toys.run({}, "paper")


def test_the_noise_found_by_search_is_marked_wherever_experiment_6_is():
    records, arrays = kema_toys.run({}, toys=[6], n_realisations=1, dimensions=[2], noise_sd=0.05)
    tables = kema_toys.tables(records, arrays)
    assert {row[0].text for row in tables["errors"].rows} == {"6 †"}
    assert "Of 1 experiment †, " in kema_toys.finding(records, arrays)
    titles = [axes.get_title() for axes in kema_toys.figures(records, arrays)["lda"]().axes]
    assert titles == ["Experiment 6 †, source", "Experiment 6 †, target"]
    text, _ = kema_toys.run({}, "text", toys=[6], n_realisations=1, dimensions=[2])
    assert {row[0].text for row in kema_toys.tables(text, {})["errors"].rows} == {"6"}
