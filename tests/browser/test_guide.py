"""The guide in a browser, under the service's content security policy."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visit import Visit

# Formulas with pictures, and generated pages.
FEW_PAGES = ("concepts/losses/", "reference/http/jobs/")
# A page of each kind.
PAGES = (
    *FEW_PAGES,
    "",
    "quick-start/",
    "why/",
    "tutorial/",
    "glossary/",
    "concepts/metrics/",
    "how-to/judgments/",
    "how-to/troubleshooting/",
    "reference/client/",
    "reference/commands/jobs/",
    "architecture/",
)
LOOKS = pytest.mark.parametrize(
    "look", [("dark", 375), pytest.param(("light", 1280), marks=pytest.mark.slow)], ids=["dark", "light"]
)
pytestmark = pytest.mark.usefixtures("built_guide")


@LOOKS
@pytest.mark.parametrize(
    "path", [path if path in FEW_PAGES else pytest.param(path, marks=pytest.mark.slow) for path in PAGES]
)
def test_the_guide_is_accessible_in_every_look(visit: Visit, look: tuple[str, int], path: str) -> None:
    """The guide does not scroll sideways in desktop or phone width, and passes axe-core."""
    scheme, width = look
    page = visit.open(f"/guide/{path}")
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    visit.photograph(f"guide-{path.strip('/').replace('/', '-') or 'start'}-{scheme}-{width}")
    assert visit.violations(every_text=scheme == "light") == []


@pytest.mark.slow
@pytest.mark.timeout(1200)  # about sixty pages
def test_no_page_of_the_guide_has_a_barrier(visit: Visit, built_guide: Path) -> None:
    """Axe-core finds no serious violation in the text of any page.

    The header and navigation are the same on all pages; the test above checks them on a page of each kind.
    """
    folders = (page.parent.relative_to(built_guide) for page in built_guide.rglob("index.html"))
    pages = {f"{folder}/".removeprefix("./") for folder in folders}
    assert set(PAGES) <= pages
    violations: dict[str, list[str]] = {}
    for path in sorted(pages - set(PAGES)):
        visit.open("/guide/" + path)
        violations[path] = visit.violations(within="article", every_text=True)
    assert {path: found for path, found in violations.items() if found} == {}


@LOOKS
def test_formulas_are_drawn_within_the_page(visit: Visit, look: tuple[str, int]) -> None:
    """The browser renders MathML: fractions have their height, and no formula is wider than the page."""
    page = visit.open("/guide/concepts/losses/")
    formulas = page.locator(".formula")
    expect(formulas.first).to_be_visible()
    for box in (formulas.nth(i).bounding_box() for i in range(formulas.count())):
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= look[1]
    fraction = page.locator(".formula mfrac").first.bounding_box()
    plain = page.locator(".formula mi").first.bounding_box()
    assert fraction is not None
    assert plain is not None
    assert fraction["height"] > 1.5 * plain["height"]


@LOOKS
def test_the_guide_is_searched_and_keeps_tabs_and_colours(visit: Visit) -> None:
    """Search works offline, tabs and colours are kept between pages, and a link opens the dashboard."""
    page = visit.open("/guide")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Rankery")
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate" if dark else "default")

    page.keyboard.press("/")
    page.keyboard.type("LambdaRank")
    results = page.locator(".md-search-result__item")
    expect(results.filter(has_text="Losses").first).to_be_visible()
    results.filter(has_text="Losses").first.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("/guide/concepts/losses/"))
    expect(page.locator("figure.picture svg").first).to_be_visible()

    visit.open("/guide/quick-start/").get_by_text("Python", exact=True).first.click()
    visit.open("/guide/how-to/own-data/")
    expect(page.get_by_text("client.upload_dataset").first).to_be_visible()

    page.locator("[data-md-component=palette] label:visible").click()
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "default")
    page.locator("[data-md-component=palette] label:visible").click()
    visit.open("/guide/reference/http/jobs/")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    expect(page.get_by_role("heading", name="Submit a job")).to_be_visible()
    expect(page.locator('a[href="/"]').first).to_have_attribute("href", "/")
