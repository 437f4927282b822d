"""Capabilities that the contract test of the methods does not run: verified for every entry."""

import numpy as np
import pytest
from domain_alignment import KEMA
from domain_alignment.exceptions import AlignmentError
from sklearn.exceptions import ConvergenceWarning

from tests.methods.test_contract import ENTRIES, domains_of, make
from tests.workflow.studies.parts import complete
from workflow.studies.kema import taxonomy as kema_taxonomy

pytestmark = pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)


@pytest.fixture(params=ENTRIES)
def name(request):
    return request.param


@pytest.fixture
def method(name):
    return make(name)


def same_up_to_turns(one, other):
    """Axes may turn where angles between subspaces are equal; inner products may not change."""
    expected, found = one @ one.T, other @ other.T
    # Solvers that visit rows in a random order end a little elsewhere; pairs torn apart, far away.
    return np.linalg.norm(expected - found) < 0.1 * np.linalg.norm(expected)


def test_linear_maps_are_affine_and_others_are_not(name, method):
    Xs, ys = domains_of(name)
    method.fit(Xs, ys)
    d = 1 if name == "svm_target_rbf" else 0  # whose source is mapped to all but one point
    one, other = Xs[d][:10], Xs[d][20:30]
    middle = method.transform((one + other) / 2, d)
    expected = (method.transform(one, d) + method.transform(other, d)) / 2
    affine = np.allclose(middle, expected, atol=1e-7 * np.abs(expected).max())
    assert affine == (not method.capabilities.nonlinear)


def test_rows_need_not_correspond(name, method):
    """The rows of one domain in another order leave the other domain where it was."""
    assert not method.capabilities.needs_pairs  # no entry does; one that does needs a test here
    of_each = isinstance(method, KEMA) and method.landmarks is not None  # others draw from all
    if of_each:
        method.set_params(landmarks=[np.arange(0, 45, 3), np.arange(0, 48, 3)])
    Xs, ys = domains_of(name)
    order = np.random.default_rng(0).permutation(len(Xs[0]))
    target = method.fit(Xs, ys).embeddings_[1]
    if of_each:
        moved = np.flatnonzero(np.isin(order, method.landmarks[0]))
        method.set_params(landmarks=[moved, method.landmarks[1]])
    moved = method.fit([Xs[0][order], Xs[1]], [ys[0][order], ys[1]]).embeddings_[1]
    assert same_up_to_turns(target, moved)


def test_invertible_is_to_have_a_map_back(name, method):
    Xs, ys = domains_of(name)
    method.fit(Xs, ys)
    if hasattr(method, "map_to"):
        try:
            mapped = method.map_to(Xs[0], source=0, target=1)
        except AlignmentError:
            assert not method.capabilities.invertible
        else:
            assert method.capabilities.invertible
            assert mapped.shape == (len(Xs[0]), Xs[1].shape[1])
        return
    assert hasattr(method, "inverse_transform") == method.capabilities.invertible


def test_the_papers_methods_beside_ours():
    table = kema_taxonomy.tables(kema_taxonomy.run({})[0], {})["paper"]
    rows = {row[0].text: [cell.text for cell in row] for row in table.rows}
    assert rows["PCA"][1:4] == ["PCA", "none", "✓"]
    assert rows["KEMA"][table_column(table, "Nonlinear")] == "some"
    assert "not implemented" in rows["GM"][-1]
    assert rows["GM"][1:-1] == ["–", "–"] + [""] * len(kema_taxonomy.PROPERTIES)


def table_column(table, label):
    return [column.label for column in table.columns].index(label)


def test_the_taxonomy_lists_every_entry_and_what_it_declares():
    records, arrays = kema_taxonomy.run({})
    table = complete(kema_taxonomy, records, arrays)["taxonomy"]
    names = {r["method"]: r for r in records}
    assert names["kema_rbf"]["nonlinear"]
    assert not names["ssma"]["nonlinear"]
    assert names["source_only"]["labels"] == "none"
    assert len(table.rows) == len(records)
    few = [names[name] for name in ("pca", "gfk", "kema_rbf")]
    assert kema_taxonomy.finding(few, arrays) == (
        "Of 3 methods, 2 are fitted without labels, 0 may see those of the source and 1 those of "
        "source and target; a classifier on top is trained as the protocol says. 2 align more than "
        "two domains at once, 1 take domains with different features, 1 do both; the other 2 need "
        "the same features."
    )
    assert kema_taxonomy.finding(records, arrays).startswith(f"Of {len(records)} methods, ")
    used = [row[1].text for row in table.rows]
    assert used == sorted(used, key=["none", "source", "source and target"].index)
