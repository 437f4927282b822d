import pickle

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernel_learning import _domain_kernel
from domain_alignment.kernel_learning._spectrum_qp import kkt_residual
from domain_alignment.kernel_learning._tkl import TKL
from domain_alignment.kernel_learning._tkl import solve_eigenspectrum as published_name
from domain_alignment.kernels._pairwise import PAIRWISE_KERNELS, has_gamma, kernel_matrix
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC


def make(**params):
    return TKL(**{"solver": "nnls", "zeta": 1.1, **params})


@pytest.fixture
def domains(make_domains):
    Xs, _ = make_domains(((40, 6), (30, 6)))
    return Xs


@pytest.fixture
def documents():
    """Sparse counts; the last documents of both domains are empty."""
    rng = np.random.default_rng(0)
    Xs = [rng.poisson(0.3, size=(n, 25)).astype(float) for n in (30, 24)]
    for X in Xs:
        X[-3:] = 0
    return Xs


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
@pytest.mark.parametrize("zeta", [1.0, 1.1, 2.0])
def test_the_kernel_of_the_report(domains, kernel, zeta):
    tkl = make(kernel=kernel, zeta=zeta, n_eigen=8).fit(domains)
    Z, X = domains
    K, cross, inner = (kernel_matrix(A, B, kernel, tkl.gamma_) for A, B in ((Z, Z), (Z, X), (X, X)))
    values, vectors = np.linalg.eigh(inner)
    rank = min(8, np.sum(values > 1e-10 * values[-1]))
    values, vectors = values[::-1][:rank], vectors[:, ::-1][:, :rank]
    extrapolated = cross @ vectors / values
    Q = np.square(extrapolated.T @ extrapolated)
    r = np.diag(extrapolated.T @ K @ extrapolated)
    spectrum = published_name(Q, r, zeta, "nnls")
    np.testing.assert_allclose(tkl.eigenspectrum_, spectrum, rtol=1e-8)
    np.testing.assert_allclose(tkl.eigenvalues_, values)
    assert kkt_residual(tkl.eigenspectrum_, Q, r, zeta) < 1e-12
    learned = (extrapolated * spectrum) @ extrapolated.T
    np.testing.assert_allclose(tkl.pairwise_kernel(Z, 0, Z, 0), learned, atol=1e-9)
    across = (vectors * spectrum) @ extrapolated.T
    np.testing.assert_allclose(tkl.pairwise_kernel(X, 1, Z, 0), across, atol=1e-9)
    assert tkl.transfer_error_ == pytest.approx(np.linalg.norm(learned - K))
    approximation = (extrapolated * values) @ extrapolated.T
    assert tkl.nystrom_error_ == pytest.approx(np.linalg.norm(approximation - K))
    full = np.linalg.norm(cross @ np.linalg.pinv(inner, rcond=1e-10) @ cross.T - K)
    assert tkl.full_nystrom_error_ == pytest.approx(full, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("landmarks", [None, 20])
def test_a_linear_svm_on_the_embedding_is_the_kernel_svm(domains, landmarks):
    y = np.arange(40) % 3
    source = domains[0] + np.eye(6)[y]
    tkl = make(landmarks=landmarks, random_state=0).fit([source, domains[1]])
    Z, X = tkl.embeddings_
    linear = SVC(kernel="linear", C=10, tol=1e-8).fit(Z, y)
    kernel = SVC(kernel="precomputed", C=10, tol=1e-8).fit(
        tkl.pairwise_kernel(source, 0, source, 0), y
    )
    np.testing.assert_allclose(
        linear.decision_function(X),
        kernel.decision_function(tkl.pairwise_kernel(domains[1], 1, source, 0)),
        atol=1e-6,
    )


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
@pytest.mark.parametrize("landmarks", [None, 15])
def test_training_samples_transform_to_their_embeddings(domains, kernel, landmarks):
    tkl = make(kernel=kernel, landmarks=landmarks, random_state=0).fit(domains)
    for domain, X in enumerate(domains):
        np.testing.assert_allclose(tkl.transform(X, domain), tkl.embeddings_[domain], atol=1e-7)
        np.testing.assert_allclose(
            tkl.transform(X[3:5], domain), tkl.embeddings_[domain][3:5], atol=1e-7
        )


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
def test_all_samples_as_landmarks_are_the_exact_version(domains, kernel):
    exact = make(kernel=kernel).fit(domains)
    for landmarks in (40, 1000):
        scalable = make(kernel=kernel, landmarks=landmarks, random_state=0).fit(domains)
        np.testing.assert_allclose(scalable.eigenspectrum_, exact.eigenspectrum_, rtol=1e-5)
        for Z, other in zip(scalable.embeddings_, exact.embeddings_, strict=True):
            np.testing.assert_allclose(Z, other, atol=1e-6)
        assert (exact.gamma_ is not None) == has_gamma(kernel)
        assert scalable.gamma_ == (pytest.approx(exact.gamma_) if has_gamma(kernel) else None)
        for name in ("transfer_error_", "nystrom_error_", "full_nystrom_error_"):
            assert getattr(scalable, name) == pytest.approx(getattr(exact, name), abs=1e-6)


def test_more_landmarks_come_nearer(make_domains):
    Xs, _ = make_domains(((150, 5), (120, 5)))
    exact = make(gamma=0.05).fit(Xs).pairwise_kernel(Xs[0], 0, Xs[1], 1)
    errors = []
    for landmarks in (10, 40, 100):
        tkl = make(gamma=0.05, landmarks=landmarks, random_state=0).fit(Xs)
        assert [rows.size for rows in tkl.landmarks_] == [landmarks, landmarks]
        errors.append(np.linalg.norm(tkl.pairwise_kernel(Xs[0], 0, Xs[1], 1) - exact))
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "precomputed"])
def test_landmarks_by_themselves(domains, kernel, monkeypatch):
    """Exact where both domains are small, and else landmarks in both."""
    both = np.vstack(domains)
    K = kernel_matrix(both, both, "rbf", 0.2)
    Xs = [K[:40], K[40:]] if kernel == "precomputed" else domains

    def fit(landmarks):
        return make(kernel=kernel, gamma=0.2, landmarks=landmarks, random_state=0).fit(Xs)

    small, exact = fit("auto"), fit(None)
    assert small.landmarks_ is small.landmark_errors_ is exact.landmark_errors_ is None
    np.testing.assert_array_equal(small.embeddings_[0], exact.embeddings_[0])
    monkeypatch.setattr(_domain_kernel, "AUTO_LANDMARKS", 10)
    for largest in (35, 20):  # one domain has more, or both
        monkeypatch.setattr(_domain_kernel, "EXACT_SAMPLES", largest)
        large, asked = fit("auto"), fit(10)
        for name in ("landmarks_", "embeddings_"):
            for one, other in zip(getattr(large, name), getattr(asked, name), strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernel", [*PAIRWISE_KERNELS, "precomputed"])
def test_what_landmarks_leave_out(documents, kernel):
    both = np.vstack(documents)
    all_pairs = kernel_matrix(both, both, "linear" if kernel == "precomputed" else kernel, 0.2)
    Xs = [all_pairs[:30], all_pairs[30:]] if kernel == "precomputed" else documents
    for convert in (np.asarray, sparse.csr_array):
        tkl = make(kernel=kernel, gamma=0.2, landmarks=9, random_state=0)
        tkl.fit([convert(X) for X in Xs])
        parts = (all_pairs[:30, :30], all_pairs[30:, 30:])
        for K, rows, found in zip(parts, tkl.landmarks_, tkl.landmark_errors_, strict=True):
            inverse = np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-10)
            left = K - K[:, rows] @ inverse @ K[rows]
            assert found == pytest.approx(np.trace(left) / np.trace(K), abs=1e-10)
            assert np.linalg.norm(left) <= found * np.trace(K) * (1 + 1e-9)
    every = make(kernel=kernel, gamma=0.2, landmarks=30, random_state=0).fit(Xs)
    assert max(every.landmark_errors_) < 1e-8
    called = make(kernel=lambda A, B: A @ B.T, landmarks=9, random_state=0).fit(documents)
    assert called.landmark_errors_ is None


