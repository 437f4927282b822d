import numpy as np
import pytest
from domain_alignment.max_margin._one_vs_all import one_vs_all
from scipy import optimize, sparse


def by_minimising(X, y, weights, n_classes):
    def objective(theta, s):
        short = np.maximum(0, 1 - s * (X @ theta))
        return theta @ theta / 2 + weights @ short**2, theta - 2 * X.T @ (weights * s * short)

    zero = np.zeros(X.shape[1])
    options = {"jac": True, "options": {"gtol": 1e-10, "ftol": 1e-15}, "method": "L-BFGS-B"}
    return np.array(
        [
            optimize.minimize(objective, zero, args=(np.where(y == k, 1, -1),), **options).x
            for k in range(n_classes)
        ]
    )


# All classes there; one missing; two; one; none of the first.
@pytest.mark.parametrize(
    ("classes", "n_classes"), [((0, 1, 2, 3), 4), ((0, 2), 3), ((0, 1), 2), ((0,), 1), ((1,), 2)]
)
def test_every_class_gets_its_own_optimum(classes, n_classes):
    rng = np.random.default_rng(0)
    y = np.array(classes)[np.arange(24) % len(classes)]
    X, weights = rng.normal(size=(24, 5)) + y[:, None], rng.uniform(0.1, 2, size=24)
    expected = by_minimising(X, y, weights, n_classes)
    coef = one_vs_all(X, y, weights, n_classes, tol=1e-7, random_state=0)
    assert coef.shape == (n_classes, 5)
    np.testing.assert_allclose(coef, expected, atol=1e-4)
    rows = sparse.csr_matrix(X)
    again = one_vs_all(rows, y, weights, n_classes, tol=1e-7, random_state=0)
    np.testing.assert_allclose(again, expected, atol=1e-4)


def test_wrong_labels_and_weights():
    with pytest.raises(ValueError, match="y: labels are 0 to 2; classes are 0 to 1"):
        one_vs_all(np.eye(3), [0, 1, 2], np.ones(3), 2)
    with pytest.raises(ValueError, match=r"weights have shape \(2,\); give one for each of 3 rows"):
        one_vs_all(np.eye(3), [0, 1, 2], np.ones(2), 3)
