"""Data sets of a board whose tasks have a domain in common: their error says nothing of it."""

import dataclasses

from workflow.lib.results.board import Board
from workflow.lib.results.domain_jackknife import TaskDomains, shared_domains
from workflow.lib.results.effects import AND

SOURCE, TARGET, EITHER = "source", "target", "domain"


@dataclasses.dataclass(frozen=True)
class Shared:
    """What the tasks of one data set have in common.

    Attributes
    ----------
    dataset : str
    domains : tuple of str
    role : str
        `SOURCE` or `TARGET` if they are that in every task, else `EITHER`.
    """

    dataset: str
    domains: tuple[str, ...]
    role: str


def shared_by_dataset(board: Board) -> list[Shared]:
    """Of each data set whose tasks, of those that the board compares, have domains in common."""
    found = []
    places = board.records[["dataset", "task", "source", "target"]].drop_duplicates()
    for dataset, own in places.groupby("dataset", sort=False):
        tasks = [
            TaskDomains(tuple(source.split(AND)), target)
            for _, task, source, target in own.itertuples(index=False, name=None)
            if (dataset, task) not in board.comparison.tasks_left_out
        ]
        if tasks and (domains := shared_domains(tasks)):
            found.append(Shared(dataset, tuple(domains), _role(tasks, {*domains})))
    return found


def _role(tasks: list[TaskDomains], domains: set[str]) -> str:
    if all(domains <= {*task.sources} for task in tasks):
        return SOURCE
    return TARGET if all(domains == {task.target} for task in tasks) else EITHER
