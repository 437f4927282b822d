"""What the tests of tables and figures share."""

import pytest

from tests.workflow.report_example import make_experiment, view_of


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    """More methods than a table has room for: one is not applicable, one fails once."""
    monkeypatch.setattr("workflow.lib.report.tables.scores.MANY_METHODS", 2)
    monkeypatch.setattr("workflow.lib.results.views.MANY_METHODS", 2)
    pairs = [("amazon", "webcam"), ("dslr", "webcam"), ("dslr", "amazon")]
    absent = {"status": "not_applicable", "error": "learns from labels of the target"}
    late = {"status": "timeout", "error": "late"}
    scores = {}
    for place, (source, target) in enumerate(pairs):
        task = f"{source}-{target}"
        scores[task, "plain"] = [0.3, 0.3]
        scores[task, "sma"] = [absent] * 2
        scores[task, "fma_i"] = [0.5, late if place == 0 else 0.7]
    experiment = make_experiment(pairs, ("plain", "sma", "fma_i"))
    return view_of(experiment, scores, 2, root=tmp_path)
