"""Whether independent effects differ, corrected for all pairs."""

import dataclasses

import pytest

from workflow.lib.results.effects import Effect
from workflow.lib.results.pairwise import apart


def test_surely_apart_is_corrected_for_all_pairs_of_data_sets():
    """Two gains that a single test would tell apart, and the correction for ten pairs does not."""
    one = effect_of(0.10)
    effects = {"first": one, "last": dataclasses.replace(one, effect=one.effect - 0.05)}
    assert apart(effects)["first", "last"] < 0.05
    between = [dataclasses.replace(one, effect=one.effect - 0.02 + k / 1e4) for k in range(3)]
    more = effects | {f"other{k}": effect for k, effect in enumerate(between)}
    assert apart(more)["first", "last"] > 0.05
    sure = {"rest": dataclasses.replace(one, effect=0.2), **effects, "least": one_without_error()}
    assert apart(sure)["rest", "last"] < 0.05, "not the extremes, and apart all the same"
    assert ("rest", "least") not in apart(sure)


@pytest.mark.filterwarnings("error")
def test_what_equals_its_reference_everywhere_is_not_apart():
    equal = dataclasses.replace(effect_of(0.0), standard_error=0.0, p=1.0, p_holm=1.0)
    assert apart({"one": equal, "other": equal}) == {("one", "other"): 1.0}


def one_without_error():
    return dataclasses.replace(effect_of(-0.2), standard_error=None, freedom=None)


def effect_of(gain):
    """An effect whose error puts a difference of 5 points at a p of 1 to 5 %."""
    tested = {"standard_error": 0.014, "freedom": 12.0, "p": 0.01, "p_holm": 0.01}
    rest = dict.fromkeys(("low", "high", "detectable", "standardised"))
    return Effect("m", gain, **tested, **rest, n_harmed=0, n_judged=0)
