"""``domain-alignment predict``: what is written, what is said, and the exit status."""

import csv
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import domain_alignment
import numpy as np
import pandas as pd
import pytest
from domain_alignment import CORAL, AlignedClassifier
from domain_alignment.cli import _predict, main
from domain_alignment.persistence import load_model, save_model
from sklearn.datasets import dump_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.methods.persistence.test_folder import CLASSES, stacked
from tests.methods.persistence.test_target_model import of_regions

NAMES = list("abcdef")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder with a model of named features and a table of new samples."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "model")
    X = stacked()[-1]
    pd.DataFrame(X, columns=NAMES)[NAMES[::-1]].assign(id=range(len(X))).to_csv("new.csv")
    return tmp_path


def save(folder, **settings):
    X, y, domain, _ = stacked()
    model = AlignedClassifier(CORAL(), **settings)
    return save_model(folder, model.fit(pd.DataFrame(X, columns=NAMES), y, domain))


def rows(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def test_predictions_are_those_of_the_model(place, capsys):
    assert main(["predict", "model", "new.csv"]) == 0
    model, X = load_model("model"), stacked()[-1]
    written = rows("predictions.csv")
    assert [row["predicted"] for row in written] == model.predict(X).tolist()
    assert [row["row"] for row in written] == [str(at) for at in range(len(X))]
    confidence = [float(row["confidence"]) for row in written]
    np.testing.assert_allclose(confidence, model.predict_proba(X).max(axis=1), atol=1e-6)
    out, err = capsys.readouterr()
    assert out.startswith(f"predictions.csv: {len(X)} rows, ash: ")
    assert "cedar, red: " in out
    assert err == "new.csv: not used: '', 'id'\n"


def test_without_probabilities_there_is_no_confidence(place):
    save(place / "svm", classifier=SVC())
    assert main(["predict", "svm", "new.csv", "--out", "answers.csv"]) == 0
    assert set(rows("answers.csv")[0]) == {"row", "predicted"}
    assert not Path("predictions.csv").exists()


def test_to_the_terminal(place, capsys):
    assert main(["predict", "model", "new.csv", "--out", "-"]) == 0
    assert capsys.readouterr().out.startswith("row,predicted,confidence\n0,")
    assert sorted(os.listdir()) == ["model", "new.csv"]


def test_missing_cells_are_imputed_or_named(place, capsys):
    table = pd.read_csv("new.csv")
    table.loc[4, "c"] = np.nan
    table.to_csv("holes.csv", index=False)
    save(place / "imputing", preprocessing=SimpleImputer())
    assert main(["predict", "imputing", "holes.csv"]) == 0
    Path("predictions.csv").unlink()
    assert main(["predict", "model", "holes.csv"]) == 2
    assert "holes.csv: X: 1 of 48 samples holds NaN" in (err := capsys.readouterr().err)
    assert "(the first missing cell is in column 'c', row 4)" in err
    assert not Path("predictions.csv").exists()


def spoil_model():
    with open("model/arrays.npz", "ab") as stream:
        stream.write(b"\0")


@pytest.mark.parametrize(
    ("spoil", "arguments", "message"),
    [
        (None, ["model", "no.csv"], "no.csv: there is no such file in"),
        (None, ["no_model", "new.csv"], "no_model/SHA256SUMS: cannot be read"),
        (None, ["model", "new.csv", "--out", "no/folder.csv"], "there is no folder no; make it"),
        (spoil_model, ["model", "new.csv"], "model/arrays.npz: its sha256 is"),
        (
            lambda: Path("new.csv").write_text("a,b\n1,2\n"),
            ["model", "new.csv"],
            "new.csv: has no column 'c', 'd', 'e', 'f'",
        ),
    ],
)
def test_wrong_input_is_named_and_leaves_nothing(spoil, arguments, message, place, capsys):
    if spoil:
        spoil()
    before = sorted(place.rglob("*"))
    assert main(["predict", *arguments]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("domain-alignment predict: ")
    assert message in err
    assert out == ""
    assert sorted(place.rglob("*")) == before


@pytest.mark.whole_run
def test_the_command_that_is_installed(place):
    command = [
        sys.executable,
        "-c",
        "from domain_alignment.cli import main; raise SystemExit(main())",
    ]
    env = {**os.environ, "PYTHONPATH": str(Path(domain_alignment.__file__).parents[1])}
    done = subprocess.run(
        [*command, "predict", "model", "new.csv"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert {row["predicted"] for row in rows("predictions.csv")} <= set(CLASSES)


def test_a_file_of_something_else_is_kept_unless_asked_for(place, capsys):
    Path("predictions.csv").write_text("row,predicted,agreement,confidence\n0,ash,1,1\n")
    assert main(["predict", "model", "new.csv"]) == 2
    assert "predictions.csv: the file there is not of this command" in capsys.readouterr().err
    assert main(["predict", "model", "new.csv", "--out", "new.csv"]) == 2
    assert main(["predict", "model", "new.csv", "--overwrite"]) == 0
    written = Path("predictions.csv").read_bytes()
    assert written.startswith(b"row,predicted,confidence\n")
    assert main(["predict", "model", "new.csv"]) == 0  # its own is replaced
    assert Path("predictions.csv").read_bytes() == written


def test_values_of_another_unit_are_told_and_predicted(place, capsys):
    save(place / "scaled", preprocessing=StandardScaler())
    table = pd.read_csv("new.csv")
    table.assign(c=1000 + table["c"]).to_csv("units.csv", index=False)
    assert main(["predict", "scaled", "units.csv"]) == 0
    told = capsys.readouterr().err
    assert f"units.csv: warning: column 'c': {len(table)} of {len(table)} values are" in told
    assert main(["predict", "scaled", "new.csv"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_the_help_says_which_line_a_row_is(capsys):
    with pytest.raises(SystemExit):
        main(["predict", "--help"])
    assert "row r is line r + 2" in " ".join(capsys.readouterr().out.split())


def test_a_kind_that_the_model_does_not_know_is_told_once(place, capsys, recwarn):
    model, table = of_regions()
    save_model(place / "regions", model)
    table.loc[[3, 7], "region"] = ["one", "ONE"]
    table.to_csv("lower.csv", index=False)
    assert main(["predict", "regions", "lower.csv"]) == 0
    err = capsys.readouterr().err
    assert err.count("warning") == 1
    assert "lower.csv: warning: column 'region': 2 of 45 cells hold a kind" in err
    assert not recwarn.list


def test_files_are_read_as_the_model_s_own_or_as_is_said(place, capsys):
    model, table = load_model("model"), pd.read_csv("new.csv")[NAMES]
    expected = model.predict(table)
    table.to_csv("commas.csv", sep=";", decimal=",", index=False)
    assert main(["predict", "model", "commas.csv"]) == 2
    assert "say --decimal ," in capsys.readouterr().err
    assert main(["predict", "model", "commas.csv", "--decimal", ","]) == 0
    assert [row["predicted"] for row in rows("predictions.csv")] == expected.tolist()
    model.reading = {"separator": " ", "decimal": ","}
    save_model(place / "kept", model)
    table.to_csv("spaces.csv", sep=" ", decimal=",", index=False)
    for name in ("commas.csv", "spaces.csv", "new.csv"):
        assert main(["predict", "kept", name]) == 0
        assert [row["predicted"] for row in rows("predictions.csv")] == expected.tolist()
    assert main(["predict", "model", "spaces.csv", "--separator", " ", "--decimal", ","]) == 0
    assert main(["predict", "model", "spaces.csv", "--separator", "  "]) == 2
    assert "--separator '  ': is no single character" in capsys.readouterr().err


def test_a_column_without_a_value_is_told(place, capsys):
    X, y, domain, _ = stacked()
    filled = make_pipeline(SimpleImputer(), StandardScaler())
    model = AlignedClassifier(CORAL(), preprocessing=filled)
    save_model("filled", model.fit(pd.DataFrame(X, columns=NAMES), y, domain))
    pd.read_csv("new.csv").assign(b=np.nan).to_csv("new.csv", index=False)
    assert main(["predict", "filled", "new.csv"]) == 0
    told = capsys.readouterr().err
    assert f"new.csv: warning: column 'b': all {len(stacked()[-1])} cells are empty" in told
    assert told.count("cells are empty") == 1


def test_features_of_svmlight_are_counted_as_in_the_model_s_own_files(place, capsys):
    model, X = load_model("model"), stacked()[-1]
    X[:, [0, -1]] = 0
    dump_svmlight_file(X, np.zeros(len(X)), "new.svmlight", zero_based=True)
    assert main(["predict", "model", "new.svmlight"]) == 2
    assert "say --first-feature 0 or 1" in capsys.readouterr().err
    assert main(["predict", "model", "new.svmlight", "--first-feature", "0"]) == 0
    written = [row["predicted"] for row in rows("predictions.csv")]
    model.reading = {"zero_based": True}
    save_model(place / "kept", model)
    assert main(["predict", "kept", "new.svmlight"]) == 0
    assert [row["predicted"] for row in rows("predictions.csv")] == written
    assert written == model.predict(X).tolist()


def test_models_saved_before_say_nothing_of_their_files(place):
    content = json.loads(Path("model/model.json").read_text())
    del content["model"]["state"]["reading"]
    Path("model/model.json").write_text(json.dumps(content))
    sums = [
        f"{hashlib.sha256(Path('model', name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("model.json", "arrays.npz")
    ]
    Path("model/SHA256SUMS").write_text("".join(sums))
    assert main(["predict", "model", "new.csv"]) == 0


def test_names_with_blanks_around_them_are_found_in_the_table_of_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, domain, new = stacked()
    pd.DataFrame(new, columns=NAMES).to_csv("new.csv", index=False)
    text = Path("new.csv").read_text(encoding="utf-8")
    Path("new.csv").write_text(text.replace(",", ", ", len(NAMES) - 1), encoding="utf-8")
    names = pd.read_csv("new.csv").columns
    assert names[1] == " b"
    save_model("model", AlignedClassifier(CORAL()).fit(pd.DataFrame(X, columns=names), y, domain))
    assert main(["predict", "model", "new.csv"]) == 0
    assert len(rows("predictions.csv")) == len(new)


def test_devices_and_pipes_are_written_to_and_links_followed(place):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()))
    reader.start()
    assert main(["predict", "model", "new.csv", "--out", "pipe"]) == 0
    reader.join(timeout=20)
    assert Path("pipe").is_fifo()
    assert read[0].startswith("row,predicted")
    (place / "real.csv").touch()
    (place / "link.csv").symlink_to("real.csv")
    assert main(["predict", "model", "new.csv", "--out", "link.csv"]) == 0
    assert Path("link.csv").is_symlink()
    assert Path("real.csv").read_text() == read[0]


def test_the_confidence_is_that_of_the_class_that_is_predicted(place):
    """Which is not always the likeliest one: two classifiers of scikit-learn may disagree."""

    class Disagrees:
        classes_ = np.array(["a", "b"])

        def predict(self, X):
            return np.array(["a", "b", "a"])

        def predict_proba(self, X):
            return np.array([[0.3, 0.7], [0.4, 0.6], [0.8, 0.2]])

    predicted, confidence = _predict._predictions(Disagrees(), None)
    assert predicted.tolist() == ["a", "b", "a"]
    assert confidence.tolist() == [0.3, 0.6, 0.8]
