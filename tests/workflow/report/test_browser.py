"""The pages in a real browser: they render, sort, stay on their own and fit a telephone."""

import dataclasses
import os
import re
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.workflow import report_example
from tests.workflow.board_example import made_board, suite
from tests.workflow.report_example import (
    make_experiment,
    rich_curves,
    rich_view,
    shared_curves,
    study_view,
    view_of,
)
from tests.workflow.shift_example import shift_view
from workflow.lib.report.board_page import write_board
from workflow.lib.report.card import write_card
from workflow.lib.report.findings_page import write_findings
from workflow.lib.report.index import write_index
from workflow.lib.report.page import build, build_audit
from workflow.lib.report.runs_page import write_runs
from workflow.lib.report.shifts_page import write_shifts
from workflow.lib.report.tables.model import Table, TableCell, TableColumn, to_html
from workflow.lib.results.material import sorted_out
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.views import PROJECT
from workflow.lib.storage.artifacts import write_json

CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.whole_run,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("CI"), reason="no chromium on the path"
    ),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    view = rich_view(folder, trials=5)
    return build(view, folder / "example" / "report.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    assert CHROMIUM, "CI has to install chromium for the browser test"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def open_page(browser, address):
    contexts = []

    def open_at(width, scheme="light", at=address):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(at, wait_until="load")
        return page

    yield open_at
    for context in contexts:
        context.close()


def test_one_request_and_no_complaint(open_page, address):
    page = open_page(1280)
    page.locator("summary").first.click()
    page.wait_for_timeout(200)
    assert [url for url in page.asked if not url.startswith("data:")] == [address]
    assert page.complaints == []
    assert page.title() == "Office–Caltech10 <SURF>"


def test_everything_is_drawn(open_page):
    page = open_page(1280)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    drawn = page.locator("figure svg")
    assert drawn.count() == 6
    for number in range(drawn.count()):
        box = drawn.nth(number).bounding_box()
        assert box["width"] > 500
        assert box["height"] > 50
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def column(page, number):
    cells = page.locator(f".table-accuracy tbody tr > :nth-child({number})")
    return [text.split(" ±")[0].strip() for text in cells.all_inner_texts()]


def test_sorting_by_click_goes_down_up_and_back(open_page):
    page = open_page(1280)
    before = column(page, 1)
    heading = page.locator(".table-accuracy thead th").nth(1)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    down = [float(text) for text in column(page, 2) if text != "data not available"]
    assert down == sorted(down, reverse=True)
    assert len(down) == 11
    # The task without data stays below in both directions, and the average in the footer.
    assert column(page, 1)[-1] == "C→W"
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    up = [float(text) for text in column(page, 2) if text != "data not available"]
    assert up == sorted(up)
    assert column(page, 1)[-1] == "C→W"
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "none"
    assert column(page, 1) == before
    assert page.locator(".table-accuracy tfoot th").inner_text().startswith("Average")


@pytest.fixture(scope="module")
def board_address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    write_board(made_board(), folder / "board_quick.html", folder / "board_quick")
    return (folder / "board_quick.html").as_uri()


def texts(page, table, number):
    """Cells of a column as they are seen; what has none is empty."""
    cells = page.locator(f"{table} tbody tr > :nth-child({number})").all_inner_texts()
    return [text.strip().strip("–") for text in cells]


def in_order(page, seen, is_number, ascending):
    """The same in the order that the heading promises, those without a value below."""
    known = [text for text in seen if text]
    if is_number:
        found = sorted(known, key=number_seen, reverse=not ascending)
    else:
        found = page.evaluate("a => a.sort((one, two) => one.localeCompare(two, 'en'))", known)
        found = found if ascending else found[::-1]
    return found + [""] * (len(seen) - len(known))


def number_seen(text):
    """The first number of a cell, such as that before its interval."""
    found = re.match(r"[+−]?[\d.,]+(e[+-]?\d+)?", text)
    return float(found[0].replace("−", "-").replace(",", ""))


@pytest.mark.parametrize("table", [".table-board", ".table-board-details"])
def test_a_board_sorts_by_each_of_its_headings(open_page, board_address, table):
    """By a click down, by the next one up, and back; numbers by value and words by letter."""
    page = open_page(1280, at=board_address)
    page.evaluate(OPEN_ALL)
    headings = page.locator(f"{table} thead th")
    before = texts(page, table, 1)
    assert len(before) == 4
    assert headings.count() > 8
    for number in range(headings.count()):
        heading = headings.nth(number)
        is_number = "number" in heading.get_attribute("class").split()
        turns = ("descending", "ascending") if is_number else ("ascending", "descending")
        for turn in turns:
            heading.locator("button").click()
            assert heading.get_attribute("aria-sort") == turn
            seen = texts(page, table, number + 1)
            asked = in_order(page, seen, is_number, turn == "ascending")
            if is_number:
                seen, asked = ([t and number_seen(t) for t in order] for order in (seen, asked))
            assert seen == asked, heading.inner_text()
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == "none"
        assert texts(page, table, 1) == before
    assert page.complaints == []


def test_sorting_by_keyboard(open_page):
    page = open_page(1280)
    headings = page.locator(".table-accuracy thead th")
    headings.nth(0).locator("button").focus()
    page.keyboard.press("Enter")
    assert headings.nth(0).get_attribute("aria-sort") == "ascending"
    assert column(page, 1) == sorted(column(page, 1))
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert headings.nth(0).get_attribute("aria-sort") == "none"
    assert headings.nth(1).get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("make", [rich_curves, shared_curves, study_view])
def test_pages_of_curves_and_studies_fit_too(open_page, tmp_path, make, width):
    view = make() if make is study_view else make(trials=2)
    page = open_page(width, at=build(view, tmp_path / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    assert page.locator("figure svg").count() == 2


OPEN_ALL = "document.querySelectorAll('details').forEach(part => part.open = true)"


@pytest.mark.parametrize("width", [390, 1280])
def test_what_is_cut_off_can_be_scrolled_and_says_so(open_page, width):
    """Whatever is wider than its frame has a shadow at the edge and the keyboard's focus."""
    page = open_page(width)
    page.evaluate(OPEN_ALL)
    cut = page.evaluate(_CUT_OFF)
    assert cut, "nothing to scroll: the test would show nothing"
    assert all(frame["scrolls"] and frame["shadow"] and frame["focus"] for frame in cut), cut


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_column_stays_while_a_table_scrolls(open_page, width):
    page = open_page(width)
    page.evaluate(OPEN_ALL)
    moved = page.evaluate(_FIRST_COLUMNS)
    assert moved
    assert all(abs(cell["before"] - cell["after"]) < 1 for cell in moved), moved
    assert all(cell["width"] <= 0.5 * width for cell in moved), moved


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_lies_on_another(open_page, width):
    page = open_page(width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate(_OVERLAPS) == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720)])
def test_the_first_screen_answers(open_page, width, height):
    """Does it help, by how much, is that certain, does it match the paper."""
    page = open_page(width)
    for question in ("Does it help?", "By how much?", "Is that certain?", "match the paper?"):
        box = page.locator(".answer dt", has_text=question).bounding_box()
        assert box["y"] + box["height"] < height, question


def test_behind_a_number_are_its_trials_its_log_and_its_run(open_page):
    page = open_page(1280)
    cell = page.locator(".table-accuracy tbody tr").nth(0).locator("td").nth(2)
    card = page.locator(".behind")
    assert not card.is_visible()
    cell.hover()
    card.wait_for(state="visible")
    words = card.inner_text()
    for expected in ("5 of 5 trials", "standard deviation", "standard error", "s per trial"):
        assert expected in words
    links = {link.inner_text(): link.get_attribute("href") for link in card.locator("a").all()}
    assert links == {
        "log": "../../logs/align/example/amazon-caltech/fma_i.000-004.log",
        "MLflow run": "mlflow.html#amazon-caltech.fma_i.logistic",
    }
    inside = card.bounding_box()
    assert inside["x"] >= 0
    assert inside["x"] + inside["width"] <= 1280
    page.mouse.move(5, 5)
    card.wait_for(state="hidden")


def test_behind_a_number_by_keyboard(open_page):
    page = open_page(1280)
    page.locator(".table-accuracy tbody td").nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    told = "() => document.activeElement.dataset.behind"
    assert "amazon-dslr/sma" in page.evaluate(told)
    page.keyboard.press("Enter")
    assert page.locator(".behind").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "log"
    page.keyboard.press("Escape")
    assert not page.locator(".behind").is_visible()
    assert "amazon-dslr/sma" in page.evaluate(told)


def test_the_keyboard_skips_what_has_nothing_behind_it_and_what_is_not_shown(open_page):
    page = open_page(1280)
    at = "() => document.activeElement.dataset.behind"
    rows = page.locator(".table-accuracy tbody tr")
    absent = column(page, 1).index("C→W")
    rows.nth(absent - 1).locator("td").nth(0).focus()
    before = page.evaluate(at)
    page.keyboard.press("ArrowDown")
    if absent + 1 < rows.count():
        assert page.evaluate(at) not in (before, None), "the row without data is passed over"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(at) == before
    # The one tab stop is a cell that is shown, and arrows pass over the columns that are not.
    page.locator("input.filter").fill("fma")
    table = page.locator(".table-accuracy").first
    stops = table.locator("[data-behind][tabindex='0']")
    assert stops.count() == 1
    assert stops.is_visible()
    stops.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.offsetParent !== null")


def test_the_controls_of_a_page_of_curves_do_something(open_page, tmp_path):
    page = open_page(1280, at=build(rich_curves(trials=2), tmp_path / "report.html").as_uri())
    headings = page.locator(".table-curve thead th")
    shown = [heading for heading in headings.all() if heading.is_visible()]
    assert page.locator(".show-heat").count() == 0, "nothing is shaded"
    page.locator("input.filter").first.fill("fma-i")
    left = [heading.inner_text() for heading in headings.all() if heading.is_visible()]
    assert 1 < len(left) < len(shown)
    assert all("FMA-I" in text for text in left[1:])


def test_counts_in_words_sort_by_their_numbers(open_page, tmp_path):
    rows = [
        (TableCell(name), TableCell(f"{n} / 0 / 12" if n is not None else "", value=n))
        for name, n in (("a", 12), ("b", 2), ("c", None), ("d", 10), ("e", 9))
    ]
    table = Table("wins", "Wins.", (TableColumn("Method"), TableColumn("Better")), tuple(rows))
    script = (PROJECT / "reports/tables.js").read_text()
    path = tmp_path / "table.html"
    path.write_text(f"<article>{to_html(table)}</article><script>{script}</script>")
    page = open_page(1280, at=path.as_uri())
    button = page.locator("thead th").nth(1).locator("button")
    button.click()
    assert page.locator("tbody th").all_inner_texts() == ["b", "e", "d", "a", "c"]
    button.click()
    assert page.locator("tbody th").all_inner_texts() == ["a", "d", "e", "b", "c"]


MANY = 40


def many_methods():
    """More methods than a figure has room for, under names that the configuration knows."""
    names = list(suite().methods)[:MANY]
    experiment = make_experiment([("amazon", "webcam"), ("dslr", "webcam")], ())
    broken = {"status": "error", "error": "ArithmeticError: no answer on a Friday"}
    tasks = [task.name for task in experiment.tasks]
    scores = {
        (task, name): [broken] * 3 if n % 9 == 4 else [0.4 + n / 100, 0.42 + n / 110, 0.41]
        for task in tasks
        for n, name in enumerate(names)
    }
    return experiment, names, scores


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every kind of page, by name."""
    folder = tmp_path_factory.mktemp("pages")
    view = rich_view(folder, trials=5)
    (folder / "config/printed_means.csv").write_text("file,method,mean\nexample.csv,sma,60.0\n")
    found = {"report": build(view, folder / "example/report.html")}
    write_card(view, folder / "example/card.json")
    for name, made in (("curves", rich_curves(trials=2)), ("study", study_view())):
        found[name] = build(made, folder / name / "report.html")
    found["many"] = build(crowded(folder), folder / "many/report.html")
    found["audit"] = build_audit([view], folder / "audit.html")
    (folder / "fma_table1").mkdir()
    (folder / "fma_table1/summary.csv").write_text("classifier,n_ok\none_nn,1200\n")
    verdicts = [["Subspace with labels", "matched after search"], ["SMA", "rows disagree"]]
    write_json(folder / "fma_table1/card.json", {"headline": "Yes.", "verdicts": verdicts})
    found["index"] = write_index(suite(), folder / "index.html")
    receipt = {"experiment_id": "1", "tracking_uri": "sqlite:///x.db", "runs": {"a | b": "r"}}
    found["runs"] = write_runs(receipt, "Example", folder / "example/mlflow.html")
    board, shifts = made_board(), shift_view()
    found["board"] = folder / "board_quick.html"
    write_board(board, found["board"], folder / "board_quick")
    found["shifts"] = folder / "shifts.html"
    write_shifts([shifts], found["shifts"], folder / "shifts_page")
    found["findings"] = folder / "findings.html"
    material = sorted_out([board], [Shifts(shifts)])
    write_findings(material, found["findings"], folder / "findings.md", {})
    return found


def crowded(folder):
    experiment, names, scores = many_methods()
    experiment = dataclasses.replace(experiment, methods=tuple(names), name="many")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_example, "make_suite", known_methods(report_example.make_suite))
        return view_of(experiment, scores, 3, root=folder)


def known_methods(make_suite):
    """The example's suite with the methods of the project."""

    def made(*arguments):
        return dataclasses.replace(make_suite(*arguments), methods=suite().methods)

    return made


PAGES = (
    "report",
    "curves",
    "study",
    "many",
    "audit",
    "index",
    "runs",
    "board",
    "shifts",
    "findings",
)
AXE = Axe()


def test_axe_sees_what_is_wrong(browser):
    """Or its silence on the pages would say nothing."""
    page = browser.new_page()
    page.set_content("<html lang=en><title>t</title><main><h1>h</h1><img src='data:,'></main>")
    assert [rule for rule, _, _ in violations(page)] == ["image-alt"]
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_alone_small_and_fits(open_page, pages, name):
    assert pages[name].stat().st_size < 5e6
    for width, scheme in ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")):
        page = open_page(width, scheme, at=pages[name].as_uri())
        assert [url for url in page.asked if not url.startswith("data:")] == [pages[name].as_uri()]
        assert page.complaints == []
        page.evaluate(OPEN_ALL)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, scheme)
        cut = page.evaluate(_CUT_OFF)
        assert all(frame["scrolls"] and frame["shadow"] and frame["focus"] for frame in cut), cut
        assert page.evaluate(_OVERLAPS) == [], (width, scheme)
        assert violations(page) == [], (width, scheme)


