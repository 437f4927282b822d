from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.report.tables.cells import behind, score_cell

LATE = {"status": "timeout", "error": "took over 600 s"}
GONE = {"status": "data_unavailable", "error": "webcam.mat: gone"}


def cell_of(scores):
    experiment = make_experiment([("amazon", "webcam")], ("plain",))
    return view_of(experiment, {("amazon-webcam", "plain"): scores}, len(scores))


def made(scores):
    return score_cell(cell_of(scores).cell("amazon-webcam", "plain", "logistic"))


def test_a_complete_cell_tells_trials_spread_and_seconds():
    cell = made([0.4, 0.5])
    assert (cell.text, cell.plus_minus, cell.kind) == ("45.0", "7.1", "")
    assert cell.title == (
        "2 of 2 trials; standard deviation 7.07; standard error 5.00; 0.0105 s per trial"
    )


def test_a_partial_and_a_failed_cell_say_why():
    partial, failed = made([0.4, LATE]), made([LATE, LATE])
    assert (partial.count, partial.kind) == ("1/2", "partial")
    assert partial.title.startswith("1 of 2 trials; ")
    assert partial.title.endswith("1 out of time: took over 600 s")
    assert (failed.text, failed.kind) == ("failed", "failed")
    assert failed.title.startswith("0 of 2 trials; ")


def test_what_could_not_run_says_so_alone():
    cell = made([GONE, GONE])
    assert (cell.text, cell.kind, cell.title) == ("data not available", "absent", GONE["error"])


def test_behind_a_cell_are_its_log_and_its_run():
    view = cell_of([0.4, 0.5])
    assert behind(view, "amazon-webcam", "plain", "logistic") == (
        ("log", "../../logs/align/example/amazon-webcam/plain.000-001.log"),
        ("MLflow run", "mlflow.html#amazon-webcam.plain.logistic"),
    )
