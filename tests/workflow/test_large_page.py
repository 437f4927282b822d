"""The table of large domains: the errors of approximated kernels, on data where they are known."""

import argparse
import csv
import re

import domain_alignment
import large
import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import _memory

from workflow.lib.config.suite import load_suite


def domains(n_samples=60):
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    return [rng.normal(size=(3, 4))[y] + rng.normal(size=(n_samples, 4)) for _ in range(2)], [y, y]


def test_a_kernel_of_all_samples_as_landmarks_has_no_error():
    Xs, ys = domains()
    whole = domain_alignment.TKL(landmarks=60, random_state=0).fit(Xs, ys)
    assert large.kernel_error(whole, Xs) < 1e-8


def test_few_landmarks_have_the_error_of_the_matrix_that_they_stand_for():
    Xs, ys = domains()
    aligner = domain_alignment.TKL(landmarks=5, random_state=0).fit(Xs, ys)
    errors = []
    for X, rows in zip(Xs, aligner.landmarks_, strict=True):
        K = np.exp(-aligner.gamma_ * np.square(X[:, None] - X).sum(axis=2))
        other = K[:, rows] @ np.linalg.solve(K[np.ix_(rows, rows)], K[rows])
        errors.append(np.linalg.norm(K - other) / np.linalg.norm(K))
    assert large.kernel_error(aligner, Xs) == pytest.approx(max(errors), rel=1e-6)


def test_more_random_features_have_a_smaller_error():
    Xs, ys = domains()
    few, many = (
        large.kernel_error(
            domain_alignment.KEMA(2, random_features=m, random_state=0).fit(Xs, ys), Xs
        )
        for m in (20, 2000)
    )
    assert few / 15 < many < few / 7  # as the root of their number


def test_the_table_has_the_refusals_that_methods_give_today(monkeypatch):
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: 24 * 2**30)
    folder = large.ROOT / "reports/reference"
    page = (folder / "large.md").read_text(encoding="utf-8")
    with (folder / "large.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["status"] == "refused"]
    by_sizes_alone = {"MEDA", "kernel PCA"}
    later = {"TCA, RBF", "SSTCA", "OT-lab", "CORAL, authors' kernel"}
    assert {row["method"] for row in rows} == by_sizes_alone | later
    told = r"AlignmentError: .* numbers takes [\d.]+ [GT]iB, and this job may take 7.5 GiB; give "
    for row in rows:
        for name, value in large.memory_told(float(row["gigabytes"])).items():
            monkeypatch.setenv(name, value)
        assert re.match(told, row["why"])
        assert row["why"] in page
        if row["method"] in by_sizes_alone:
            labels = np.zeros(int(row["samples"]), dtype=int)
            samples = np.empty((labels.size, 0))
            aligner = getattr(domain_alignment, large.METHODS[row["method"]][0])()
            with pytest.raises(AlignmentError) as refused:
                aligner._check_room([samples] * 2, [labels, labels - 1])
            assert row["why"] == f"AlignmentError: {refused.value}"


def test_a_row_says_when_and_by_which_code():
    dated = {"method": "TKL", "when": "2026-11-26 12:16", "code": large.code_of("TKL")}
    said = "1 row: 1 from 2026-11-26 12:16 to 2026-11-26 12:16 UTC."
    assert large.told_when([dated]) == said
    told = large.told_when([dated | {"code": "other"}, {"method": "JDA", "when": "", "code": ""}])
    assert "; 1 do not say when, nor by which code, which may have changed since; " in told
    assert told.endswith("by other code than today's: TKL.")


def test_the_page_says_which_rows_were_measured_beside_others():
    def row(minute, wall, machine="this"):
        when = f"2026-11-28 20:{minute:02d}"
        return {"method": "TKL", "when": when, "wall": wall, "machine": machine, "code": ""}

    one_after_the_other = [row(10, 90.0), row(11, "130"), row(14, 30), {"method": "TKL", "wall": 9}]
    assert "another" not in large.told_when(one_after_the_other)
    assert "another" not in large.told_when([row(10, 900), row(12, 300, "other")])
    together = [row(10, 900), row(12, 300), row(40, 900)]
    assert "; 2 while another was measured on the same machine" in large.told_when(together)


def test_methods_with_defaults_that_were_searched_are_marked():
    entries = load_suite(large.ROOT).methods
    marked = {method for method in large.METHODS if large.has_searched_default(method, entries)}
    fma = {method for method in large.METHODS if method.startswith("FMA")}
    others = {"JDA", "KEMA, linear", "REKEMA", "rKEMA", "TCA", "TCA, RBF", "SSTCA", "OT-lab"}
    assert marked == fma | others


def test_the_page_is_written_again_without_measuring(tmp_path, monkeypatch):
    kept = (large.ROOT / "reports/reference/large.csv").read_text(encoding="utf-8")
    (tmp_path / "large.csv").write_text(kept, encoding="utf-8")
    monkeypatch.setattr(large, "run", lambda *asked: pytest.fail("it was measured"))
    monkeypatch.setattr("sys.argv", ["large.py", "--page", "--folder", str(tmp_path)])
    large.main()
    assert (tmp_path / "large.csv").read_text(encoding="utf-8") == kept
    made, page = (
        (folder / "large.md").read_text(encoding="utf-8").splitlines()
        for folder in (tmp_path, large.ROOT / "reports/reference")
    )
    assert made[4:] == page[4:]  # what is above names the machine and the code of today


def test_limits_are_those_under_which_the_rows_were_measured():
    assert large.told_limits([{}, {"minutes": "15", "gigabytes": "8"}]) == (
        "15 minutes, 8 GB beyond the files"
    )
    told = large.told_limits([{}, {"minutes": 45.0, "gigabytes": 16.0}])
    assert told.endswith(", of some rows 45 minutes, 16 GB beyond the files")


def test_the_page_states_the_error_beside_the_row():
    row = {"method": "rKEMA", "samples": "9", "features": "2", "status": "ok", "why": "recall 0.99"}
    asked = large.parsed([])
    assert "| recall 0.99, kernel error 0.12 |" in large.table(
        [row | {"kernel_error": "0.12"}], asked
    )
    assert "| recall 0.99 |" in large.table([row], asked)


def test_a_fit_that_ends_before_its_kernel_is_judged_is_told(monkeypatch, tmp_path):
    """The row that stands must not get an empty error for the one that was asked for."""
    ended = {"status": "time"}
    monkeypatch.setattr(large, "run", lambda *_: ended)
    args = argparse.Namespace(errors=True)
    with pytest.raises(SystemExit, match="rKEMA: no kernel to judge, since the fit ended"):
        large.measured_now("rKEMA", tmp_path, args, {"kernel_error": "0.1"})


def test_every_row_of_an_approximated_kernel_states_its_error():
    with (large.ROOT / "reports/reference/large.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] in large.KERNELS]
    assert len(rows) > 2
    assert all(row["kernel_error"] for row in rows if row["status"] == "ok")