@pytest.mark.parametrize("landmarks", [None, 16])
@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
def test_transfer_beats_nystrom_without_damping(domains, kernel, landmarks):
    for n_eigen in (3, 10, 500):
        tkl = make(
            kernel=kernel, zeta=1.0, n_eigen=n_eigen, landmarks=landmarks, random_state=0
        ).fit(domains)
        assert tkl.transfer_error_ <= tkl.nystrom_error_ * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
def test_identical_domains_give_back_the_kernel(domains, kernel):
    X = domains[0]
    for n_eigen in (5, 500):
        tkl = make(kernel=kernel, zeta=1.0, n_eigen=n_eigen).fit([X, X])
        K = kernel_matrix(X, X, kernel, tkl.gamma_)
        error = np.linalg.norm(tkl.pairwise_kernel(X, 0, X, 1) - K)
        assert error <= tkl.nystrom_error_ + 1e-7
        np.testing.assert_allclose(tkl.eigenspectrum_, tkl.eigenvalues_, rtol=1e-6)
    assert tkl.nystrom_error_ < 1e-7
    assert tkl.full_nystrom_error_ < 1e-7


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("sizes", "n_features"), [((40, 30), 6), ((40, 30), 25), ((60, 20), 25), ((9, 60), 25)]
)
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("zeta", [1.0, 1.1, 4.0])
def test_few_features_are_many_samples(make_domains, kernel, zeta, sizes, n_features, convert):
    """By features or by samples in either domain: the same as from the matrices of all pairs."""
    Xs, _ = make_domains(tuple((size, n_features) for size in sizes))
    Xs = [np.where(np.abs(X) > 0.3, X, 0) for X in Xs]
    by_pairs = make(kernel=lambda A, B: kernel_matrix(A, B, kernel), zeta=zeta).fit(Xs)
    tkl = make(kernel=kernel, zeta=zeta).fit([convert(X) for X in Xs])
    system, expected = tkl.eigensystem_, by_pairs.eigensystem_
    scale = abs(expected.quadratic).max()
    np.testing.assert_allclose(tkl.eigenvalues_, by_pairs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(system.quadratic, expected.quadratic, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(system.linear, expected.linear, rtol=1e-9)
    assert kkt_residual(tkl.eigenspectrum_, system.quadratic, system.linear, zeta) < 1e-12
    learned = [t.pairwise_kernel(Xs[1], 1, Xs[0], 0) for t in (tkl, by_pairs)]
    np.testing.assert_allclose(*learned, rtol=0, atol=1e-9 * abs(learned[1]).max())
    norm = expected.source_kernel.norm()
    for name in ("transfer_error_", "nystrom_error_", "full_nystrom_error_"):
        assert getattr(tkl, name) == pytest.approx(getattr(by_pairs, name), abs=1e-11 * norm)
    for Z, other in zip(tkl.embeddings_, by_pairs.embeddings_, strict=True):
        np.testing.assert_allclose(Z, other, rtol=0, atol=1e-8 * abs(other).max())


def test_large_zeta_learns_one_number(domains):
    tkl = make(zeta=4.0).fit(domains)
    spectrum = tkl.eigenspectrum_
    np.testing.assert_allclose(spectrum, spectrum[0] * 4.0 ** -np.arange(len(spectrum)), rtol=1e-12)
    assert tkl.n_components_ == np.sum(spectrum > 2.3e-26 * spectrum[0])
    # What was left out is rounding.
    full = tkl.eigensystem_.embeddings(spectrum)
    np.testing.assert_allclose(
        full[0] @ full[1].T, tkl.embeddings_[0] @ tkl.embeddings_[1].T, atol=1e-15
    )


@pytest.mark.parametrize(
    ("kernel", "n_features"), [("rbf", 120), ("linear", 500), ("linear", 450), ("cosine", 450)]
)
def test_a_large_target_has_its_first_eigenvectors_computed_alone(kernel, n_features, monkeypatch):
    """The others decide nothing: embeddings, also of new samples, are those of all."""
    rng = np.random.default_rng(0)
    spread = np.linspace(2, 0.2, n_features)
    Xs = [rng.normal(size=(60, n_features)) * spread + d for d in (0, 0.3)]
    Xs[1] = np.vstack([Xs[1] + 0.3 * rng.normal(size=(60, n_features)) for _ in range(8)])
    whole = TKL(kernel=kernel, zeta=4.0).fit(Xs)
    monkeypatch.setattr(_domain_kernel, "DENSE_SAMPLES", 200)
    monkeypatch.setattr(_domain_kernel, "symmetric_eigenpairs", None)
    large = TKL(kernel=kernel, zeta=4.0).fit(Xs)
    assert large.eigenvalues_.size == 44 < whole.eigenvalues_.size
    np.testing.assert_allclose(large.eigenvalues_, whole.eigenvalues_[:44], rtol=1e-11)
    np.testing.assert_allclose(large.eigenspectrum_, whole.eigenspectrum_[:44], rtol=1e-9)
    pairs = [*zip(whole.embeddings_, large.embeddings_, strict=True)]
    pairs += [(whole.transform(X[:5] + 0.1, 0), large.transform(X[:5] + 0.1, 0)) for X in Xs]
    for expected, found in pairs:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * abs(expected).max())
    with pytest.raises(ValueError, match="480 samples, and 44 were computed; fit on at most"):
        assert large.full_nystrom_error_ > 0


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_the_order_of_samples_does_not_matter(domains, kernel):
    tkl = make(kernel=kernel).fit(domains)
    orders = [np.random.default_rng(1).permutation(len(X)) for X in domains]
    shuffled = make(kernel=kernel).fit([X[order] for X, order in zip(domains, orders, strict=True)])
    for Z, other, order in zip(shuffled.embeddings_, tkl.embeddings_, orders, strict=True):
        np.testing.assert_allclose(Z, other[order], atol=1e-7)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_rotations_do_not_matter(domains, kernel):
    rotation, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))
    tkl = make(kernel=kernel).fit(domains)
    turned = make(kernel=kernel).fit([X @ rotation for X in domains])
    np.testing.assert_allclose(turned.embeddings_[0], tkl.embeddings_[0], atol=1e-7)


