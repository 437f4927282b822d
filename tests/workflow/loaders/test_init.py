"""Entries that refer to loaders, files, domains and trials."""

import pytest

from tests.workflow.loaders.entries import DATASETS, one_dataset
from workflow.loaders import check_entry, office_caltech, splits_file


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loader": "genric:load"}, "loader: unknown module 'genric'. Did you mean 'generic'?"),
        ({"loader": "generic:lod"}, "loader: unknown function 'lod'. Did you mean 'load'?"),
        (
            {"domains": {"one": {"files": ["c.mat"]}}},
            "domains: one: files: unknown file 'c.mat'. Did you mean 'b.mat'? Known: b.mat",
        ),
        (
            {"domains": {"one": {"params": {"label": "y"}}}},
            "params: unknown parameter 'label'. Did you mean 'labels'? Known: labels, features",
        ),
        (
            {"loader": "faces:load", "domains": {"one": {}}},
            "domains: one: params: 'subject' is missing",
        ),
        ({"class_names": ["a", "b", "c"]}, "classes is 2, but class_names has 3"),
        ({"class_names": ["1", 1]}, "class_names: '1' appears twice; keep one"),
        (
            {"domains": {d: {"short": "O", "params": {"labels": "y"}} for d in ("one", "other")}},
            "domains: two have the same `short` (O, O)",
        ),
    ],
)
def test_inconsistent_entry_is_refused(change, message):
    with pytest.raises(ValueError, match=r"^config/datasets\.yaml: mine: ") as caught:
        check_entry("mine", one_dataset(**change))
    assert message in str(caught.value)


def test_splits_find_their_file():
    entry = DATASETS["office_caltech_splits"]
    assert "amazon-dslr" in splits_file(entry, "amazon", "dslr")
    with pytest.raises(ValueError, match=r"no official trials for the pair amazon-mnist\. Avail"):
        splits_file(entry, "amazon", "mnist")
    files = {"a.mat": {"source": "a", "target": "b"}, "b.mat": {"source": "a", "target": "b"}}
    with pytest.raises(ValueError, match=r"two files for the pair a-b; keep one"):
        check_entry("s", {"kind": "splits", "loader": "office_caltech:load_splits", "files": files})


def test_loader_of_one_file_refuses_another_number():
    with pytest.raises(
        ValueError, match=r"expected one file, got 0 \(none\)\. Correct the domain's `files`"
    ):
        office_caltech.load_surf("amazon", {})
