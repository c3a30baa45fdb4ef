"""The header of every page: search, theme, and tables as CSV files."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import LOOKS, PHONE, Visit

pytestmark = pytest.mark.browser


@LOOKS
def test_an_object_is_opened_by_keyboard(visit: Visit, prepared: Prepared, look: tuple[str, int]) -> None:
    """Ctrl+K, part of a name and Enter open an object; Escape closes the search and restores the focus."""
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
    option = dialog.get_by_role("group", name="Datasets").get_by_role("option", name=name)
    expect(option).to_be_visible()
    assert visit.violations() == []
    visit.photograph(f"search-{look[0]}-{look[1]}")
    page.keyboard.press("ArrowUp")
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/datasets/ds_"))


def test_pages_and_actions_are_found(visit: Visit) -> None:
    """The search matches pages and actions by prefixes of their words, and reports when nothing matches."""
    page = visit.open("/jobs")
    page.get_by_role("banner").get_by_role("button", name="Search").click()
    dialog = page.get_by_role("dialog", name="Search")
    page.keyboard.type("no such thing")
    expect(dialog.get_by_role("status")).to_have_text("No results for “no such thing”.")
    pages = dialog.get_by_role("group", name="Pages").get_by_role("option")
    dialog.get_by_role("combobox").fill("settings")
    expect(pages).to_have_text(["Settings"])
    dialog.get_by_role("combobox").fill("service")
    expect(pages).to_have_count(0)
    dialog.get_by_role("combobox").fill("new tr")
    expect(dialog.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/train")


def test_results_do_not_change_the_choice(visit: Visit) -> None:
    """Results that arrive later neither move the marked option nor choose another one after Enter."""
    page = visit.open("/jobs")
    held: list[Route] = []
    page.route("**/v1/search?**", lambda route: held.append(route))
    page.get_by_role("banner").get_by_role("button", name="Search").click()
    dialog = page.get_by_role("dialog", name="Search")
    field = dialog.get_by_role("combobox")
    hits = page.locator("#search-results")
    dark = hits.locator("[role=option]", has_text="Dark theme")

    with page.expect_request("**/v1/search?**"):
        field.fill("them")
    page.keyboard.press("ArrowDown")
    expect(dark).to_have_attribute("aria-selected", "true")
    held.pop().fulfill(json=_one_hit("early"))
    expect(hits).to_contain_text("early")
    expect(dark).to_have_attribute("aria-selected", "true")

    with page.expect_request("**/v1/search?**"):
        field.fill("theme")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    held.pop().fulfill(json=_one_hit("late"))
    expect(hits).to_contain_text("late")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def _one_hit(name: str) -> dict[str, list[dict[str, str | None]]]:
    return {"items": [{"kind": "dataset", "id": "ds_1", "name": name, "detail": None}]}


def test_the_guide_is_found(visit: Visit, built_guide: Path) -> None:
    """The search lists headings of the guide, and Enter opens the guide at the heading."""
    assert (built_guide / "how-to" / "clicks").is_dir()
    page = visit.open("/jobs")
    page.keyboard.press("Control+k")
    page.keyboard.type("estimate a click model")
    hit = page.get_by_role("group", name="Guide").get_by_role("option", name="Estimate a click model")
    expect(hit).to_contain_text("Learn from clicks")
    page.keyboard.press("Enter")
    page.wait_for_url("**/guide/how-to/clicks/#estimate-a-click-model")


def test_the_theme_stays_from_page_to_page(visit: Visit) -> None:
    """The theme is light, dark, or that of the system, and applies before the page is drawn."""
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


def test_the_settings_fit_a_phone(visit: Visit) -> None:
    """The meaning of a setting is visible without scrolling sideways."""
    visit.page.set_viewport_size({"width": PHONE, "height": 900})
    page = visit.open("/settings")
    table = page.get_by_role("region", name="Settings")
    expect(table.get_by_text("Idle timeout while a request body is received")).to_be_visible()
    assert table.evaluate("({ scrollWidth, clientWidth }) => scrollWidth - clientWidth") == 0
    assert visit.violations() == []


def test_a_table_is_saved_as_csv(visit: Visit) -> None:
    """The button of a table saves its sorted rows; the search offers a download of each table of the page."""
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


def test_an_unknown_url_shows_page_not_found(visit: Visit) -> None:
    """The page of an unknown URL has a link to the overview."""
    visit.refusals_expected = True
    page = visit.open("/nowhere")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Overview").click()
    page.wait_for_url(f"{visit.url}/")


def test_an_error_of_a_page_is_shown_and_polling_continues(visit: Visit) -> None:
    """An unexpected error shows the banner, and the next valid answer hides it."""
    page = visit.page
    broken = True

    def answer(route: Route) -> None:
        if broken:
            route.fulfill(json={"items": 1, "next_cursor": None})
        else:
            route.continue_()

    page.route("**/v1/jobs?**", answer)
    visit.open("/jobs")
    banner = page.locator("#connection")
    expect(banner).to_contain_text("This page could not be updated. The page may be out of date.")
    assert visit.complaints != []
    visit.complaints.clear()
    broken = False
    expect(banner).to_be_hidden()
    visit.complaints.clear()


def test_sections_have_menus(visit: Visit) -> None:
    """Menus open under the pointer or by the arrow keys, and the tabs link to the same pages."""
    page = visit.open("/jobs")
    main = page.get_by_role("navigation", name="Main")
    data = main.get_by_role("link", name="Data", exact=True)
    expect(main.get_by_role("link")).to_have_text(["Data", "Train", "Models", "Results", "Serve", "Settings"])
    data.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(main.get_by_role("link", name="Click logs")).to_be_focused()
    expect(data).to_have_attribute("aria-expanded", "true")
    assert visit.violations(".bar") == []
    page.keyboard.press("Escape")
    expect(data).to_be_focused()
    main.get_by_role("link", name="Results").hover()
    main.get_by_role("link", name="Comparisons").click()
    page.wait_for_url("**/comparisons")
    tabs = page.get_by_role("navigation", name="Results")
    expect(tabs.get_by_role("link", name="Comparisons")).to_have_attribute("aria-current", "page")
    tabs.get_by_role("link", name="Rankings").click()
    page.wait_for_url("**/rankings")


def test_the_second_tab_stop_skips_to_the_first_row(visit: Visit, prepared: Prepared) -> None:
    """The second tab stop is a link that moves the focus into the first row of the list."""
    prepared.synthetic("skipped to", queries=5)
    page = visit.open("/datasets")
    page.locator("#datasets tbody a").first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the first row")).to_be_focused()
    page.keyboard.press("Enter")
    first = page.locator("#datasets tbody").first
    assert first.evaluate("row => row.contains(document.activeElement)")


def test_shortcuts_are_listed_and_open_pages(visit: Visit) -> None:
    """`?` lists the shortcuts, and G with a letter opens a page; in a field both keys type text."""
    page = visit.open("/models")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_text("Jobs")).to_be_visible()
    assert visit.violations("dialog") == []
    visit.fit("shortcuts")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    field = page.get_by_label("Search by name or ID prefix")
    field.focus()
    page.keyboard.type("gj?")
    expect(field).to_have_value("gj?")
    field.evaluate("field => field.blur()")
    page.keyboard.type("gj")
    page.wait_for_url("**/jobs")


def test_the_header_has_few_tab_stops(visit: Visit) -> None:
    """The first tab stop skips to the content, the header has nine, and arrow keys move in the toolbar."""
    page = visit.open("/datasets")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    stops = page.locator("body > :not(main) :is(a, button, input, [tabindex])").evaluate_all(
        "nodes => nodes.filter((node) => node.checkVisibility() && node.tabIndex >= 0).length"
    )
    assert stops == 9
    search, theme = (
        page.get_by_role("toolbar").get_by_role("button", name=name) for name in ("Search", "Theme")
    )
    search.focus()
    page.keyboard.press("ArrowRight")
    expect(theme).to_be_focused()
    page.keyboard.press("Home")
    expect(search).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(
        page.get_by_role("toolbar").get_by_role("link", name="Help: this page in the guide")
    ).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="New training")).to_be_focused()


@pytest.mark.parametrize("path", ["/jobs", "/aliases", "/settings"])
def test_a_zoomed_page_fits_and_its_header_scrolls_away(visit: Visit, path: str) -> None:
    """At 400% zoom, a window of 1280 by 1600 pixels has 320 by 400; the page fits, and its header scrolls."""
    page = visit.page
    page.set_viewport_size({"width": 320, "height": 400})
    visit.open(path)
    visit.settle()
    page.wait_for_function("document.documentElement.scrollWidth <= 320")
    expect(page.locator(".bar")).to_have_css("position", "static")


def test_a_loading_form_hides_fields_of_other_choices(visit: Visit, prepared: Prepared) -> None:
    """The form hides the fields of other choices before the API has answered."""
    prepared.synthetic("skipped to", queries=5)
    page = visit.page
    held: list[Route] = []
    page.route("**/v1/job-schemas", lambda route: held.append(route))
    with page.expect_request("**/v1/job-schemas"):
        visit.open("/train")
    form = page.locator("#train[data-followed]")
    expect(form.get_by_label("Budget")).to_be_visible()
    assert form.get_attribute("aria-busy") == "true"
    expect(form.get_by_label("Fraction of queries").first).to_be_hidden()
    held[0].continue_()
    expect(form).not_to_have_attribute("aria-busy", "true", timeout=30_000)


@pytest.mark.parametrize(
    ("action", "opened"),
    [
        ("Add a dataset", "Add a dataset"),
        *(
            pytest.param(*names, marks=pytest.mark.slow)
            for names in (
                ("Evaluate a model", "Evaluate"),
                ("Compare models", "Compare"),
                ("Import a model", "Import a model"),
                ("Upload a run", "Upload a run"),
                ("Upload a click log", "Upload a click log"),
                ("Simulate clicks", "Simulate clicks"),
                ("Interleave rankers", "Interleave rankers"),
            )
        ),
    ],
)
def test_an_action_opens_its_form(visit: Visit, action: str, opened: str) -> None:
    """The search opens the form of an action from any page."""
    page = visit.open("/jobs")
    page.get_by_role("banner").get_by_role("button", name="Search").click()
    page.keyboard.type(action.lower())
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=opened)).to_be_visible()
