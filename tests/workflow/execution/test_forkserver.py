"""Forked workers and scripts: warm, one per request, and an error where there is no server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from workflow.lib.config.addresses import PROJECT
from workflow.lib.execution import forkserver


@pytest.fixture(scope="module")
def address():
    kept = os.environ.get(forkserver.ADDRESS)
    server = forkserver.start(["wave"])
    address = os.environ.pop(forkserver.ADDRESS)
    if kept is not None:
        os.environ[forkserver.ADDRESS] = kept
    yield address
    server.stdin.close()
    assert server.wait(20) == 0


def forked(folder, name):
    """Number of a forked process, and the events of its one trial."""
    spec = {"job": "tests.workflow.guarded_job", "block": {"trials": ["fine"]}, "trials": [0]}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**spec, "scratch": str(folder), "threads": 1, "memory_mb": 2000}))
    stdin, alive = os.pipe()
    reader, events = os.pipe()
    pid = forkserver.fork_worker(path, stdin, events)
    os.close(stdin)
    os.close(events)
    with os.fdopen(reader) as lines:
        found = [json.loads(line) for line in lines if line.strip()]
    os.close(alive)
    return pid, found


def test_every_request_has_a_warm_process_of_its_own(tmp_path, monkeypatch, address):
    monkeypatch.setenv(forkserver.ADDRESS, address)
    pids = set()
    for name in ("one", "two"):
        pid, events = forked(tmp_path, name)
        pids.add(pid)
        (record,) = next(event for event in events if event["event"] == "done")["records"]
        assert record["warm"]  # scikit-learn was there before the trial
    assert len(pids) == 2


@pytest.fixture
def run(tmp_path, monkeypatch, address):
    """Exit code of a script with these lines."""
    monkeypatch.setenv(forkserver.ADDRESS, address)
    monkeypatch.chdir(tmp_path)

    def run(*lines):
        (tmp_path / "tmp0.align.py").write_text("\n".join(lines))
        return forkserver.run_script("tmp0.align.py", str(tmp_path / "scratch"))

    return run


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("pass", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('why')", 1),
        ("raise RuntimeError('why')", 1),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGKILL),
    ],
)
def test_a_script_ends_as_python_would_let_it_end(run, line, code):
    assert run(line) == code


def test_a_script_has_its_place_and_its_modules_and_is_alone(run, tmp_path):
    """Nothing that one script does is there for the next."""
    found = [
        "import atexit, json, os, pathlib, sys, tempfile",
        "facts = [__name__, sys.argv, os.getcwd(), tempfile.gettempdir(), 'wave' in sys.modules]",
        "facts += [pathlib.Path('/proc/self/comm').read_text(), sys.stdin.read()]",
        "facts += [os.getppid(), 'mark' in dir(os)]",
        "os.mark = True",
        "atexit.register(lambda: pathlib.Path('facts').write_text(json.dumps(facts)))",
    ]
    (tmp_path / "scratch").mkdir()
    for _ in range(2):
        assert run(*found) == 0
        name, arguments, folder, scratch, warm, comm, read, parent, marked = json.loads(
            (tmp_path / "facts").read_text()
        )
        assert (name, arguments) == ("__main__", ["tmp0.align.py"])
        assert (folder, scratch) == (str(tmp_path), str(tmp_path / "scratch"))
        assert (comm, read) == ("align\n", "")
        assert warm
        assert not marked
        assert parent != os.getpid()


def test_a_script_prints_where_its_caller_does(run, tmp_path, capfd):
    assert run("import os", "print('said')", "os.write(2, b'told')") == 0
    assert capfd.readouterr() == ("said\n", "told")


def test_a_script_starts_processes_and_hears_how_they_end(run):
    call = f"subprocess.run([{sys.executable!r}, '-c', 'raise SystemExit(4)']).returncode"
    assert run("import subprocess", f"raise SystemExit({call})") == 4


def test_ctrl_c_reaches_a_script_and_not_the_server(tmp_path):
    """A terminal sends it to the whole group of processes."""
    (tmp_path / "tmp0.align.py").write_text(
        "print('begun', flush=True)\nimport time\ntime.sleep(60)"
    )
    (tmp_path / "tmp1.align.py").write_text("print('next', flush=True)")
    main = [
        "import signal",
        "from workflow.lib.execution import forkserver",
        "signal.signal(signal.SIGINT, lambda *_: None)",
        "forkserver.start()",
        "print([forkserver.run_script(f'tmp{i}.align.py', '.') for i in (0, 1)])",
    ]
    line = [sys.executable, "-c", "\n".join(main)]
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    group = {"cwd": tmp_path, "start_new_session": True, "text": True, "env": env}
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **group)
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert out == "next\n[1, 0]\n"
    assert error.count("KeyboardInterrupt") == 1


def test_no_script_begins_after_ctrl_c(run, tmp_path, monkeypatch):
    monkeypatch.setattr(forkserver, "_interrupted", False)
    forkserver.interrupt()
    assert run("open('begun', 'w')") == -signal.SIGINT
    assert not (tmp_path / "begun").exists()


def test_a_script_that_died_before_it_could_be_told_is_not_begun_anew(monkeypatch):
    """`OSError` says that nothing was run, and the rules would run it."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    monkeypatch.setattr(forkserver, "_interrupted", False)

    def asked(*args):
        forkserver.interrupt()
        return dead.pid

    monkeypatch.setattr(forkserver, "_ask", asked)
    assert forkserver.run_script("job.py", "/tmp") != 0


