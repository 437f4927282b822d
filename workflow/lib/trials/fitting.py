"""Fit a method on one trial: features scaled and reused, prepared models shared.

Used by `align`, which fits the method as its entry says, and by `tuning`, which fits candidates.
"""

import dataclasses
import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from scipy import sparse

from workflow.lib.execution.memory import restart_peak
from workflow.lib.execution.startup import import_sklearn_without_pandas
from workflow.lib.storage.features import read_features
from workflow.lib.trials.predictions import NonfinitePredictions
from workflow.lib.trials.protocols import HIDDEN, Trial, read_trials, role_domains

import_sklearn_without_pandas()

from domain_alignment.base import Aligner  # noqa: E402
from domain_alignment.exceptions import NonfiniteAnswerError  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402

from workflow.lib.trials.preprocess import preprocessed  # noqa: E402

_LANCZOS = "arpack"  # of PCA


@dataclasses.dataclass
class Block:
    """What the trials of a block share: raw features, the trials, and a cache."""

    spec: dict
    features: list
    trials: list[Trial]
    cache: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Features:
    """One trial's features after preprocessing.

    Attributes
    ----------
    key : tuple
        What each domain's were made by; those with the same share prepared models.
    visible : list
        Rows of each domain that the trial shows.
    target : array or CSR matrix
        Every row of the target domain.
    """

    key: tuple
    visible: list
    target: object


@dataclasses.dataclass
class Aligned:
    """A fitted aligner and its embedding of one trial."""

    aligner: Aligner
    target_features: object  # every row of the target domain, as the aligner takes them
    embeddings: list[np.ndarray]  # visible rows of each domain
    embedded_target: object  # every row of the target, dense or CSR; None if not asked for
    n_components: int
    seconds_prepare: float
    seconds: float

    @property
    def finite(self) -> bool:
        parts = (*self.embeddings, self.embedded_target)
        return all(_finite(Z) for Z in parts if Z is not None)


def setup(spec: dict) -> Block:
    """Read the inputs of a block; a method that fails does so in its trials."""
    trials, _ = read_trials(spec["trials"])
    return Block(spec, [read_features(path) for path in spec["features"]], trials)


def begin_trial(block: Block, trial: Trial) -> None:
    """Let go of what was made of rows that this trial does not show, and measure memory anew.

    A block of trials that draw rows would else hold them all, and what a trial is said to take, or
    whether it stays within its limit, would hang on those before it.
    """
    shown = [_digest(rows) for rows in trial.rows]
    before, block.cache["shown"] = block.cache.get("shown", shown), shown
    changed = {d for d, (one, other) in enumerate(zip(before, shown, strict=True)) if one != other}
    for key in [key for key in block.cache if changed and isinstance(key, tuple)]:
        kind, d, *made_by = key
        # What is reduced, and the critic, are of the rows of all domains.
        of_one = kind == "features" or (kind == "prepared" and len(made_by[0]) == 2)
        if not of_one or d in changed:
            del block.cache[key]
    restart_peak()


def not_applicable(estimator: Aligner, features: list, trial: Trial) -> str | None:
    """Why a method does not apply to a task, by its declared capabilities; None if it does."""
    able = estimator.capabilities
    widths = [X.shape[1] for X in features]
    if able.max_domains is not None and len(features) > able.max_domains:
        return f"aligns at most {able.max_domains} domains, the task has {len(features)}"
    if not able.heterogeneous and len(set(widths)) > 1:
        found = f"{', '.join(map(str, widths[:-1]))} and {widths[-1]}"
        return f"needs equal numbers of features; this task has {found}"
    if able.needs_pairs:
        return "needs samples in pairs, row i with row i of another domain; the task has none"
    if (trial.labels[-1] == HIDDEN).all():
        target = len(features) - 1
        if target in role_domains(able.labels, len(features)):
            return "learns from labels of the target, and the protocol shows none"
        if target in role_domains(estimator.classifier_rows or "none", len(features)):
            return "its classifier learns from labels of the target, and the protocol shows none"
    return None


