"""Two small domains and the pair that they make."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def domains():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return {
        name: (2 * np.eye(3, 40)[y] + rng.normal(size=(60, 40)) + shift, y)
        for name, shift in (("d.a", 0.0), ("d.b", 0.3))
    }


@pytest.fixture(scope="module")
def pair():
    return {"source": "d.a", "target": "d.b", "label": "a→b"}
