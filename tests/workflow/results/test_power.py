import itertools

import numpy as np
import pytest
import scipy.stats

from workflow.lib.results.domain_jackknife import (
    TaskDomains,
    errors_of_dataset,
    mean_over_datasets,
)
from workflow.lib.results.power import detectable_difference


@pytest.mark.parametrize(("freedom", "n_tests"), [(1, 1), (2, 10), (11, 30)])
def test_few_degrees_of_freedom_have_the_power_that_is_promised(freedom, n_tests):
    rng, runs = np.random.default_rng(0), 40_000
    error = np.sqrt(rng.chisquare(freedom, runs) / freedom)
    t = (rng.normal(size=runs) + detectable_difference(1.0, freedom, n_tests)) / error
    found = 2 * scipy.stats.t.sf(np.abs(t), freedom) < 0.05 / n_tests
    assert found.mean() == pytest.approx(0.8, abs=0.01)


@pytest.mark.whole_run
def test_a_difference_of_the_detectable_size_is_found_in_four_of_five_repetitions():
    rng, runs = np.random.default_rng(0), 2000
    pairs = list(itertools.permutations(range(4), 2))
    tasks = [TaskDomains((str(source),), str(target)) for source, target in pairs]
    parts, means = [], []
    for _ in range(4):
        by_target = rng.normal(size=(4, runs))
        noise = 0.3 * rng.normal(size=(len(pairs), runs))
        values = by_target[[target for _, target in pairs]] + noise
        parts.append(errors_of_dataset(tasks, values[:, None]))
        means.append(values.mean(axis=0))
    total = mean_over_datasets(parts)
    error = np.sqrt(total.variance)
    size = np.median(detectable_difference(error, total.freedom))
    t = (np.mean(means, axis=0) + size) / error
    found = (2 * scipy.stats.t.sf(np.abs(t), total.freedom) < 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.04)
