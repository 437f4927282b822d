import pickle

import numpy as np
import pytest
import sklearn
from domain_alignment.baselines import _stacked
from domain_alignment.baselines._kernel_pca import KernelPCAAligner
from domain_alignment.baselines._pca import PCAAligner
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import _memory
from measure import peak_bytes
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.preprocessing import normalize

from tests.methods.signs import assert_equal_up_to_sign


@pytest.fixture
def domains(make_domains):
    return make_domains(((30, 6), (25, 6), (20, 6)))[0]


def test_kernel_pca_has_the_eigenvectors_of_the_centred_kernel(domains):
    kpca = KernelPCAAligner(3, gamma=0.1).fit(domains)
    X = np.vstack(domains)
    H = np.eye(len(X)) - 1 / len(X)
    K = rbf_kernel(X, gamma=0.1)
    values, vectors = np.linalg.eigh(H @ K @ H)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    expected = vectors * np.sqrt(values)
    new = domains[0][:4] + 0.2
    centred = (rbf_kernel(new, X, gamma=0.1) - K.mean(axis=0)) @ H
    by_hand = centred @ vectors / np.sqrt(values)
    found = [*kpca.embeddings_, kpca.transform(new, 0)]
    assert_equal_up_to_sign(found, [expected, by_hand], atol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("of_fit", "after"), [("pandas", "default"), ("default", "pandas")])