def test_a_script_that_was_asked_for_before_ctrl_c_and_forked_after_it_hears_of_it(
    run, monkeypatch
):
    monkeypatch.setattr(forkserver, "_interrupted", False)
    ask = forkserver._ask

    def slow(*args):
        forkserver.interrupt()
        return ask(*args)

    monkeypatch.setattr(forkserver, "_ask", slow)
    began = time.monotonic()
    assert run("import time", "time.sleep(60)") != 0
    assert time.monotonic() - began < 30


@pytest.mark.whole_run
def test_ctrl_c_in_the_moment_of_the_fork_is_not_lost(tmp_path, monkeypatch):
    (tmp_path / "tmp0.align.py").write_text("import time\ntime.sleep(60)")
    server = [
        "import os, signal",
        "from workflow.lib.execution import forkserver",
        "fork = os.fork",
        "def told():",
        "    if number := fork():",
        "        return number",
        "    os.kill(os.getpid(), signal.SIGINT)",
        "    return 0",
        "os.fork = told",
        "forkserver._Server(LISTENER, []).serve()",
    ]
    address = f"alignment-{os.getpid()}-moment"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(forkserver._name(address))
        listener.listen()
        code = "\n".join(server).replace("LISTENER", str(listener.fileno()))
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
    monkeypatch.setenv(forkserver.ADDRESS, address)
    monkeypatch.chdir(tmp_path)
    began = time.monotonic()
    assert forkserver.run_script("tmp0.align.py", ".") != 0
    assert time.monotonic() - began < 30
    process.stdin.close()
    assert process.wait(20) == 0


def test_without_a_server_no_script_is_run(tmp_path, monkeypatch):
    monkeypatch.setenv(forkserver.ADDRESS, "alignment-nobody")
    with pytest.raises(OSError, match="refused"):
        forkserver.run_script("tmp0.align.py", str(tmp_path))


@pytest.mark.whole_run
def test_without_a_server_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv(forkserver.ADDRESS, "alignment-nobody")
    stdin, writer = os.pipe()
    try:
        with pytest.raises(OSError, match="refused"):
            forkserver.fork_worker(tmp_path / "spec.json", stdin, writer)
    finally:
        os.close(stdin)
        os.close(writer)


def test_the_server_of_another_environment_is_not_asked(tmp_path, monkeypatch):
    """As for a script in an environment of conda: its trials would run with other packages."""
    monkeypatch.setenv(forkserver.PREFIX, "/another/environment")
    with pytest.raises(ConnectionError, match="fork server is of /another/environment, this is"):
        forkserver.fork_worker(tmp_path / "spec.json", 0, 1)
