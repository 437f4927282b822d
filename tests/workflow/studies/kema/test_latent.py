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
        tripled,
        tasks=[["d.one", "d.two"]],
        n_components=10,
        source_per_class=5,
        target_per_class=3,
        unlabelled=30,
    )
    tables = complete(kema_latent, records, arrays)
    assert kema_latent.finding(records, arrays) == (
        "The classes come together better than by guessing in 1 of 1 task: in KEMA's 10 "
        f"dimensions †, 1-NN recognises {records[0]['accuracy']:.1f} % of 30 unlabelled samples in "
        "one → two (guessing: 33.3 %)."
    )
    chance = kema_latent.finding([{**records[0], "accuracy": 20.0}], arrays)
    assert "better than by guessing in 0 of 1 task" in chance
    assert "recognises 20.0 % of" in chance
    assert records[0]["accuracy"] > 60  # guessing: 33
    assert tables["accuracy"].rows[0][0].text == "one → two"
