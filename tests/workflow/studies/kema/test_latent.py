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
    found = {record["space"]: record["accuracy"] for record in records}
    without = max(list(found.values())[2:])
    shown, every = found["KEMA, the dimensions shown"], found["KEMA, all dimensions"]
    assert kema_latent.finding(records, arrays) == (
        "1-NN finds the classes better than without alignment in "
        f"{int(shown > without)} of 1 task by the 3 dimensions shown and in {int(every > without)} "
        f"by all of KEMA's 10 †: one → two {shown:.1f} and {every:.1f} %, without {without:.1f} "
        "(the highest of 4 ways)."
    )
    worse = [{**r, "accuracy": 20.0 if r["space"].startswith("KEMA") else 21.0} for r in records]
    assert "in 0 of 1 task by the 3 dimensions shown and in 0 by all" in (
        kema_latent.finding(worse, arrays)
    )
    assert every > 60  # guessing: 33
    rows = {row[0].text: row[1] for row in tables["accuracy"].rows}
    assert rows["KEMA, the dimensions shown"].value == shown
    assert tables["accuracy"].columns[1].label == "one → two (30 samples)"


def test_without_alignment_is_one_nearest_neighbour_on_what_kema_was_given():
    rng = np.random.default_rng(0)
    domains = {f"d.{name}": (rng.random((60, 8)), np.arange(60) % 3) for name in ("one", "two")}
    records, _ = kema_latent.run(domains, [["d.one", "d.two"]], 5, 5, 3, 20)
    found = {record["space"]: record["accuracy"] for record in records}
    draws = np.random.default_rng(0)
    sampled = [
        kema_latent.sample(domains[d][1], n, 20, draws) for d, n in (("d.one", 5), ("d.two", 3))
    ]
    (source, known), (target, seen) = sampled
    Xs, Xt = domains["d.one"][0][source], domains["d.two"][0][target]
    hidden, truth = seen < 0, domains["d.two"][1][target]
    pools = {
        "No alignment": np.vstack([Xs[known >= 0], Xt[~hidden]]),
        "No alignment, target’s labels alone": Xt[~hidden],
    }
    for space, pool in pools.items():
        labels = np.r_[known[known >= 0], seen[~hidden]][-len(pool) :]
        nearest = ((Xt[hidden][:, None] - pool) ** 2).sum(axis=2).argmin(axis=1)
        assert found[space] == 100 * np.mean(labels[nearest] == truth[hidden])
