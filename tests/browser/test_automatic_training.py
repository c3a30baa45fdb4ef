"""Automatic training in the browser, from a dataset to an exported model."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.prepared import Prepared
from tests.browser.visit import PHONE, Visit

pytestmark = pytest.mark.browser


def test_the_best_model_is_found_exported_and_scheduled(visit: Visit, prepared: Prepared) -> None:
    """Start from the page of a dataset, watch, read the conclusion, clone, export and schedule."""
    page = visit.open(f"/datasets/{prepared.synthetic('searched', queries=24, seed=7)}")
    page.get_by_role("link", name="Train on this dataset").click()
    page.locator("#train:not([aria-busy])").wait_for()
    expect(page.get_by_label("Train on").locator("option:checked")).to_contain_text("searched")
    page.get_by_label("Model name").fill("searched")
    page.get_by_label("Budget").fill("1")
    page.get_by_text("Candidates", exact=True).click()
    page.get_by_role("textbox", name="Candidates").fill("linear by lambdarank")
    page.get_by_role("button", name="Start training").click()
    page.wait_for_url(re.compile(r"/jobs/job_"))

    sentence = page.get_by_role("region", name="Conclusion").locator(".sentence")
    expect(sentence).to_contain_text(
        re.compile(r"ndcg@10 0\.\d{4} \[0\.\d{4}, 0\.\d{4}\] on \d+ held-out queries")
    )
    expect(page.locator(".leaderboard .sortable").get_by_role("rowheader")).to_contain_text(
        ["linear by lambdarank"]
    )
    visit.fit("auto-train-story", (1440, PHONE))

    page.get_by_role("link", name="Clone and edit").click()
    page.locator("#train:not([aria-busy])").wait_for()
    expect(page.get_by_label("Budget")).to_have_value("1")
    expect(page.locator("[data-pointer='/candidates']")).to_have_value("linear by lambdarank")
    expect(page.get_by_text("1 changed: candidates linear by lambdarank")).to_be_visible()

    page.go_back()
    page.get_by_role("link", name="Export").click()
    expect(page.locator("h1")).to_contain_text("searched:1")
    expect(page.locator("#exports")).to_contain_text("ONNX")
    page.get_by_role("button", name="Distil into a forest").click()
    expect(page.locator("h1")).to_contain_text("searched-distilled")
    page.go_back()
    expect(page.locator("h1")).to_contain_text("searched:1")

    page.go_back()
    page.get_by_role("link", name="Schedule", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Training to repeat").locator("option:checked")).to_contain_text("searched")
    dialog.get_by_role("textbox", name="Name").fill("Nightly search")
    dialog.get_by_label("Cron expression").fill("0 3 * * *")
    dialog.get_by_role("button", name="Schedule").click()
    card = page.locator("[data-schedule]").filter(has_text="Nightly search")
    expect(card).to_contain_text("Finds the best searched")
