import re

import pytest

from tests.workflow.report_example import rich_view
from workflow.lib.report.page import build
from workflow.lib.report.runs_page import HOST, PORT, write_runs
from workflow.lib.results.standings import standings
from workflow.lib.results.views import PROJECT

pytestmark = pytest.mark.whole_run

RECEIPT = {
    "experiment_id": "7",
    "tracking_uri": "sqlite:///results/mlflow.db",
    "runs": {"summary": "s0", "fma_i | logistic": "m1", "amazon-dslr | fma_i | logistic": "t2"},
}


def test_every_run_has_its_place_and_its_address(tmp_path):
    page = write_runs(RECEIPT, "FMA & more", tmp_path / "mlflow.html").read_text()
    assert "<h1>FMA &amp; more: runs in MLflow</h1>" in page
    base = "http://127.0.0.1:5000/#/experiments/7/runs"
    for place, run in (("fma_i.logistic", "m1"), ("amazon-dslr.fma_i.logistic", "t2")):
        assert f'<li id="{place}">' in page
        assert f'href="{base}/{run}?workflowType=machine_learning"' in page
    assert "make ui" in page


def test_a_tracking_server_is_linked_itself(tmp_path):
    receipt = RECEIPT | {"tracking_uri": "https://mlflow.example.org/"}
    page = write_runs(receipt, "FMA", tmp_path / "mlflow.html").read_text()
    assert 'href="https://mlflow.example.org/#/experiments/7/runs/m1?workflowType=' in page
    assert "make ui" not in page


def test_the_address_is_that_which_the_ui_serves_by_default():
    """Read, not imported: MLflow takes seconds to start."""
    source = (PROJECT / "workflow/lib/tracking/ui.py").read_text()
    assert f'HOST = "{HOST}"' in source
    assert f"default={PORT}" in source
    assert 'QUERY = f"workflowType=machine_learning&viewStateShareKey={VIEW}"' in source


def test_every_place_that_a_report_links_to_is_that_of_a_run(tmp_path):
    view = rich_view(tmp_path, trials=2)
    page = build(view, tmp_path / "example" / "report.html").read_text()
    linked = set(re.findall(r"mlflow\.html#([^&]*?)&#34;", page))
    tasks = [task.name for task in view.experiment.tasks]
    ran = [(t, m) for t in tasks for m in view.methods if not view.cell(t, m, "logistic").absent]
    assert len(ran) < len(tasks) * len(view.methods)
    cells = {f"{task}.{method}.logistic" for task, method in ran}
    averaged = {m for m, s in standings(view.records, "logistic", view.methods).items() if s.mean}
    assert linked == cells | {f"{method}.logistic" for method in averaged}
    logs = set(re.findall(r"\.\./\.\./(logs/[^&]*?)&#34;", page))
    blocks = view.suite.blocks("example")
    assert logs == {f"logs/align/example/{t}/{m}.{blocks[0]}.log" for t, m in ran}
