"""Load: tables of 100,000 records, a mirror with fifty clients at once."""

import functools
import hashlib
import http.server
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from workflow.lib.storage.fetch import obtain

N_CLIENTS = 50
CONTENT = bytes(range(256)) * 20_000  # 5 MB


def work(what, folder):
    """What a step of the large table gave, its seconds and its megabytes."""
    line = [sys.executable, "-m", "tests.faults.large_table", what, str(folder)]
    return json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True, timeout=3000).stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The records of every task, on disk."""
    folder = tmp_path_factory.mktemp("large")
    n_records, *_ = work("write", folder)
    assert n_records >= 100_000
    return folder


@pytest.fixture(scope="module")
def collected(folder):
    return folder, work("collect", folder)


@pytest.mark.campaign
def test_the_collector_with_100_000_records(collected, record_property):
    """All are collected, written and read back within two minutes of computing and 1.5 GB."""
    _, (n_records, seconds, megabytes) = collected
    record_property("case", f"{n_records} records: {seconds:.0f} s, {megabytes:.0f} MB")
    assert n_records >= 100_000
    assert seconds < 120
    assert megabytes < 1500


@pytest.mark.campaign
def test_the_store_with_100_000_records(collected, record_property):
    """All are written within 15 minutes of computing and 2 GB, and nothing the second time."""
    ((created, none_kept), (none_created, kept)), seconds, megabytes = work("track", collected[0])
    record_property("case", f"{created} runs: {seconds:.0f} s, {megabytes:.0f} MB")
    assert (none_kept, none_created) == (0, 0)
    assert created == kept > 1000
    assert seconds < 900
    assert megabytes < 2000


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.mark.campaign
def test_a_mirror_with_fifty_clients(tmp_path, monkeypatch):
    """Each client gets its file with the right sum, also where all write to the same cache."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/data.mat").write_bytes(CONTENT)
    entry = {"sha256": hashlib.sha256(CONTENT).hexdigest(), "mirror": "data.mat", "urls": []}
    handler = functools.partial(Handler, directory=tmp_path / "mirror")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        mirror = f"http://127.0.0.1:{server.server_port}"
        caches = [tmp_path / f"cache{number % 26}" for number in range(N_CLIENTS)]
        with ThreadPoolExecutor(N_CLIENTS) as clients:
            receipts = list(clients.map(lambda raw: obtain("data.mat", entry, raw, mirror), caches))
        server.shutdown()
    assert [receipt["status"] for receipt in receipts] == ["delivered"] * N_CLIENTS
    for cache in set(caches):
        assert [path.name for path in cache.iterdir()] == ["data.mat"]
        assert (cache / "data.mat").read_bytes() == CONTENT
