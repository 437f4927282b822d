"""Real data for tests of the library: the SURF counts of Office–Caltech10, from the mirror."""

import os
from pathlib import Path

import pytest
from scipy.io import loadmat
from sklearn.preprocessing import normalize, scale

MIRROR = Path(os.environ.get("ALIGNMENT_MIRROR", ""))
SURF = MIRROR / "office_caltech/surf"
FILES = {"A": "amazon", "C": "Caltech10", "D": "dslr", "W": "webcam"}

# Where CI has just fetched them, files that are not found are a failure.
needs_surf = pytest.mark.skipif(
    "ALIGNMENT_MIRROR" not in os.environ
    or not (SURF.is_dir() or os.environ.get("FETCH_PUBLIC_DATA")),
    reason="ALIGNMENT_MIRROR is not set to a folder with the Office-Caltech10 files",
)


def counts(name):
    """Counts of visual words and labels from 0 of a domain, by its name or its first letter."""
    content = loadmat(SURF / f"{FILES[name[0].upper()]}_SURF_L10.mat")
    return content["fts"].astype(float), content["labels"].ravel().astype(int) - 1


def shares(name):
    """Rows of sum 1, z-scored, and labels: as most published numbers on these counts have them."""
    X, y = counts(name)
    return scale(normalize(X, "l1")), y
