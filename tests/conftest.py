"""The longest files first, so that tests that run side by side end at the same time.

And the table of what tests show, where one is asked for.
"""

import signal

from tests import table

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As it is for what a script starts with `&`: processes of the tests would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST_FIRST = (
    "test_stages",
    "test_readers",
    "test_whole_runs",
    "test_runs",
    "test_resume",
    "test_guard",
    "test_browser",
    "test_properties",
    "test_contract",
    "test_reference_boards",
    "test_methods",
    "test_answer",
    "test_reference_page",
    "test_reference_findings",
    "test_page",
)


def pytest_addoption(parser):
    table.add_options(parser)


def pytest_configure(config):
    table.register(config)


def pytest_collection_modifyitems(config, items):
    table.note_promises(config, items)
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))