def test_scale_of_the_features(domains):
    scaled = [7 * X for X in domains]
    # The median follows the scale; the linear kernel is multiplied by its square.
    for kernel, factor in (("rbf", 1), ("laplacian", 1), ("cosine", 1), ("linear", 49)):
        expected = make(kernel=kernel).fit(domains).eigenspectrum_ * factor
        np.testing.assert_allclose(
            make(kernel=kernel).fit(scaled).eigenspectrum_, expected, rtol=1e-6
        )


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
@pytest.mark.parametrize("landmarks", [None, 12])
def test_sparse_is_dense(documents, kernel, landmarks):
    params = {"kernel": kernel, "landmarks": landmarks, "random_state": 1}
    dense = make(**params).fit(documents)
    converted = [sparse.csr_array(X) for X in documents]
    stored = make(**params).fit(converted)
    np.testing.assert_allclose(stored.embeddings_[0], dense.embeddings_[0], atol=1e-6)
    np.testing.assert_allclose(stored.transform(converted[0], 0), dense.embeddings_[0], atol=1e-6)


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
@pytest.mark.parametrize("landmarks", [None, 10])
def test_sparse_input_is_never_dense(documents, kernel, landmarks, monkeypatch):
    def only_small(matrix, *args, **kwargs):
        assert matrix.shape[1] < 1000, "the features were made dense"
        return original(matrix, *args, **kwargs)

    original = sparse.csr_array.toarray
    monkeypatch.setattr(sparse.csr_array, "toarray", only_small)
    empty = [sparse.csr_array((X.shape[0], 10**5)) for X in documents]
    Xs = [sparse.csr_array(sparse.hstack(pair)) for pair in zip(documents, empty, strict=True)]
    tkl = make(kernel=kernel, landmarks=landmarks, random_state=0).fit(Xs)
    assert tkl.transform(Xs[0], 0).shape[0] == 30


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_empty_documents_are_at_the_origin(documents, kernel):
    tkl = make(kernel=kernel).fit(documents)
    for embedding in tkl.embeddings_:
        assert np.isfinite(embedding).all()
        assert not np.abs(embedding[-3:]).max() > 1e-12
    assert not tkl.transform(np.zeros((1, 25)), 0).any()


