"""Transfer tasks from Reuters-21578: word counts as published with transfer spectral clustering.

Articles on one category, such as orgs, against articles on another, such as people. The domains of
a task hold different subcategories of both and share a vocabulary. Files ``{Task}_src.mat`` and
``{Task}_tar.mat`` hold ``{Task}_src_data`` (counts; rows are articles) and ``{Task}_src_label`` (1,
the first category of the name, or 2). No article is empty.
"""

from pathlib import Path

import numpy as np
from scipy import sparse

from workflow.loaders import known_domain
from workflow.loaders._matfiles import read_variables
from workflow.loaders._text import weigh

_TASKS = {
    "orgs_people": "OrgsPeople",
    "orgs_places": "OrgsPlaces",
    "people_places": "PeoplePlaces",
}
_ROLES = {"source": "src", "target": "tar"}
_DOMAINS = [f"{task}_{role}" for task in _TASKS for role in _ROLES]


def load(
    domain: str, paths: dict[str, Path], weighting: str = "counts"
) -> tuple[sparse.csr_array, np.ndarray]:
    """Articles of one domain.

    Parameters
    ----------
    domain : {"orgs_people_source", "orgs_people_target", "orgs_places_source", ...}
        Class 0 is the category named first.
    paths : dict of str to Path
        Both files of the task for "tfidf", otherwise at least the domain's.
    weighting : {"counts", "tfidf"}
        See `workflow.loaders._text.weigh`.

    Raises
    ------
    ValueError
        If a file is missing or not of the published form.
    """
    task, _, role = known_domain(domain, _DOMAINS).rpartition("_")
    X, y = _read(paths, f"{_TASKS[task]}_{_ROLES[role]}")
    if weighting == "counts":
        return weigh(X, X, weighting), y
    parts = [_read(paths, f"{_TASKS[task]}_{part}")[0] for part in _ROLES.values()]
    return weigh(X, sparse.csr_array(sparse.vstack(parts)), weighting), y


def _read(paths: dict[str, Path], stem: str) -> tuple[sparse.csr_array, np.ndarray]:
    name = f"{stem}.mat"
    if name not in paths:
        raise ValueError(
            f"the file {name} is missing; the domain has {', '.join(paths) or 'none'}. "
            "List it under `files` of the domain in the entry of its data set."
        )
    X, labels = read_variables(paths[name], [f"{stem}_data", f"{stem}_label"])
    return sparse.csr_array(X, dtype=np.float64), labels.ravel().astype(np.int64) - 1
