"""Weights of words."""

from scipy import sparse

from workflow.loaders._text import weigh


def test_empty_documents_stay_empty():
    X = weigh(sparse.csr_array((2, 3)), sparse.csr_array((4, 3)), "tfidf")
    assert X.shape == (2, 3)
    assert not X.nnz
