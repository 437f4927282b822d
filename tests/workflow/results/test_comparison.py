import numpy as np
import pandas as pd
import pytest

from workflow.lib.results.comparison import differences, main


@pytest.fixture
def table():
    scores = np.random.default_rng(0).random(8)
    return pd.DataFrame(
        {
            "task": ["a-b"] * 4 + ["b-a"] * 4,
            "method": ["fma"] * 8,
            "classifier": ["1nn"] * 8,
            "setting": [np.nan] * 8,
            "trial": [0, 1, 2, 3] * 2,
            "status": ["ok"] * 7 + ["timeout"],
            "accuracy": [*scores[:7], np.nan],
            "seconds": 1.0,
        }
    )


def test_order_seconds_and_new_columns_make_no_difference(table):
    again = table.iloc[::-1].assign(seconds=2.0, macro_f1=0.5)
    assert differences(table, again) == []


def test_one_changed_bit_is_told_with_the_mean_of_its_cell(table):
    changed = table.copy()
    changed.loc[1, "accuracy"] = np.nextafter(table.loc[1, "accuracy"], 1)
    told = differences(table, changed)
    assert told[0] == "accuracy: 1 record changed"
    assert told[1].startswith("a-b, fma, 1nn: mean accuracy ")
    assert told[1].endswith("(0.0 standard errors)")


def test_statuses_and_missing_records_are_told(table):
    changed = table.drop(index=0)
    changed.loc[7, "status"] = "ok"
    told = differences(table, changed)
    assert "1 record in the old run alone" in told
    assert "status: 1 record changed" in told


def test_a_cell_without_a_score_has_no_mean_of_zero(table):
    gone = table.copy()
    gone.loc[4:, ["status", "accuracy"]] = ["timeout", np.nan]
    (moved,) = [line for line in differences(gone, table) if "mean accuracy" in line]
    mean = 100 * table.loc[4:6, "accuracy"].mean()
    assert moved == f"b-a, fma, 1nn: mean accuracy none -> {mean:.2f} (3 trials)"


def test_the_command_compares_all_that_both_folders_have(table, tmp_path, capsys):
    for run in ("old", "new"):
        for name in ("one", "two"):
            (tmp_path / run / name).mkdir(parents=True)
            table.to_csv(tmp_path / run / name / "records.csv", index=False)
    assert main([str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == "one: 8 records, equal\ntwo: 8 records, equal\n"
    table.assign(accuracy=0.5).to_csv(tmp_path / "new/two/records.csv", index=False)
    assert main([str(tmp_path / "old/two"), str(tmp_path / "new/two")]) == 1
    assert "two: 8 records, different\n  accuracy: 8 records changed\n" in capsys.readouterr().out


def test_folders_without_records_are_an_error(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path), str(tmp_path)])
    assert "no experiment with records in common" in capsys.readouterr().err
