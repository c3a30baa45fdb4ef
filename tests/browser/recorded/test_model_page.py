"""The view of a model's trees."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.prepared import Json, Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def _fragment(page: Page) -> dict[str, str]:
    return dict(part.split("=", 1) for part in page.url.split("#")[1].split("&"))


def test_buttons_and_keys_change_the_shown_tree(visit: Visit, prepared: Prepared) -> None:
    """Buttons and keys change the tree; the URL keeps the tree, and the table has all its nodes."""
    reference = prepared.model(2)
    page = visit.open(f"/models/{reference}#tree=2")
    panel = page.locator('#trees[data-tree="2"]')
    panel.wait_for()
    panel.get_by_role("button", name="Next tree").click()
    page.locator('#trees[data-tree="3"]').wait_for()
    assert _fragment(page)["tree"] == "3"
    trees = page.locator("#trees")
    root = prepared.get(f"/v1/models/{reference}/trees/2")["root"]
    trees.get_by_role("button", name="All levels").click()
    items = trees.get_by_role("treeitem")
    expect(items).to_have_count(2 * root["leaves"] - 1)
    trees.locator("summary").click()
    expect(trees.locator("tbody tr")).to_have_count(2 * root["leaves"] - 1)

    items.first.focus()
    expect(trees.locator(".tree-detail")).to_contain_text(f"{root['documents']:,} (100%)")
    page.keyboard.press("ArrowRight")
    focused = trees.locator(":focus")
    expect(focused).to_have_attribute("aria-label", re.compile(f"^yes: .*{_words(root['left'])}"))
    expect(trees.locator(".tree-detail")).to_contain_text(f"{root['feature']} ≤")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(items, "the root is folded").to_have_count(1)
    expect(items.first).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    expect(items).not_to_have_count(1)
    page.keyboard.press("PageDown")
    page.locator('#trees[data-tree="4"]').wait_for()
    expect(trees.get_by_label("Number of the tree")).to_have_value("4")


def _words(node: Json) -> str:
    return "adds" if node["kind"] == "leaf" else str(node["feature"])


def test_an_unknown_model_has_a_message(visit: Visit) -> None:
    """The page of an unknown model has a message and no view of trees."""
    visit.refusals_expected = True
    page = visit.open("/models/nothing:7")
    expect(page.get_by_role("heading", name="There is no such model")).to_be_visible()
    expect(page.locator("#inside")).to_be_hidden()
