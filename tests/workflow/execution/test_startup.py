"""scikit-learn without pandas, and with it where it came first."""

import subprocess
import sys

import pytest

QUICK = "from workflow.lib.execution.startup import import_sklearn_without_pandas as quick; quick()"


@pytest.mark.whole_run
@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (f"import sys; {QUICK}; print('sklearn' in sys.modules)", "True"),
        (f"import sys; {QUICK}; print('pandas' in sys.modules)", "False"),
        (f"{QUICK}; import pandas; print(pandas.Series([1, 2]).sum())", "3"),
        (f"import sys, pandas; {QUICK}; print(sys.modules['pandas'] is pandas)", "True"),
    ],
    ids=["scikit-learn is there", "left out", "imported later", "imported before"],
)
def test_pandas_is_left_out_until_somebody_asks_for_it(code, printed):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == printed
