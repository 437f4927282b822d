"""What the tests of the tables share."""

import pytest

from tests.workflow.report_example import rich_curves, rich_view
from workflow.lib.report.tables.scores import all_tables


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=6)


@pytest.fixture(scope="module")
def tables(view):
    return all_tables(view)


@pytest.fixture(scope="module")
def varied():
    return rich_curves(trials=4)
