"""Which mirror a run has, and mirrors that can serve nothing."""

import pytest

from workflow.lib.storage.mirror import check_mirror, resolve_mirror

DATASETS = {
    "own": {"files": {"a.csv": {"path": "a.csv"}}},
    "set": {"files": {"b.mat": {"sha256": "0" * 64, "mirror": "set/b.mat"}}},
}


def test_named_mirror_wins_over_the_environment(monkeypatch):
    monkeypatch.delenv("ALIGNMENT_MIRROR", raising=False)
    assert resolve_mirror({}) is None
    monkeypatch.setenv("ALIGNMENT_MIRROR", "/from/environment")
    assert resolve_mirror({"mirror": None}) == "/from/environment"
    assert resolve_mirror({"mirror": ""}) == "/from/environment"
    assert resolve_mirror({"mirror": "https://host/data"}) == "https://host/data"
    monkeypatch.setenv("ALIGNMENT_MIRROR", " ")
    assert resolve_mirror({}) is None


def test_mirror_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"mirror 's3://b/d': .*'s3' cannot be read\. Name a fol"):
        resolve_mirror({"mirror": "s3://b/d"})


@pytest.mark.parametrize(
    "address",
    [
        "https://anna:hush77@host/data",
        "ftp://anna:hush77@host/data",
        "https://hush77@host/data",
        "https://host/data?sig=hush77",
    ],
)
def test_a_mirror_with_a_password_is_refused_and_not_repeated(monkeypatch, address):
    """Neither in the environment: receipts of downloads say where a file came from."""
    monkeypatch.setenv("ALIGNMENT_MIRROR", address)
    with pytest.raises(ValueError, match=r"~/\.netrc") as refusal:
        resolve_mirror({})
    assert "hush77" not in str(refusal.value)


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_folder_that_does_not_exist_is_refused(tmp_path, form):
    mirror = form.format(tmp_path / "dta")
    with pytest.raises(ValueError, match=r"there is no such folder.*--config mirror=") as refusal:
        check_mirror(mirror, DATASETS)
    assert mirror in str(refusal.value)


def test_a_folder_that_holds_none_of_the_files_is_refused(tmp_path):
    (tmp_path / "b.mat").touch()
    expected = f"none of the 1 files .* first of which would be {tmp_path / 'set/b.mat'}"
    with pytest.raises(ValueError, match=expected):
        check_mirror(str(tmp_path), DATASETS)


@pytest.mark.parametrize("mirror", [None, "https://host/data"])
def test_no_mirror_and_a_server_are_taken(mirror):
    check_mirror(mirror, DATASETS)


def test_one_of_the_files_is_enough(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set/b.mat").touch()
    check_mirror(str(tmp_path), DATASETS | {"more": {"files": {"c": {"mirror": "set/c"}}}})
