"""Notes and findings of the experiment files, filled in from the records when a page is made.

They are Jinja templates over the named quantities of `Quantities`: percent, or percentage points.
A number that the records do not have is shown as not available and decides no finding.
"""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from workflow.lib.config.suite import ConfigError, check_known
from workflow.lib.results.columns import Column, Row
from workflow.lib.results.published import (
    mean_of_rows,
    order_of,
    read_printed_means,
    read_published,
)
from workflow.lib.results.set_values import numbers_in, set_numbers
from workflow.lib.results.text import fixed, signed
from workflow.lib.results.views import ExperimentView, StudyView

NOT_AVAILABLE = "(not available)"
# One unit of the last digit of percentages that are printed with one decimal.
_LAST_DIGIT = 0.1 + 1e-9


class SentenceError(ValueError):
    """A note or finding names a quantity, column, row or method that there is not."""


class Quantities:
    """What a sentence may name. Columns are those of the audit, rows are labels such as ``A→C``.

    Every method but `setting` and `printed` returns a number; NaN where no complete cell gives
    it, which is then listed in ``missing``.
    """

    def __init__(self, view: ExperimentView | StudyView, columns: Mapping[str, Column]):
        self.view, self._columns = view, columns
        self.missing: list[str] = []

    def accuracy(
        self,
        method: str,
        row: str = "",
        measure: str = "",
        classifier: str = "",
        at: str | None = None,
    ) -> float:
        """Accuracy of a method on one task, or its mean if every task is complete.

        Where a quantity is varied, at one of its values, ``at=setting("0.1")``.
        """
        view, asked = self.view, self.view.experiment.audit or {}
        check_known("accuracy", None, method, view.methods, "method")
        measure = measure or asked.get("measure", "accuracy")
        classifier = classifier or asked.get("classifier", view.experiment.classifiers[0])
        tasks = {view.task_label(task): task.name for task in view.experiment.tasks}
        if row:
            check_known("accuracy", None, row, tasks, "row")
        varied = at and float(at)
        if varied not in view.settings:
            raise ConfigError(f"accuracy: at={at} is none of {', '.join(map(str, view.settings))}")
        names = [tasks[row]] if row else list(tasks.values())
        cells = [view.cell(name, method, classifier, measure, varied) for name in names]
        complete = all(cell.complete for cell in cells)
        return self._known(
            100 * sum(cell.mean for cell in cells) / len(cells) if complete else None,
            f"the accuracy of {method}{f' on {row}' if row else ''}",
        )

    def ahead(self, method: str, other: str) -> int | float:
        """Number of values of the varied quantity at which a method has the higher accuracy."""
        told = [
            [self.accuracy(name, at=str(value)) for value in self.view.settings]
            for name in (method, other)
        ]
        if any(map(math.isnan, (*told[0], *told[1]))):
            return math.nan
        return sum(one > rival for one, rival in zip(*told, strict=True))

    def faster(self, method: str, other: str) -> int | float:
        """Number of timed tasks on which a method takes fewer CPU seconds than another."""
        for name in (method, other):
            check_known("faster", None, name, self.view.experiment.timing["methods"], "method")
        seconds = [self.view.timed(name) for name in (method, other)]
        known = zip(*seconds, strict=True) if all(seconds) else ()
        fewer = [one < rival for one, rival in known]
        what = f"the seconds of {method} and {other}"
        return self._known(sum(fewer) if fewer else None, what)

    def ours(self, column: str, row: str = "") -> float:
        """Our number beside a published one; without a row the mean over the compared rows."""
        return self._known(self._row(column, row).ours, f"ours of {column}", self._row(column, row))

    def published(self, column: str, row: str = "") -> float:
        """A published number; without a row the mean of all printed rows."""
        found = self._column(column)
        value = self._row(column, row).published if row else found.published_mean
        return self._known(value, f"the published {column}")

    def difference(self, column: str, row: str = "") -> float:
        """Ours − published, percentage points; without a row that of the means."""
        found = self._row(column, row)
        return self._known(found.difference, f"the difference of {column}", found)

    def gap(self, column: str) -> float:
        """Mean absolute difference over the compared rows."""
        sizes = [abs(row.difference) for row in self._judged(column)]
        return self._known(sum(sizes) / len(sizes) if sizes else None, f"rows of {column}")

    def rows(self, column: str, grade: str = "") -> int | float:
        """Number of compared rows, or of those with a grade."""
        judged = self._judged(column)
        met = sum(row.grade == grade for row in judged) if grade else len(judged)
        return self._known(met if judged else None, f"rows of {column}")

    def within_a_digit(self, column: str) -> int | float:
        """Number of compared rows within one unit of the last printed digit: 0.1 point."""
        judged = self._judged(column)
        met = sum(abs(row.difference) <= _LAST_DIGIT for row in judged)
        return self._known(met if judged else None, f"rows of {column}")

    def replaced(self, column: str, *rows: str) -> float:
        """Mean of a printed column with ours in the place of some of its rows."""
        values = [
            self.ours(column, row.label) if row.label in rows else row.published
            for row in self._column(column).rows
            if row.published is not None
        ]
        return sum(values) / len(values)

    def printed_mean(self, column: str, table: str = "") -> float:
        """The mean that the paper prints for a column of this table, or of another."""
        table = table or self.view.experiment.audit["published"]
        means = read_printed_means(self._config)
        return self._known(means.get((table, column)), f"the printed mean of {column} in {table}")

    def misprint(self, column: str, table: str = "") -> float:
        """The mean that the paper prints − the mean of the rows that it prints."""
        table = table or self.view.experiment.audit["published"]
        rows = mean_of_rows(self._config / "published" / table, column)
        return self.printed_mean(column, table) - rows

    def order(self, column: str) -> float:
        """Correlation of a published column with the mean of the others of its table."""
        table = self.view.experiment.audit["published"]
        found = order_of(read_published(self._config / "published" / table))
        return self._known(found.get(column), f"the order of {column}")

    @staticmethod
    def printed(text: str) -> str:
        """A number that a paper prints, or a section of it: taken as it stands."""
        return text

    def setting(self, text: str) -> str:
        """A value that was set, not found: the experiment's configuration must hold it."""
        experiment = self.view.experiment
        if not numbers_in(text) <= set_numbers(self.view.suite, experiment):
            raise ConfigError(
                f"setting: {text} is no parameter of {experiment.name}; write printed(…) of what a "
                "paper prints, and a quantity of the records of what was found"
            )
        return text

    @property
    def _config(self) -> Path:
        return self.view.root / "config"

    def _column(self, name: str) -> Column:
        check_known("column", None, name, self._columns, "column")
        return self._columns[name]

    def _judged(self, column: str) -> list[Row]:
        """The compared rows; none where trials of others failed, which the printed ones have."""
        found = self._column(column)
        return [] if found.failed else found.judged

    def _row(self, column: str, label: str) -> Row:
        found = self._column(column)
        if not label:
            return dataclasses.replace(found.mean, ours=None) if found.failed else found.mean
        rows = {row.label: row for row in found.rows}
        check_known(column, None, label, rows, "row")
        return rows[label]

    def _known(self, value: float | None, what: str, row: Row | None = None) -> float:
        """The number, unless there is none or it is a mean over some of the trials."""
        partial = row is not None and not row.grade and row.ours is not None
        if value is None or partial:
            self.missing.append(what)
            return math.nan
        return value


