"""Reuters tasks on small made-up files of the published form, and on the real ones."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.feature_extraction.text import TfidfTransformer

from tests.workflow.loaders.entries import MIRROR, needs_mirror
from workflow.loaders import find_loader, reuters_transfer
from workflow.loaders._check import check_domain


@pytest.fixture
def reuters(tmp_path):
    """Both files of orgs against people, counts of five words."""
    rng = np.random.default_rng(0)
    paths, counts = {}, {}
    for part, n_articles in (("src", 8), ("tar", 6)):
        stem = f"OrgsPeople_{part}"
        counts[part] = rng.poisson(0.7, size=(n_articles, 5)).astype(float)
        labels = np.arange(n_articles)[:, None] % 2 + 1
        content = {f"{stem}_data": sparse.csc_matrix(counts[part]), f"{stem}_label": labels}
        savemat(tmp_path / f"{stem}.mat", content)
        paths[f"{stem}.mat"] = tmp_path / f"{stem}.mat"
    return paths, counts


def test_articles_as_counts(reuters):
    paths, counts = reuters
    for role, part in (("source", "src"), ("target", "tar")):
        X, y = reuters_transfer.load(f"orgs_people_{role}", paths)
        check_domain(role, X, y, {"features": 5}, 2)
        np.testing.assert_array_equal(X.toarray(), counts[part])
        np.testing.assert_array_equal(y, np.arange(len(y)) % 2)


def test_articles_as_tfidf(reuters):
    paths, counts = reuters
    X, _ = reuters_transfer.load("orgs_people_target", paths, weighting="tfidf")
    expected = TfidfTransformer().fit(np.vstack(list(counts.values()))).transform(counts["tar"])
    np.testing.assert_allclose(X.toarray(), expected.toarray())


def test_wrong_articles(reuters):
    paths, _ = reuters
    with pytest.raises(ValueError, match=r"no domain 'orgs_source'. Did you mean 'orgs_p"):
        reuters_transfer.load("orgs_source", paths)
    sources = {"OrgsPeople_src.mat": paths["OrgsPeople_src.mat"]}
    assert reuters_transfer.load("orgs_people_source", sources)[0].shape == (8, 5)
    with pytest.raises(
        ValueError, match=r"the file OrgsPeople_tar\.mat is missing; the domain has OrgsPe"
    ):
        reuters_transfer.load("orgs_people_source", sources, weighting="tfidf")


@needs_mirror
@pytest.mark.parametrize(
    ("domain", "shape"),
    [
        ("orgs_people_source", (1237, 4771)),
        ("orgs_people_target", (1208, 4771)),
        ("orgs_places_source", (1016, 4415)),
        ("orgs_places_target", (1043, 4415)),
        ("people_places_source", (1077, 4562)),
        ("people_places_target", (1077, 4562)),
    ],
)
def test_the_real_articles(domain, shape):
    paths = {path.name: path for path in (Path(MIRROR) / "reuters_transfer").glob("*.mat")}
    X, y = find_loader("reuters_transfer:load")(domain, paths)
    assert X.shape == shape
    assert np.diff(X.indptr).min() > 0
    assert np.bincount(y).min() > 400
