"""The first visit to the dashboard, by the first steps on the overview of an empty service."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from rankery.embedded.stack import EmbeddedStack
from tests.browser.actions import choose_files, compare_export, send_upload, wait_until_read
from tests.browser.prepared import judged_table
from tests.browser.visit import PHONE, Visit

# `test_overview_and_jobs`, `test_uploads` and `test_automatic_training` test the single steps.
pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS = (1440, PHONE)
MISTAKE = 40


@pytest.fixture(scope="module")
def service_url(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start an empty service."""
    with EmbeddedStack(tmp_path_factory.mktemp("empty"), host="127.0.0.1", port=0) as stack:
        yield stack.url


def test_a_newcomer_gets_from_a_file_to_a_model_in_use(visit: Visit) -> None:
    """Add data with a mistake, find the best model, promote and try it, export it, distil it for Solr."""
    page = visit.open("/")
    _follow_first_step(visit, page, "Add a dataset")
    _upload_and_correct(visit, page)
    page.get_by_role("link", name="Rankery").click()
    _follow_first_step(visit, page, "Find the best model")
    _find_the_best(visit, page)
    page.get_by_role("link", name="Rankery").click()
    expect(page.locator(".step").first.get_by_role("link")).to_have_text("Choose a model")
    page.go_back()
    _promote(visit, page)
    _try(visit, page)
    page.get_by_role("link", name="Rankery").click()
    champion = page.locator("#champions").get_by_role("link", name="shop:1")
    expect(champion).to_be_visible()
    visit.fit("newcomer-9-overview", WIDTHS)
    champion.click()
    _export(visit, page, "onnx", "scores as the model does")
    _export(visit, page, "python", "scores as the model does")
    _distil(visit, page)
    # Solr adds 1e-6 to each threshold, so that few values may take the other branch.
    _export(visit, page, "solr", re.compile("decides? as the model does"))


def _follow_first_step(visit: Visit, page: Page, name: str) -> None:
    """Open the step that the overview highlights."""
    link = page.locator(".step").first.get_by_role("link")
    expect(link).to_have_text(name)
    visit.fit(f"newcomer-{name}", WIDTHS)
    link.click()


def _upload_and_correct(visit: Visit, page: Page) -> None:
    lines = judged_table(51).splitlines()
    corrected = "\n".join(lines)
    lines[MISTAKE - 1] += ",7"
    expect(page.locator("#upload")).to_be_visible()  # the link of the overview opens the form
    choose_files(page, file=("shop.csv", "\n".join(lines)))
    expect(page.locator("#roles")).to_contain_text(f"Line {MISTAKE}")
    visit.fit("newcomer-1-upload", WIDTHS)
    send_upload(page)
    broken = wait_until_read(page, "invalid")
    visit.fit("newcomer-2-invalid", WIDTHS)
    form = page.get_by_role("form", name="Upload the corrected file")
    form.locator('input[type="file"]').set_input_files(
        {"name": "shop.csv", "mimeType": "text/csv", "buffer": corrected.encode()}
    )
    form.get_by_role("button", name="Upload and replace").click()
    page.wait_for_url(lambda url: broken not in url)
    wait_until_read(page)
    expect(page.get_by_role("link", name="Train on this dataset")).to_be_visible()
    visit.fit("newcomer-3-dataset", WIDTHS)


def _find_the_best(visit: Visit, page: Page) -> None:
    page.locator("#train:not([aria-busy])").wait_for()
    expect(page.get_by_label("Train on").locator("option:checked")).to_contain_text("shop")
    page.get_by_label("Model name").fill("shop")
    page.get_by_label("Budget").fill("1")
    visit.fit("newcomer-4-train", WIDTHS)
    page.get_by_role("button", name="Start training").click()
    page.wait_for_url(re.compile(r"/jobs/job_"))
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    expect(_conclusion(page).locator(".sentence")).to_contain_text(re.compile(r"ndcg@10 0\.\d{4}"))
    visit.fit("newcomer-5-conclusion", WIDTHS)


def _promote(visit: Visit, page: Page) -> None:
    _conclusion(page).get_by_role("link", name="Promote").click()
    form = page.locator(".alias-form")
    expect(form.get_by_role("heading")).to_have_text("First alias")
    expect(form.get_by_role("textbox", name="Name")).to_have_value("champion")
    visit.fit("newcomer-6-promote", WIDTHS)
    page.get_by_role("button", name="Promote version 1").click()
    expect(page.locator('.alias[data-alias="champion"]').get_by_role("heading")).to_contain_text(
        "this version"
    )
    visit.fit("newcomer-7-promoted", WIDTHS)


def _try(visit: Visit, page: Page) -> None:
    page.locator("#views").get_by_role("link", name="Try it").click()
    first = page.locator(".candidates tbody tr[data-document]").first
    first.get_by_role("button", name="Why").click()
    expect(page.locator(".reasons:not([hidden])")).to_contain_text("f6")
    visit.fit("newcomer-8-try", WIDTHS)


def _export(visit: Visit, page: Page, name: str, verdict: str | re.Pattern[str]) -> None:
    """Compare an export with the model in a format, and download it."""
    report = compare_export(page, name, verdict)
    visit.fit(f"newcomer-10-{name}", WIDTHS)
    with page.expect_download() as file:
        report.get_by_role("button", name="Download").first.click()
    assert file.value.path().stat().st_size > 0


def _distil(visit: Visit, page: Page) -> None:
    page.get_by_role("button", name="Distil into a forest").click()
    page.wait_for_url(re.compile(r"/jobs/job_"))
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    visit.fit("newcomer-11-distilled", WIDTHS)
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page.locator("h1")).to_contain_text("shop-distilled:1")


def _conclusion(page: Page) -> Locator:
    return page.get_by_role("region", name="Conclusion")
