"""An experiment's runs in MLflow, by the cell that each belongs to: where its report links to."""

from collections.abc import Mapping
from pathlib import Path

from workflow.lib.config.outputs import run_place
from workflow.lib.report.html import rendered, written

# Where `make ui` serves a store that is no server; `tracking.ui` has the same.
HOST, PORT = "127.0.0.1", 5000
# Without it a run opens among the pages for language models.
_QUERY = "workflowType=machine_learning"


def write_runs(receipt: Mapping, title: str, out: Path | str) -> Path:
    """Write the page of links.

    Parameters
    ----------
    receipt : mapping
        What `tracking.runs.track` returned.
    title : str
        Of the experiment.
    out : path
    """
    uri = receipt["tracking_uri"]
    is_server = uri.startswith(("http://", "https://"))
    base = uri.rstrip("/") if is_server else f"http://{HOST}:{PORT}"
    table = f"{base}/#/experiments/{receipt['experiment_id']}/runs"
    runs = []
    for cell, run_id in receipt["runs"].items():
        names = cell.split(" | ")
        address = f"{table}/{run_id}?{_QUERY}"
        runs.append({"place": run_place(*names), "names": names, "address": address})
    source = rendered(
        "runs.html.j2",
        title=f"{title}: runs in MLflow",
        report="report.html",
        table=f"{table}?{_QUERY}&viewStateShareKey=benchmark",
        is_server=is_server,
        runs=runs,
    )
    return written(source, out)
