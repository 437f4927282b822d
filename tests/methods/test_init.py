"""Names of the package itself."""

import domain_alignment
import pytest
from domain_alignment._version import version


def test_the_version_is_a_name_of_the_package():
    assert domain_alignment.__version__ == version()


def test_an_unknown_name_is_named():
    with pytest.raises(AttributeError, match="has no attribute '__versions__'"):
        domain_alignment.__versions__  # noqa: B018