def test_landmarks_do_not_remember_which_containers_were_asked_for(domains, of_fit, after):
    with sklearn.config_context(transform_output=of_fit):
        kpca = KernelPCAAligner(3, landmarks=20, random_state=0).fit(domains)
    with sklearn.config_context(transform_output=after):
        Z = np.asarray(kpca.transform(domains[0], 0))
    np.testing.assert_allclose(Z, kpca.embeddings_[0], atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_the_width_of_kernel_pca_is_the_median(domains, kernel):
    X = np.vstack(domains)
    expected = 1 / np.median(pdist(X, "sqeuclidean"))
    kpca = KernelPCAAligner(3, kernel=kernel).fit(domains)
    assert kpca.gamma == "median"
    assert kpca.gamma_ == pytest.approx(expected)
    same = KernelPCAAligner(3, kernel=kernel, gamma=kpca.gamma_).fit(domains)
    assert same.gamma_ == kpca.gamma_
    for Z, F in zip(kpca.embeddings_, same.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, F)


def test_the_unit_of_the_features_does_not_matter_to_kernel_pca(domains):
    before = KernelPCAAligner(3).fit(domains).embeddings_
    after = KernelPCAAligner(3).fit([1000 * X for X in domains]).embeddings_
    for Z, F in zip(before, after, strict=True):
        np.testing.assert_allclose(F, Z, atol=1e-9)


@pytest.mark.parametrize("landmarks", [None, 20, 75])
def test_a_common_offset_does_not_matter_to_kernel_pca(domains, landmarks):
    params = {"gamma": 0.1, "landmarks": landmarks}
    near = KernelPCAAligner(3, **params).fit(domains)
    far = KernelPCAAligner(3, **params).fit([X + 2.0**23 for X in domains])
    assert_equal_up_to_sign(far.embeddings_, near.embeddings_, atol=1e-6)
    new = domains[0][:7] + 0.25
    for form in (np.asarray, sparse.csr_array):
        moved = form(new + 2.0**23)
        found = [*far.embeddings_, far.transform(moved, 0)]
        assert_equal_up_to_sign(found, [*near.embeddings_, near.transform(new, 0)], atol=1e-6)
    again = pickle.loads(pickle.dumps(far))
    np.testing.assert_array_equal(again.transform(moved, 0), far.transform(moved, 0))
    np.testing.assert_allclose(
        np.vstack(far.transform(domains[1] + 2.0**23, 1)), far.embeddings_[1], atol=1e-8
    )
    # Fitted anew to samples near zero it forgets the offset.
    assert_equal_up_to_sign(far.fit(domains).embeddings_, near.embeddings_, atol=0)


@pytest.mark.parametrize("landmarks", [None, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [2.0**-54, 2.0**-600])
def test_the_length_of_rows_does_not_matter_to_the_cosine(domains, landmarks, form, scale):
    aligner = KernelPCAAligner(3, kernel="cosine", landmarks=landmarks)
    before = [*aligner.fit(domains).embeddings_, aligner.transform(domains[0][:5], 0)]
    some = [X.copy() for X in domains]
    for X in some:
        X[::2] *= scale
    Xs = [form(X) for X in some]
    after = [*aligner.fit(Xs).embeddings_, aligner.transform(Xs[0][:5], 0)]
    assert_equal_up_to_sign(after, before, atol=1e-9)


def test_one_far_sample_leaves_the_width_alone(domains):
    domains[0][0, 0] = 1e8
    expected = 1 / np.median(pdist(np.vstack(domains), "sqeuclidean"))
    assert KernelPCAAligner(3).fit(domains).gamma_ == pytest.approx(expected)


def test_kernel_pca_on_rows_of_length_1_is_not_pca(domains):
    """What 1 / n_features made of it where there are many features: a map all but linear."""
    unit = [np.hstack([normalize(X), np.zeros((len(X), 994))]) for X in domains]
    linear = np.vstack(PCAAligner(3).fit(unit).embeddings_)
    misfits = []
    for gamma in (1e-3, "median"):
        Z = np.vstack(KernelPCAAligner(3, gamma=gamma).fit(unit).embeddings_)
        Z *= np.linalg.norm(linear) / np.linalg.norm(Z)
        misfits.append(np.abs(np.abs(Z) - np.abs(linear)).max())
    assert misfits[0] < 0.01 < 0.1 < misfits[1]


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_kernels_without_a_width(domains, kernel):
    assert KernelPCAAligner(3, kernel=kernel, gamma=7.0).fit(domains).gamma_ is None


@pytest.mark.parametrize("gamma", [0.0, -1.0, "mean", None])
def test_widths_that_are_none(domains, gamma):
    with pytest.raises(ValueError, match="The 'gamma' parameter of KernelPCAAligner"):
        KernelPCAAligner(gamma=gamma).fit(domains)


def test_linear_kernel_pca_is_pca(domains):
    one, other = PCAAligner(3).fit(domains), KernelPCAAligner(3, kernel="linear").fit(domains)
    for Z, F in zip(one.embeddings_, other.embeddings_, strict=True):
        np.testing.assert_allclose(Z @ Z.T, F @ F.T, atol=1e-9)


def test_indefinite_kernels(domains):
    kpca = KernelPCAAligner(75, kernel="sigmoid", gamma=1.0, coef0=-2.0, eigen_solver="dense")
    with pytest.raises(AlignmentError, match=r"kernel 'sigmoid' has no principal components"):
        kpca.fit(domains)


def test_only_the_linear_kernel_is_linear():
    assert not KernelPCAAligner(kernel="linear").capabilities.nonlinear
    assert KernelPCAAligner(kernel="cosine").capabilities.nonlinear


def test_more_components_than_samples(domains):
    few = [X[:3] for X in domains[:2]]
    with pytest.warns(ConvergenceWarning, match="there are 6 samples; 6 components are used"):
        assert KernelPCAAligner(9).fit(few).n_components_ == 6


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "cosine"])
def test_arpack_finds_what_a_dense_solver_finds(make_domains, kernel):
    Xs = make_domains(((180, 12), (120, 12)))[0]
    dense, auto = (
        KernelPCAAligner(10, kernel=kernel, eigen_solver=solver).fit(Xs)
        for solver in ("dense", "auto")
    )
    assert auto.decomposition_.eigen_solver == "arpack"
    for Z, F in zip(dense.embeddings_, auto.embeddings_, strict=True):
        np.testing.assert_allclose(F, Z, atol=1e-9 * np.abs(Z).max())


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"kernel": "sigmoid"}, "indefinite"),
        ({"kernel": "poly", "coef0": -1.0}, "indefinite"),
        ({"n_components": 40}, "many"),
    ],
)
def test_a_dense_solver_sees_negative_eigenvalues_and_many_components(make_domains, params, why):
    Xs = make_domains(((180, 12), (120, 12)))[0]
    assert KernelPCAAligner(**params)._solver(sum(map(len, Xs))) == "dense", why