def render(where: str, text: str, quantities: Quantities) -> str:
    """A text with its quantities filled in.

    Raises
    ------
    SentenceError
        Naming the place and what is wrong.
    """
    try:
        return _environment().from_string(text).render(_names(quantities))
    except (jinja2.TemplateError, ConfigError, TypeError) as error:
        raise SentenceError(f"{where}: {error}") from error


def decide(where: str, condition: str, quantities: Quantities) -> bool | None:
    """Whether a condition holds; None where the records lack a number that it asks for."""
    holds = bool(value_of(where, condition, quantities))
    return None if quantities.missing else holds


def value_of(where: str, expression: str, quantities: Quantities) -> object:
    """Value of an expression over the quantities.

    Raises
    ------
    SentenceError
        Naming the place and what is wrong.
    """
    try:
        compiled = _environment().compile_expression(expression, undefined_to_none=False)
        return compiled(_names(quantities))
    except (jinja2.TemplateError, ConfigError, TypeError) as error:
        raise SentenceError(f"{where}: {error}") from error


def _names(quantities: Quantities) -> dict:
    """What a template may call. A study has records of its own form: nothing is read from them."""
    public = (name for name in vars(Quantities) if not name.startswith("_"))
    chosen = ("printed", "setting") if isinstance(quantities.view, StudyView) else public
    return {name: getattr(quantities, name) for name in chosen}


def _environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, finalize=_shown)
    environment.filters = {"points": _points, "signed": _signed, "abs": abs}
    return environment


def _shown(value: object) -> object:
    return _points(value) if isinstance(value, float) else value


def _points(value: float, digits: int = 1) -> str:
    """A number with its decimals and a true minus sign."""
    return NOT_AVAILABLE if math.isnan(value) else fixed(value, digits)


def _signed(value: float, digits: int = 1) -> str:
    return NOT_AVAILABLE if math.isnan(value) else signed(value, digits)
