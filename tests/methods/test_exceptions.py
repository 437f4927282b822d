import subprocess
import sys
from pathlib import Path

import domain_alignment
from domain_alignment import AlignmentError
from domain_alignment.exceptions import AlignmentError as AtHome


def test_an_alignment_error_is_not_the_callers_fault():
    assert AlignmentError is AtHome
    assert not issubclass(AlignmentError, ValueError)


def test_numerical_code_can_raise_it_without_an_estimator():
    code = (
        "import sys, domain_alignment.exceptions; "
        "assert not {'sklearn', 'domain_alignment.base'} & set(sys.modules)"
    )
    library = Path(domain_alignment.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=library)
