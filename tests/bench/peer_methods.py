"""One method by one package on data of a file: a point of peers.py, in a process of its own.

    python tests/bench/peer_methods.py METHOD BY DATA EMBEDDING --seconds 60

A package is imported when it is asked for: the interpreter needs that one, NumPy and scikit-learn,
and of the project nothing, unless ours is asked for.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy starts its threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata

import numpy as np
from measure import cpu_seconds, end_after, go_on, spent
from sklearn.decomposition import PCA, KernelPCA
from sklearn.neighbors import KNeighborsClassifier

N_COMPONENTS = 20

# A fit below so many seconds is repeated so often: what others do on the machine is a share of it.
QUICK = 1.0
REPEATS = 5


def with_ours(make):
    """Embeddings of both domains by one of our methods."""

    def embed(Xs, y):
        import domain_alignment

        return make(domain_alignment).fit(Xs, [y, np.full(len(Xs[1]), -1)]).embeddings_

    return embed


def with_skada(make):
    """Embeddings of both domains by an adapter of skada."""

    def embed(Xs, y):
        import skada

        X, sample_domain = np.vstack(Xs), np.repeat([1, -2], [len(X) for X in Xs])
        labels = np.concatenate([y, np.full(len(Xs[1]), -1)])
        adapter = make(skada)
        adapter.fit(X, labels, sample_domain=sample_domain)
        Z = adapter.transform(X, sample_domain=sample_domain, allow_source=True)
        return np.split(np.asarray(Z), [len(Xs[0])])

    return embed


def with_adapt(make):
    """Embeddings of both domains by a method of adapt that changes features."""

    def embed(Xs, y):
        import adapt.feature_based

        method = make(adapt.feature_based)
        return method.fit_transform(*Xs), method.transform(Xs[1], domain="tgt")

    return embed


def with_pot(make):
    """The source moved to the target by a transport of POT."""

    def embed(Xs, y):
        import ot.da

        return [make(ot.da).fit_transform(Xs=Xs[0], ys=y, Xt=Xs[1]), Xs[1]]

    return embed


def with_scikit_learn(make):
    """A decomposition of scikit-learn of the stacked domains."""

    def embed(Xs, y):
        return np.split(make().fit_transform(np.vstack(Xs)), [len(Xs[0])])

    return embed


def by_random_projections(n_samples, n_features):
    """Whether scikit-learn's PCA takes a randomised solver for so few of the components."""
    tall = n_features <= 1000 and n_samples >= 10 * n_features
    return max(n_samples, n_features) > 500 and not tall


