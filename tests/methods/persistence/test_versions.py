"""Versions: the same major and minor number, or a message with what to install."""

import numpy as np
import pytest
import sklearn
from domain_alignment.exceptions import SavedModelError
from domain_alignment.persistence._versions import (
    check_versions,
    distribution,
    versions_of,
)


def test_what_every_model_needs_and_what_this_one_uses():
    found = versions_of({"ot", "numpy"})
    assert set(found) == {"domain_alignment", "numpy", "ot", "scipy", "sklearn"}
    assert found["sklearn"] == sklearn.__version__


def test_equal_versions_pass():
    check_versions(versions_of({"ot"}), "model")


@pytest.mark.parametrize("part", [0, 1])
def test_another_major_or_minor_number_is_refused(part):
    numbers = np.__version__.split(".")
    numbers[part] = str(int(numbers[part]) + 1)
    with pytest.raises(SavedModelError, match=rf"model: was saved with numpy {'.'.join(numbers)}"):
        check_versions({"numpy": ".".join(numbers)}, "model")


def test_a_minor_number_is_compared_as_a_whole():
    major, minor = np.__version__.split(".")[:2]
    with pytest.raises(SavedModelError):
        check_versions({"numpy": f"{major}.{minor}0.0"}, "model")


def test_all_that_differ_are_named_with_one_command():
    with pytest.raises(SavedModelError) as caught:
        check_versions({"sklearn": "0.1.2", "no_such_package": "3.4"}, "model")
    assert "scikit-learn 0.1.2; here is" in str(caught.value)
    assert "no_such_package 3.4; here is none" in str(caught.value)
    assert "pip install 'scikit-learn==0.1.*' 'no_such_package==3.4.*'" in str(caught.value)


def test_names_to_install_by():
    assert (distribution("ot"), distribution("numpy")) == ("POT", "numpy")