def violations(page):
    """What axe finds: rule, impact, and the first places."""
    found = AXE.run(page).response["violations"]
    return [
        (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found
    ]


@pytest.mark.parametrize("name", ["report", "audit", "board", "index"])
def test_nothing_is_cut_off_on_paper(open_page, pages, name):
    """As wide as a page of A4 without its margins, nothing scrolls and details are open."""
    page = open_page(700, at=pages[name].as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate(_CUT_OFF) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in WHITE
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    for part in page.locator("details").all():
        closed = part.locator("summary").bounding_box()["height"]
        assert part.bounding_box()["height"] > closed + 10


@pytest.mark.parametrize("width", [1280, 420])
def test_verdicts_stay_in_their_cell_of_the_index(open_page, pages, width):
    page = open_page(width, at=pages["index"].as_uri())
    ends = page.locator(".verdicts .verdict").evaluate_all(
        "all => all.map(one => [one, one.closest('td')].map(e => e.getBoundingClientRect().right))"
    )
    assert len(ends) == 2
    assert all(badge <= cell for badge, cell in ends)


WHITE = ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")


def test_the_spread_is_chosen(open_page):
    page = open_page(1280)
    cell = page.locator(".table-accuracy tbody td").nth(0)
    deviation = cell.inner_text()
    assert deviation.count("±") == 1
    page.locator(".show-se").check()
    error = cell.inner_text()
    assert error.count("±") == 1
    assert float(error.split("±")[1]) < float(deviation.split("±")[1])
    page.locator(".show-none").check()
    assert "±" not in cell.inner_text()


def test_methods_are_chosen_by_name(open_page):
    page = open_page(1280)
    headings = page.locator(".table-accuracy thead th:visible")
    assert headings.count() == 6
    page.locator("input.filter").fill("fma")
    assert headings.count() == 3
    # A cell that spans the row keeps to the columns that are left.
    joined = page.locator(".table-accuracy td.absent:visible").first
    assert joined.get_attribute("colspan") == "2"
    assert page.locator(".table-tests tbody tr:visible").count() == 2
    page.locator("input.filter").fill("")
    assert headings.count() == 6
    assert page.locator(".table-accuracy td.absent").first.get_attribute("colspan") == "5"


def test_methods_are_chosen_by_group(open_page):
    page = open_page(1280)
    headings = page.locator(".table-accuracy thead th:visible")
    page.locator("select.group").select_option("manifold")
    shown = [text.rstrip("† ") for text in headings.all_inner_texts()[1:]]
    assert shown == ["SMA", "FMA-I", "FMA-F"]
    assert page.locator(".table-tests tbody tr:visible").count() == 3
    page.locator("input.filter").fill("sma")
    assert headings.count() == 2
    page.locator("select.group").select_option("")
    page.locator("input.filter").fill("")
    assert headings.count() == 6


def test_shading_can_be_left_out(open_page):
    page = open_page(1280)
    cell = page.locator(".table-accuracy td.heat-5").first
    paint = "element => getComputedStyle(element).backgroundColor"
    assert cell.evaluate(paint) != "rgba(0, 0, 0, 0)"
    page.locator(".show-heat").uncheck()
    assert cell.evaluate(paint) == "rgba(0, 0, 0, 0)"


def test_text_can_be_read_in_both_schemes(open_page):
    for scheme in ("light", "dark"):
        page = open_page(1280, scheme)
        for selector in (
            *("body", ".records", "caption span", ".verdict > span", ".spread", "a"),
            *(".answer dt", ".answer .alarm dd", ".banner", "td", "th", ".controls label"),
        ):
            assert page.locator(selector).count(), selector
            assert page.evaluate(_CONTRAST, selector) >= 4.5, f"{selector} in {scheme}"


# Frames whose content is wider than they are.
_CUT_OFF = """() => [...document.querySelectorAll("body *")]
  .filter(part => !part.closest("svg") && part.scrollWidth > part.clientWidth + 1
    && part.clientWidth > 0 && getComputedStyle(part).display !== "inline")
  .map(part => ({
    what: part.className || part.tagName,
    scrolls: getComputedStyle(part).overflowX === "auto",
    shadow: getComputedStyle(part).backgroundImage.includes("gradient"),
    focus: part.tabIndex === 0,
  }))"""

# Left edge of the first cells of every scrolling table, before and after scrolling to its end.
_FIRST_COLUMNS = """() => [...document.querySelectorAll(".scroll")]
  .filter(frame => frame.scrollWidth > frame.clientWidth + 1)
  .flatMap(frame => {
    const cells = [...frame.querySelectorAll("tr > :first-child")];
    const left = () => cells.map(cell => cell.getBoundingClientRect().left);
    const before = left();
    frame.scrollLeft = frame.scrollWidth;
    const after = left();
    const widths = cells.map(cell => cell.getBoundingClientRect().width);
    frame.scrollLeft = 0;
    return before.map((x, i) => ({ before: x, after: after[i], width: widths[i] }));
  })"""

# Pairs of texts outside figures whose boxes lie on each other; a frozen column covers the others.
_OVERLAPS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const boxes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("svg, script, style, .skip, title")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width > 1) boxes.push({ text: node.data.trim().slice(0, 40), box, parent });
    }
  }
  const found = [];
  boxes.sort((one, other) => one.box.top - other.box.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].box.top < boxes[i].box.bottom - 3; j++) {
      const [a, b] = [boxes[i].box, boxes[j].box];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const frozen = [boxes[i], boxes[j]].some(({ parent }) =>
        getComputedStyle(parent.closest("th") || parent).position === "sticky");
      if (wide > 2 && !frozen) found.push([boxes[i].text, boxes[j].text]);
    }
  }
  return found;
}"""

# Contrast ratio by WCAG 2 of an element's text on what is painted behind it.
_CONTRAST = """selector => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = rgb => {
    const [r, g, b] = rgb.map(value => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let worst = 99;
  for (const element of document.querySelectorAll(selector)) {
    if (element.classList.contains("skip")) continue;
    // Down to the first opaque ground, then each translucent one laid over it.
    const layers = [];
    for (let part = element; part; part = part.parentElement) {
      const [r, g, b, alpha = 1] = numbers(getComputedStyle(part).backgroundColor);
      layers.unshift([r, g, b, alpha]);
      if (alpha === 1) break;
    }
    const ground = layers.reduce(
      (under, [r, g, b, alpha]) =>
        [r, g, b].map((value, i) => alpha * value + (1 - alpha) * under[i]),
      [0, 0, 0],
    );
    const ink = numbers(getComputedStyle(element).color).slice(0, 3);
    const [a, b] = [ink, ground].map(light).sort((x, y) => y - x);
    worst = Math.min(worst, (a + 0.05) / (b + 0.05));
  }
  return worst;
}"""
