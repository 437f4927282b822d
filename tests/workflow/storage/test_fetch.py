"""Downloads from a real server on the loopback device, mirrors, the cache, and receipts."""

import contextlib
import hashlib
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from tests.workflow.ports import free_port
from workflow.lib.storage import fetch as fetching
from workflow.lib.storage import places
from workflow.lib.storage.artifacts import CorruptArtifact
from workflow.lib.storage.fetch import (
    Bounds,
    Unavailable,
    delivered_path,
    fetch,
    obtain,
    read_receipt,
    stale_receipts,
    write_receipt,
)

CONTENT = bytes(range(256)) * 1000
SUM = hashlib.sha256(CONTENT).hexdigest()
OTHER = b"<html>please log in</html>"
OTHER_SUM = hashlib.sha256(OTHER).hexdigest()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers by path; counts the requests."""

    def do_GET(self):
        self.server.requests.append((self.command, self.path, self.headers["User-Agent"]))
        answer = getattr(self, "_" + self.path.rpartition("/")[2].partition(".")[0], None)
        if answer is None:
            self.send_error(404)
        else:
            answer()

    do_HEAD = do_GET  # noqa: N815 (the name is given)

    def log_message(self, *args):
        pass

    def _send(self, body, announced=None):
        self.send_response(200)
        self.send_header("Content-Length", str(announced or len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def _good(self):
        self._send(CONTENT)

    def _other(self):
        self._send(OTHER)

    def _headless(self):  # as an address that is signed for GET alone
        if self.command == "HEAD":
            self.send_error(405)
        else:
            self._good()

    def _truncated(self):
        self._send(CONTENT[:100_000], announced=len(CONTENT))

    def _reset(self):
        self._send(CONTENT[:100_000], announced=len(CONTENT))
        # Linger 0: the connection ends with a reset, not with an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()

    def _busy(self):
        """Two refusals, then the file."""
        if sum(path == self.path for _, path, _ in self.server.requests) <= 2:
            self.send_error(503)
        else:
            self._good()

    def _hanging(self):
        self.server.released.wait(5)

    def _unreadable_length(self):
        self._send(CONTENT, announced="many")

    def _negative_length(self):
        self._send(CONTENT, announced=-7)

    def _huge_length(self):
        self._send(CONTENT[:100], announced=10**15)

    def _endless(self):
        """Zeros without end, in a body of unknown length."""
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while not self.server.released.is_set():
                self.wfile.write(bytes(1 << 16))

    def _dripping(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self._drip(CONTENT)

    def _dripping_head(self):
        self._drip(b"HTTP/1.0 200 OK\r\nX-Slow: " + b"x" * 1000)

    def _drip(self, content):
        with contextlib.suppress(OSError):
            for place in range(len(content)):
                self.wfile.write(content[place : place + 1])
                if self.server.released.wait(0.05):
                    return


@pytest.fixture(scope="module")
def running_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.requests, server.released = [], threading.Event()
    # The fixture polls often, so that shutting down does not take half a second.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(running_server, monkeypatch):
    monkeypatch.setattr(fetching, "BACKOFF", 0.01)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running_server.requests.clear()
    running_server.url = f"http://127.0.0.1:{running_server.server_port}"
    return running_server


@pytest.fixture
def raw(tmp_path):
    return tmp_path / "raw"


@pytest.fixture
def mirror(tmp_path):
    folder = tmp_path / "mirror"
    (folder / "set").mkdir(parents=True)
    (folder / "set/data file.mat").write_bytes(CONTENT)
    return folder


def entry(*urls, mirror=None):
    described = {"sha256": SUM, "urls": list(urls)}
    return {**described, "mirror": mirror} if mirror else described


def failure(*args, **options):
    with pytest.raises(Unavailable) as caught:
        fetch(*args, **options)
    return caught.value


def test_right_content_is_kept_and_not_asked_for_again(server, raw):
    path = fetch("data.mat", entry(f"{server.url}/good.mat"), raw)
    assert path == raw / "data.mat"
    assert path.read_bytes() == CONTENT
    assert fetch("data.mat", entry(f"{server.url}/good.mat"), raw) == path
    ((_, _, agent),) = server.requests
    assert "domain-alignment" in agent


def test_wrong_content_is_refused_with_both_sums(server, raw):
    url = f"{server.url}/other.mat"
    error = failure("data.mat", entry(url), raw)
    assert f"data.mat: sha256 is {OTHER_SUM}, expected {SUM} (from {url})." in str(error)
    assert error.tried[-1]["refused"]
    assert list(raw.iterdir()) == []
    assert len(server.requests) == 1  # other content would come again


@pytest.mark.parametrize("name", ["truncated", "reset"])
def test_broken_transfer_is_repeated_and_leaves_nothing(server, raw, name):
    error = failure("data.mat", entry(f"{server.url}/{name}.mat"), raw)
    assert len(server.requests) == fetching.ATTEMPTS
    assert not error.tried[-1]["refused"]
    assert list(raw.iterdir()) == []
    if name == "truncated":
        assert "the transfer broke off after 100000 of 256000 bytes" in str(error)


def test_busy_server_is_asked_again(server, raw):
    path = fetch("data.mat", entry(f"{server.url}/busy.mat"), raw)
    assert path.read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_missing_page_is_asked_once(server, raw):
    error = failure("data.mat", entry(f"{server.url}/absent.mat"), raw)
    assert "HTTP 404 Not Found" in str(error)
    assert len(server.requests) == 1


def test_silent_server_is_given_up(server, raw, monkeypatch):
    monkeypatch.setattr(places, "TIMEOUT", 0.2)
    monkeypatch.setattr(fetching, "ATTEMPTS", 1)
    error = failure("data.mat", entry(f"{server.url}/hanging.mat"), raw)
    assert "no answer within 0.2 s" in str(error)


@pytest.mark.parametrize("kind", ["unreadable_length", "negative_length"])
def test_a_length_that_is_none_is_ignored_for_the_sum_decides(server, raw, kind):
    path = fetch("data.mat", entry(f"{server.url}/{kind}.mat"), raw)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["endless", "huge_length"])
def test_a_body_beyond_the_bound_is_cut_off(server, raw, kind):
    error = failure("data.mat", entry(f"{server.url}/{kind}.mat"), raw, bounds=Bounds(mb=1))
    assert "larger than the bound of 1 MB (downloads.max_mb in config/config.yaml)" in str(error)
    assert list(raw.iterdir()) == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", ["dripping", "dripping_head"])
def test_a_slow_transfer_ends_at_the_bound(server, raw, kind):
    started = time.monotonic()
    url = f"{server.url}/{kind}.mat"
    error = failure("data.mat", entry(url), raw, bounds=Bounds(seconds=0.5))
    assert "not complete after 0.5 s (downloads.max_seconds in config/config.yaml)" in str(error)
    assert time.monotonic() - started < 5
    assert list(raw.iterdir()) == []


def test_bounds_come_from_the_configuration():
    assert Bounds.of({"downloads": {"max_mb": 5, "max_seconds": 7}}) == Bounds(5, 7)
    assert Bounds.of({}) == Bounds()


@pytest.mark.parametrize("place", ["cache", "mirror"])
def test_a_pipe_in_place_of_a_file_is_passed_over(server, raw, mirror, place):
    where = raw / "data.mat" if place == "cache" else mirror / "set/data file.mat"
    where.parent.mkdir(exist_ok=True)
    where.unlink(missing_ok=True)
    os.mkfifo(where)
    described = entry(f"{server.url}/good.mat", mirror="set/data file.mat")
    receipt = obtain("data.mat", described, raw, str(mirror))
    assert receipt["status"] == "delivered"
    assert {"place": str(where), "reason": "not a regular file", "refused": False} in receipt[
        "tried"
    ]
    assert (raw / "data.mat").read_bytes() == CONTENT


def test_second_address_is_used_when_the_first_is_down(server, raw, caplog):
    down = f"http://127.0.0.1:{free_port()}/good.mat"
    receipt = obtain("data.mat", entry(down, f"{server.url}/good.mat"), raw)
    assert receipt["status"] == "delivered"
    assert receipt["from"] == f"{server.url}/good.mat"
    assert [attempt["place"] for attempt in receipt["tried"]] == [str(raw / "data.mat"), down]
    assert "refused" in caplog.text  # the log says so although the file came


@pytest.mark.parametrize("kind", ["folder", "file", "http"])
def test_mirror_comes_before_public_addresses(server, raw, mirror, kind):
    root = {"folder": str(mirror), "file": mirror.as_uri(), "http": f"{server.url}/top/"}[kind]
    path = "set/data file.mat" if kind != "http" else "set 1/good.mat"
    receipt = obtain("data.mat", entry(f"{server.url}/other.mat", mirror=path), raw, root)
    assert receipt["from"] == f"the mirror {root}"
    asked = [path for _, path, _ in server.requests]
    assert asked == (["/top/set%201/good.mat"] if kind == "http" else [])


def test_wrong_content_in_the_mirror_is_named_and_passed_over(server, raw, mirror):
    (mirror / "set/data file.mat").write_bytes(OTHER)
    described = entry(f"{server.url}/good.mat", mirror="set/data file.mat")
    receipt = obtain("data.mat", described, raw, str(mirror))
    assert receipt["from"] == f"{server.url}/good.mat"
    assert receipt["tried"][1]["reason"] == (
        f"data.mat: sha256 is {OTHER_SUM}, expected {SUM} (from the mirror {mirror}). "
        "Delete it there, or correct the entry."
    )


def test_damaged_cache_is_set_aside_and_fetched_anew(server, raw, caplog):
    raw.mkdir()
    (raw / "data.mat").write_bytes(CONTENT[:-1])
    path = fetch("data.mat", entry(f"{server.url}/good.mat"), raw)
    assert path.read_bytes() == CONTENT
    assert (raw / "data.mat.refused").read_bytes() == CONTENT[:-1]
    assert f"from the cache {raw / 'data.mat'}" in caplog.text


def test_message_lists_every_place_and_what_to_do(server, raw, mirror):
    down = f"http://127.0.0.1:{free_port()}/data.mat"
    described = entry(f"{server.url}/absent.mat", down, mirror="set/absent.mat")
    message = str(failure("data.mat", described, raw, str(mirror)))
    assert message.startswith("data.mat: could not be downloaded\nTried:\n")
    assert f"{raw / 'data.mat'}: not there" in message
    assert f"{mirror / 'set/absent.mat'}: not there" in message
    assert f"{server.url}/absent.mat: HTTP 404" in message
    assert f"{down}: [Errno 111] Connection refused" in message
    assert "--config mirror=" in message
    assert "ALIGNMENT_MIRROR" in message
    assert f"(the mirror is {mirror})" in message
    assert "(no mirror is named)" in str(failure("data.mat", described, raw))


def test_without_a_place_in_a_mirror_the_message_does_not_offer_one(raw):
    message = str(failure("data.mat", entry(), raw))
    assert f"Put the file at {raw / 'data.mat'} yourself" in message


def test_final_name_appears_only_with_the_whole_content(server, raw, monkeypatch):
    seen = []
    replace = os.replace

    def watch(old, new):
        seen.append((os.path.dirname(old) == os.path.dirname(new), os.path.exists(new)))
        seen.append(os.path.getsize(old))
        replace(old, new)

    monkeypatch.setattr(os, "replace", watch)
    fetch("data.mat", entry(f"{server.url}/good.mat"), raw)
    assert seen == [(True, False), len(CONTENT)]
    assert [path.name for path in raw.iterdir()] == ["data.mat"]


def test_interruption_leaves_nothing_under_any_name(server, raw, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch("data.mat", entry(f"{server.url}/good.mat"), raw)
    assert list(raw.iterdir()) == []


def test_full_disk_is_not_blamed_on_a_place(server, raw, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        fetch("data.mat", entry(f"{server.url}/good.mat"), raw)
    assert len(server.requests) == 1


def test_own_file_is_read_where_it_lies(tmp_path, raw):
    own = tmp_path / "own.csv"
    own.write_bytes(OTHER)
    assert fetch("own.csv", {"path": str(own)}, raw) == own
    receipt = obtain("own.csv", {"path": str(own)}, raw)
    assert (receipt["sha256"], receipt["bytes"]) == (OTHER_SUM, len(OTHER))
    assert not raw.exists()
    own.write_bytes(CONTENT)  # the user's own business
    assert delivered_path(receipt, {"path": str(own)}, raw) == own


def test_own_file_missing_or_of_another_sum(tmp_path, raw):
    own = tmp_path / "own.csv"
    with pytest.raises(FileNotFoundError, match=r"own\.csv: no file at .*Correct its `path`"):
        fetch("own.csv", {"path": str(own)}, raw)
    own.write_bytes(OTHER)
    with pytest.raises(ValueError, match=f"sha256 is {OTHER_SUM}, expected {SUM} .own file"):
        fetch("own.csv", {"path": str(own), "sha256": SUM}, raw)


def test_file_that_cannot_be_had_is_not_tried(raw, mirror):
    error = failure("data.mat", {"sha256": None, "why": "too large"}, raw, str(mirror))
    assert str(error) == "data.mat: unavailable: too large"
    assert error.tried == []


# -- receipts ---------------------------------------------------------------------------------


def test_receipt_survives_writing_and_names_the_file(server, raw, tmp_path):
    receipt = obtain("data.mat", entry(f"{server.url}/good.mat"), raw)
    write_receipt(tmp_path / "data.mat.json", receipt)
    stored = read_receipt(tmp_path / "data.mat.json")
    assert stored == receipt
    assert {key: stored[key] for key in ("file", "status", "sha256", "bytes", "reason")} == {
        "file": "data.mat",
        "status": "delivered",
        "sha256": SUM,
        "bytes": len(CONTENT),
        "reason": None,
    }
    assert delivered_path(stored, entry(), raw) == raw / "data.mat"


def test_receipt_of_an_unavailable_file_raises_when_the_file_is_wanted(raw):
    receipt = obtain("data.mat", {"sha256": None, "why": "too large"}, raw)
    assert (receipt["status"], receipt["sha256"]) == ("unavailable", None)
    with pytest.raises(Unavailable, match="too large"):
        delivered_path(receipt, {"sha256": None}, raw)


@pytest.mark.parametrize("damage", ["", "{}", "[1]", "{"])
def test_damaged_receipt_is_named(raw, tmp_path, damage):
    path = tmp_path / "data.mat.json"
    path.write_text(damage)
    with pytest.raises(CorruptArtifact, match=r"data\.mat\.json: it is not a receipt"):
        read_receipt(path)


def test_changed_receipt_is_named(raw, tmp_path):
    path = tmp_path / "data.mat.json"
    write_receipt(path, obtain("data.mat", {"sha256": None, "why": "too large"}, raw))
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({**stored, "status": "delivered"}))
    with pytest.raises(CorruptArtifact, match="does not fit its checksum"):
        read_receipt(path)


def test_bytes_that_changed_after_delivery_are_not_used(raw, mirror):
    described = entry(mirror="set/data file.mat")
    receipt = obtain("data.mat", described, raw, str(mirror))
    (raw / "data.mat").write_bytes(OTHER)
    with pytest.raises(
        RuntimeError, match=f"sha256 is {OTHER_SUM}, expected {SUM}. Delete the rec"
    ):
        delivered_path(receipt, described, raw)
    (raw / "data.mat").unlink()
    with pytest.raises(RuntimeError, match=r"delivered, but is gone\. Delete the receipt"):
        delivered_path(receipt, described, raw)


class TestStaleReceipts:
    @pytest.fixture
    def stale(self, tmp_path):
        """Write the receipt of a first attempt, then list what is stale later."""

        def stale(first, later=None, mirror_first=None, mirror_later=None, meanwhile=None):
            receipts, raw = tmp_path / "receipts", tmp_path / "raw"
            path = receipts / "mine/data.mat.json"
            write_receipt(path, obtain("data.mat", first, raw / "mine", mirror_first))
            if meanwhile:
                meanwhile(path)
            datasets = {"mine": {"files": {"data.mat": later or first}}}
            found = stale_receipts(receipts, datasets, mirror_later, raw)
            assert found in ([], [path])
            return bool(found)

        return stale

    def test_delivered_or_without_hope_or_absent(self, stale, mirror, tmp_path):
        described = entry(mirror="set/data file.mat")
        assert not stale(described, mirror_first=str(mirror), mirror_later="/elsewhere")
        assert not stale({"sha256": None, "why": "x"}, mirror_later=str(mirror))
        assert not stale(described, meanwhile=lambda path: path.unlink())

    def test_unchanged_places(self, stale, mirror):
        described = entry(mirror="set/absent.mat")
        assert not stale(described, mirror_first=str(mirror), mirror_later=str(mirror))

    def test_another_content_is_stated_since(self, stale, mirror):
        described, folder = entry(mirror="set/data file.mat"), str(mirror)
        assert stale(described, described | {"sha256": OTHER_SUM}, mirror_first=folder)
        unstated = described | {"sha256": None}
        assert not stale(described, unstated, mirror_first=folder)

    def test_mirror_named_since(self, stale, mirror, tmp_path):
        described = entry(mirror="set/data file.mat")
        assert stale(described, mirror_later=str(mirror))
        assert not stale(described, mirror_later=str(tmp_path))  # does not hold the file

    def test_mirror_filled_since(self, stale, mirror):
        source = mirror / "set/data file.mat"
        described = entry(mirror="set/new.mat")
        folder = str(mirror)
        fill = {"mirror_first": folder, "mirror_later": folder}
        wrong = mirror / "set/new.mat"
        assert not stale(described, meanwhile=lambda _: wrong.write_bytes(OTHER), **fill)
        assert stale(described, meanwhile=lambda _: wrong.write_bytes(source.read_bytes()), **fill)

    def test_file_put_into_the_cache(self, stale, tmp_path):
        def put(_):
            (tmp_path / "raw/mine").mkdir(parents=True)
            (tmp_path / "raw/mine/data.mat").write_bytes(CONTENT)

        assert stale(entry(), meanwhile=put)

    def test_entry_changed(self, stale, server, tmp_path):
        impossible = {"sha256": None, "why": "x"}
        assert stale(impossible, entry(f"{server.url}/good.mat"))
        assert stale(entry(), {"path": str(tmp_path)})

    def test_address_that_still_fails(self, stale, server):
        assert not stale(entry(f"http://127.0.0.1:{free_port()}/good.mat"))
        assert not stale(entry(f"{server.url}/absent.mat"))
        assert not stale(entry(f"{server.url}/other.mat"))  # other content would come again

    @pytest.mark.parametrize("name", ["good.mat", "headless.mat"])
    def test_address_that_answers_now(self, stale, server, monkeypatch, name):
        def refuse(*args, **options):
            raise urllib.error.URLError("no network")

        with monkeypatch.context() as patch:
            patch.setattr(urllib.request, "urlopen", refuse)
            assert stale(entry(f"{server.url}/{name}"), meanwhile=lambda _: patch.undo())

    def test_other_content_of_a_mirror_may_have_been_put_right(self, stale, server):
        described = entry(mirror="other.mat")
        assert stale(described, mirror_first=server.url, mirror_later=server.url)

    def test_a_file_that_cannot_be_read_is_no_reason_to_try_again(self, stale, mirror, monkeypatch):
        def refuse(path):
            raise PermissionError(13, "Permission denied")

        wrong = mirror / "set/new.mat"

        def put(_):
            wrong.write_bytes(CONTENT)
            monkeypatch.setattr(fetching, "sha256", refuse)

        folder = {"mirror_first": str(mirror), "mirror_later": str(mirror)}
        assert not stale(entry(mirror="set/new.mat"), meanwhile=put, **folder)

    def test_a_file_of_the_users_own_that_is_theirs_no_longer(self, stale, server, tmp_path):
        (tmp_path / "mine.mat").write_bytes(CONTENT)
        own = {"path": str(tmp_path / "mine.mat"), "sha256": SUM}
        assert stale(own, entry(f"{server.url}/good.mat"))
        assert not stale(own)

    def test_server_that_is_silent_is_asked_once(self, tmp_path, monkeypatch):
        asked = []

        def refuse(request, **options):
            asked.append(request.full_url)
            raise urllib.error.URLError("no network")

        monkeypatch.setattr(urllib.request, "urlopen", refuse)
        files = {f"{i}.mat": entry(f"http://host/{i}.mat") for i in range(3)}
        for name, described in files.items():
            receipt = obtain(name, described, tmp_path / "raw/mine")
            write_receipt(tmp_path / f"receipts/mine/{name}.json", receipt)
        asked.clear()
        datasets = {"mine": {"files": files}}
        assert stale_receipts(tmp_path / "receipts", datasets, None, tmp_path / "raw") == []
        assert asked == ["http://host/0.mat"]

    def test_damaged_receipt(self, stale):
        assert stale(entry(), meanwhile=lambda path: path.write_text(""))


def test_a_download_imports_no_numpy():
    """Most of what a job that copies a small file does would be importing it."""
    modules = "workflow.lib.storage.fetch, workflow.lib.storage.mirror, workflow.lib.config.suite"
    code = f"import sys, {modules}; print({{'numpy', 'pandas'}} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr
