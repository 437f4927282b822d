"""The folder of a comparison: continued for the same data, taken over by no other."""

import pandas as pd
import pytest
import yaml

from workflow.compare import main
from workflow.lib.config.own_written import SUMS

ROWS = {"size": [1.0, 2.5, 3.0, 4.0], "kind": ["ash", "elm", "ash", "elm"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        pd.DataFrame(ROWS).to_csv(f"{name}.csv", index=False)
    return tmp_path


def compared(*more):
    return main(["a.csv", "b.csv", "--label", "kind", "--dry-run", *more])


def test_the_same_files_continue_and_others_are_refused_with_the_remedy(folder, capsys):
    assert compared() == 0
    assert compared() == 0
    before = {path: path.read_bytes() for path in (folder / "results").rglob("*.*")}
    pd.DataFrame(ROWS).assign(size=0.5).to_csv("b.csv", index=False)
    assert compared() == 2
    said = capsys.readouterr().err
    assert "of other files or of other content" in said
    assert "--name NAME to keep both, or --replace" in said
    assert before == {path: path.read_bytes() for path in (folder / "results").rglob("*.*")}
    assert compared("--name", "second") == 0
    assert compared("--replace") == 0
    assert (folder / "results/own_a_b/config" / SUMS).read_text().count("\n") == 2


def test_other_settings_and_edits_of_the_user_are_kept_too(folder, capsys):
    assert compared() == 0
    assert compared("--budget", "full") == 2
    assert "with other settings" in capsys.readouterr().err
    edited = folder / "results/own_a_b/config/experiments/own_a_b.yaml"
    edited.write_text(yaml.safe_dump({"title": "mine"}))
    assert compared() == 2
    assert "experiments/own_a_b.yaml differs" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["manual", "board_quick"])
def test_a_folder_that_something_else_fills_is_refused(folder, capsys, name):
    """`make manual` would replace it, model and all."""
    assert compared("--name", name) == 2
    assert f"--name {name}: results/{name} is not an experiment's; say another" in (
        capsys.readouterr().err
    )
    assert not (folder / "results" / name).exists()
