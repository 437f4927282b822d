"""Files of one's own become a configuration, or a message before anything is written."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from workflow.compare import main
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.own_data import (
    Asked,
    OwnDataError,
    configuration,
    kind_of_values,
)
from workflow.lib.config.own_written import write_configuration
from workflow.lib.config.suite import load_suite
from workflow.loaders import _suffixes, _tables, load_described


def table(n=12, classes=("ash", "elm"), width=3, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, width)), columns=[f"f{i}" for i in range(width)])
    if classes:
        frame["kind"] = [classes[i % len(classes)] for i in range(n)]
    return frame.assign(**columns)


@pytest.fixture
def files(tmp_path):
    """Function that writes tables as CSV and returns the folder."""

    def write(**tables):
        for name, frame in tables.items():
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
        return tmp_path

    return write


def asked(folder, *names, **changes):
    paths = tuple(folder / f"{name}.csv" for name in names) if names else (folder,)
    return Asked(**{"name": "mine", "paths": paths, "label": "kind", **changes})


def made(folder, tmp_path, *names, **changes):
    """The suite as it is read with the folder that is written."""
    write_configuration(configuration(asked(folder, *names, **changes)), tmp_path / "config")
    return load_suite(PROJECT, {"own": str(tmp_path / "config")})


def test_every_table_is_parsed_once(files, monkeypatch):
    folder, parsed, parse = files(old=table(), new=table(classes=None)), [], _tables.read_table
    monkeypatch.setattr(
        _tables, "read_table", lambda path, *how: parsed.append(path) or parse(path, *how)
    )
    configuration(asked(folder, "old", "new"))
    assert sorted(path.name for path in parsed) == ["new.csv", "old.csv"]


def test_two_files_become_an_experiment_that_the_project_reads(files, tmp_path):
    folder = files(old=table(), new=table(classes=None))
    suite = made(folder, tmp_path, "old", "new")
    experiment = suite.experiments["mine"]
    (task,) = experiment.tasks
    assert (str(task.sources[0]), str(task.target)) == ("mine_data.old", "mine_data.new")
    assert experiment.tuning["answer"]
    assert suite.datasets["mine_data"]["class_names"] == ["ash", "elm"]
    assert suite.protocol("mine")["target_labels"] == "none"


@pytest.mark.parametrize("names", [("old", "new"), ("old", "older", "new")])
def test_few_columns_make_no_candidate_twice(files, tmp_path, names):
    """Of four columns there are no more components, whatever number is asked for."""
    folder = files(old=table(width=4), older=table(width=4), new=table(width=4, classes=None))
    suite = made(folder, tmp_path, *names)
    drawn = suite.candidates("mine", "pca", suite.experiments["mine"].tasks[0])
    fitted = [(a.scaling, min(a.params["n_components"], 4)) for a in drawn]
    assert len(fitted) == len(set(fitted)) > 2
    assert sum(len(a.classifiers) for a in drawn) == 16


def test_names_that_are_alike_as_words_lose_no_file(files, tmp_path):
    folder = files(a=table(), a_2=table(), A=table(), target=table())
    suite = made(folder, tmp_path)
    task = suite.experiments["mine"].tasks[0]
    (dataset,) = {ref.dataset for ref in task.domains}
    assert len(suite.datasets[dataset]["domains"]) == 5  # with the sources as one


def test_a_target_named_by_a_stem_that_two_files_have_is_asked_for_again(files, tmp_path):
    folder = files(source=table(), target=table())
    np.savez(folder / "target.npz", X=np.ones((3, 3)))
    with pytest.raises(OwnDataError, match=r"target\.csv, target\.npz"):
        configuration(asked(folder, target="target"))


def test_features_are_those_asked_for_with_a_domain_column_too(files, tmp_path):
    frame = table(n=24).assign(place=["old"] * 12 + ["target"] * 12)
    suite = made(files(all=frame), tmp_path, "all", domain="place", features="f[01]")
    domains = suite.datasets["mine_data"]["domains"].values()
    assert {entry["params"]["features"] for entry in domains} == {"f[01]"}


def test_a_class_coded_minus_1_is_named(files, tmp_path):
    folder = files(old=table(classes=(-1, 1)), new=table(classes=None))
    with pytest.raises(OwnDataError, match="-1 means unlabelled"):
        configuration(asked(folder, "old", "new"))


def test_a_folder_has_several_sources_and_a_target_by_its_name(files, tmp_path):
    folder = files(a=table(), b=table(), target_new=table())
    experiment = made(folder, tmp_path).experiments["mine"]
    assert [ref.domain for ref in experiment.tasks[0].domains] == ["sources", "target_new"]
    assert experiment.title == "mine: a and b to target_new"


def test_several_sources_are_put_together_so_that_methods_for_two_domains_apply(files, tmp_path):
    colours = ["red", "blue"] * 6
    folder = files(
        a=table(colour=colours), sources=table(colour="green"), target_new=table(colour=colours)
    )
    content = configuration(asked(folder))
    (entry,) = content["datasets.yaml"]["datasets"].values()
    (task,) = content["experiments/mine.yaml"]["tasks"]
    name = task["source"].partition(".")[2]
    assert name == "sources_2"
    paths = {file: folder / file for file in entry["files"]}
    parts = [load_described("mine", entry, domain, paths) for domain in ("a", "sources")]
    X, y, about = load_described("mine", entry, name, paths)
    np.testing.assert_array_equal(X, np.vstack([part[0] for part in parts]))
    np.testing.assert_array_equal(y, np.concatenate([part[1] for part in parts]))
    # A kind that only one of the sources has is a feature of all.
    assert (
        about["feature_names"]
        == load_described("mine", entry, "target_new", paths)[2]["feature_names"]
    )


def test_sources_of_different_features_stay_apart(files, tmp_path):
    new = table()
    new.loc[4:, "kind"] = ""
    folder = files(a=table(), b=table(more=np.arange(12) % 5), target_new=new)
    task = made(folder, tmp_path).experiments["mine"].tasks[0]
    assert [ref.domain for ref in task.domains] == ["a", "b", "target_new"]


def test_one_file_with_a_domain_column(files, tmp_path):
    folder = files(all=pd.concat([table(site="Ulm"), table(site="Bonn"), table(site="2nd")]))
    suite = made(folder, tmp_path, "all", domain="site", target="Bonn")
    experiment = suite.experiments["mine"]
    assert [ref.domain for ref in experiment.tasks[0].domains] == ["sources", "bonn"]
    assert experiment.title == "mine: d_2nd and ulm to bonn"


def test_few_target_labels_are_shown_and_complete_ones_hidden(files, tmp_path):
    few = table()
    few.loc[4:, "kind"] = ""
    assert (
        made(files(a=table(), t=few), tmp_path, "a", "t").protocol("mine")["target_labels"]
        == "known"
    )
    folder = files(a=table(), t=table())
    assert made(folder, tmp_path, "a", "t").protocol("mine")["target_labels"] == "none"
    shown = made(folder, tmp_path, "a", "t", shown=3)
    assert shown.protocol("mine")["target_labels"] == 3
    assert shown.experiments["mine"].tuning["chosen_by"] == "labelled_accuracy"
    assert "target_only" in shown.experiments["mine"].methods
    with pytest.raises(OwnDataError, match="all of the target's 12 labelled rows, and none is"):
        made(folder, tmp_path, "a", "t", shown=6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[-1.0, 2.0]], "real"),
        ([[0.5, 2.0]], "non_negative"),
        ([[3, 0, *[1] * 18]], "counts"),
        ([[1, 0] * 10], "non_negative"),  # truth values
        ([[3] * 20, [0] * 20], "non_negative"),  # a row without a count has no shares
        ([[3, 1] * 9], "non_negative"),  # few columns: age, visits and so on
        ([[40000, *[30] * 20]], "non_negative"),  # a column in a unit of its own: income
        (sparse.csr_array([[3, 0]]), "sparse_counts"),
    ],
)
def test_kind_of_values(values, expected):
    values = values if sparse.issparse(values) else np.array(values)
    assert kind_of_values([values, values]) == expected


@pytest.mark.parametrize("suffix", _suffixes.SVMLIGHT)
def test_files_of_svmlight_in_a_folder_are_read_by_each_of_their_names(suffix, tmp_path):
    for name in ("old", "target"):
        (tmp_path / name).with_suffix(suffix).write_text("0 1:1.5 2:1\n1 2:1\n" * 6)
    files = configuration(asked(tmp_path, label=None))
    (dataset,) = files["datasets.yaml"]["datasets"].values()
    assert list(dataset["files"]) == [f"old{suffix}", f"target{suffix}"]


def test_a_label_is_asked_of_files_that_name_theirs(tmp_path):
    (tmp_path / "old.csv").write_text("u,v,y\n" + "1,2,0\n2,3,1\n" * 6)
    (tmp_path / "target.svmlight").write_text("0 1:1.5 2:1\n1 2:1\n" * 6)
    (dataset,) = configuration(asked(tmp_path, label="y"))["datasets.yaml"]["datasets"].values()
    params = {name: domain.get("params", {}) for name, domain in dataset["domains"].items()}
    assert params["old"]["labels"] == "y"
    assert "labels" not in params["target"]


GOOD = table()
BAD = {
    "no such file": ({"a": GOOD}, ["a", "b"], [], "there is no such file"),
    "one file": ({"a": GOOD}, ["a"], [], "give a source and a target"),
    "no label named": ({"a": GOOD, "b": GOOD}, ["a", "b"], ["--label"], "expected one argument"),
    "unknown label": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--label", "sort"],
        "--label sort: no file has",
    ),
    "one class": (
        {"a": table(classes=("ash",)), "b": GOOD},
        ["a", "b"],
        [],
        "no source sample has the class 'elm'",
    ),
    "one class in all": (
        {"a": table(classes=("ash",)), "b": table(classes=None)},
        ["a", "b"],
        [],
        "two are needed",
    ),
    "a class of the target alone": (
        {"a": GOOD, "b": table(classes=("ash", "oak"))},
        ["a", "b"],
        [],
        "no source sample has the class 'oak'",
    ),
    "other features without a tie": (
        {"a": GOOD, "b": table(width=5, classes=None)},
        ["a", "b"],
        [],
        "different features",
    ),
    "unknown target": ({"a": GOOD, "b": GOOD}, ["a", "b"], ["--target", "c"], "none of the files"),
    "unknown domain column": ({"a": GOOD}, ["a"], ["--domain", "site"], "no column 'site'"),
    "a domain column of one value": (
        {"a": table(site="Ulm")},
        ["a"],
        ["--domain", "site"],
        "holds one value",
    ),
    "which target": (
        {"a": pd.concat([table(site="Ulm"), table(site="Bonn")])},
        ["a"],
        ["--domain", "site"],
        "say which of Bonn, Ulm",
    ),
    "a name that is none": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--name", "My data"],
        "it may have lower-case letters",
    ),
    "missing cells refused": (
        {"a": GOOD.assign(f1=[None, *range(11)]), "b": GOOD},
        ["a", "b"],
        ["--missing", "error"],
        "f1",
    ),
    "unknown treatment": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--missing", "zero"],
        "invalid choice",
    ),
    "labels to show that are not there": (
        {"a": GOOD, "b": table(classes=None)},
        ["a", "b"],
        ["--use-target-labels", "2"],
        "not all of the target is labelled",
    ),
    "labels that are numbers of samples": (
        {
            "a": table(n=400, classes=[f"s{i}" for i in range(400)]),
            "b": table(classes=None),
        },
        ["a", "b"],
        [],
        "different labels",
    ),
    "a negative number of target labels": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--use-target-labels", "-1"],
        "--use-target-labels -1: give a number, 0 or more",
    ),
    "no core": ({"a": GOOD, "b": GOOD}, ["a", "b"], ["--cores", "0"], "--cores 0"),
    "a column to drop that is not there": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--drop", "weight"],
        "--drop weight: no column of any file",
    ),
    "kinds that are not there": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--categorical", "colour"],
        "--categorical colour: no column of any file",
    ),
    "nothing left": ({"a": GOOD, "b": GOOD}, ["a", "b"], ["--drop", "f*"], "no column is left"),
    "decimal commas": (
        {"a": GOOD.assign(f1="1,5"), "b": GOOD},
        ["a", "b"],
        [],
        "Numbers with a decimal comma? Say --separator ',' and --decimal ','.",
    ),
    "commas between the thousands": (
        {"a": GOOD.assign(f1="1,234"), "b": GOOD},
        ["a", "b"],
        [],
        "Commas between the thousands? Save the numbers without them.",
    ),
    "a number that is none": (
        {"a": GOOD.assign(f1=["tall", *range(11)]), "b": GOOD},
        ["a", "b"],
        [],
        "column 'f1': 'tall' is not a number (row 0, line 2)",
    ),
    "names of samples": (
        {"a": table(n=40, name=[f"n{i}" for i in range(40)]), "b": GOOD.assign(name="n1")},
        ["a", "b"],
        [],
        "Leave it out: --drop name; or, if they are kinds, say --categorical name.",
    ),
    "a column that counts the rows": (
        {"a": table().reset_index(), "b": GOOD},
        ["a", "b"],
        [],
        "column 'index' counts the rows",
    ),
    "a column of the target alone under another name": (
        {"a": GOOD, "b": GOOD.rename(columns={"f2": "g2"})},
        ["a", "b"],
        [],
        "'f2' only in a.csv; 'g2' only in b.csv. Name them alike if they are the same, or say "
        "--shared-columns (or --drop f2 --drop g2) to compare on the 2 that all have",
    ),
    "a column without a value": (
        {"a": GOOD.assign(f1=None), "b": GOOD},
        ["a", "b"],
        [],
        "column 'f1' holds no value at all",
    ),
    "sources without labels": (
        {"a": table(classes=None), "b": GOOD},
        ["a", "b"],
        [],
        "a.csv: the source has no labels: no column 'kind', which others have",
    ),
    "a class that is called unlabelled": (
        {"a": table(classes=("ash",)), "b": GOOD},
        ["a", "b"],
        ["--unlabelled", "elm"],
        "two are needed",
    ),
    "an experiment of the project": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--name", "quickstart"],
        "an experiment of the project has this name",
    ),
    "a rule of the workflow": (
        {"a": GOOD, "b": GOOD},
        ["a", "b"],
        ["--name", "align"],
        "a rule of the workflow has this name",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named_and_leaves_nothing(files, what, monkeypatch, capsys):
    tables, names, more, expected = BAD[what]
    folder = files(**tables)
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    label = [] if "--label" in more else ["--label", "kind"]
    try:
        status = main([*(f"{name}.csv" for name in names), *label, *more, "--dry-run"])
    except SystemExit as left:  # argparse's own
        status = left.code
    assert status == 2
    assert expected in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("b.csv", b"", "the file is empty"),
        ("b.csv", b"f0,f1,f2,kind\n", "no samples"),
        ("b.csv", b"f0,f0,kind\n1,2,ash\n", "twice"),
        ("b.csv", b"f0,f1,f2,kind\n1,2,3,ash\n1,2,3,4,elm\n", "b.csv"),
        ("b.doc", b"text", "files of type '.doc' are not read"),
        ("b.npz", b"no archive", "b.npz"),
        ("b.mat", b"no matrix", "b.mat"),
        ("b.parquet", b"no table", "b.parquet"),
        ("b.csv", b"\xff\xfe\x00\x01", "b.csv"),
        ("b.csv", b"f0,f1,f2,kind\n1,2,inf,ash\n1,2,3,elm\n", "infinite in row 0, line 2"),
        ("b.csv", b"1,2,3\n4,5,6\n", "the first line holds numbers"),
        ("b.csv", b"f0,,f2,kind\n1,2,3,ash\n", "column 2 has no name"),
        ("b.csv", b"f0;f1|f2;f3|kind\n1;2|3;4|ash\n", "between the columns: --separator"),
        ("b.svmlight", b"ash 1:2\n", "cannot be read as svmlight"),
        ("b.npy", b"\x93NUMPY", "b.npy"),
        ("b.xlsx", b"no sheet", "b.xlsx"),
    ],
)
def test_a_broken_file_is_named_and_leaves_nothing(
    files, name, content, expected, monkeypatch, capsys
):
    folder = files(a=GOOD)
    (folder / name).write_bytes(content)
    monkeypatch.chdir(folder)
    assert main(["a.csv", name, "--label", "kind", "--dry-run"]) == 2
    assert expected in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == sorted(["a.csv", name])


def test_the_same_name_twice_and_a_folder_without_a_target(files, monkeypatch, capsys):
    folder = files(a=GOOD, b=GOOD)
    (folder / "more").mkdir()
    GOOD.to_csv(folder / "more/a.csv", index=False)
    monkeypatch.chdir(folder)
    assert main(["a.csv", "more/a.csv", "--label", "kind", "--dry-run"]) == 2
    assert "two files have this name" in capsys.readouterr().err
    assert main([".", "--label", "kind", "--dry-run"]) == 2
    assert "which is the target" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "more", "expected"),
    [
        ({"X": np.ones((6, 3)), "kind": np.arange(6) % 2}, [], "--features is missing"),
        ({"X": np.ones((6, 3)), "kind": np.arange(6) % 2}, ["--features", "Z"], "no array 'Z'"),
        ({"X": np.ones((6, 3))}, ["--features", "X"], "no array 'kind'"),
        (
            {"X": np.ones((3, 6)), "kind": np.arange(6) % 2},
            ["--features", "X"],
            "Set --transpose.",
        ),
        (
            {"X": np.ones((6, 3, 2)), "kind": np.arange(6) % 2},
            ["--features", "X"],
            "--flatten to lay out each sample in one row",
        ),
        ({"X": np.ones(6), "kind": np.arange(6) % 2}, ["--features", "X"], "1 dimension(s)"),
        (
            {"X": 1j * np.ones((6, 3)), "kind": np.arange(6) % 2},
            ["--features", "X"],
            "complex numbers",
        ),
        (
            {"X": np.full((6, 3), "a"), "kind": np.arange(6) % 2},
            ["--features", "X"],
            "are not numbers",
        ),
        (
            {"X": np.full((6, 3), np.inf), "kind": np.arange(6) % 2},
            ["--features", "X"],
            "first at row 0, feature 0",
        ),
        (
            {"X": np.ones((6, 3)), "kind": np.arange(6) / 2},
            ["--features", "X"],
            "label '0.5' in row 1",
        ),
    ],
)
def test_wrong_arrays_are_named_and_leave_nothing(
    arrays, more, expected, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name in ("a.npz", "b.npz"):
        np.savez(name, **arrays)
    assert main(["a.npz", "b.npz", "--label", "kind", "--dry-run", *more]) == 2
    assert expected in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_shared_columns_alone_are_compared_by_all_methods(files, tmp_path):
    few = table(other=1.5).drop(columns="f0")
    few.loc[4:, "kind"] = ""
    folder = files(a=table(), t=few)
    with pytest.raises(OwnDataError, match=r"'f0' only in a\.csv; 'other' only in t\.csv"):
        configuration(asked(folder, "a", "t"))
    suite = made(folder, tmp_path, "a", "t", shared_columns=True)
    params = {name: e["params"] for name, e in suite.datasets["mine_data"]["domains"].items()}
    assert (params["a"]["drop"], params["t"]["drop"]) == (["f0"], ["other"])
    assert "coral" in suite.experiments["mine"].methods


def test_columns_that_are_missing_without_a_label_are_named_with_both_options(files):
    folder = files(a=table(), t=table(classes=None).drop(columns="f1"))
    expected = r"different features.*'f1' only in a\.csv.*--shared-columns \(or --drop f1\)"
    with pytest.raises(OwnDataError, match=expected + ".* Label some samples of the target"):
        configuration(asked(folder, "a", "t"))
    files(t=table().drop(columns="f1"))
    with pytest.raises(OwnDataError, match=expected + ".*--use-target-labels K shows some"):
        configuration(asked(folder, "a", "t"))


def test_names_after_commas_and_decimal_commas_of_one_file(files, tmp_path):
    folder = files(t=table())
    table().to_csv(folder / "a.csv", index=False, sep=";", decimal=",")
    made_ = made(folder, tmp_path, "a", "t", reading={"drop": ["f0, f1"]})
    params = {name: e["params"] for name, e in made_.datasets["mine_data"]["domains"].items()}
    assert params["a"] == {"decimal": ",", "drop": ["f0", "f1"], "labels": "kind"}
    assert params["t"] == {"drop": ["f0", "f1"], "labels": "kind"}


def test_what_was_read_is_told_before_the_run(files, monkeypatch, capsys):
    monkeypatch.chdir(files(a=table(30), b=table(30, number=range(30))))
    options = ["--label", "kind", "--drop", "f0,f1", "--shared-columns", "--dry-run"]
    assert main(["a.csv", "b.csv", *options]) == 0
    told = capsys.readouterr().out
    assert "  a.csv: source, 30 rows, 30 labelled: ash 15, elm 15\n" in told
    assert "  features: 1: f2\n" in told
    assert "configuration: results/own_a_b/config" in told


def test_a_column_that_is_left_out_is_not_taken_for_the_labels(files):
    """The kinds of trees stand in a column of the target that the source lacks."""
    folder = files(a=table(), t=table(classes=None, neighbour=["elm", "ash"] * 6))
    assert configuration(asked(folder, "a", "t", shared_columns=True))
    with pytest.raises(OwnDataError, match="'neighbour' looks like its labels"):
        configuration(asked(folder, "a", "t"))
