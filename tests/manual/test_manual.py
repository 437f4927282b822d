"""The manual: built without a network or a warning, complete, nothing loaded from elsewhere."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import domain_alignment
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "reports/manual"
PAGES = sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.md"))

# A build that asks the network for anything fails.
BUILD = """
import runpy, sys
def forbid(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"the build asks the network: {arguments}")
sys.addaudithook(forbid)
sys.path.insert(0, sys.argv[1].rpartition("/")[0])
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# What a browser would fetch by itself, from another host.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|link)\b[^>]*\b(?:src|href)=\"(?:https?:)?//"
    r"|url\(['\"]?(?:https?:)?//|@import",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def generated():
    """The module that writes the pages made from the code."""
    spec = importlib.util.spec_from_file_location("manual_pages", SOURCES / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "manual"
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(SOURCES / "build.py"), str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_examples_in_the_text(page):
    """Sessions of the interpreter in a page are as shown."""
    text = (SOURCES / page).read_text(encoding="utf-8")
    session = doctest.DocTestParser().get_doctest(text, {}, str(page), str(page), 0)
    found = []
    doctest.DocTestRunner().run(session, out=found.append)
    assert not found


def test_every_public_name_is_listed_once(generated):
    listed = [name for names in generated.public_names().values() for name in names]
    assert len(listed) == len(set(listed))
    short = {name.rpartition(".")[2] for name in listed}
    assert set(domain_alignment.__all__) <= short
    assert {"save_model", "solve_transform", "SELECTORS"} <= short


@pytest.mark.parametrize("module", ["domain_alignment", "domain_alignment.manifold"])
def test_an_entry_has_its_row_by_either_address_of_its_class(generated, module):
    entry = {"label": "FMA here", "estimator": f"{module}:FMA", "paper": "fma"}
    assert "| FMA here | {class}`~domain_alignment.FMA` |" in generated.methods_table({"a": entry})


def test_references_are_sorted_by_family_names_each_paper_once(generated):
    papers = generated.references({}).removeprefix("- ").rstrip().split("\n- ")
    names = [re.sub(r"^(?:[A-Z]\.[- ]?)+", "", paper).lower() for paper in papers]
    surnames = [re.split(r"[, ]", name)[0] for name in names]
    assert surnames == sorted(surnames)
    assert surnames.index("ham") < surnames.index("hardoon") < surnames.index("hoffman")
    assert surnames.count("dernbach") == 1


def test_papers_that_the_guide_names_are_among_the_references(generated):
    listed = generated.references({})
    for page in PAGES:
        text = (SOURCES / page).read_text(encoding="utf-8")
        for name, year in re.findall(
            r"\(([A-Z][a-zé]+)(?:,| &| et al\.| and)[^()]*? (\d{4})\)", text
        ):
            assert re.search(rf"{name}\b.*\b{year}\b", listed), (page, name, year)


def test_a_page_of_the_guide_for_every_family():
    pages = {path.stem for path in (SOURCES / "guide").glob("*.md")}
    assert set(domain_alignment.FAMILIES) == pages - {"index", "methods"}


def test_boards_are_quoted_from_their_file_or_not_at_all(generated, tmp_path):
    assert "make findings" in generated.boards(tmp_path / "none.md")
    said = (
        "# Findings\n\nScaling alone gains 3.1 points ([Quick](board_quick); [†](https://a.b)).\n"
    )
    (tmp_path / "findings.md").write_text(said)
    quoted = "Scaling alone gains 3.1 points (Quick; [†](https://a.b))."
    assert quoted in generated.boards(tmp_path / "findings.md")


def test_links_to_what_pages_are_built_from_lead_to_these_pages(generated, tmp_path):
    pages = {
        "guide/one.md": "[Adding](../gallery/plot_6_adding_a_method.py), [all](../gallery/).\n",
        "two.md": "[API](../../methods/domain_alignment/__init__.py), [one](guide/one.md).\n",
    }
    (tmp_path / "guide").mkdir()
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    generated.turn_links(tmp_path, SOURCES, ROOT)
    first, second = ((tmp_path / name).read_text() for name in pages)
    assert first == "[Adding](../examples/plot_6_adding_a_method), [all](../examples/index).\n"
    assert second == "[API](api/index), [one](guide/one.md).\n"


@pytest.mark.whole_run
def test_every_public_name_has_its_page(generated, manual):
    for names in generated.public_names().values():
        for name in names:
            page = (manual / f"api/names/{name}.html").read_text(encoding="utf-8")
            assert f'id="{name}"' in page


@pytest.mark.whole_run
def test_no_page_loads_anything_from_elsewhere(manual):
    pages = [path for kind in ("html", "css") for path in manual.rglob(f"*.{kind}")]
    assert len(pages) > 80
    found = {
        path.name: match.group()
        for path in pages
        if (match := FETCHED.search(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.whole_run
def test_eight_examples_with_pictures(manual):
    examples = sorted(manual.glob("examples/plot_*.html"))
    assert len(examples) == 8
    for page in examples:
        sources = re.findall(r'src="\.\./(_images/sphx_glr_\w+\.png)"', page.read_text())
        assert sources
        assert all((manual / source).is_file() for source in sources)


@pytest.mark.whole_run
def test_formulas_are_mathml(manual):
    page = (manual / "guide/manifold.html").read_text(encoding="utf-8")
    assert page.count("<math") > 10
    assert not re.search(r"<script[^>]*(mathjax|katex)", page, re.IGNORECASE)


@pytest.mark.whole_run
def test_nothing_is_written_beside_the_sources(manual):
    """Sphinx generates pages; the project's folder holds none of them."""
    written = {path.name for path in SOURCES.iterdir()} & {"api", "examples", "generated"}
    assert not written
