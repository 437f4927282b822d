"""A quicker start of the processes that fit methods."""

import importlib
import sys


def import_sklearn_without_pandas() -> None:
    """Import scikit-learn as if pandas were not installed: a third less to import.

    The jobs handle arrays only, and importing is most of what a short job does. A method that
    needs pandas can still import it afterwards. Does nothing where either is imported already.
    """
    if "pandas" in sys.modules or "sklearn" in sys.modules:
        return
    sys.modules["pandas"] = None
    try:
        importlib.import_module("sklearn.base")
    finally:
        del sys.modules["pandas"]