@pytest.mark.parametrize("landmarks", [None, 20])
def test_precomputed(domains, landmarks):
    both = np.vstack(domains)
    K = kernel_matrix(both, both, "rbf", 0.1)
    params = {"landmarks": landmarks, "random_state": 0}
    direct = make(gamma=0.1, **params).fit(domains)
    given = make(kernel="precomputed", **params).fit([K[:40], K[40:]])
    np.testing.assert_allclose(given.embeddings_[0], direct.embeddings_[0], atol=1e-8)
    new = domains[0][:5] + 0.1
    np.testing.assert_allclose(
        given.transform(kernel_matrix(new, both, "rbf", 0.1), 0),
        direct.transform(new, 0),
        atol=1e-8,
    )


def test_a_callable_kernel(domains):
    direct = make(kernel="linear").fit(domains)
    called = make(kernel=lambda A, B: A @ B.T).fit(domains)
    np.testing.assert_allclose(called.embeddings_[0], direct.embeddings_[0], atol=1e-9)


@pytest.mark.parametrize("landmarks", [None, 10])
def test_degenerate_kernels(domains, landmarks):
    params = {"landmarks": landmarks, "random_state": 0}
    Z, X = domains
    # Rank 1: multiples of one vector.
    line = [np.outer(D[:, 0], np.ones(6)) for D in domains]
    tkl = make(kernel="linear", **params).fit(line)
    assert tkl.eigenspectrum_.shape == (1,)
    np.testing.assert_allclose(
        tkl.embeddings_[0] @ tkl.embeddings_[1].T, line[0] @ line[1].T, atol=1e-9
    )
    # Constant: every sample the same.
    tkl = make(kernel=lambda A, B: np.ones((len(A), len(B))), **params).fit(domains)
    np.testing.assert_allclose(tkl.pairwise_kernel(Z, 0, X, 1), 1, atol=1e-12)
    # Duplicate samples.
    tkl = make(gamma=0.1, **params).fit([np.repeat(Z, 2, axis=0), np.repeat(X, 2, axis=0)])
    np.testing.assert_allclose(tkl.embeddings_[1][::2], tkl.embeddings_[1][1::2], atol=1e-7)
    # More eigenvectors than the rank of six features.
    assert make(kernel="linear", n_eigen=500, **params).fit(domains).eigenvalues_.shape == (6,)
    # Fewer source samples than eigenvectors: Q is singular.
    assert np.isfinite(make(gamma=0.1, **params).fit([Z[:2], X]).eigenspectrum_).all()
    # One sample in the target.
    assert make(gamma=0.1, **params).fit([Z, X[:1]]).n_components_ == 1


