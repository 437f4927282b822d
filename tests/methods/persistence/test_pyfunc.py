"""What MLflow calls."""

import numpy as np
from domain_alignment.persistence import save_model
from domain_alignment.persistence._pyfunc import _load_pyfunc

from tests.methods.persistence.test_folder import fitted, stacked


def test_it_loads_what_predicts(tmp_path):
    model, new = fitted(), stacked()[-1]
    loaded = _load_pyfunc(str(save_model(tmp_path / "model", model)))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
