"""The table of what tests show: ``pytest TESTS --table FILE [--title WORDS]``.

Of each test what it shows (its docstring, or else the sentence that its name is), whether that was
kept, and the seconds of its set-up, itself and its clearing away; the machine and the date.
"""

import inspect
import time
from collections import Counter
from pathlib import Path

from workflow.lib.results import environment

FILE, TITLE = "--table", "--title"


def add_options(parser):
    parser.addoption(FILE, metavar="FILE", help="write the table of what the tests show here")
    parser.addoption(TITLE, metavar="WORDS", default="Faults and promises", help="its title")


def register(config):
    # Of tests that run side by side the first process alone hears of all.
    if config.getoption(FILE) and not hasattr(config, "workerinput"):
        table = Table(Path(config.getoption(FILE)), config.getoption(TITLE))
        config.pluginmanager.register(table)


def note_promises(config, items):
    if config.getoption(FILE):
        for item in items:
            item.user_properties.append(("promise", promise_of(item.function)))


def promise_of(function):
    """What a test shows: its docstring, or the sentence that its name is."""
    if function.__doc__:
        return " ".join(inspect.cleandoc(function.__doc__).split())
    return function.__name__.removeprefix("test_").replace("_", " ").capitalize() + "."


class Table:
    """Gathers what became of each test."""

    def __init__(self, path, title):
        self.path, self.title, self.rows = path, title, {}

    def pytest_runtest_logreport(self, report):
        told = dict(report.user_properties)
        result, seconds = self.rows.get(report.nodeid, ("kept", 0.0))[:2]
        if report.outcome != "passed":
            result = {"failed": "BROKEN", "skipped": "not run"}[report.outcome]
        case = (told["promise"], told.get("case", ""))
        self.rows[report.nodeid] = (result, seconds + report.duration, *case)

    def pytest_sessionfinish(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(self.lines()) + "\n", encoding="utf-8")

    def lines(self):
        files = {}
        for nodeid, row in self.rows.items():
            files.setdefault(nodeid.partition("::")[0], {})[nodeid] = row
        lines = [f"# {self.title}", "", f"{_counts(self.rows)}. {_machine()}", ""]
        lines += ["| file | cases | seconds |", "|---|---|---:|"]
        for file, rows in sorted(files.items()):
            lines.append(f"| `{file}` | {_counts(rows)} | {_seconds(rows):.0f} |")
        for file, rows in sorted(files.items()):
            lines += ["", f"## {file}", "", "| case | promise | result | seconds |"]
            lines.append("|---|---|---|---:|")
            for nodeid, (result, seconds, promise, case) in sorted(rows.items()):
                words = f"{_words(nodeid)} ({case})" if case else _words(nodeid)
                cells = (words, promise, result, f"{seconds:.1f}")
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return lines


def _machine():
    found, day = environment.describe(), time.strftime("%Y-%m-%d", time.gmtime())
    return f"On {found['cpu']} ({found['cores']} cores), {day}."


def _counts(rows):
    counts = Counter(result for result, *_ in rows.values())
    return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))


def _seconds(rows):
    return sum(seconds for _, seconds, *_ in rows.values())


def _words(nodeid):
    """The case, read from the name of its test: ``tests/faults/test_disk.py::test_a[b]``."""
    name, _, case = nodeid.rpartition("::")[2].removeprefix("test_").partition("[")
    return name.replace("_", " ") + (f": {case.removesuffix(']')}" if case else "")
