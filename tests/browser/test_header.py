"""The header of every page: search, theme, and tables as CSV files."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import LOOKS, Visit

pytestmark = pytest.mark.browser


@LOOKS
def test_everything_is_found_by_keyboard(visit: Visit, prepared: Prepared, look: tuple[str, int]) -> None:
    """Ctrl+K, a part of a name, Enter; Escape leaves, and the focus is where it was."""
    name = f"looked for {look[1]}"
    prepared.synthetic(name, queries=5)
    page = visit.open("/models")
    page.get_by_role("button", name="Theme").focus()
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Search")
    field = dialog.get_by_role("combobox", name="Search")
    expect(field).to_be_focused()
    expect(dialog.get_by_role("option", name="Jobs")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Theme")).to_be_focused()

    page.keyboard.press("/")
    page.keyboard.type(name.upper())
    found = dialog.get_by_role("group", name="Datasets").get_by_role("option", name=name)
    expect(found).to_be_visible()
    assert visit.barriers() == []
    visit.photograph(f"search-{look[0]}-{look[1]}")
    page.keyboard.press("ArrowUp")
    expect(found).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/datasets/ds_"))


def test_pages_and_actions_are_found(visit: Visit) -> None:
    """By the beginnings of their words; what is nowhere is said to be nowhere."""
    page = visit.open("/jobs")
    page.get_by_role("button", name="Search").click()
    dialog = page.get_by_role("dialog", name="Search")
    page.keyboard.type("no such thing")
    expect(dialog.get_by_role("status")).to_have_text("Nothing is called “no such thing”.")
    dialog.get_by_role("combobox").fill("new tr")
    expect(dialog.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/train")


def test_the_theme_stays_from_page_to_page(visit: Visit) -> None:
    """Light, dark, or as the system has it; before anything is drawn."""
    page = visit.open("/jobs")
    background = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    button = page.get_by_role("button", name="Theme")
    expect(button).to_have_accessible_name("Theme: system")
    button.click()
    button.click()
    expect(button).to_have_accessible_name("Theme: dark")
    dark = page.evaluate(background)
    assert dark != light
    script = 'document.head.querySelector("script:not([type])")'
    visit.open("/settings")
    assert page.evaluate(f"() => !{script}.async && !{script}.defer")
    assert page.evaluate(background) == dark
    themes = page.get_by_role("group", name="Theme")
    expect(themes.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    themes.get_by_role("button", name="As the system").click()
    assert page.evaluate(background) == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) == dark


def test_charts_follow_the_theme(visit: Visit) -> None:
    """A token means another colour in each, which a chart is given as such."""
    page = visit.open("/settings")
    ink = """async () => (await import("/static/figures/plotly.js")).theme().ink"""
    light = page.evaluate(ink)
    assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", light)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ink) != light


def test_a_table_is_saved_as_csv(visit: Visit) -> None:
    """By its button, as it is sorted; by the search, any table of the page."""
    page = visit.open("/settings")
    page.get_by_label("Find a setting").fill("max_rank")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download Settings as CSV").click()
    assert saved.value.suggested_filename == "settings.csv"
    rows = list(csv.reader(Path(saved.value.path()).read_text().splitlines()))
    assert rows[0] == ["Variable", "Value", "Default", "Meaning"]
    assert [row[0] for row in rows[1:]] == [
        f"RANKERY_MAX_RANK_{what}" for what in ("BYTES", "CELLS", "DOCUMENTS", "QUERIES")
    ]
    page.keyboard.press("Control+k")
    page.keyboard.type("download csv")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert list(csv.reader(Path(saved.value.path()).read_text().splitlines())) == rows


def test_an_unknown_address_is_a_page(visit: Visit) -> None:
    """With the way back."""
    visit.refusals_expected = True
    page = visit.open("/nowhere")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Overview").click()
    page.wait_for_url(f"{visit.url}/")


def test_a_fault_of_a_page_is_told_and_polling_goes_on(visit: Visit) -> None:
    """What nobody expected shows the banner; the next good answer takes it away."""
    page = visit.page
    broken = True

    def answer(route: Route) -> None:
        if broken:
            route.fulfill(status=200, content_type="application/json", body="{not json")
        else:
            route.continue_()

    page.route("**/v1/jobs?**", answer)
    visit.open("/jobs")
    banner = page.locator("#connection")
    expect(banner).to_contain_text("This page could not be updated. What you see may be old.")
    assert visit.complaints != []
    visit.complaints.clear()
    broken = False
    expect(banner).to_be_hidden()
    visit.complaints.clear()


@pytest.mark.parametrize(
    ("action", "opened"),
    [
        ("Add a dataset", "Add a dataset"),
        ("Evaluate a model", "Evaluate"),
        ("Compare models", "Compare"),
        ("Import a model", "Import a model"),
        ("Upload a run", "Upload a run"),
    ],
)
def test_an_action_opens_its_form(visit: Visit, action: str, opened: str) -> None:
    """From any page."""
    page = visit.open("/jobs")
    page.get_by_role("button", name="Search").click()
    page.keyboard.type(action.lower())
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=opened)).to_be_visible()
