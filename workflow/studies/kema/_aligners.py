"""What the studies of KEMA share: toys as training sets, aligners, errors in the latent space."""

import warnings
from collections.abc import Sequence

import numpy as np

from workflow.loaders.kema_toys import Domain
from workflow.studies.common._records import values_of

METHODS = {
    "baseline": "No adaptation",
    "ssma": "SSMA",
    "linear": "KEMA, linear",
    "rbf_15": "KEMA, RBF, 15 × mean",
    "rbf_1": "KEMA, RBF, 1 × mean",
    "rbf_half_median": "KEMA, RBF, half median",
}
WIDTHS = {"rbf_15": "15*mean_labelled", "rbf_1": "mean_labelled", "rbf_half_median": "half_median"}
CLASSIFIERS = {"lda": "LDA", "one_nn": "1-NN"}
ROLES = ("source", "target")


def training_set(domains: Sequence[Domain]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features and visible labels of each domain, the labelled rows first."""
    Xs = [np.vstack([domain.labelled.X, domain.unlabelled.X]) for domain in domains]
    ys = [np.r_[d.labelled.y, np.full(len(d.unlabelled.y), -1)] for d in domains]
    return Xs, ys


def make_aligner(name: str, n_components: int, **params):
    """SSMA or a variant of KEMA with 10 neighbours and μ = 1, as in the toolbox."""
    from domain_alignment.manifold._kema import KEMA
    from domain_alignment.manifold._ssma import SSMA

    common = {"n_components": n_components, "n_neighbors": 10, "mu": 1.0, **params}
    if name == "ssma":
        return SSMA(**common)
    if name == "linear":
        return KEMA(kernel="linear", **common)
    return KEMA(kernel="rbf", sigma=WIDTHS[name], **common)


def fit(aligner, Xs: list[np.ndarray], ys: list[np.ndarray]):
    """Fit; fewer dimensions than asked for are expected here, and counted by the caller."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return aligner.fit(Xs, ys)


def make_classifier(name: str):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    return {
        "lda": LinearDiscriminantAnalysis,
        "one_nn": lambda: KNeighborsClassifier(n_neighbors=1),
        "linear_svm": lambda: SVC(kernel="linear"),
        "rbf_svm": lambda: SVC(gamma="scale"),
    }[name]()


def labelled_rows(ys: Sequence[np.ndarray], Zs: Sequence[np.ndarray]):
    """Embedded labelled rows of all domains together, with their classes."""
    known = [y >= 0 for y in ys]
    rows = np.vstack([Z[mask] for Z, mask in zip(Zs, known, strict=True)])
    return rows, np.concatenate([y[mask] for y, mask in zip(ys, known, strict=True)])


def error_percent(classifier, X: np.ndarray, y: np.ndarray) -> float:
    return 100 * float(np.mean(classifier.predict(X) != y))


def errors_of(records: list[dict], **place) -> list[float]:
    """Errors of all realisations of one cell; the baseline has no number of dimensions."""
    if place["method"] == "baseline":
        place = {**place, "dimensions": None}
    return values_of(records, "error", **place)


def class_laplacians(y: np.ndarray, trace: float) -> tuple[np.ndarray, np.ndarray]:
    """Dense Laplacians Ls and Ld of pairs of equal and of different classes, for a trace of L."""
    known = np.outer(y >= 0, y >= 0)
    same, differ = known & (y[:, None] == y), known & (y[:, None] != y)
    weights = (W * (trace / (W.sum() + len(y))) for W in (same, differ))
    Ls, Ld = (np.diag(W.sum(axis=1)) - W for W in weights)
    return Ls, Ld