def preprocessed_features(block: Block, trial: Trial, steps: Sequence[Sequence[str]]) -> Features:
    """Features of a trial after the steps of each domain, the target last; kept for others."""
    visible = []
    for d, rows in enumerate(trial.rows):
        key = ("features", d, tuple(steps[d]), _digest(rows))
        spec = {"preprocess": steps[d], "preprocess_rows": block.spec["preprocess_rows"]}
        X, fitted = _kept(block, key, partial(preprocessed, spec, block.features[d], rows))
        visible.append(X)
    everything = len(trial.rows[-1]) == block.features[-1].shape[0]
    target = X if everything else fitted.transform(block.features[-1])
    made_by = tuple(
        (tuple(own), _digest(rows)) for own, rows in zip(steps, trial.rows, strict=True)
    )
    return Features(made_by, visible, target)


def kept_reduction(block: Block, features: Features, n_components: int) -> Features:
    """`reduced_features`, kept for others."""
    key = "reduced", features.key, n_components
    return _kept(block, key, partial(reduced_features, features, n_components))


def reduced_features(features: Features, n_components: int) -> Features:
    """The leading principal components of the visible rows of all domains, stacked.

    Domains with different features are reduced each by itself.
    """
    maps = components(features.visible, n_components)
    visible = [
        fitted.transform(X if fitted.svd_solver == _LANCZOS else _dense(X))
        for fitted, X in zip(maps, features.visible, strict=True)
    ]
    target = maps[-1].transform(_dense(features.target))
    # The components of one domain depend on the rows of all.
    made_by = tuple((own, features.key, n_components) for own in features.key)
    return Features(made_by, visible, target)


def components(visible: Sequence, n_components: int) -> list[PCA]:
    """The map of each domain to its principal components, as `reduced_features` has them."""
    if len({X.shape[1] for X in visible}) > 1:
        return [_principal(X, n_components) for X in visible]
    return [_principal(stacked(visible), n_components)] * len(visible)


def _principal(X, n_components: int) -> PCA:
    # A few components by Lanczos, equal to rounding: of 1,237 texts of 4,771 words in 0.04 CPU s,
    # 2.4 with all of them. It takes sparse samples, whose mean it subtracts from products.
    if 4 * n_components <= min(X.shape):
        return PCA(n_components, svd_solver=_LANCZOS, random_state=0).fit(X)
    return PCA(min(n_components, *X.shape), svd_solver="full").fit(_dense(X))


def _dense(X):
    return X.toarray() if sparse.issparse(X) else X


def fit_aligned(
    block: Block,
    features: Features,
    trial: Trial,
    estimator: Aligner,
    labels: Sequence,
    whole_target: bool = True,
    keeps_sparse: bool = False,
) -> Aligned:
    """Fit a clone of a method on a trial and embed every row of the target.

    Parameters
    ----------
    block : Block
        Its cache keeps prepared models.
    features : Features
    trial : Trial
        Says which rows of the target are visible.
    estimator : Aligner
    labels : sequence of int ndarray
        Labels that the method is handed, one array per domain.
    whole_target : bool, default=True
        Whether to embed the rows of the target that the trial does not show.
    keeps_sparse : bool, default=False
        Whether the whole target stays sparse where its embedding is its features, though the
        visible rows are embedded dense. Of texts, products with it take a fraction of the time.
    """
    started = time.perf_counter()
    prepared = prepared_models(block, features, estimator)
    prepared_at = time.perf_counter()
    aligner = clone(estimator).fit(features.visible, labels, prepared=prepared)
    embeddings = _of_one_kind(aligner.embeddings_)
    whole = None
    if whole_target and keeps_sparse and _stays_sparse(aligner, features):
        whole = features.target
    elif whole_target:
        whole = _whole_target(aligner, trial, embeddings[-1], features.target)
    return Aligned(
        aligner=aligner,
        target_features=features.target,
        embeddings=embeddings,
        embedded_target=whole,
        n_components=int(aligner.n_components_),
        seconds_prepare=prepared_at - started,
        seconds=time.perf_counter() - prepared_at,
    )


