"""One place: read within bounds, and the reason where it does not deliver."""

import base64
import http.server
import os
import threading
import time

import pytest

from workflow.lib.storage.places import Bounds, Place, PlaceError, chunks, is_there, within


def read(address, **bounds):
    return b"".join(chunks(Place("mirror", address, "the mirror"), Bounds(**bounds)))


def test_a_file_is_read_whole(tmp_path):
    content = os.urandom(200_000)
    (tmp_path / "a.mat").write_bytes(content)
    assert read(tmp_path / "a.mat") == content


def test_no_more_is_read_than_the_bound(tmp_path):
    (tmp_path / "a.mat").write_bytes(bytes(200_000))
    with pytest.raises(PlaceError, match=r"larger than the bound of 0\.1 MB"):
        read(tmp_path / "a.mat", mb=0.1)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PlaceError, match="not a regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(PlaceError, match="not there"):
        read(tmp_path / "none.mat")


def test_work_has_its_time_and_no_more():
    assert within(10, lambda: 3) == 3
    with pytest.raises(KeyError, match="of the work"):
        within(10, lambda: {}["of the work"])
    with pytest.raises(PlaceError, match=r"not complete after 0\.05 s"):
        within(0.05, lambda: time.sleep(5))


def test_bounds_are_those_of_the_configuration():
    assert Bounds.of({"downloads": {"max_mb": 3}}) == Bounds(3, Bounds.seconds)
    assert Bounds.of({}) == Bounds()


class Closed(http.server.BaseHTTPRequestHandler):
    """Serves who knows the password; refers to another name of itself below /elsewhere."""

    def do_GET(self):
        given = self.headers.get("Authorization")
        self.server.given.append(given)
        is_known = given == "Basic " + base64.b64encode(b"anna:hush77").decode()
        if self.path.startswith("/elsewhere"):
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/a.mat")
        else:
            self.send_response(200 if is_known else 401)
        self.end_headers()
        if self.command == "GET" and self.path == "/a.mat" and is_known:
            self.wfile.write(b"content")

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def closed(monkeypatch, tmp_path):
    """Address of a server that asks for a password, and all that it was given; no ~/.netrc."""
    monkeypatch.setenv("HOME", str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Closed)
    server.given = []
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", server.given
    server.shutdown()
    server.server_close()


def know(folder, server, mode=0o600):
    (folder / ".netrc").write_text(f"machine {server} login anna password hush77\n")
    (folder / ".netrc").chmod(mode)


def test_a_server_that_asks_for_a_password_gets_that_of_the_users_file(closed, tmp_path):
    address, _ = closed
    with pytest.raises(PlaceError, match="HTTP 401"):
        read(f"{address}/a.mat")
    know(tmp_path, "127.0.0.1")
    assert read(f"{address}/a.mat") == b"content"
    assert is_there(f"{address}/a.mat", set())


def test_the_password_goes_to_no_other_server(closed, tmp_path):
    address, given = closed
    know(tmp_path, "another.example.org")
    with pytest.raises(PlaceError, match="HTTP 401"):
        read(f"{address}/a.mat")
    know(tmp_path, "127.0.0.1")
    with pytest.raises(PlaceError, match="HTTP 401"):
        read(f"{address}/elsewhere/a.mat")
    assert [one is not None for one in given] == [False, True, False]


def test_a_file_of_passwords_that_others_read_is_not_used(closed, tmp_path):
    address, given = closed
    know(tmp_path, "127.0.0.1", mode=0o644)
    with pytest.raises(PlaceError, match=r"HTTP 401 .*~/\.netrc, readable by you alone") as failure:
        read(f"{address}/a.mat")
    assert "hush77" not in str(failure.value)
    assert given == [None]