@pytest.mark.parametrize("gamma", ["median", 0.3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_estimator_is_the_one_that_scikit_learn_fits(make_domains, gamma, form):
    Xs = [form(X) for X in make_domains(((180, 12), (120, 12)))[0]]
    ours = KernelPCAAligner(10, gamma=gamma).fit(Xs)
    X = (sparse.vstack if sparse.issparse(Xs[0]) else np.vstack)(Xs)
    theirs = KernelPCA(
        10, kernel="rbf", gamma=ours.gamma_, eigen_solver="arpack", random_state=0
    ).fit(X)
    assert ours.decomposition_.get_params() == theirs.get_params()
    assert ours.decomposition_.n_features_in_ == 12
    for domain, part in enumerate(Xs):
        expected = theirs.transform(part)
        np.testing.assert_allclose(ours.embeddings_[domain], expected, atol=1e-9)
        np.testing.assert_allclose(ours.transform(part, domain), expected, atol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "arpack"])
@pytest.mark.parametrize("kernel", ["linear", "cosine", "poly", "rbf"])
def test_components_are_those_of_scikit_learn(make_domains, kernel, solver):
    """More than the features of a linear kernel, whose other eigenvalues are 0."""
    Xs = make_domains(((180, 12), (120, 12)))[0]
    X = np.vstack(Xs)
    ours = KernelPCAAligner(16, kernel=kernel, gamma=0.1, eigen_solver=solver).fit(Xs)
    params = {"gamma": ours.gamma_, "degree": 3, "coef0": 1.0, "random_state": 0}
    theirs = KernelPCA(16, kernel=kernel, eigen_solver=solver, **params).fit(X)
    assert ours.decomposition_.get_params() == theirs.get_params()
    for one, other in (
        (ours.decomposition_.eigenvalues_, theirs.eigenvalues_),
        (np.vstack(ours.embeddings_), theirs.transform(X)),
        (ours.transform(X[:7] + 0.1, 0), theirs.transform(X[:7] + 0.1)),
    ):
        np.testing.assert_allclose(one, other, atol=1e-8 * np.abs(other).max())
    assert ours.decomposition_.gamma_ == theirs.gamma_


def test_a_nearly_constant_kernel_is_centred_without_loss(make_domains):
    """Of entries of 1 - 1e-6 the differences are what counts."""
    Xs = make_domains(((180, 12), (120, 12)))[0]
    ours, dense = (
        KernelPCAAligner(5, gamma=1e-8, eigen_solver=solver).fit(Xs).embeddings_
        for solver in ("auto", "dense")
    )
    for Z, F in zip(ours, dense, strict=True):
        np.testing.assert_allclose(Z, F, atol=1e-7 * np.abs(F).max())


@pytest.mark.filterwarnings("error")
def test_lanczos_that_was_asked_for(make_domains):
    """Negative eigenvalues are told where it sees them; all components are no matter for it."""
    Xs = make_domains(((60, 12), (50, 12)))[0]
    asked = {"eigen_solver": "arpack", "gamma": 0.1}
    with pytest.raises(AlignmentError, match=r"'sigmoid' has no principal .*the eigenvalue -"):
        KernelPCAAligner(105, kernel="sigmoid", coef0=-2.0, **asked).fit(Xs)
    every = KernelPCAAligner(110, **asked).fit(Xs)
    assert every.embeddings_[0].shape == (60, 110)


@pytest.mark.parametrize("kernel", ["linear", "cosine", "poly"])
def test_equal_samples_have_no_components(kernel):
    X = np.full((150, 4), 0.7)
    for Z in KernelPCAAligner(5, kernel=kernel, gamma=0.1).fit([X, X]).embeddings_:
        np.testing.assert_array_equal(Z, 0)


def test_one_kernel_matrix_is_held(make_domains):
    """The distances become the kernel, and the median needs no copy of them."""
    Xs = make_domains(((1000, 5), (1000, 5)))[0]
    small = KernelPCAAligner(2).fit([X[:200] for X in Xs])  # imports
    assert peak_bytes(small.set_params(n_components=4).fit, Xs) < 1.5 * 8 * 2000**2


@pytest.mark.parametrize("kernel", ["rbf", "poly", "cosine"])
def test_all_samples_as_landmarks_are_the_exact_kernel(make_domains, kernel):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    exact = KernelPCAAligner(3, kernel=kernel, gamma=0.3).fit(Xs)
    aligner = KernelPCAAligner(3, kernel=kernel, gamma=0.3, landmarks=70).fit(Xs)
    one, other = (np.vstack(fitted.embeddings_) for fitted in (exact, aligner))
    signs = np.sign((one * other).sum(axis=0))
    np.testing.assert_allclose(other * signs, one, atol=1e-5 * np.abs(one).max())
    assert aligner.landmark_error_ < 1e-6
    assert exact.landmark_error_ is None


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_fewer_landmarks_have_the_components_of_the_approximated_kernel(make_domains, kernel):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    aligner = KernelPCAAligner(3, kernel=kernel, gamma=0.3, landmarks=25).fit(Xs)
    X, params = np.vstack(Xs), {"gamma": 0.3} | ({"coef0": 1.0} if kernel == "poly" else {})
    L = aligner.decomposition_[0].components_
    C = pairwise_kernels(X, L, metric=kernel, **params)
    among = pairwise_kernels(L, L, metric=kernel, **params)
    K = C @ np.linalg.pinv(among, rcond=1e-12, hermitian=True) @ C.T
    whole = pairwise_kernels(X, X, metric=kernel, **params)
    assert aligner.landmark_error_ == pytest.approx(1 - np.trace(K) / np.trace(whole), abs=1e-6)
    H = np.eye(70) - 1 / 70
    Z = np.vstack(aligner.embeddings_)
    values = np.linalg.eigvalsh(H @ K @ H)[:-4:-1]
    np.testing.assert_allclose(H @ K @ H @ Z, Z * values, atol=1e-5 * values[0])
    np.testing.assert_allclose((Z**2).sum(axis=0), values, rtol=1e-5)


def test_the_seed_draws_the_landmarks(make_domains):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    drawn = np.random.RandomState(3)
    some = np.concatenate(Xs)[np.sort(drawn.choice(70, size=10, replace=False))]
    kernel = Nystroem(gamma=1.0 / np.median(pdist(some, "sqeuclidean")), random_state=drawn)
    F = kernel.set_params(n_components=10).fit_transform(np.concatenate(Xs))
    for seed in (3, np.random.RandomState(3)):
        aligner = KernelPCAAligner(10, landmarks=10, random_state=seed).fit(Xs)
        centred = F - F.mean(axis=0)
        Z = np.concatenate(aligner.embeddings_)
        np.testing.assert_allclose(Z @ Z.T, centred @ centred.T, atol=1e-8)


def test_landmarks_hold_no_matrix_of_all_pairs(make_domains):
    Xs, _ = make_domains([(1500, 6), (1500, 6)])
    aligner = KernelPCAAligner(3, landmarks=50)
    assert peak_bytes(aligner.fit, Xs) < 3000**2 * 8 / 4


def test_equal_landmarks_are_blamed_and_not_all_samples(make_domains):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    with pytest.raises(AlignmentError, match="those drawn by landmarks=1: all are equal"):
        KernelPCAAligner(3, landmarks=1).fit(Xs)


def test_landmarks_need_a_kernel_without_negative_eigenvalues(make_domains):
    Xs, _ = make_domains([(40, 6), (30, 6)])
    with pytest.raises(ValueError, match="'sigmoid' may have with these parameters"):
        KernelPCAAligner(kernel="sigmoid", landmarks=10).fit(Xs)


@pytest.mark.parametrize(
    ("n_categories", "n_times", "n_components"),
    [(50, 2, 5), (100, 1, 5), (180, 1, 5), (111, 2, 20), (60, 8, 10)],
)
def test_categories_in_equal_numbers_have_as_many_components_as_asked(
    n_categories, n_times, n_components
):
    """One eigenvalue, many times, of which solvers for a few pairs find fewer, or none."""
    X = np.tile(np.eye(n_categories), (n_times, 1))
    half = len(X) // 2
    fitted = KernelPCAAligner(n_components=n_components).fit([X[:half], X[half:]])
    Z = np.concatenate(fitted.embeddings_)
    assert Z.shape == (len(X), n_components)
    variances = Z.T @ Z
    np.testing.assert_allclose(variances, variances[0, 0] * np.eye(n_components), atol=1e-8)
    np.testing.assert_allclose(fitted.transform(X[:half], 0), fitted.embeddings_[0], atol=1e-8)


@pytest.mark.parametrize("constant", [False, True], ids=["one column", "every column"])
def test_landmarks_too_have_zeros_where_the_kernel_has_no_component(constant):
    """A feature that no training sample varies in tells nothing of new samples."""
    rng = np.random.default_rng(0)
    Xs = [np.hstack([rng.normal(size=(60, 3)), np.ones((60, 1))]) for _ in range(2)]
    if constant:
        Xs = [np.ones((60, 4))] * 2
    new = np.hstack([rng.normal(size=(5, 3)), np.zeros((5, 1))])
    exact, few = (
        KernelPCAAligner(6, kernel="linear", landmarks=landmarks).fit(Xs).transform(new, domain=0)
        for landmarks in (None, 100)
    )
    n_found = 0 if constant else 3
    assert not exact[:, n_found:].any()
    assert not few[:, n_found:].any()
    np.testing.assert_allclose(few @ few.T, exact @ exact.T, atol=1e-8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_landmarks_of_samples_of_zeros_warn_of_nothing(kernel):
    aligner = KernelPCAAligner(3, kernel=kernel, landmarks=15).fit([np.zeros((20, 4))] * 2)
    assert aligner.landmark_error_ == 0
    assert not aligner.embeddings_[0].any()


def test_it_refuses_before_the_samples_are_copied(make_domains, monkeypatch):
    """Of memory-mapped files the copy alone may be more than a job may take."""
    Xs, _ = make_domains(((60, 8), (50, 8)))
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: 8 * 110**2 - 1)
    copied = []
    monkeypatch.setattr(_stacked.np, "vstack", copied.append)
    with pytest.raises(AlignmentError, match="the kernel matrix of all samples of 110 x 110"):
        KernelPCAAligner().fit(Xs)
    assert not copied
