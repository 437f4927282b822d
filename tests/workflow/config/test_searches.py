"""Settings that were found by searching are marked wherever they are used."""

import dataclasses
import inspect

import pytest

from tests.workflow.report_example import make_experiment, make_suite, view_of
from workflow.lib.config.addresses import PROJECT, resolve_estimator
from workflow.lib.config.searches import searched, searches
from workflow.lib.config.suite import load_suite
from workflow.lib.report.figures.scores import drawings
from workflow.lib.report.tables.scores import all_tables
from workflow.lib.results.views import ExperimentView

SUITE = load_suite(PROJECT)
AUDITED = {name: e for name, e in SUITE.experiments.items() if e.audit}
TRIED = {"n_components": "20 and 40, by the printed numbers"}


def compared(experiment):
    columns = experiment.audit["columns"].items()
    return {name: column for name, column in columns if "method" in column}


def searched_view(**changed):
    """Two methods of which one has a default that was searched for."""
    pairs = [("amazon", "caltech"), ("caltech", "amazon")]
    experiment = make_experiment(pairs, ("plain", "fma_i"), **changed)
    scores = {(f"{s}-{t}", m): [0.5, 0.4] for s, t in pairs for m in experiment.methods}
    view = view_of(experiment, scores, 2)
    view.suite.methods["fma_i"]["found_by_search"] = TRIED
    return view


def test_a_searched_default_is_inherited_until_it_is_overridden():
    experiment = make_experiment([("amazon", "caltech")], ("fma_i",))
    suite = make_suite(experiment, 2)
    suite.methods["fma_i"]["found_by_search"] = TRIED
    assert searched(suite, "example", "fma_i") == TRIED
    experiment.overrides["fma_i"] = {"n_components": 30}
    assert searched(suite, "example", "fma_i") == {}
    found = dataclasses.replace(
        experiment, found_by_search={"fma_i": {"n_components": "30, by the scores"}}
    )
    suite.experiments["example"] = found
    assert searched(suite, "example", "fma_i") == {"n_components": "30, by the scores"}


def test_a_varied_parameter_has_no_searched_value():
    vary = {"parameter": "n_components", "of": "methods", "values": [4, 8], "label": "n"}
    experiment = make_experiment([("amazon", "caltech")], ("fma_i",), vary=vary)
    suite = make_suite(experiment, 2)
    suite.methods["fma_i"]["found_by_search"] = TRIED
    assert searched(suite, "example", "fma_i") == {}


def test_a_searched_candidate_is_marked_where_candidates_are_chosen_among():
    assert any("1.1" in tried for tried in searched(SUITE, "tuned_no_labels_gas", "tkl").values())
    tuned = [name for name, asked in SUITE.experiments.items() if asked.tuning]
    marked = [n for n in tuned if "tkl" in SUITE.experiments[n].methods]
    assert all(searched(SUITE, name, "tkl") for name in marked)
    assert not searched(SUITE, "tkl_table2", "tkl")


def test_every_table_and_figure_marks_the_method():
    view = searched_view()
    tables = all_tables(view)
    assert tables["accuracy"].columns[-1].label == "FMA-I †"
    assert "† A setting was found by searching" in " ".join(tables["accuracy"].notes)
    assert tables["methods"].rows[-1][0].text == "FMA-I †"
    said = " ".join(tables["methods"].notes)
    assert "FMA-I, n_components = 40: 20 and 40, by the printed numbers" in said
    legend = drawings(view)["accuracy"]().legends[0]
    assert "FMA-I †" in [text.get_text() for text in legend.get_texts()]


def test_no_mark_where_nothing_was_searched():
    tables = all_tables(searched_view(overrides={"fma_i": {"n_components": 30}}))
    shown = [tables["accuracy"].columns[-1].label, *tables["accuracy"].notes]
    assert "†" not in " ".join([*shown, *tables["methods"].notes])


