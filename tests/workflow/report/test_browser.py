"""The report in a real browser: it renders, sorts, stays on its own and fits a telephone."""

import os
import shutil

import pytest

from tests.workflow.report_example import rich_curves, rich_view, shared_curves, study_view
from workflow.lib.report.page import build

CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"), reason="no chromium on the path"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    view = rich_view(folder, trials=5)
    return build([view], folder / "example" / "report.html").as_uri()


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
    assert drawn.count() == 5
    for number in range(drawn.count()):
        box = drawn.nth(number).bounding_box()
        assert box["width"] > 500
        assert box["height"] > 50
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def column(page, number):
    cells = page.locator(f".table-accuracy tbody tr > :nth-child({number})")
    return [text.split(" ±")[0] for text in cells.all_inner_texts()]


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_its_window(open_page, width, scheme):
    page = open_page(width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("make", [rich_curves, shared_curves, study_view])
def test_pages_of_curves_and_studies_fit_too(open_page, tmp_path, make, width):
    view = make() if make is study_view else make(trials=2)
    page = open_page(width, at=build([view], tmp_path / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    assert page.locator("figure svg").count() == 2


def test_text_can_be_read_in_both_schemes(open_page):
    for scheme in ("light", "dark"):
        page = open_page(1280, scheme)
        for selector in ("body", ".records", "caption span", ".verdict > span", ".spread", "a"):
            assert page.evaluate(_CONTRAST, selector) >= 4.5, f"{selector} in {scheme}"


# Contrast ratio by WCAG 2 of an element's text on the nearest painted background.
_CONTRAST = """selector => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = numbers(colour).slice(0, 3).map(value => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let worst = 99;
  for (const element of document.querySelectorAll(selector)) {
    if (element.classList.contains("skip")) continue;
    let painted = element;
    const back = part => getComputedStyle(part).backgroundColor;
    while (numbers(back(painted))[3] === 0) painted = painted.parentElement;
    const [a, b] = [getComputedStyle(element).color, back(painted)]
      .map(light).sort((x, y) => y - x);
    worst = Math.min(worst, (a + 0.05) / (b + 0.05));
  }
  return worst;
}"""
