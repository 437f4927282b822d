"""Kinds of shift: what each takes from a classifier that adapts nothing, and who wins it back.

Every kind is one comparison of its own: its targets are one sample that was changed more and more,
so that the trials vary (labelled samples of the source) and the severities do not. Gains are over
no adaptation; what an alignment has to clear is the best baseline, as on the boards, which may be
PCA of both domains together.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping

import pandas as pd

from workflow.lib.results.effects import Comparison, Effect, UncomparableError, compare
from workflow.lib.results.significance import SURELY, holm
from workflow.lib.results.text import listed, percent
from workflow.lib.results.views import ExperimentView

NONE = "none"
# The class that adapts nothing.
PLAIN = "NoAdaptation"

# To be filled by `rule`.
_RULE = (
    "Gain: mean over the trials of the difference to no adaptation, trial by trial; over all "
    "severities: of their means. Where several entries adapt nothing, the reference is the best of "
    "them on that kind, at full severity or over all. Intervals: 95 %, Student's t over the "
    "trials, which draw other labelled samples: they speak of these shifts, not of other shifts of "
    f"their kind. {SURELY}; losses are corrected for the number of kinds. Harm: below the "
    "reference by more than the standard error{chance}. Best baseline: the best of all that aligns "
    "nothing on that kind at full severity, PCA and kernel PCA of both domains among it where they "
    "were run, as on the boards; found by the same trials, which makes gains over it smaller and "
    "never larger"
)


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of shift in one experiment.

    Attributes
    ----------
    name : str
    reference : str
        The best that adapts nothing under the full shift; empty if nothing could be compared.
    unshifted : str
        The best that adapts nothing without the shift; the reference where none is above it.
    loss : Effect or None
        Accuracy of `unshifted` without the shift over that of the reference under all of it; None
        where there is no unshifted target.
    full, overall : tuple of Effect
        Of the other methods over the reference, at the highest severity and over all; the best
        comes first.
    overall_reference : str
        The best that adapts nothing over all severities.
    bar : str
        The best of all baselines at the highest severity; the reference where none is above it.
    over_bar : tuple of Effect
        Of the other methods over that baseline, at the highest severity; the best comes first.
    harmed_by_chance : float or None
        Probability that a method equal to the reference harms; None of one trial.
    left_out : dict of str to str
        Method to the reason why it has no effect at the highest severity.
    why : str
        Why nothing could be compared.
    """

    name: str
    reference: str = ""
    unshifted: str = ""
    loss: Effect | None = None
    full: tuple[Effect, ...] = ()
    overall: tuple[Effect, ...] = ()
    overall_reference: str = ""
    bar: str = ""
    over_bar: tuple[Effect, ...] = ()
    harmed_by_chance: float | None = None
    left_out: Mapping[str, str] = dataclasses.field(default_factory=dict)
    why: str = ""

    def effect(self, method: str, overall: bool = False) -> Effect | None:
        effects = self.overall if overall else self.full
        return next((effect for effect in effects if effect.method == method), None)

    @property
    def bar_gain(self) -> Effect | None:
        """Gain of the best baseline over no adaptation; None where it is the reference itself."""
        return self.effect(self.bar)

    def clears(self, method: str) -> bool:
        """Whether a method is surely above the best baseline."""
        return any(e.method == method and e.surely_above for e in self.over_bar)

    @property
    def hurts(self) -> bool | None:
        """Whether the full shift surely takes something; None where that cannot be said."""
        if self.loss is None or self.loss.p_holm is None:
            return None
        return self.loss.surely_above

    def share(self, effect: Effect) -> float | None:
        """Share of the loss that a gain wins back; None where nothing is lost."""
        return effect.effect / self.loss.effect if self.hurts else None


def harms(effect: Effect) -> bool:
    """Whether a method is below its reference by more than the error."""
    return effect.n_harmed > 0