def by_random_projections_of_each(n_samples, n_features):
    """The same, of each of two domains."""
    return by_random_projections(n_samples // 2, n_features)


@dataclass(frozen=True)
class Peers:
    """One method: how we compute it and how others do; ``differs`` says why outputs may differ.

    ``approximate`` names those whose answer is not the problem's, ``same`` those who call the
    routine that we call, both with the numbers of samples and features for which they do;
    ``other_problem`` those who solve another problem, whose seconds tell nothing of ours.
    """

    mine: Callable
    others: dict[str, Callable] = field(default_factory=dict)
    differs: str = ""
    approximate: dict[str, Callable] = field(default_factory=dict)
    same: dict[str, Callable] = field(default_factory=dict)
    other_problem: tuple[str, ...] = ()


PEERS = {
    "PCA": Peers(
        with_ours(lambda ours: ours.PCAAligner(n_components=N_COMPONENTS)),
        {
            "scikit-learn": with_scikit_learn(lambda: PCA(N_COMPONENTS, random_state=0)),
            "scikit-learn, exact": with_scikit_learn(
                lambda: PCA(N_COMPONENTS, svd_solver="covariance_eigh")
            ),
        },
        "from 500 samples or features on scikit-learn approximates by random projections, unless "
        "at most 1,000 features have ten times as many samples; exact is its `covariance_eigh`",
        approximate={"scikit-learn": by_random_projections},
    ),
    "kernel PCA (RBF)": Peers(
        with_ours(lambda ours: ours.KernelPCAAligner(n_components=N_COMPONENTS, gamma=1e-3)),
        {
            "scikit-learn": with_scikit_learn(
                lambda: KernelPCA(N_COMPONENTS, kernel="rbf", gamma=1e-3)
            )
        },
    ),
    "subspace alignment": Peers(
        with_ours(lambda ours: ours.SubspaceAlignment(n_components=N_COMPONENTS)),
        {
            "skada": with_skada(
                lambda skada: skada.SubspaceAlignmentAdapter(N_COMPONENTS, random_state=0)
            ),
            "adapt": with_adapt(
                lambda adapt: adapt.SA(n_components=N_COMPONENTS, verbose=0, random_state=0)
            ),
        },
        "skada and adapt take scikit-learn's PCA, from 500 samples on an approximation",
        approximate=dict.fromkeys(("skada", "adapt"), by_random_projections_of_each),
    ),
    "CORAL": Peers(
        with_ours(lambda ours: ours.CORAL(ridge=1.0)),
        {
            "skada": with_skada(lambda skada: skada.CORALAdapter(reg=0.5)),
            "adapt": with_adapt(lambda adapt: adapt.CORAL(lambda_=1.0, verbose=0)),
        },
        "skada shrinks each covariance to its own mean variance, the paper adds the identity",
        # Of fewer samples than features ours are eigensystems of the samples' products.
        same={"skada": lambda n_samples, n_features: n_features <= n_samples // 2},
        other_problem=("skada",),
    ),
    "TCA (linear kernel)": Peers(
        with_ours(
            lambda ours: ours.TCA(formulation="dual", kernel="linear", n_components=N_COMPONENTS)
        ),
        {
            "skada": with_skada(
                lambda skada: skada.TransferComponentAnalysisAdapter("linear", N_COMPONENTS, 1.0)
            ),
            "adapt": with_adapt(
                lambda adapt: adapt.TCA(
                    n_components=N_COMPONENTS, mu=1.0, kernel="linear", verbose=0
                )
            ),
        },
        "skada and adapt hand a matrix that is not symmetric to a solver for symmetric ones",
        other_problem=("skada", "adapt"),
    ),
    "optimal transport (linear map)": Peers(
        with_ours(lambda ours: ours.LinearOT(ridge=1.0)),
        {
            "POT": with_pot(lambda da: da.LinearTransport(reg=1.0)),
            "skada": with_skada(lambda skada: skada.LinearOTMappingAdapter(reg=1.0)),
        },
    ),
    "optimal transport (exact)": Peers(
        with_ours(lambda ours: ours.ExternalAligner("ot.da:EMDTransport", labels="none")),
        {
            "POT": with_pot(lambda da: da.EMDTransport()),
            "skada": with_skada(lambda skada: skada.OTMappingAdapter()),
        },
        "equal samples may exchange their shares of the plan",
        same=dict.fromkeys(("POT", "skada"), lambda n_samples, n_features: True),
    ),
    "optimal transport (classes)": Peers(
        with_ours(lambda ours: ours.ClassRegularizedOT(reg_e=1.0, reg_cl=0.1, cost_scaling="max")),
        {
            "POT": with_pot(lambda da: da.SinkhornLpl1Transport(1.0, 0.1, norm="max")),
            "skada": with_skada(
                lambda skada: skada.ClassRegularizerOTMappingAdapter(1.0, 0.1, norm="lpl1")
            ),
        },
        "other numbers of iterations and tolerances; skada does not scale the costs",
        other_problem=("skada",),
    ),
}


def version(by):
    """Of the package that does it; "" of ours, which is that of the commit."""
    return "" if by == "ours" else metadata.version(by.partition(",")[0])


def measure(name, by, data, file, seconds):
    """Fit in this process; the point's fields. Leaves the embedding in a file."""
    warnings.simplefilter("ignore")
    embed = PEERS[name].mine if by == "ours" else PEERS[name].others[by]
    with np.load(data) as arrays:
        small, large = (
            ([arrays[f"{size}_source"], arrays[f"{size}_target"]], arrays[f"{size}_labels"])
            for size in ("small", "large")
        )
        y = arrays["target_labels"]
    embed(*small)  # so that imports and compilation do not count
    end_after(seconds)
    used, held, (source, target) = spent(embed, *large)
    go_on()
    if used < QUICK:
        used = min(used, cpu_seconds(embed, *large, repeats=REPEATS - 1)[0])
    np.save(file, np.vstack([source, target]))
    right = KNeighborsClassifier(1).fit(source, large[1]).score(target, y)
    return {
        "seconds": round(used, 3),
        "megabytes": held // 10**6,
        "accuracy": round(right, 4),
        "version": version(by),
    }


def main():
    """Measure one point, and print its fields."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for what in ("name", "by", "data", "file"):
        parser.add_argument(what)
    parser.add_argument("--seconds", type=float, default=60)
    print(json.dumps(measure(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
