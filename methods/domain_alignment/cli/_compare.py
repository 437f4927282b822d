"""``domain-alignment compare``: methods on data of one's own, run by a checkout."""

import os
import subprocess
import sys
from pathlib import Path

SUMMARY = "Compare methods on data of your own: which one, if any, to use on the target."
MISSING = ("error", "drop", "mean", "median", "most_frequent")
BUDGETS = ("quick", "full")


def add_arguments(parser):
    """The arguments of the subcommand, which the benchmark reads too."""
    add = parser.add_argument
    add("paths", nargs="+", metavar="FILE", help="sources and the target, or a folder of them")
    add("--label", help="column (or array) with the classes")
    add("--features", help="array with the features, in .npz and .mat files")
    add("--domain", help="column that tells the domains of one file apart")
    add(
        "--target",
        help="the target's file or domain; by default target*, of single files else the last",
    )
    add("--name", help="of the results (default: from the files)")
    add("--missing", choices=MISSING, default="median", help="empty cells; %(default)s by default")
    add("--drop", action="append", metavar="COLUMN", help="column, or pattern, that is no feature")
    add(
        "--shared-columns",
        action="store_true",
        help="leave out every column that one of the tables lacks",
    )
    add("--categorical", action="append", metavar="COLUMN", help="column of kinds, though numbers")
    add("--unlabelled", action="append", metavar="LABEL", help="label that means unlabelled")
    add("--separator", help="between columns; found from the first lines by default")
    add("--decimal", metavar="MARK", help="decimal mark; found in each file by default")
    add("--transpose", action="store_true", help="samples are the columns of .npz and .mat arrays")
    add("--flatten", action="store_true", help="lay out the samples of arrays of images in rows")
    add("--replace", action="store_true", help="an earlier comparison of that name may go")
    add("--budget", choices=BUDGETS, default="quick", help="%(default)s (10 minutes) by default")
    add("--cores", type=int, default=os.cpu_count() or 1, help="all by default")
    add(
        "--use-target-labels",
        type=int,
        default=0,
        metavar="K",
        help="show methods labels of a labelled target, K times as many as classes, of rows drawn "
        "at random; none by default",
    )
    add("--dry-run", action="store_true", help="check the files and write the configuration alone")


def run(arguments):
    """Hand everything to the benchmark; results are below the folder of the call."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "workflow/compare.py").is_file():
        raise ValueError(
            "the benchmark is not in this installation of the package; run the command of a "
            "checkout of the project (make setup, then .venv/bin/domain-alignment compare)"
        )
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "workflow.compare", *arguments.argv[1:]]
    return subprocess.call(command, env={**os.environ, "PYTHONPATH": paths})