@pytest.mark.parametrize("params", [{}, {"kernel": "cosine", "landmarks": 12}])
def test_prepared_models_change_nothing(domains, params):
    tkl = make(random_state=3, **params)
    models = [pickle.loads(pickle.dumps(tkl.prepare(X))) for X in domains]
    plain = clone(tkl).fit(domains)
    for _ in range(2):
        np.testing.assert_array_equal(
            clone(tkl).fit(domains, prepared=models).embeddings_[0], plain.embeddings_[0]
        )
    # Models serve in both roles, and for all other parameters.
    back = clone(tkl).set_params(zeta=2.0, n_eigen=4)
    np.testing.assert_array_equal(
        back.fit(domains[::-1], prepared=models[::-1]).embeddings_[0],
        clone(back).fit(domains[::-1]).embeddings_[0],
    )


def test_prepared_models_are_checked(domains):
    models = [make().prepare(X) for X in domains]
    with pytest.raises(ValueError, match=r"domain 0: was prepared with .*'rbf'.*prepare it again"):
        make(kernel="linear").fit(domains, prepared=models)
    with pytest.raises(ValueError, match=r"domain 0: has shape \(30, 6\), its prepared model \(40"):
        make().fit(domains[::-1], prepared=models)
    with pytest.raises(ValueError, match="domain 1: prepared model is a int, not a DomainKernel"):
        make().fit(domains, prepared=[None, 3])


