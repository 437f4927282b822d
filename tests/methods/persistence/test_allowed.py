"""Which classes a saved model may name."""

import ot.da
import pytest
import sklearn.preprocessing
from domain_alignment import CORAL, KEMA
from domain_alignment.exceptions import SavedModelError
from domain_alignment.persistence._allowed import (
    FUNCTIONS,
    PUBLIC,
    class_address,
    function_address,
    resolve,
)
from sklearn.ensemble import RandomForestClassifier

LISTED = [f"{module}:{name}" for module, names in PUBLIC.items() for name in sorted(names)]


@pytest.mark.parametrize("address", LISTED)
def test_every_listed_class_is_there_and_has_its_address(address):
    assert class_address(resolve(address)) == address


def test_functions_have_their_address():
    for module, names in FUNCTIONS.items():
        for name in names:
            assert function_address(resolve(f"{module}:{name}")) == f"{module}:{name}"


@pytest.mark.parametrize(
    "cls", [CORAL, KEMA, sklearn.preprocessing.StandardScaler, ot.da.EMDTransport]
)
def test_a_class_is_found_again(cls):
    assert resolve(class_address(cls)) is cls


def test_a_class_of_the_same_name_elsewhere_is_another():
    impostor = type("StandardScaler", (), {"__module__": "sklearn.somewhere"})
    with pytest.raises(SavedModelError, match=r"sklearn\.somewhere:StandardScaler: is not a class"):
        class_address(impostor)


def test_a_trusted_class_of_another_package_is_taken():
    address = "sklearn.ensemble._forest:RandomForestClassifier"
    with pytest.raises(SavedModelError, match=r"trusted=\['sklearn\.ensemble\._forest:Random"):
        class_address(RandomForestClassifier)
    assert class_address(RandomForestClassifier, [address]) == address
    assert resolve(address, [address]) is RandomForestClassifier


@pytest.mark.parametrize(
    "address",
    [
        "os:system",
        "sklearn.preprocessing:os",
        "sklearn.preprocessing:StandardScaler.fit",
        "domain_alignment.base:np",  # what a module of the library imports is not the library's
        "domain_alignment.utils._optional:needed",  # a function
        "domain_alignment.persistence._folder:Path",
        "domain_alignment..os:system",
        "domain_alignment",
        "",
        None,
        ["os"],
    ],
)
def test_any_other_address_is_refused(address):
    with pytest.raises(SavedModelError):
        resolve(address)


def test_a_listed_class_that_is_not_here_says_what_to_install(monkeypatch):
    monkeypatch.delattr(ot.da, "EMDTransport")
    with pytest.raises(SavedModelError, match=r"not here .*install the versions"):
        resolve("ot.da:EMDTransport")
