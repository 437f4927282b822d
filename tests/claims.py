"""The numbers that the project claims: `tests/claims.yaml`, and how a claim is checked.

python -m tests.claims      # names of the experiments that the claims are about
"""

import dataclasses
import math
from pathlib import Path

import yaml

from workflow.lib.config.suite import Suite, load_suite
from workflow.lib.results.audit import audit
from workflow.lib.results.records import load_results
from workflow.lib.results.sentences import Quantities, value_of
from workflow.lib.results.views import ExperimentView

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("claims.yaml")


@dataclasses.dataclass(frozen=True)
class Claim:
    """One number: what it is of, and where it is printed.

    ``quantity`` is an expression as in the notes of an experiment (`results.sentences`), ``value``
    what a run gave, ``printed`` the text of the number in the files of ``where``.
    """

    claim: str
    experiment: str
    quantity: str
    value: float
    tolerance: float
    printed: str = ""
    where: tuple[str, ...] = ()
    quick: str = ""

    @property
    def id(self) -> str:
        return f"{self.experiment}: {self.quantity}"

    def found(self, quantities: Quantities) -> float:
        """The number in some records; NaN where they lack it."""
        return float(value_of(f"{FILE.name}: {self.claim}", self.quantity, quantities))

    def check(self, quantities: Quantities) -> None:
        """Raise unless the records say what is claimed."""
        found = self.found(quantities)
        assert math.isclose(found, self.value, rel_tol=0, abs_tol=self.tolerance), (
            f"{self.claim}: {self.id} is {found:.2f}, claimed {self.value} ± {self.tolerance}"
        )


def read_claims(path: Path = FILE) -> list[Claim]:
    """Claims of a file; those without a tolerance have that of the file."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    made = [{"tolerance": content["tolerance"], **entry} for entry in content["claims"]]
    return [Claim(**{**entry, "where": tuple(entry.get("where", ()))}) for entry in made]


def claimed_experiments() -> list[str]:
    return list(dict.fromkeys(claim.experiment for claim in read_claims()))


def quantities_of(view: ExperimentView) -> Quantities:
    """What a claim may name, of the records of one experiment."""
    checked = audit(view)
    return Quantities(view, {column.name: column for column in checked.columns} if checked else {})


def recorded(suite: Suite, name: str, results: Path) -> Quantities:
    """Quantities of the records of a run, whose sums are checked."""
    records = load_results(results / name)
    return quantities_of(ExperimentView(suite.experiments[name], suite, records))


if __name__ == "__main__":
    unknown = set(claimed_experiments()) - set(load_suite(ROOT).experiments)
    assert not unknown, unknown
    print(*claimed_experiments())
