"""`make manual`: the manual as HTML in results/manual, built without a network.

The sources are staged in a temporary folder, where Sphinx may write what it generates.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from pages import turn_links, write_pages
from sphinx.cmd.build import main as sphinx_build

SOURCES = Path(__file__).resolve().parent
ROOT = SOURCES.parents[1]


def build(result: Path) -> int:
    """Build the manual into a folder, which is replaced; 0 if nothing was warned of."""
    with tempfile.TemporaryDirectory() as scratch:
        staged = Path(scratch, "manual")
        shutil.copytree(SOURCES, staged, ignore=shutil.ignore_patterns("__pycache__"))
        turn_links(staged, SOURCES, ROOT)
        write_pages(staged, ROOT)
        shutil.rmtree(result, ignore_errors=True)
        strict = ["-n", "-W", "--keep-going", "-q"]
        doctrees = ["-d", str(Path(scratch, "doctrees"))]
        return sphinx_build([*strict, *doctrees, str(staged), str(result)])


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/manual"
    status = build(target)
    if status == 0:
        print(f"The manual:  {target / 'index.html'}")
    sys.exit(status)
