"""The workflow from a file to a model in use with the keyboard alone, without a pointer."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.actions import wait_until_read
from tests.browser.keyboard import Keyboard
from tests.browser.prepared import judged_table
from tests.browser.visit import Visit

# `test_appearance` and `test_header` test the keyboard on single pages.
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_workflow_needs_no_mouse(visit: Visit, tmp_path: Path) -> None:
    """Upload, train, train with another loss, compare, open a query, promote, export."""
    page = visit.open("/")
    keys = Keyboard(page)
    keys.press(_menu(page, "Data"))
    _upload(page, keys, tmp_path)
    _train(page, keys)
    _train_again(page, keys)
    _compare(page, keys)
    _promote(page, keys)
    _export(page, keys)


def _upload(page: Page, keys: Keyboard, folder: Path) -> None:
    keys.press(page.get_by_role("link", name="Add a dataset").first)
    form = page.locator("#upload")
    keys.choose(form.get_by_label("train, validation and test"))
    for part, seed in (("train", 31), ("test", 32)):
        path = folder / f"keys {part}.csv"
        path.write_text(judged_table(seed))
        keys.choose_files(form.locator(f'input[name="{part}"]'), str(path))
    keys.press(form.get_by_role("button", name="Upload"))
    page.wait_for_url(re.compile(r"/datasets/ds_"))
    wait_until_read(page)


def _train(page: Page, keys: Keyboard) -> None:
    keys.press(page.get_by_role("link", name="Train on this dataset"))
    page.locator("#train:not([aria-busy])").wait_for()
    keys.choose(page.get_by_label("Train with one loss"))
    keys.select(page.get_by_label("Test on"), "keys test")
    keys.write(page.get_by_label("Model name"), "keys")
    keys.press(page.get_by_role("button", name="Show all"))
    keys.write(page.get_by_label("Iterations", exact=True), "40")
    _start(page, keys)


def _train_again(page: Page, keys: Keyboard) -> None:
    keys.press(page.get_by_role("link", name="Clone and edit"))
    page.locator("#train:not([aria-busy])").wait_for()
    keys.select(page.locator("#loss"), "ranknet")
    _start(page, keys)


def _start(page: Page, keys: Keyboard) -> None:
    keys.press(page.get_by_role("button", name="Start training"))
    page.wait_for_url(re.compile(r"/jobs/job_"))
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")


def _compare(page: Page, keys: Keyboard) -> None:
    keys.press(_menu(page, "Models"))
    keys.write(page.get_by_label("Search by name or ID prefix"), "keys")
    for version in (1, 2):
        keys.press(page.get_by_label(f"Select keys:{version}"), "Space")
    keys.press(page.get_by_role("link", name="Compare 2 models"))
    form = page.locator("#compare-form:not([aria-busy])")
    keys.select(form.get_by_label("On the queries of"), "keys test")
    keys.press(form.get_by_role("button", name="Compare", exact=True))
    page.wait_for_url(re.compile(r"/comparisons/cmp_"))
    expect(page.locator(".sentence").first).to_contain_text(re.compile(r"keys:[12].*ndcg@10"))
    harmed = page.locator(".changed > *").filter(has=page.get_by_role("heading", name="Most harmed"))
    keys.press(harmed.get_by_role("button").first)
    page.locator(".two-rankings").wait_for()


def _promote(page: Page, keys: Keyboard) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("keys:1")
    expect(page.get_by_role("group", name="Models").get_by_role("option", name="keys:1")).to_be_visible()
    chosen = page.locator('[role="option"][aria-selected="true"]')
    for _ in range(20):
        if "keys:1" in chosen.inner_text():
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/models/keys:1*")
    keys.press(page.locator("#views").get_by_role("link", name="Aliases"))
    keys.write(page.locator(".alias-form").get_by_role("textbox", name="Name"), "champion")
    keys.press(page.get_by_role("button", name="Promote version 1").first)
    champion = page.locator('.alias[data-alias="champion"]')
    expect(champion.get_by_role("heading")).to_contain_text("this version")


def _export(page: Page, keys: Keyboard) -> None:
    keys.press(page.locator("#views").get_by_role("link", name="Exports"))
    keys.select(page.locator("#exports").get_by_label("Format"), "ranklib")
    keys.press(page.get_by_role("button", name="Export and compare"))
    report = page.locator(".parity")
    expect(report.get_by_role("heading", name="The export decides as the model does")).to_be_visible()
    with page.expect_download() as archive:
        keys.press(report.get_by_role("button", name="Download with parity files"))
    assert archive.value.path().read_bytes()[:2] == b"PK"


def _menu(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Main").get_by_role("link", name=name, exact=True)