def sees_only_rows(estimator: Aligner, labels: Sequence[np.ndarray]) -> bool:
    """Whether a fit is the same for all trials that show the same rows: no label, nothing drawn."""
    drawn = getattr(estimator, "random_state", 0) is None
    return not drawn and all((y == HIDDEN).all() for y in labels)


def _whole_target(aligner: Aligner, trial: Trial, seen: np.ndarray, target) -> np.ndarray:
    """Embedding of every target row: from the fit where the row was seen, else by `transform`."""
    rest = np.setdiff1d(np.arange(target.shape[0]), trial.rows[-1])
    if not len(rest):
        return seen
    new = aligner.transform(target[rest], domain=len(trial.rows) - 1)
    return stacked([seen, new])[np.argsort(np.concatenate([trial.rows[-1], rest]))]


def prepared_models(block: Block, features: Features, estimator: Aligner) -> list:
    """Label-free model of each domain, kept for other fits; None where a method has none."""
    of_domain = enumerate(features.visible)
    return [_prepared(block, estimator, features.key, d, X) for d, X in of_domain]


def _stays_sparse(aligner: Aligner, features: Features) -> bool:
    """Whether the target is sparse and does not move, by declaration and by its visible rows."""
    if not sparse.issparse(features.target):
        return False
    declared = len(features.visible) - 1 in aligner.unmoved_domains
    return declared and np.array_equal(aligner.embeddings_[-1], _dense(features.visible[-1]))


def _prepared(block: Block, estimator: Aligner, key: tuple, d: int, X) -> object:
    """Label-free model of a domain, shared by all trials and settings that accept it."""
    models = block.cache.setdefault(("prepared", d, key[d]), [])
    for model in models:
        if model.value is None or estimator.accepts(model.value, X):
            return model.again()
    models.append(_Heard.of(partial(estimator.prepare, X)))
    return models[-1].again()


@dataclasses.dataclass(frozen=True)
class _Heard:
    """Something that is made once and used again, with the warnings that it was made under."""

    value: object
    caught: list[warnings.WarningMessage]

    @classmethod
    def of(cls, make: Callable[[], object]) -> "_Heard":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = make()
        return cls(value, caught)

    def again(self) -> object:
        """The thing, with its warnings, which belong to the records of all who use it."""
        for told in self.caught:
            warnings.warn_explicit(told.message, told.category, told.filename, told.lineno)
        return self.value


def _kept(block: Block, key: tuple, make: Callable[[], object]) -> object:
    if key not in block.cache:
        block.cache[key] = _Heard.of(make)
    return block.cache[key].again()


def _of_one_kind(embeddings: list) -> list:
    """All dense where one is: a method may map one sparse domain and leave another as it is."""
    kinds = {sparse.issparse(Z) for Z in embeddings}
    return [_dense(Z) for Z in embeddings] if len(kinds) > 1 else embeddings


def _digest(rows: np.ndarray) -> str:
    return hashlib.sha256(rows.tobytes()).hexdigest()


def stacked(parts: list):
    """Stack by rows, one part as it is; sparse features stay sparse where all are."""
    if len(parts) == 1:
        return parts[0]
    if all(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.vstack([_dense(part) for part in parts])


def _finite(Z) -> bool:
    return bool(np.isfinite(Z.data if sparse.issparse(Z) else Z).all())


@contextmanager
def warned() -> Iterator[list[str]]:
    """Gather warnings: at the end the list holds each once, as ``Category: message``."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
    told += sorted({f"{w.category.__name__}: {w.message}" for w in caught})


def failure(error: Exception) -> dict[str, str]:
    """Status and error of a record whose fit or prediction raised."""
    if isinstance(error, (NonfiniteAnswerError, NonfinitePredictions)):
        return {"status": "nonfinite", "error": str(error)}
    return {"status": "error", "error": f"{type(error).__name__}: {error}"}
