"""Grid search of aligners by cross-validation on labelled target rows."""

import dataclasses
from abc import abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from domain_alignment.base import Aligner
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._fma import FMA
from domain_alignment.utils._cross_validation import check_candidates, predicted_right
from domain_alignment.utils._params import TWO_OR_MORE, HasMethods
from domain_alignment.utils._rows import stacked
from domain_alignment.utils.graphs import found_neighbors
from domain_alignment.utils.validation import UNLABELLED, domain_name


class ParameterSelection(Aligner):
    """Base of the cross-validated aligners; a subclass lists its candidates."""

    _parameter_constraints: ClassVar[dict] = {
        "classifier": [HasMethods(["fit", "predict"]), None],
        "cv": TWO_OR_MORE,
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _candidates(self):
        """List of (parameters, aligner); the first wins ties."""

    def fit(self, Xs, ys=None, prepared=None):
        """Choose a candidate and align the domains with it; arguments as for `Aligner.fit`."""
        # What an earlier fit chose says nothing of the candidates of this one.
        for name in ("best_aligner_", "embeddings_"):
            vars(self).pop(name, None)
        return super().fit(Xs, ys, prepared)

    @property
    def _representative(self):
        """The chosen aligner; before the fit the first candidate."""
        if hasattr(self, "best_aligner_"):
            return self.best_aligner_
        return self._candidates()[0][1]

    @property
    def capabilities(self):
        """Those of the chosen aligner, before the fit of the first candidate, with target labels.

        The selection learns from these, whatever the aligner does.
        """
        return dataclasses.replace(self._representative.capabilities, labels="source+target")

    @property
    def classifier_rows(self):
        """Whose labelled rows a classifier should train on: as for `capabilities`."""
        return self._representative.classifier_rows

    def _prepare(self, X, name):
        models = []
        for _, aligner in self._candidates():
            aligner._validate_params()
            if not any(aligner.accepts(model, X) for model in models):
                models.append(aligner._prepare(X, name))
        models = tuple(model for model in models if model is not None)
        return models or None

    @property
    def _has_model(self):
        return any(aligner._has_model for _, aligner in self._candidates())

    def _check_model(self, model, X, name):
        models = model if isinstance(model, tuple) else ()
        candidates = self._candidates()
        with_model = [(params, aligner) for params, aligner in candidates if aligner._has_model]
        for params, aligner in with_model or candidates:
            if _model_for(aligner, models, X) is None:
                raise ValueError(
                    f"{name}: its prepared model does not fit candidate {params}; "
                    f"prepare it again by {type(self).__name__}.prepare"
                )

    def _fit(self, Xs, ys, models):
        rows, folds = self._folds(ys[-1])
        candidates = self._candidates()
        correct = np.empty((len(candidates), rows.size), dtype=bool)
        for number, (params, aligner) in enumerate(candidates):
            prepared = [_model_for(aligner, *pair) for pair in zip(models, Xs, strict=True)]
            try:
                correct[number] = self._correct(aligner, Xs, ys, prepared, rows, folds)
            except AlignmentError as error:
                raise AlignmentError(f"candidate {params}: {error}") from error
        self.cv_results_ = {
            "params": [params for params, _ in candidates],
            "mean_score": correct.mean(axis=1),
            "fold_scores": np.stack(
                [correct[:, folds == fold].mean(axis=1) for fold in range(folds.max() + 1)], axis=1
            ),
        }
        # Counts, not means: ties are exact, and argmax takes the first.
        best = int(correct.sum(axis=1).argmax())
        self.best_params_, aligner = candidates[best]
        prepared = [_model_for(aligner, *pair) for pair in zip(models, Xs, strict=True)]
        self.best_aligner_ = clone(aligner).fit(Xs, ys, prepared)
        return self.best_aligner_.embeddings_

    def _correct(self, aligner, Xs, ys, prepared, rows, folds):
        """Whether each of the target's labelled `rows` is predicted correctly when held out."""

        def predict(_, left_out):
            return self._predict_hidden(aligner, Xs, ys, prepared, rows[left_out])

        return predicted_right(predict, ys[-1][rows], folds)

    def _folds(self, y):
        """The labelled rows and their folds, stratified by class."""
        rows = np.flatnonzero(y != UNLABELLED)
        if not rows.size:
            raise ValueError(
                f"the target: none of its {y.size} samples is labelled, and cross-validation needs "
                "labels; label two or more of each class, or fix the parameters"
            )
        classes, counts = np.unique(y[rows], return_counts=True)
        if counts.min() < 2:
            few = classes[counts < 2].tolist()
            raise ValueError(
                f"the target has fewer than 2 labelled samples of class {few}; cross-validation "
                "needs one to train on and one to score, so label more or fix the parameters"
            )
        rows = check_random_state(self.random_state).permutation(rows)
        n_folds = min(self.cv, counts.max())
        folds = np.empty(rows.size, dtype=np.intp)
        for label in classes:
            members = y[rows] == label
            folds[members] = np.arange(np.count_nonzero(members)) % n_folds
        return rows, folds

    def _predict_hidden(self, aligner, Xs, ys, prepared, hidden):
        """Predictions for the target's `hidden` rows from a fit without their labels."""
        target = ys[-1].copy()
        target[hidden] = UNLABELLED
        visible = [*ys[:-1], target]
        embeddings = clone(aligner).fit(Xs, visible, prepared).embeddings_
        roles = (aligner.classifier_rows or "source").split("+")
        last = len(Xs) - 1
        used = [d for d in range(last + 1) if ("target" if d == last else "source") in roles]
        known = [visible[d] != UNLABELLED for d in used]
        Z = stacked([embeddings[d][mask] for d, mask in zip(used, known, strict=True)])
        y = np.concatenate([visible[d][mask] for d, mask in zip(used, known, strict=True)])
        if np.unique(y).size < 2:
            raise ValueError(
                f"the labelled samples of {' and '.join(map(domain_name, used))} hold "
                f"{np.unique(y).size} classes; the classifier needs 2"
            )
        default = LogisticRegression(max_iter=1000)
        classifier = default if self.classifier is None else clone(self.classifier)
        return classifier.fit(Z, y).predict(embeddings[-1][hidden])

    def _transform(self, X, domain):
        return self.best_aligner_._embed(X, domain)

    def _inverse_transform(self, Z, domain):
        return self.best_aligner_.inverse_transform(Z, domain)


def _model_for(aligner, models, X):
    """The first prepared model that `aligner` accepts, or None."""
    return next((model for model in models or () if aligner.accepts(model, X)), None)


class AlignerSearchCV(ParameterSelection):
    r"""Grid search of an aligner by cross-validation on the labelled target rows.

    For each candidate :math:`\theta` and each fold :math:`F_k` of the labelled target rows, the
    aligner is fitted without the labels of the fold, and a classifier trained on the remaining
    labelled rows predicts them. The candidate chosen,

    .. math:: \hat\theta = \arg\max_\theta \sum_k \sum_{i \in F_k}
              [\hat y_i(\theta, F_k) = y_i],

    is the first in the grid among ties, and is refitted with all labels. Unlabelled rows take part
    in every fit.

    Parameters
    ----------
    aligner : Aligner
    grid : dict or list of dict
        Candidate values of the parameters of `aligner`, as for scikit-learn's ``ParameterGrid`` and
        in its order.
    classifier : classifier, optional
        Trained on the labelled rows of the sources, or those that the aligner's ``classifier_rows``
        names. By default a logistic regression with C = 1.
    cv : int, default=3
        Number of folds, stratified by class; at most the number of labelled rows of the most
        frequent class.
    random_state : int, RandomState or None, default=0
        Shuffles the rows before folding.

    Attributes
    ----------
    best_params_ : dict
    best_aligner_ : Aligner
        Fitted with `best_params_` and all labels.
    cv_results_ : dict
        ``params``, a list with one dict per candidate; ``mean_score``, the accuracy on held-out
        labelled target rows; ``fold_scores`` of shape (candidates, folds).
    embeddings_, n_components_, n_features_in_
        Those of `best_aligner_`.

    Raises
    ------
    ValueError
        If a class has fewer than two labelled rows in the target, or a candidate is invalid.
    AlignmentError
        If a candidate fails, which aborts the search; the message names it.

    Notes
    -----
    Cost: folds x candidates + 1 fits; candidates share prepared models where they can. With r
    labelled target rows the standard error of a score is up to 0.5 / sqrt(r), 9 percentage points
    for 30 rows, so small differences are due to chance.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import FMA
    >>> from domain_alignment import AlignerSearchCV
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> Xs = [4 * np.eye(2, 3)[y] + rng.normal(size=(40, 3)) for _ in range(2)]
    >>> seen = np.where(np.arange(40) % 20 < 3, y, -1)  # three labels per class
    >>> fma = FMA(n_components=4, n_neighbors=5)
    >>> chosen = AlignerSearchCV(fma, {"alpha": [0.2, 1.0]}).fit(Xs, [y, seen])
    >>> chosen.best_params_, chosen.cv_results_["mean_score"].shape
    ({'alpha': 0.2}, (2,))
    """

    _parameter_constraints: ClassVar[dict] = {
        **ParameterSelection._parameter_constraints,
        "aligner": [Aligner],
        "grid": [dict, list],
    }

    def __init__(self, aligner, grid, classifier=None, cv=3, random_state=0):
        self.aligner = aligner
        self.grid = grid
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def _validate_params(self):
        super()._validate_params()
        try:
            n_candidates = len(ParameterGrid(self.grid))
        except TypeError as error:
            raise ValueError(f"grid: {error}") from error
        if not n_candidates:
            raise ValueError("grid is empty; give at least one candidate")

    def _candidates(self):
        return [
            (params, clone(self.aligner).set_params(**params))
            for params in ParameterGrid(self.grid)
        ]


class FMACV(ParameterSelection):
    r"""FMA with symmetrisation and embedding scale chosen by cross-validation on the target.

    :class:`AlignerSearchCV` of :class:`~domain_alignment.FMA` as one estimator of plain parameters.
    The scale sets the regularisation of a subsequent classifier: logistic regression with C = 1 on

    .. math:: Z_C = \sqrt{C}\, Z

    is logistic regression with that C on Z, its weights divided by :math:`\sqrt{C}`, since
    :math:`\|w\|^2 / 2 + C \sum_i \ell(w^T z_i)` differs from :math:`\|v\|^2 / 2 + \sum_i
    \ell(v^T \sqrt{C} z_i)`, :math:`v = w / \sqrt{C}`, only by the factor C.

    Parameters
    ----------
    level : {"instance", "feature"}, default="instance"
    n_components : int, default=40
    n_neighbors : int, default=12
    alpha : float, default=0.2
    correspondence_weight : float, default=1.0
    metric : {"cosine", "euclidean"}, default="cosine"
        As for FMA.
    symmetrize : list of {"union", "mean", "mutual"}, default=("union", "mean")
        Candidates; the default of FMA comes first and wins ties.
    C : list of float, default=(1.0, 10.0)
        Candidates, each with every `symmetrize`.
    cv : int, default=3
    random_state : int, RandomState or None, default=0
    classifier : classifier, optional
        As for :class:`AlignerSearchCV`.

    Attributes
    ----------
    best_params_ : dict
        ``C`` and ``symmetrize``.
    best_aligner_ : FMA
        With `alpha` and `correspondence_weight` divided by C, which only scales its embedding by
        :math:`\sqrt{C}`.
    cv_results_ : dict
    embeddings_, n_components_, n_features_in_
        As for :class:`AlignerSearchCV`.

    Raises
    ------
    ValueError, AlignmentError
        As :class:`AlignerSearchCV` and FMA.

    Notes
    -----
    Cost: ``prepare`` is FMA's, O(n_a^2 p) time and O(n p) memory for one search of neighbours, and
    its eigenpairs once per `symmetrize`, with O(len(symmetrize) (n + p) n_components) memory. A fit
    is ``cv * len(C) * len(symmetrize) + 1`` fits of FMA from these spectra, O(cv len(C)
    len(symmetrize) (n n_components^2 + n_components^3)) time, and one fewer of the classifier, on
    the labelled samples. Scale-invariant classifiers, such as nearest neighbours or linear
    discriminant analysis, do not depend on C.

    - ``level == "instance"``: O(len(symmetrize) n (n_neighbors + n_components)) per Lanczos step.
    - ``level == "feature" and n_a >= p``: O(len(symmetrize) (n p^2 + p^3)) time, O(p^2) memory.
    - ``level == "feature" and n_a < p``: O(len(symmetrize) (n n_a p + n_a^3)) time, O(n_a^2)
      memory.

    Departs from the paper, which has one setting of both for all tasks and states neither (we read
    union and C = 1).

    References
    ----------
    .. [1] S. Dernbach, D. Towsley. Filtered Manifold Alignment. 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import FMACV
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> Xs = [4 * np.eye(2, 3)[y] + rng.normal(size=(40, 3)) for _ in range(2)]
    >>> seen = np.where(np.arange(40) % 20 < 3, y, -1)  # three labels per class
    >>> FMACV(n_components=4, n_neighbors=5).fit(Xs, [y, seen]).best_params_
    {'C': 1.0, 'symmetrize': 'union'}
    """

    _parameter_constraints: ClassVar[dict] = {
        **FMA._parameter_constraints,
        **ParameterSelection._parameter_constraints,
        "symmetrize": [list, tuple],
        "C": ["array-like"],
    }

    def __init__(
        self,
        level="instance",
        n_components=40,
        n_neighbors=12,
        alpha=0.2,
        correspondence_weight=1.0,
        metric="cosine",
        symmetrize=("union", "mean"),
        C=(1.0, 10.0),
        cv=3,
        random_state=0,
        classifier=None,
    ):
        self.level = level
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.correspondence_weight = correspondence_weight
        self.metric = metric
        self.symmetrize = symmetrize
        self.C = C
        self.cv = cv
        self.random_state = random_state
        self.classifier = classifier

    def _validate_params(self):
        super()._validate_params()
        if not len(self.symmetrize):
            raise ValueError("symmetrize is empty; give at least one candidate")
        check_candidates("C", self.C)

    def _prepare(self, X, name):
        aligners = [aligner for _, aligner in self._candidates()]
        for aligner in aligners:
            aligner._validate_params()
        # One search of neighbours, and one copy of the samples, serve every way to symmetrise.
        found = found_neighbors(X, self.n_neighbors, metric=self.metric, search="auto", name=name)
        by_rule = {aligner.symmetrize: aligner for aligner in aligners}
        first, *others = (aligner._prepare(X, name, found) for aligner in by_rule.values())
        return first, *(dataclasses.replace(one, samples=first.samples) for one in others)

    def _candidates(self):
        return [
            (
                {"C": C, "symmetrize": symmetrize},
                FMA(
                    level=self.level,
                    n_components=self.n_components,
                    n_neighbors=self.n_neighbors,
                    alpha=self.alpha / C,
                    correspondence_weight=self.correspondence_weight / C,
                    symmetrize=symmetrize,
                    metric=self.metric,
                ),
            )
            for C in self.C
            for symmetrize in self.symmetrize
        ]
