"""Reviews on small made-up files of the published form; the real ones: test_datasets.py."""

import numpy as np
import pytest

from workflow.loaders._check import check_domain
from workflow.loaders.amazon_reviews import N_WORDS, load


@pytest.fixture
def books(tmp_path):
    content = {
        "books_train.svmlight": "1 0:2 7:1\n-1 4999:3\n",
        "books_test.svmlight": "-1\n1 2:1\n-1 0:1 2:5\n",
    }
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in content}


def test_training_reviews_come_first(books):
    X, y = load("books", books)
    check_domain("books", X, y, {"samples": 5, "features": N_WORDS}, 2)
    np.testing.assert_array_equal(y, [1, 0, 0, 1, 0])
    expected = np.zeros((5, N_WORDS))
    expected[[0, 0, 1, 3, 4, 4], [0, 7, 4999, 2, 0, 2]] = [2, 1, 3, 1, 1, 5]
    np.testing.assert_array_equal(X.toarray(), expected)


def test_reviews_without_a_word_may_be_left_out(books):
    X, y = load("books", books, empty=False)
    np.testing.assert_array_equal(y, [1, 0, 1, 0])
    assert X.sum(axis=1).all()


def test_the_counts_suit_a_linear_machine_of_scikit_learn(books):
    from sklearn.svm import LinearSVC

    X, y = load("books", books)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert LinearSVC().fit(X, y).predict(X).shape == y.shape


def test_wrong_files(books):
    train = {"books_train.svmlight": books["books_train.svmlight"]}
    with pytest.raises(ValueError, match=r"books_test\.svmlight is missing; the domain has books_"):
        load("books", train)
    books["books_train.svmlight"].write_text("1 0:2\n2 1:1\n")
    with pytest.raises(ValueError, match="line 2: label 2, not -1 or 1"):
        load("books", books)
    books["books_train.svmlight"].write_text("1 5000:2\n")
    with pytest.raises(ValueError, match="set to 5000, but input file contains 5001"):
        load("books", books)
