"""What the paper says of its toy experiments, on made-up errors."""

import pytest

from workflow.studies.kema import _toy_claims as toy_claims
from workflow.studies.kema._aligners import CLASSIFIERS, ROLES


def made_up(way="text", **errors):
    """Records of six experiments that bear the paper out, but for errors given by name."""
    records = []
    for toy in range(1, 7):
        for classifier in CLASSIFIERS:
            linear = {3: 12.0, 6: 20.0}.get(toy, 6.0)
            found = {(toy_claims.RBF_OF[way], 2): 1.0, ("baseline", None): 3.0}
            found |= {("linear", 2): linear, ("linear", 5): 3.5}
            for (method, size), usual in found.items():
                error = errors.get(f"{classifier}_{method}_{toy}", usual)
                for role in ROLES:
                    place = {"way": way, "toy": toy, "classifier": classifier, "domain": role}
                    place |= {"method": method, "dimensions": size, "realisation": 0}
                    records.append({**place, "error": error})
    return records


def test_all_of_it_holds_where_the_errors_are_so():
    made = toy_claims.claims(made_up())
    assert len(made) == 7
    assert all(claim.holds for claim in made)
    assert made[1].words == "Errors of the RBF kernel are close to zero by LDA"
    assert made[1].found == "no. 4: 1.0 and 1.0; no. 5: 1.0 and 1.0"


@pytest.mark.parametrize(
    ("changed", "denied"),
    [
        ({"lda_rbf_half_median_3": 13.0}, {0}),
        ({"lda_rbf_half_median_5": 5.1}, {1}),
        ({"lda_linear_4": 3.9}, {2}),
        ({"lda_linear_6": 36.0}, {4}),
        ({"lda_rbf_half_median_6": 60.0}, {0, 3}),  # the other way round
        ({"one_nn_rbf_half_median_2": 5.2}, {5}),
        ({"one_nn_linear_1": 10.1}, {6}),
        ({"one_nn_linear_3": 10.0}, {6}),
    ],
)
def test_one_error_that_denies_it_is_enough(changed, denied):
    holds = [claim.holds for claim in toy_claims.claims(made_up(**changed))]
    assert {number for number, held in enumerate(holds) if not held} == denied


def test_what_was_not_run_is_not_asked():
    some = [record for record in made_up() if record["toy"] in (4, 5)]
    assert [claim.toys for claim in toy_claims.claims(some)] == [(4, 5), (4, 5)]
    two = [record for record in some if record["dimensions"] != 5]
    assert len(toy_claims.claims(two)) == 1


def test_the_table_marks_the_noise_that_was_found_by_search():
    table = toy_claims.claims_table(made_up("toolbox"))
    assert table.rows[3][1].text == "6 †"
    assert {row[3].text for row in table.rows} == {"yes"}
    assert "by KEMA, RBF, 15 × mean, in 2 dimensions" in table.caption
    assert toy_claims.claims_table(made_up()).rows[3][1].text == "6"
