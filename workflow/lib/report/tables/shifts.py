"""Tables of the kinds of shift: gain of every method under each, and what each shift takes."""

from collections.abc import Iterable, Sequence

from workflow.lib.report.tables.model import EMPTY, INTERVAL, Table, TableCell, TableColumn, ends_of
from workflow.lib.results.effects import Effect
from workflow.lib.results.shifts import Kind, Shifts, harms, rule
from workflow.lib.results.text import fixed, interval, percent, signed

# Short words of the kinds that workflow/loaders/shifts.py generates.
WORDS = {
    "covariate": "covariate shift",
    "label": "label shift",
    "concept": "moved concept",
    "subspace": "turned subspace",
    "rotation": "rotation",
    "linear": "linear map",
    "noise": "noise features",
    "conditional": "class-conditional shift",
    "partial": "missing classes",
    "heterogeneous": "other features",
}
HARM = "▾"


def notes(shown: Iterable[Shifts]) -> tuple[str, ...]:
    """What numbers, bold ones and the mark mean in the tables of some experiments."""
    return (
        f"{rule(shown)}.",
        f"Bold: surely above no adaptation. {HARM}: below it by more than the error.",
    )


def words(kind: str) -> str:
    return WORDS.get(kind, kind.replace("_", " "))


def ranked(shifts: Shifts) -> list[str]:
    """Methods with an effect on some kind, by their mean gain at full severity, ties by name."""
    gains: dict[str, list[float]] = {}
    for kind in shifts.kinds:
        for effect in kind.full:
            gains.setdefault(effect.method, []).append(effect.effect)
    return sorted(gains, key=lambda m: (-round(sum(gains[m]) / len(gains[m]), 12), m))


def gains_table(shifts: Shifts, overall: bool = False) -> Table:
    """One row per method, one column per kind: gain over no adaptation, in points."""
    kinds = [kind for kind in shifts.kinds if not kind.why]
    when = "mean over all severities" if overall else "at full severity"
    return Table(
        name=f"{shifts.view.name}_{'all' if overall else 'full'}",
        caption=f"{shifts.view.experiment.title}: gain over no adaptation in percentage points, "
        f"{when}.",
        columns=(
            TableColumn("Method"),
            *(
                TableColumn(words(kind.name), True, title=_reference(shifts, kind, overall))
                for kind in kinds
            ),
        ),
        rows=tuple(_row(shifts, method, kinds, overall) for method in ranked(shifts)),
        notes=notes([shifts]),
        methods="rows",
    )


def _reference(shifts: Shifts, kind: Kind, overall: bool = False) -> str:
    method = kind.overall_reference if overall else kind.reference
    return f"over {shifts.view.method_label(method)}" if method else ""


def _row(shifts: Shifts, method: str, kinds: Sequence[Kind], overall: bool) -> tuple:
    baseline = shifts.view.suite.is_baseline(method)
    name = TableCell(shifts.view.method_label(method), kind="baseline" if baseline else "")
    return (name, *(_cell(kind, method, overall) for kind in kinds))


def _cell(kind: Kind, method: str, overall: bool) -> TableCell:
    effect = kind.effect(method, overall)
    if effect is None:
        if method == (kind.overall_reference if overall else kind.reference):
            return TableCell("reference", kind="absent")
        return TableCell("–", kind="absent", title=kind.left_out.get(method, ""))
    return TableCell(
        gain_text(effect),
        value=100 * effect.effect,
        bold=effect.surely_above,
        title=interval(effect.low, effect.high),
        kind="failed" if harms(effect) else "",
    )


def gain_text(effect: Effect) -> str:
    """Points, with a mark where the method harms."""
    return f"{points_text(effect)} {HARM}" if harms(effect) else points_text(effect)


def points_text(effect: Effect) -> str:
    """Points; where the method harms with as many digits as tell them from zero."""
    points = 100 * effect.effect
    digits = next((n for n in (1, 2, 3) if round(points, n)), 4) if harms(effect) else 1
    return signed(points, digits)


def losses_table(shifts: Shifts) -> Table:
    """One row per kind: best accuracy without adaptation at every severity, and what is lost."""
    kinds = [kind for kind in shifts.kinds if not kind.why]
    curves = {
        kind.name: shifts.curves(kind.name).filter(items=shifts.plain).max(axis=1) for kind in kinds
    }
    severities = sorted({level for curve in curves.values() for level in curve.index})
    rows = []
    for kind in kinds:
        found = [curves[kind.name].get(level) for level in severities]
        rows.append(
            (
                TableCell(words(kind.name)),
                TableCell(_ends(shifts, kind)),
                *(EMPTY if v is None or v != v else _share(v) for v in found),
                _loss(kind),
            )
        )
    return Table(
        name=f"{shifts.view.name}_losses",
        caption=f"{shifts.view.experiment.title}: what each shift takes from the best that adapts "
        "nothing at each severity, in percent.",
        columns=(
            TableColumn("Kind"),
            TableColumn("Best without adaptation", title="without the shift, under all of it"),
            *(TableColumn(f"severity {level:g}", True) for level in severities),
            TableColumn(
                "Loss",
                True,
                counts=INTERVAL,
                title=f"from severity 0 to the highest, below 0 a gain; {INTERVAL}",
            ),
        ),
        rows=tuple(rows),
    )


def _ends(shifts: Shifts, kind: Kind) -> str:
    """The best that adapts nothing without the shift and under all of it."""
    ends = dict.fromkeys((kind.unshifted, kind.reference))
    return ", then ".join(shifts.view.method_label(method) for method in ends)


def _share(value: float) -> TableCell:
    return TableCell(percent(value), value=100 * value)


def _loss(kind: Kind) -> TableCell:
    if kind.loss is None:
        return EMPTY
    return TableCell(
        fixed(100 * kind.loss.effect, 1),
        value=100 * kind.loss.effect,
        count=interval(kind.loss.low, kind.loss.high, plus=False),
        ends=ends_of(kind.loss.low, kind.loss.high),
        bold=bool(kind.hurts),
    )


def tables_of(shifts: Shifts) -> tuple[Table, ...]:
    return gains_table(shifts), gains_table(shifts, overall=True), losses_table(shifts)
