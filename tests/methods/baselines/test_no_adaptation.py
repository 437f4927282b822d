import numpy as np
import pytest
from domain_alignment.baselines._no_adaptation import NoAdaptation
from scipy import sparse


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_embedding_is_the_input(convert):
    Xs = [convert(np.eye(3)), convert(np.ones((2, 3)))]
    baseline = NoAdaptation().fit(Xs)
    assert [type(Z) for Z in baseline.embeddings_] == [type(X) for X in Xs]
    assert all(abs(Z - X).max() == 0 for Z, X in zip(baseline.embeddings_, Xs, strict=True))
    again = baseline.transform(Xs[0], 1)
    assert type(again) is type(Xs[0])
    assert abs(again - Xs[0]).max() == 0
    assert baseline.n_components_ == 3


@pytest.mark.parametrize(
    ("domains", "rows"), [("source", "source"), ("target", "target"), ("both", "source+target")]
)
def test_rows_for_the_classifier(domains, rows):
    assert NoAdaptation(domains=domains).classifier_rows == rows


def test_only_the_targets_baseline_is_heterogeneous():
    Xs = [np.eye(3), np.ones((2, 5)), np.ones((2, 4))]
    target = NoAdaptation(domains="target")
    assert target.capabilities.heterogeneous
    assert target.fit(Xs).n_components_ == 4
    for domains in ("source", "both"):
        assert not NoAdaptation(domains=domains).capabilities.heterogeneous
        with pytest.raises(ValueError, match=r"domain 1: has 5 features, domain 0 has 3; .*target"):
            NoAdaptation(domains=domains).fit(Xs)


def test_unknown_domains():
    with pytest.raises(ValueError, match="'domains' parameter of NoAdaptation must be a str among"):
        NoAdaptation(domains="all").fit([np.eye(2)] * 2)