@pytest.mark.parametrize("name", SUITE.methods)
def test_what_was_searched_is_a_parameter_of_the_class(name):
    entry = SUITE.methods[name]
    known = inspect.signature(resolve_estimator(entry["estimator"])).parameters
    search = entry.get("search", {})
    assert set(entry.get("found_by_search", {})) <= set(known)
    assert set(search.get("found_by_search", {})) <= set(search.get("params", {})) <= set(known)


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        *((name, {"n_components"}) for name in ("ssma", "kema_linear", "kema_rbf", "kema_int")),
        *((name, {"n_components"}) for name in ("rekema", "rkema", "jda_normalised")),
        ("jda", {"n_components", "scaling"}),
        ("ot_lab", {"cost_scaling"}),
        ("subspace_with_labels", {"alpha", "beta", "gamma", "unit_rows"}),
        *((name, {"symmetrize"}) for name in ("fma_i", "fma_f")),
        *((name, {"symmetrize", "degree"}) for name in ("sma", "sma_f")),
    ],
)
def test_defaults_fitted_to_printed_or_scored_numbers(method, parameters):
    assert set(SUITE.methods[method].get("found_by_search", {})) == parameters


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        *((f"{name}_selected", {"symmetrize", "C"}) for name in ("fma_i", "fma_f")),
        *(
            (f"{name}_selected", {"C_source", "C_target", "C_transform"})
            for name in ("svm_joint", "mmdt", "ls_mmdt")
        ),
        ("tkl_cv", {"zeta"}),
    ],
)
def test_candidates_that_were_found_by_scored_numbers(method, parameters):
    """The choice among them sees no scored label; that they are the candidates does."""
    assert set(SUITE.methods[method]["found_by_search"]) == parameters


def test_settings_of_one_experiment_that_were_searched():
    for name in ("mmdt_table", "mmdt_figure1_surf", "mmdt_figure1_surf_dslr"):
        assert "C_transform" in searched(SUITE, name, "ls_mmdt")
    assert "zeta" in searched(SUITE, "tkl_regression", "tkl")
    for name in ("tuned_no_labels_surf", "tuned_few_labels_surf", "tuned_several_sources"):
        assert "zeta" in searched(SUITE, name, "tkl")


@pytest.mark.parametrize("name", AUDITED)
def test_a_searched_reading_marks_every_column_of_its_protocol(name):
    """Columns that are compared in one protocol share its reading, and so how it was found."""
    marks = {column.get("found_by_search", False) for column in compared(AUDITED[name]).values()}
    assert len(marks) <= 1


@pytest.mark.parametrize(
    "name",
    [
        "kema_table3",
        "kema_table3_official",
        "kema_table3_baselines",
        "fma_table1",
        "fma_table2",
        "fma_table3_decaf6_to_surf",
        "fma_table3_surf_to_decaf6",
        "fma_table4_mnist_usps",
        "fma_table4_full_source",
    ],
)
def test_readings_that_were_measured_on_what_they_are_compared_with(name):
    for column in compared(AUDITED[name]).values():
        assert column.get("found_by_search") is True
        assert column.get("readings_tried")


@pytest.mark.parametrize("name", SUITE.experiments)
def test_stated_beforehand_is_said_only_where_nothing_was_searched(name):
    experiment = SUITE.experiments[name]
    audit = experiment.audit or {"reading": "", "columns": {}}
    if "beforehand" not in (audit["reading"] + experiment.notes).lower().replace(
        "not known beforehand", ""
    ).replace("nobody knows beforehand", ""):
        return
    columns = compared(experiment).values() if experiment.audit else ()
    assert not any(column.get("found_by_search") for column in columns)
    assert not any(searched(SUITE, name, column["method"]) for column in columns)
    assert not any(searched(SUITE, name, method) for method in experiment.overrides)


def test_every_experiment_that_searched_is_named_with_its_data():
    found = [(set(methods), datasets) for methods, datasets in searches(SUITE)]
    assert any(
        "fma_i" in methods and datasets == ["office_caltech_surf"] for methods, datasets in found
    )
    marked = [one for one in SUITE.experiments.values() if one.found_by_search]
    assert len(found) >= len(marked) > 0


@pytest.mark.parametrize(
    ("experiment", "method", "found"),
    [
        ("kema_table3", "kema_chi2", True),  # its dimensions were searched on this table
        ("kema_table3_official", "kema_int", True),
        ("fma_table1_full_source", "jda", True),
        ("tuned_no_labels_gas", "jda", False),  # marked, but not by these data
        ("fma_table1_full_source", "coral", False),
    ],
)
def test_what_was_searched_on_the_data_that_a_page_is_of(experiment, method, found):
    view = ExperimentView(SUITE.experiments[experiment], SUITE, None)
    assert view.searched_here(method) is found
