"""The common space of two made-up domains."""

import numpy as np

from tests.workflow.studies.kema.made_up_images import subject
from tests.workflow.studies.parts import complete
from workflow.studies.kema import latent as kema_latent


def test_the_first_dimensions_of_two_domains():
    domains = {"d.one": subject(0), "d.two": subject(1)}
    domains = {name: (np.abs(X), y) for name, (X, y) in domains.items()}
    tripled = {name: (np.vstack([X] * 3), np.tile(y, 3)) for name, (X, y) in domains.items()}
    tripled = {
        name: (X + 0.01 * np.random.default_rng(0).random(X.shape), y)
        for name, (X, y) in tripled.items()
    }
    records, arrays = kema_latent.run(
        tripled, tasks=[["d.one", "d.two"]], source_per_class=5, target_per_class=3, unlabelled=30
    )
    tables = complete(kema_latent, records, arrays)
    assert records[0]["accuracy"] > 60  # guessing: 33
    assert tables["accuracy"].rows[0][0].text == "one → two"
