"""Ways of choosing among candidates, compared with the best possible choice."""

import dataclasses
from collections.abc import Collection, Sequence

import pandas as pd

from workflow.lib.results.effects import ROUNDING, Comparison, UncomparableError, compare

_CELL = ["dataset", "task", "method"]


@dataclasses.dataclass(frozen=True)
class Selection:
    """Ways of choosing, compared over methods, tasks and trials.

    Attributes
    ----------
    comparison : Comparison
        Its methods are ways of choosing, its values accuracies averaged over methods; over the
        oracle as reference, an effect is minus a gap.
    tiers : tuple of tuple of str
        Best first, of all ways but the oracle, which is above them by what it reads.
    n_cells, n_left_out : int
        (task, method) pairs in which every way of choosing has a score in every trial, and others
        in which the oracle has one.
    methods_left_out : tuple of str
        Those without any such pair.
    undefined : tuple of str
        Ways of choosing that are defined on fewer than three quarters of the pairs.
    """

    comparison: Comparison
    tiers: tuple[tuple[str, ...], ...]
    n_cells: int
    n_left_out: int
    methods_left_out: tuple[str, ...]
    undefined: tuple[str, ...]

    def tier(self, name: str) -> int | None:
        """Number of the tier of a way of choosing, the best is 1; None of the oracle."""
        return next((place for place, tier in enumerate(self.tiers, 1) if name in tier), None)

    def nearest(self, names: Collection[str]) -> list[str]:
        """Of some ways of choosing the nearest to the oracle, several if they are equal."""
        effects = [one for one in self.comparison.effects if one.method in names]
        best = max((one.effect for one in effects), default=0.0)
        return [one.method for one in effects if one.effect > best - ROUNDING]

    def place(self, name: str, names: Collection[str]) -> tuple[int, int]:
        """Place of one among some ways of choosing, 1 is the nearest, and how many have one.

        Equal ones share a place; one that is undefined has 0.
        """
        gains = {one.method: one.effect for one in self.comparison.effects if one.method in names}
        if name not in gains:
            return 0, len(gains)
        return 1 + sum(gain > gains[name] + ROUNDING for gain in gains.values()), len(gains)


def compare_selectors(
    records: pd.DataFrame, choices: Sequence[str], reference: str = "oracle"
) -> Selection:
    """Compare ways of choosing with the oracle, or with one of them.

    Parameters
    ----------
    records : DataFrame
        Of tuned experiments, with a column ``dataset``.
    choices : sequence of str
        The oracle among them.
    reference : str, default="oracle"
        One of them.

    Raises
    ------
    UncomparableError
        If the reference, or fewer than two ways but the oracle, are defined on enough pairs.
    """
    known = records[records["classifier"].isin(choices)]
    values = known["accuracy"].where(known["status"] == "ok").astype(float)
    wide = known.assign(value=values).pivot(
        index=[*_CELL, "source", "target", "trial"], columns="classifier", values="value"
    )
    pairs = wide.notna().groupby(level=_CELL)
    complete, defined_on = pairs.transform("all"), pairs.all()
    possible = wide[complete["oracle"]]
    shares = defined_on[defined_on["oracle"]].mean()
    defined = [name for name in choices if shares[name] >= MOSTLY]
    whole = possible[complete.loc[possible.index, defined].all(axis=1)]
    places = ["dataset", "task", "source", "target", "trial"]
    tidy = whole[defined].groupby(level=places).mean().stack()
    tidy.index = tidy.index.set_names([*places, "method"])
    n_cells = whole.groupby(level=_CELL).ngroups
    scores = tidy.rename("value").reset_index()
    attainable = scores[scores["method"] != "oracle"]
    return Selection(
        comparison=compare(scores, reference, tiered=False),
        tiers=compare(attainable, next(n for n in defined if n != "oracle")).tiers,
        n_cells=n_cells,
        n_left_out=possible.groupby(level=_CELL).ngroups - n_cells,
        methods_left_out=tuple(sorted({*methods_of(possible)} - {*methods_of(whole)})),
        undefined=tuple(name for name in choices if name not in defined),
    )


def methods_of(scores: pd.DataFrame) -> pd.Index:
    return scores.index.get_level_values("method")


# A way of choosing that is defined for fewer of the methods would narrow the comparison to these:
# circular validation is, where half of them learn from labels of the target.
MOSTLY = 0.75


def selections_by(
    column: str, records: pd.DataFrame, choices: Sequence[str]
) -> dict[str, Selection]:
    """The same for each value of a column by itself, such as each method or each data set.

    Values without a pair on which the oracle and two other ways have scores are left out.
    """
    found = {}
    for value, mine in records.groupby(column, sort=False):
        try:
            found[value] = compare_selectors(mine, choices)
        except UncomparableError:
            continue
    return found
