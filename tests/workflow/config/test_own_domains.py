"""Domains of one's own files: by file or by a column, none with the rows of another."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from tests.workflow.config.test_own_data import asked, made, table
from tests.workflow.loaders.matlab_files import save_v73
from workflow.compare import main
from workflow.lib.config.own_columns import OwnDataError
from workflow.lib.config.own_data import configuration
from workflow.lib.config.own_domains import slugs
from workflow.loaders import files_of, load_described


def loaded(suite, domain):
    entry = suite.datasets["mine_data"]
    paths = {name: entry["files"][name]["path"] for name in files_of(entry, domain)}
    return load_described("mine_data", entry, domain, paths)


def domains_of(suite):
    return suite.datasets["mine_data"]["domains"]


@pytest.mark.parametrize(
    ("sites", "target", "values"),
    [
        (["target", "target ", "old"], None, {"old": 12, "target": 24}),
        (["1", "1.0", " 2"], "2.0", {"1": 24, "2": 12}),
    ],
)
def test_spellings_of_one_value_are_one_domain(tmp_path, sites, target, values):
    """Else the rows of the target, with their labels, would be those of a source too."""
    frame = pd.concat([table().assign(site=site) for site in sites])
    frame.to_csv(tmp_path / "all.csv", index=False)
    suite = made(tmp_path, tmp_path, "all", domain="site", target=target)
    rows = {
        described["params"]["rows"]["value"]: len(loaded(suite, name)[0])
        for name, described in domains_of(suite).items()
    }
    assert rows == values


@pytest.mark.parametrize("empty", ["", " ", "nan"])
def test_a_row_of_no_domain_is_refused(tmp_path, empty):
    frame = table().assign(site=["old"] * 5 + ["target"] * 4 + [empty] * 3)
    frame.to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(OwnDataError, match=r"'site' is empty in 3 of 12 rows .*line 11.* fill it"):
        configuration(asked(tmp_path, "all", domain="site"))


NAMES = ["my source", "데이터", "a[b]", "2020:1", "-x", "é", "my_source", "target (1)"]


def test_files_of_any_name_are_in_an_entry_that_the_project_reads(tmp_path):
    for name in NAMES:
        table().to_csv(tmp_path / f"{name}.csv", index=False)
    suite = made(tmp_path, tmp_path)
    files = suite.datasets["mine_data"]["files"]
    assert len(files) == len(NAMES)
    assert "my_source.csv" in files  # that fits as it is
    assert {file["path"] for file in files.values()} == {
        str(tmp_path / f"{name}.csv") for name in NAMES
    }
    assert suite.experiments["mine"].tasks[0].target.domain == "target_1"
    for domain in domains_of(suite):
        assert len(loaded(suite, domain)[0]) == (12 if domain != "sources" else 84)


def test_braces_in_a_path_are_refused_before_snakemake_takes_them_for_a_wildcard(tmp_path):
    (tmp_path / "{b}").mkdir()
    for place in ("{b}/source.csv", "target.csv"):
        table().to_csv(tmp_path / place, index=False)
    with pytest.raises(OwnDataError, match=r"\{b\}/source\.csv: .* rename the file or its folder"):
        configuration(asked(tmp_path, "{b}/source", "target"))


@pytest.mark.parametrize("names", [("source", "target"), ()])
def test_a_file_type_in_capitals_is_refused_and_not_left_out(tmp_path, names):
    for place in ("source.csv", "B.CSV", "target.csv"):
        table().to_csv(tmp_path / place, index=False)
    paths = [tmp_path / "B.CSV", *(tmp_path / f"{n}.csv" for n in names)] if names else [tmp_path]
    with pytest.raises(OwnDataError, match=r"B\.CSV: write the type .* rename it to B\.csv"):
        configuration(dataclasses.replace(asked(tmp_path, "source", "target"), paths=paths))


def test_columns_that_not_all_have_are_told_with_the_names_of_the_files(tmp_path):
    table().to_csv(tmp_path / "my source.csv", index=False)
    table(classes=None, width=4).to_csv(tmp_path / "target.csv", index=False)
    table().to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(OwnDataError, match=r"only in target\.csv"):
        configuration(asked(tmp_path))
    table(width=5).to_csv(tmp_path / "my source.csv", index=False)
    with pytest.raises(OwnDataError, match=r"only in my source\.csv"):
        configuration(asked(tmp_path))


def test_a_column_is_left_out_by_its_name_though_that_is_no_pattern_of_it(tmp_path):
    """Where one file lacks it, no other column of that file is meant."""
    table(**{"mass [kg]": 1.5, "mass k": 2.5}).to_csv(tmp_path / "a.csv", index=False)
    table(**{"mass k": 2.5}).to_csv(tmp_path / "t.csv", index=False)
    suite = made(tmp_path, tmp_path, "a", "t", reading={"drop": ["mass [kg]"]})
    for domain in domains_of(suite):
        assert loaded(suite, domain)[2]["feature_names"] == ["f0", "f1", "f2", "mass k"]


def test_a_column_of_times_is_left_out(tmp_path):
    paths = tmp_path / "a.parquet", tmp_path / "t.parquet"
    for path in paths:
        table(when=pd.to_datetime("2020-01-01")).to_parquet(path)
    with pytest.raises(ValueError, match=r'"when"'):
        configuration(asked(tmp_path, paths=paths))
    suite = made(tmp_path, tmp_path, paths=paths, reading={"drop": ["when"]})
    assert loaded(suite, "a")[0].shape == (12, 3)


def test_decimal_commas_between_commas_are_read_as_the_message_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "t.csv"):
        table().to_csv(name, index=False, decimal=",", quoting=1)
    given = ["a.csv", "t.csv", "--label", "kind", "--dry-run"]
    assert main(given) == 2
    assert "Say --separator ',' and --decimal ','." in capsys.readouterr().err
    assert main([*given, "--separator", ",", "--decimal", ","]) == 0


X, Y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2


@pytest.mark.parametrize(
    ("suffix", "save"),
    [
        (".npz", lambda path, **arrays: np.savez(path, **arrays)),
        (".mat", lambda path, **arrays: savemat(path, arrays)),
        (".mat", save_v73),
    ],
)
def test_a_target_without_the_array_of_labels_is_unlabelled(tmp_path, suffix, save):
    paths = tmp_path / f"source{suffix}", tmp_path / f"target{suffix}"
    save(paths[0], X=X, y=Y)
    save(paths[1], X=X)
    told = {"features": "X", "label": "y"}
    assert (loaded(made(tmp_path, tmp_path, paths=paths, **told), "target")[1] == -1).all()
    with pytest.raises(ValueError, match=r"source\S+: no (array|variable) 'z'\. It holds: X"):
        configuration(asked(tmp_path, paths=paths, **{**told, "label": "z"}))
    with pytest.raises(ValueError, match=r"target\S+: no (array|variable) 'y'\. It holds: X"):
        configuration(asked(tmp_path, paths=paths, **told, target=paths[0].name))
    save(paths[1], X=X, y=Y)
    assert (loaded(made(tmp_path, tmp_path, paths=paths, **told), "target")[1] == Y).all()


def test_a_bare_array_is_an_unlabelled_target_and_no_source(tmp_path):
    paths = tmp_path / "a.csv", tmp_path / "target.npy"
    table().to_csv(paths[0], index=False)
    np.save(paths[1], X)
    assert (loaded(made(tmp_path, tmp_path, paths=paths), "target")[1] == -1).all()
    with pytest.raises(OwnDataError, match=r"target\.npy: one array, so without labels"):
        configuration(asked(tmp_path, paths=paths, target="a.csv"))


def test_of_two_files_called_target_the_last_is_it_and_a_folder_is_asked_about(tmp_path):
    paths = [tmp_path / f"{name}.csv" for name in ("target_old", "target_new", "other")]
    for path in paths:
        table().to_csv(path, index=False)

    def target_of(*given, **told):
        suite = made(tmp_path, tmp_path, paths=given, **told)
        return suite.experiments["mine"].tasks[0].target.domain

    assert target_of(*paths[:2]) == "target_new"
    assert target_of(*paths[1::-1]) == "target_old"
    assert target_of(*paths) == "other"
    assert target_of(*paths[1:]) == "target_new", "the one called so, though it is not the last"
    assert target_of(*paths, target="target_old.csv") == "target_old"
    with pytest.raises(OwnDataError, match=r"which is the target of other\.csv, target_new\.csv, "):
        configuration(asked(tmp_path))


def test_slugs_are_unique():
    assert slugs(["A b", "a_b", "1", "é"], taken=["a_b"]) == ["a_b_2", "a_b_3", "d_1", "d_"]
