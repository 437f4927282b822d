import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from domain_alignment import CORAL, FMACV, JDA, KEMA, MMDTCV, TCA, PCAAligner
from domain_alignment.utils._feature_names import (
    check_common_order,
    check_names,
    feature_names,
    remember_names,
    remembered_names,
    warn_of_missing_names,
)
from scipy import sparse


@pytest.fixture
def frames(make_domains):
    """Data frames of two domains with the same named columns, and their labels."""
    Xs, ys = make_domains(((40, 5), (36, 5)))
    return [pd.DataFrame(X, columns=list("abcde")) for X in Xs], ys


PERMUTED = list("abdce")


def test_names_of_what_has_names():
    X = np.eye(2)
    assert feature_names(pd.DataFrame(X, columns=["u", "v"])).tolist() == ["u", "v"]
    for nameless in (X, X.tolist(), sparse.csr_array(X), pd.DataFrame(X), None):
        assert feature_names(nameless) is None


def test_names_that_cannot_be_used():
    with pytest.raises(ValueError, match=r"domain 1: .* such as 3; give strings only"):
        feature_names(pd.DataFrame(np.eye(2), columns=["u", 3]), "domain 1")
    with pytest.raises(ValueError, match="X: has two columns 'u'; rename one"):
        feature_names(pd.DataFrame(np.eye(2), columns=["u", "u"]))


def test_names_are_compared_only_where_both_are_known():
    names = np.array(["u", "v"], dtype=object)
    check_names(None, names, "X", "")
    check_names(names, None, "X", "")
    check_names(names, names.copy(), "X", "")
    with pytest.raises(
        ValueError, match=r"X: column 1 is 'w', but was 'v' .*'w' not in fit; 'v' mi"
    ):
        check_names(np.array(["u", "w"], dtype=object), names, "X", "rename")
    with pytest.raises(ValueError, match="X: 'w' not in fit; none missing; rename"):
        check_names(np.array(["u", "v", "w"], dtype=object), names, "X", "rename")


def test_a_warning_where_one_side_has_no_names():
    names = np.array(["u"], dtype=object)
    with pytest.warns(UserWarning, match="X: has no column names, but TCA was fitted with them"):
        warn_of_missing_names(None, names, "X", "TCA")
    with pytest.warns(UserWarning, match="X: has column names, but TCA was fitted without"):
        warn_of_missing_names(names, None, "X", "TCA")


def test_only_shared_names_have_an_order():
    one, renamed = np.array(["a", "b"], dtype=object), np.array(["a", "z"], dtype=object)
    check_common_order([one, renamed, None], "why")
    check_common_order([None, None], "why")
    with pytest.raises(
        ValueError, match="domain 2: column 0 is 'b', which is column 1 of domain 1"
    ):
        check_common_order([None, one, one[::-1]], "why")


@dataclass(frozen=True)
class Model:
    width: int


def test_a_prepared_model_remembers_names_if_it_can():
    names = np.array(["u"], dtype=object)
    assert remembered_names(pickle.loads(pickle.dumps(remember_names(Model(1), names)))) == ["u"]
    assert remembered_names(remember_names([Model(1), None], names)) is names
    for nothing in (remember_names(Model(1), None), remember_names(np.eye(2), names), None):
        assert remembered_names(nothing) is None


@pytest.mark.parametrize(
    "method", [TCA(2), CORAL(), PCAAligner(2), JDA(2)], ids=lambda m: type(m).__name__
)
def test_columns_in_another_order_between_domains_are_refused(frames, method):
    Xs, ys = frames
    method.fit(Xs, ys)
    assert [names.tolist() for names in method.feature_names_in_] == [list("abcde")] * 2
    with pytest.raises(
        ValueError, match=r"domain 1: column 2 is 'd', which is column 3 of domain 0"
    ):
        method.fit([Xs[0], Xs[1][PERMUTED]], ys)


def test_domains_with_maps_of_their_own_may_have_any_columns(frames):
    Xs, ys = frames
    kema = KEMA(n_components=2, n_neighbors=5).fit([Xs[0], Xs[1][PERMUTED]], ys)
    assert kema.feature_names_in_[1].tolist() == PERMUTED
    kema.transform(Xs[1][PERMUTED], 1)
    with pytest.raises(ValueError, match=r"X: column 2 is 'c', but was 'd' .* of domain 1"):
        kema.transform(Xs[1], 1)


@pytest.mark.parametrize(
    ("method", "ask"),
    [
        (TCA(2), "transform"),
        (JDA(2), "transform"),
        (JDA(2), "predict"),
        (MMDTCV(cv=2), "predict"),
        (FMACV(n_components=4, n_neighbors=5), "transform"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_new_samples_have_the_columns_of_fit(frames, method, ask):
    Xs, ys = frames
    method.fit(Xs, ys)
    call = getattr(method, ask)
    call(Xs[1], -1)
    with pytest.raises(ValueError, match=r"X: column 2 is 'd', but was 'c' in fit .*another order"):
        call(Xs[1][PERMUTED], -1)
    with pytest.raises(ValueError, match=r"X: column 4 is 'z', but was 'e' .*'z' not in fit"):
        call(Xs[1].rename(columns={"e": "z"}), -1)
    with pytest.warns(UserWarning, match="no column names"):
        call(Xs[1].to_numpy(), -1)


def test_a_fit_without_names_forgets_those_of_the_last(frames):
    Xs, ys = frames
    tca = TCA(2).fit(Xs, ys).fit([X.to_numpy() for X in Xs], ys)
    assert not hasattr(tca, "feature_names_in_")


def test_a_prepared_model_is_of_the_same_columns(frames):
    Xs, ys = frames
    for method in (KEMA(n_components=2, n_neighbors=5), FMACV(n_components=4, n_neighbors=5)):
        model = method.prepare(Xs[1])
        method.fit(Xs, ys, prepared=[None, model])
        assert not method.accepts(model, Xs[1][PERMUTED])
        with pytest.raises(
            ValueError, match=r"domain 1: column 2 is 'd', but was 'c' in prepare .*repeat it"
        ):
            method.fit([Xs[0], Xs[1][PERMUTED]], ys, prepared=[None, model])


def test_a_name_shared_by_the_later_domains_alone_is_compared_too():
    names = [np.array(pair, dtype=object) for pair in (["a", "b"], ["c", "d"], ["d", "c"])]
    with pytest.raises(
        ValueError, match=r"domain 2: column 0 is 'd', which is column 1 of domain 1"
    ):
        check_common_order(names, "one map serves all")
