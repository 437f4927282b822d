"""20 Newsgroups on a small made-up archive of the published form, and on the real one."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from tests.workflow.loaders.entries import MIRROR, needs_mirror
from workflow.loaders import newsgroups
from workflow.loaders._check import check_domain

GROUPS = [group for pair in newsgroups.GROUPS.values() for groups in pair for group in groups]

POST = """From: someone@somewhere
Subject: header word

In article <1> another writes:
> quoted word
The body has a {topic} word.

--
footer signature
"""


def write_archive(path, posts):
    """An archive of (name, text)."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in posts:
            content = text.encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return {path.name: path}


@pytest.fixture
def archive(tmp_path):
    """Three posts per group, two of them in the first part; one more that has no words."""
    posts = [
        (f"20news-bydate-{part}/{group}/{number}", POST.format(topic=group.replace(".", " ")))
        for group in sorted(set(GROUPS))
        for part, number in (("test", 9), ("train", 10), ("train", 2))
    ]
    posts.append(("20news-bydate-test/rec.autos/11", "From: x\n\n\n"))
    return write_archive(tmp_path / "20news-bydate.tar.gz", posts)


def test_posts_of_a_domain(archive):
    for domain, n_posts in (("comp_rec_source", [6, 7]), ("comp_sci_target", [6, 6])):
        X, y = newsgroups.load(domain, archive)
        check_domain(domain, X, y, {"samples": sum(n_posts)}, 2)
        assert y.dtype == np.int64
        np.testing.assert_array_equal(np.bincount(y), n_posts)


def test_both_domains_of_a_task_share_their_words(archive):
    source, _ = newsgroups.load("comp_rec_source", archive, min_df=1)
    target, _ = newsgroups.load("comp_rec_target", archive, min_df=1)
    other, _ = newsgroups.load("comp_sci_target", archive, min_df=1)
    assert source.shape[1] == target.shape[1]
    assert other.shape[1] != source.shape[1]
    assert np.diff(source.indptr)[-1] > 0
    assert np.count_nonzero(np.diff(source.indptr) == 0) == 1  # the post without words


def test_the_most_frequent_words_of_both_domains(archive):
    X, _ = newsgroups.load("comp_rec_source", archive, min_df=1)
    target, _ = newsgroups.load("comp_rec_target", archive, min_df=1)
    some, _ = newsgroups.load("comp_rec_source", archive, min_df=1, words=3)
    assert some.shape == (X.shape[0], 3)
    often = np.argsort(-(X.sum(axis=0) + target.sum(axis=0)), kind="stable")
    np.testing.assert_array_equal(some.toarray(), X.toarray()[:, np.sort(often[:3])])


def test_posts_without_words_may_be_left_out(archive):
    X, y = newsgroups.load("comp_rec_source", archive, weighting="tfidf", min_df=1)
    some, labels = newsgroups.load(
        "comp_rec_source", archive, weighting="tfidf", min_df=1, empty=False
    )
    kept = np.diff(X.indptr) > 0
    assert np.count_nonzero(~kept) == 1
    np.testing.assert_array_equal(some.toarray(), X.toarray()[kept])
    np.testing.assert_array_equal(labels, y[kept])


def test_the_order_is_group_then_part_then_number(tmp_path):
    posts = [
        (f"20news-bydate-{part}/{group}/{number}", f"\n\nw{part}{number} common\n")
        for group in sorted(set(GROUPS), reverse=True)
        for part, number in (("test", 1), ("train", 10), ("train", 9))
    ]
    paths = write_archive(tmp_path / "news.tar.gz", posts)
    X, _ = newsgroups.load("comp_rec_target", paths, min_df=1)
    # Columns: common, wtest1, wtrain10, wtrain9
    assert X.shape == (12, 4)
    np.testing.assert_array_equal(X.toarray()[:, 1:].argmax(axis=1)[:6], [2, 1, 0, 2, 1, 0])


@pytest.mark.parametrize(
    ("remove", "gone", "kept"),
    [
        ((), (), ("header", "quoted", "body", "footer")),
        (("headers",), ("header",), ("quoted", "body", "footer")),
        (("quotes",), ("quoted", "writes"), ("header", "body", "footer")),
        (("footers",), ("footer",), ("header", "quoted", "body")),
        (("footers", "quotes", "headers"), ("header", "quoted", "footer"), ("body",)),
    ],
)
def test_what_is_cut(remove, gone, kept):
    text = newsgroups.clean(POST, remove)
    assert all(word not in text for word in gone)
    assert all(word in text for word in kept)


def test_a_post_of_one_line_has_no_footer():
    assert newsgroups.clean("one line", ("footers",)) == "one line"
    assert newsgroups.clean("one\n\ntwo", ("footers",)) == "one"


def test_windows_line_ends_are_lines(tmp_path):
    posts = [(f"a-train/{group}/1", "From: x\r\n\r\nbody words\r\n") for group in set(GROUPS)]
    X, _ = newsgroups.load("comp_rec_source", write_archive(tmp_path / "a.tgz", posts), min_df=1)
    assert X.shape == (4, 2)


def test_tfidf_is_scikit_learns_on_both_domains(archive):
    remove = ("headers", "footers", "quotes")
    X, _ = newsgroups.load("comp_sci_source", archive, weighting="tfidf", remove=remove, min_df=1)
    texts = {
        role: [
            newsgroups.clean(POST.format(topic=group.replace(".", " ")), remove)
            for groups in newsgroups.GROUPS[f"comp_sci_{role}"]
            for group in groups
            for _ in range(3)
        ]
        for role in ("source", "target")
    }
    vectorizer = TfidfVectorizer(stop_words="english").fit(texts["source"] + texts["target"])
    np.testing.assert_allclose(X.toarray(), vectorizer.transform(texts["source"]).toarray())


def test_wrong_archives(archive, tmp_path):
    with pytest.raises(ValueError, match=r"no domain 'comp_rec'. Did you mean 'comp_rec_"):
        newsgroups.load("comp_rec", archive)
    with pytest.raises(ValueError, match=r"remove: unknown 'header'. Known: headers, footers"):
        newsgroups.load("comp_rec_source", archive, remove=["header"])
    with pytest.raises(ValueError, match=r"weighting: unknown 'idf'. Known: counts, tfidf"):
        newsgroups.load("comp_rec_source", archive, weighting="idf")
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(next(iter(archive.values())).read_bytes()[:300])
    with pytest.raises(ValueError, match=r"broken.tar.gz: cannot be read .*and complete\?"):
        newsgroups.load("comp_rec_source", {"broken.tar.gz": broken})
    part = write_archive(tmp_path / "part.tar.gz", [("a-train/rec.autos/1", POST)])
    with pytest.raises(ValueError, match=r"no post of comp.graphics, .* Expected files"):
        newsgroups.load("comp_rec_source", part)


@pytest.mark.whole_run
@needs_mirror
@pytest.mark.parametrize(
    ("domain", "shape", "per_class"),
    [("comp_rec_source", (3944, 23522), [1958, 1986]), ("comp_sci_target", (3922, 24372), None)],
)
def test_the_real_posts(domain, shape, per_class):
    path = Path(MIRROR) / "text/20news-bydate.tar.gz"
    X, y = newsgroups.load(domain, {path.name: path}, weighting="tfidf")
    assert X.shape == shape
    assert per_class is None or np.bincount(y).tolist() == per_class
    assert np.count_nonzero(np.diff(X.indptr) == 0) < 20