def test_capabilities(domains, make_domains):
    Xs, ys = make_domains(((40, 6), (30, 6)))
    for kernel in PAIRWISE_KERNELS:
        tkl = make(kernel=kernel, zeta=1.0, n_eigen=5).fit(Xs)
        does = tkl.capabilities
        assert (does.labels, does.max_domains, does.needs_pairs) == ("none", 2, False)
        assert does.embeds_new_samples
        assert not does.heterogeneous
        assert not does.invertible
        labelled = clone(tkl).fit(Xs, ys)
        np.testing.assert_array_equal(labelled.embeddings_[0], tkl.embeddings_[0])
        new = np.random.default_rng(0).normal(size=(4, 6))
        sums = tkl.transform(new[:2] + 3 * new[2:], 0)
        parts = tkl.transform(new[:2], 0) + 3 * tkl.transform(new[2:], 0)
        assert does.nonlinear != np.allclose(sums, parts, atol=1e-6)
    assert make(kernel=np.dot).capabilities.nonlinear
    assert not make(kernel="precomputed").capabilities.nonlinear


def test_the_default_solver_needs_no_other_package_and_gives_the_same(domains):
    exact, default = make(zeta=2.0, solver="clarabel").fit(domains), TKL().fit(domains)
    assert (default.solver, default.zeta, default.n_eigen) == ("nnls", 2.0, 500)
    np.testing.assert_allclose(default.embeddings_[1], exact.embeddings_[1], atol=1e-6)


def test_a_row_of_fit_counts_itself_and_a_new_sample_does_not(domains):
    """Its coordinate is that from all other rows times l / (l - k(x, x))."""
    tkl = make(n_eigen=10).fit(domains)
    system, X = tkl.eigensystem_.target, domains[1]
    K = system.similarities(X)
    others = (K - np.diag(np.diag(K))) @ system.coefficients[:, :10]
    own = tkl.eigenvalues_ / (tkl.eigenvalues_ - 1)  # k(x, x) = 1
    np.testing.assert_allclose(others * own, system.vectors[:, :10], atol=1e-9)
    np.testing.assert_allclose(K @ system.coefficients[:, :10], system.vectors[:, :10], atol=1e-9)


def test_wrong_domains(domains):
    Z, X = domains
    with pytest.raises(ValueError, match="domain 1: has 5 features, domain 0 has 6; one kernel"):
        make().fit([Z, X[:, :5]])
    with pytest.raises(ValueError, match="Xs holds 3 domains; TKL aligns at most 2"):
        make().fit([Z, X, X])
    with pytest.raises(ValueError, match=r"have 6 columns; .* one for each of the 40 \+ 30"):
        make(kernel="precomputed").fit(domains)
    both = np.vstack(domains)
    K = both @ both.T
    K[:40, 40:] += 1
    with pytest.raises(ValueError, match=r"disagree across domains .*K\[:40\] and K\[40:\]"):
        make(kernel="precomputed").fit([K[:40], K[40:]])
    with pytest.raises(ValueError, match=r"callable returned shape \(40, 6\) for 40 and 40"):
        make(kernel=lambda A, B: A).fit([Z, Z])
    for name, value in (("zeta", 0.5), ("gamma", 0), ("kernel", "gauss"), ("solver", "simplex")):
        with pytest.raises(ValueError, match=f"'{name}' parameter of TKL must be"):
            make(**{name: value}).fit(domains)


def test_domains_without_an_answer(domains):
    Z, X = domains
    apart = [np.hstack([Z, 0 * Z]), np.hstack([0 * X, X])]
    with pytest.raises(AlignmentError, match=r"domain 0: its kernel vanishes .*; give features"):
        make(kernel="linear").fit(apart)
    with pytest.raises(AlignmentError, match=r"domain 1 \(the target\): its kernel is zero"):
        make(kernel="cosine").fit([Z, 0 * X])
    with pytest.raises(AlignmentError, match=r'domain 1: all are equal, so gamma="median"'):
        make().fit([Z, np.ones_like(X)])
    with pytest.raises(AlignmentError, match="domain 1: its kernel is indefinite"):
        make(kernel=lambda A, B: -(A @ B.T)).fit(domains)
