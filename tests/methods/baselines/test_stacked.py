import pickle

import numpy as np
import pytest
from domain_alignment.baselines._kernel_pca import KernelPCAAligner
from domain_alignment.baselines._pca import PCAAligner
from domain_alignment.exceptions import AlignmentError
from scipy import sparse
from sklearn.base import clone

from tests.methods.signs import assert_equal_up_to_sign

STACKED = [PCAAligner(3), KernelPCAAligner(3), KernelPCAAligner(3, kernel="cosine")]


@pytest.fixture
def domains(make_domains):
    return make_domains(((30, 6), (25, 6), (20, 6)))[0]


@pytest.mark.parametrize("aligner", STACKED)
def test_all_domains_have_one_map(domains, aligner):
    aligner.fit(domains)
    for a, X in enumerate(domains):
        np.testing.assert_allclose(aligner.transform(X, a), aligner.embeddings_[a], atol=1e-9)
        np.testing.assert_array_equal(aligner.transform(X, 0), aligner.transform(X, -1))
    again = pickle.loads(pickle.dumps(aligner))
    np.testing.assert_array_equal(again.transform(domains[0], 0), aligner.transform(domains[0], 0))


@pytest.mark.parametrize("aligner", STACKED)
def test_the_target_alone_is_decomposed_as_if_it_were_the_only_domain(domains, aligner):
    alone = clone(aligner).set_params(domains="target").fit(domains)
    only = clone(aligner).fit([domains[-1][:10], domains[-1][10:]])
    target = np.vstack(only.embeddings_)
    assert_equal_up_to_sign(alone.embeddings_[-1], target, atol=1e-9)
    np.testing.assert_allclose(
        alone.transform(domains[0], 0), alone.transform(domains[0], -1), atol=1e-12
    )
    np.testing.assert_allclose(alone.embeddings_[0], alone.transform(domains[0], 0), atol=1e-12)
    assert (alone.classifier_rows, aligner.classifier_rows) == ("target", None)


@pytest.mark.parametrize("aligner", STACKED)
def test_a_domain_with_other_features_is_zeros_beside_the_target_alone(domains, aligner):
    wider = np.hstack([domains[0], domains[0]])
    with pytest.raises(ValueError, match='use domains="target" for the target alone'):
        clone(aligner).fit([wider, domains[1]])
    alone = clone(aligner).set_params(domains="target").fit([wider, domains[1]])
    assert not alone.embeddings_[0].any()
    assert alone.embeddings_[0].shape == (len(wider), 3)
    assert not alone.transform(wider, 0).any()
    assert alone.capabilities.heterogeneous
    if alone.capabilities.invertible:
        with pytest.raises(AlignmentError, match="no way back"):
            alone.inverse_transform(alone.embeddings_[0], domain=0)
        back = alone.inverse_transform(alone.embeddings_[1], domain=1)
        assert back.shape == domains[1].shape


@pytest.mark.parametrize("aligner", STACKED)
def test_order_of_samples(domains, aligner):
    before = aligner.fit(domains).embeddings_[1]
    order = np.random.default_rng(1).permutation(len(domains[1]))
    after = aligner.fit([domains[0], domains[1][order], domains[2]]).embeddings_[1]
    assert_equal_up_to_sign(after, before[order], atol=1e-9)


@pytest.mark.parametrize("aligner", [*STACKED, PCAAligner(6)])
def test_sparse_features(domains, aligner):
    counts = [np.where(X > 0.3, X, 0) for X in domains]
    dense = aligner.fit(counts).embeddings_
    thin = aligner.fit([sparse.csr_array(X) for X in counts]).embeddings_
    assert_equal_up_to_sign(thin, dense, atol=1e-8)
    mixed = aligner.fit([counts[0], *(sparse.csr_array(X) for X in counts[1:])]).embeddings_
    assert_equal_up_to_sign(mixed, dense, atol=1e-8)


def test_identical_domains_and_equal_samples(domains):
    for aligner in STACKED:
        one, other = aligner.fit([domains[0], domains[0]]).embeddings_
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    equal = [np.ones((4, 3))] * 2
    for Z in KernelPCAAligner(2, gamma=0.5).fit(equal).embeddings_:
        np.testing.assert_allclose(Z, 0, atol=1e-7)
    with pytest.raises(AlignmentError, match="the samples of all domains: all are equal, so there"):
        PCAAligner(2).fit(equal)
    with pytest.raises(AlignmentError, match="the samples of all domains: all are equal, so gamma"):
        KernelPCAAligner(2).fit(equal)
    alone = [domains[0][:, :3], np.ones((4, 3))]
    with pytest.raises(AlignmentError, match="the samples of the target: all are equal, so there"):
        PCAAligner(2, domains="target").fit(alone)
    with pytest.raises(AlignmentError, match="the samples of the target: all are equal, so gamma"):
        KernelPCAAligner(2, domains="target").fit(alone)


def test_models_of_earlier_versions_are_of_all_domains(domains):
    for aligner in (PCAAligner(3), KernelPCAAligner(3)):
        old = clone(aligner).fit(domains)
        del old.__dict__["domains"]
        again = pickle.loads(pickle.dumps(old))
        np.testing.assert_allclose(again.transform(domains[0], 0), old.embeddings_[0], atol=1e-9)
        assert again.get_params()["domains"] == "all"
        assert again.classifier_rows is None


@pytest.mark.parametrize("aligner", STACKED)
def test_different_features(aligner):
    with pytest.raises(ValueError, match="domain 1: has 5 features, domain 0 has 6"):
        aligner.fit([np.eye(6), np.ones((3, 5))])
