"""Addresses with passwords are refused, and the message does not repeat them."""

import subprocess
import sys

import pytest
import yaml

from tests.workflow.conftest import ROOT
from tests.workflow.test_profiles import options
from workflow.lib.config.passwords import (
    holds_password,
    name_a_password,
    refuse_named_passwords,
    without_password,
)
from workflow.lib.config.reading import ConfigError
from workflow.lib.config.suite import load_suite

SECRET = "postgresql://anna:hush77@127.0.0.1/runs"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (SECRET, True),
        ("https://anna:hush77@host", True),
        ("https://:hush77@host", True),
        ("postgresql://host/runs?sslpassword=hush77", True),
        ("https://host/?access_token=hush77", True),
        ("https://hush77@host:5000/a:b", True),
        ("https://host/data.csv?sig=hush77", True),
        ("https://host/data.csv?X-Amz-Signature=hush77", True),
        ("postgresql://anna:hush77/x@host/runs", True),
        ("postgresql://anna:hush77#x@host/runs", True),
        ("postgresql://anna:hush77?x@host/runs", True),
        ("postgresql://anna:hush77[x@host/runs", True),
        ("https://host:5000/a:b@c?version=2", False),
        ("sqlite:////home/a:b/c@d.db", False),
        ("postgresql://anna@host:5000/a:b", False),
        ("sqlite:///results/mlflow.db", False),
        ("/data/a:b@c", False),
        ("http://[::1", False),
    ],
)
def test_where_a_password_may_stand(address, expected):
    assert holds_password(address) is expected
    assert name_a_password(["--config", f'mlflow={{"tracking_uri": "{address}"}}']) is expected


@pytest.mark.parametrize("password", ["hush77", "hush77/x", "hush77#x", "hush77?x", "hush77[x"])
def test_an_address_is_shown_without_one(password):
    address = without_password(f"postgresql://anna:{password}@host/runs")
    assert address == "postgresql://anna@host/runs"
    assert without_password("sqlite:///results/mlflow.db") == "sqlite:///results/mlflow.db"
    assert without_password("https://anna:hush77@host/a:b@c") == "https://anna@host/a:b@c"


@pytest.mark.parametrize(
    ("config", "remedy"),
    [
        ({"mlflow": {"tracking_uri": SECRET}}, "MLFLOW_TRACKING_PASSWORD.*PGPASSWORD"),
        ({"mirror": "https://anna:hush77@host/data"}, r"~/\.netrc"),
    ],
)
def test_the_configuration_holds_none(config, remedy):
    with pytest.raises(ConfigError, match=remedy) as caught:
        load_suite(ROOT, config)
    assert "hush77" not in str(caught.value)


def test_addresses_of_own_files_hold_none(tmp_path):
    file = {"sha256": "a" * 64, "urls": ["https://host/old.csv?token=hush77"]}
    entry = {
        "description": "d",
        "loader": "generic:load",
        "files": {"old.csv": file},
        "domains": {"old": {"files": ["old.csv"], "params": {"labels": "y"}}},
        "classes": 2,
    }
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"datasets": {"mine": entry}}))
    with pytest.raises(ConfigError, match=r"mine: files\.old\.csv\.urls: .*`path`") as caught:
        load_suite(ROOT, {"own": str(tmp_path)})
    assert "hush77" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["--storage-s3-secret-key", "hush77"], "SNAKEMAKE_STORAGE_S3_SECRET_KEY"),
        (["--storage-s3-secret-key=hush77"], "SNAKEMAKE_STORAGE_S3_SECRET_KEY"),
        (["--storage-azure-access-key=hush77"], "SNAKEMAKE_STORAGE_AZURE_ACCESS_KEY"),
        (["--default-storage-prefix", "ftp://anna:hush77@host/x"], "environment"),
    ],
)
def test_a_command_line_holds_none(words, remedy):
    with pytest.raises(ConfigError, match=remedy) as caught:
        refuse_named_passwords(["snakemake", *words, "quickstart"])
    assert "hush77" not in str(caught.value)
    assert name_a_password(words)


def test_no_option_of_snakemake_itself_is_taken_for_a_secret():
    refuse_named_passwords(f"--{name}" for name in options())


@pytest.mark.whole_run
@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (["--config", f"mlflow={{tracking_uri: '{SECRET}'}}"], "MLFLOW_TRACKING_PASSWORD"),
        (["--default-resources", f"where='{SECRET}'"], "the environment or a file"),
    ],
)
def test_a_run_that_is_given_one_leaves_no_trace_of_it(project, given, remedy):
    target = "results/quickstart/full-scanner/trials.npz"
    line = [sys.executable, "-m", "snakemake", "--cores", "1", target]
    run = subprocess.run([*line, *given], cwd=project, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert remedy in run.stderr
    kept = {path for path in project.rglob("*") if path.is_file()}
    assert not [path for path in kept if b"hush77" in path.read_bytes()]
    assert "hush77" not in run.stdout + run.stderr