@dataclasses.dataclass(frozen=True)
class Shifts:
    """The kinds of one experiment.

    Parameters
    ----------
    view : ExperimentView
        Its tasks' targets have a ``kind`` and a ``severity``; records of its first classifier are
        taken. A target of the kind `NONE` stands at severity 0 of every kind without one of its
        own.
    """

    view: ExperimentView

    @functools.cached_property
    def plain(self) -> list[str]:
        """Methods that adapt nothing."""
        methods = self.view.suite.methods
        return [m for m in self.view.methods if methods[m]["estimator"].endswith(f":{PLAIN}")]

    @functools.cached_property
    def aligning(self) -> list[str]:
        """Methods that are no baselines."""
        return [m for m in self.view.methods if not self.view.suite.is_baseline(m)]

    @functools.cached_property
    def not_run(self) -> list[str]:
        """Baselines of the boards that reduce features, apply here and are not among the methods;
        where no label of the target is shown, those of the target alone have none to learn from.
        """
        methods, labels = self.view.suite.methods, self.view.shows_target_labels
        return [
            name
            for name, entry in methods.items()
            if self.view.suite.is_baseline(name)
            and "search" in entry
            and not entry["estimator"].endswith(f":{PLAIN}")
            and name not in self.view.methods
            and (labels or entry.get("params", {}).get("domains") != "target")
        ]

    @property
    def labels_not_run(self) -> list[str]:
        return [self.view.suite.methods[method]["label"] for method in self.not_run]

    @functools.cached_property
    def scores(self) -> pd.DataFrame:
        """Columns kind, severity, trial, method, value; NaN where there is no score."""
        records = self.view.records
        chosen = records[records["classifier"] == self.view.experiment.classifiers[0]]
        places = {task.name: self._place(task) for task in self.view.experiment.tasks}
        return pd.DataFrame(
            {
                "kind": [places[task][0] for task in chosen["task"]],
                "severity": [places[task][1] for task in chosen["task"]],
                "trial": chosen["trial"].to_numpy(),
                "method": chosen["method"].to_numpy(),
                "value": chosen["accuracy"].where(chosen["status"] == "ok").to_numpy(float),
            }
        )

    def _place(self, task) -> tuple[str, float]:
        dataset = self.view.suite.datasets[task.target.dataset]
        params = dataset["domains"][task.target.domain]["params"]
        return params["kind"], float(params["severity"])

    @functools.cached_property
    def kinds(self) -> list[Kind]:
        """Every kind, in the order of the tasks."""
        names = dict.fromkeys(self._place(task)[0] for task in self.view.experiment.tasks)
        return _corrected([self._kind(name) for name in names if name != NONE])

    @property
    def harmed_by_chance(self) -> float | None:
        """Share of the kinds that a method equal to the reference harms; None of one trial."""
        known = [k.harmed_by_chance for k in self.kinds if k.harmed_by_chance is not None]
        return sum(known) / len(known) if known else None

    def of_kind(self, name: str) -> pd.DataFrame:
        """Scores of one kind, its unshifted target at severity 0."""
        mine = self.scores[self.scores["kind"] == name]
        if (mine["severity"] == 0).any():
            return mine
        unshifted = self.scores[self.scores["kind"] == NONE]
        return pd.concat([unshifted.assign(severity=0.0), mine], ignore_index=True)

    def _kind(self, name: str) -> Kind:
        scores = self.of_kind(name)
        shifted = scores[scores["severity"] > 0]
        last = shifted[shifted["severity"] == shifted["severity"].max()]
        try:
            found = _compared(last, name, self.plain)
        except UncomparableError as error:
            return Kind(name, why=str(error))
        barred = _compared(last, name, self.view.baselines)
        if any(e.method == found.reference and round(e.effect, 12) == 0 for e in barred.effects):
            barred = found  # of equals the simplest, not the first by its name
        try:
            overall = _compared(shifted, name, self.plain)
        except UncomparableError:
            overall = None
        unshifted = _unshifted(scores, self.plain, found.reference)
        return Kind(
            name=name,
            reference=found.reference,
            unshifted=unshifted,
            loss=_loss(scores, name, unshifted, found.reference),
            full=found.effects,
            overall=overall.effects if overall else (),
            overall_reference=overall.reference if overall else "",
            bar=barred.reference,
            over_bar=barred.effects,
            harmed_by_chance=found.harmed_by_chance,
            left_out=found.methods_left_out,
        )

    def curves(self, kind: str) -> pd.DataFrame:
        """Mean accuracy (severities x methods) of one kind; NaN unless every trial has a score."""
        wide = self.of_kind(kind).pivot(
            index=["severity", "trial"], columns="method", values="value"
        )
        groups = wide.groupby(level="severity")
        return groups.mean().where(wide.notna().groupby(level="severity").all())


def _corrected(kinds: list[Kind]) -> list[Kind]:
    """With their losses, each from a comparison of its own, corrected for the number of kinds."""
    tested = [kind for kind in kinds if kind.loss and kind.loss.p is not None]
    adjusted = dict(zip([k.name for k in tested], holm([k.loss.p for k in tested]), strict=True))
    return [
        dataclasses.replace(kind, loss=dataclasses.replace(kind.loss, p_holm=adjusted[kind.name]))
        if kind.name in adjusted
        else kind
        for kind in kinds
    ]


def _compared(scores: pd.DataFrame, kind: str, reference: str | Iterable[str]) -> Comparison:
    """Compare on the means over the severities, which are NaN where one of them is."""
    wide = scores.pivot(index=["trial", "method"], columns="severity", values="value")
    means = wide.mean(axis=1, skipna=False).rename("value").reset_index()
    place = {"dataset": kind, "task": kind, "source": "source", "target": kind}
    return compare(means.assign(**place), reference)


def _unshifted(scores: pd.DataFrame, plain: Iterable[str], reference: str) -> str:
    """The best that adapts nothing where nothing is shifted, of those with a score in every trial;
    the reference among equals.
    """
    first = scores[scores["severity"] == 0].pivot(index="trial", columns="method", values="value")
    means = first.reindex(columns=[reference, *plain]).mean(skipna=False).dropna().round(12)
    return reference if means.empty else means.idxmax()


def _loss(scores: pd.DataFrame, kind: str, unshifted: str, shifted: str) -> Effect | None:
    """A method without the shift, over one under all of it."""
    methods, severities = scores["method"], scores["severity"]
    before = scores[(methods == unshifted) & (severities == 0)].assign(method="unshifted")
    after = scores[(methods == shifted) & (severities == severities.max())]
    ends = pd.concat([before, after.assign(method="shifted", severity=0.0)], ignore_index=True)
    try:
        (loss,) = _compared(ends, kind, "shifted").effects
    except UncomparableError:
        return None
    return loss


def rule(shown: Iterable[Shifts]) -> str:
    """What the numbers of some experiments mean, to be printed beside them."""
    known = {share for shifts in shown if (share := shifts.harmed_by_chance) is not None}
    shares = dict.fromkeys(map(percent, sorted(known)))
    chance = (
        ". A method that is equal to the reference harms by chance on "
        f"{listed(shares, 'or')} % of the kinds"
    )
    return _RULE.format(chance=chance if shares else "")


def why_nothing(shifts: Iterable[Shifts]) -> str:
    """Why no kind could be compared at all; empty if one could."""
    kinds = [kind for each in shifts for kind in each.kinds]
    if any(not kind.why for kind in kinds):
        return ""
    return listed(sorted({kind.why for kind in kinds})) or "no experiment has kinds of shift"
