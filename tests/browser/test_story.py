"""The whole way on the dashboard: from files of judgments to a model in use, and never the API by hand."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import choose_files, send_upload, start_training, wait_until_read
from tests.browser.prepared import judged_table
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

ITERATIONS = 120


def test_the_whole_story(visit: Visit) -> None:
    """Upload, doctor, train and watch, clone and train, compare, verdict, promote, try, export."""
    page = visit.open("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Datasets").click()
    _upload_and_read_the_doctor(visit, page)
    page.get_by_role("link", name="Train on it").click()
    _train_and_watch(visit, page)
    _train_again_with_another_loss(visit, page)
    _compare(visit, page)
    _promote(visit, page)
    _try(visit, page)
    _export(visit, page)
    page.get_by_role("link", name="Overview").click()
    champion = page.locator("#champions").get_by_role("link", name="story:1")
    expect(champion).to_be_visible()
    visit.photograph("story-9-overview")


def _upload_and_read_the_doctor(visit: Visit, page: Page) -> None:
    parts = enumerate(("train", "test"), start=11)
    choose_files(page, **{part: (f"story {part}.csv", judged_table(seed)) for seed, part in parts})
    visit.photograph("story-1-upload")
    send_upload(page)
    wait_until_read(page)
    findings = page.get_by_role("region", name=re.compile("^Findings"))
    expect(findings).to_contain_text("no relevant document")
    visit.photograph("story-2-doctor")


def _train_and_watch(visit: Visit, page: Page) -> None:
    page.locator("#train:not([aria-busy])").wait_for()
    expect(page.get_by_label("Train on").locator("option:checked")).to_contain_text("story train")
    page.get_by_label("Model name").fill("story")
    page.locator("#loss").select_option("ndcg-loss2++")
    expect(page.locator(".loss-words")).to_contain_text("Wang et al. 2018")
    page.get_by_role("group", name="Test on").get_by_label("another dataset").check()
    _choose(page, "Test dataset", "story test")
    page.get_by_label("Iterations", exact=True).fill(str(ITERATIONS))
    visit.photograph("story-3-new-training")
    start_training(page)
    plot = page.locator(".plot[data-points]").first
    plot.wait_for()
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    expect(page.get_by_text("best, iteration")).to_be_visible()
    visit.photograph("story-4-job")


def _train_again_with_another_loss(visit: Visit, page: Page) -> None:
    page.get_by_role("link", name="Clone and edit").click()
    page.locator("#train:not([aria-busy])").wait_for()
    expect(page.get_by_label("Model name"), "as the job before had it").to_have_value("story")
    expect(page.locator("#loss")).to_have_value("ndcg-loss2++")
    page.locator("#loss").select_option("lambdarank")
    start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")


def _compare(visit: Visit, page: Page) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Models").click()
    page.locator('.model[data-name="story"] summary').click()
    versions = page.get_by_role("region", name="Versions of story")
    for version in (1, 2):
        versions.get_by_label(f"Compare story:{version}").check()
    page.get_by_role("link", name="Compare 2 models").click()
    form = page.locator("#compare-form:not([aria-busy])")
    expect(form.locator(".chosen .name")).to_have_text(["story:1", "story:2"])
    _choose(page, "On the queries of", "story test")
    form.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url(re.compile(r"/comparisons/cmp_"))
    verdict = page.locator(".sentence").first
    expect(verdict).to_contain_text(re.compile(r"story:[12].*ndcg@10.*over \d+ queries"))
    harmed = page.locator(".changed > *").filter(has=page.get_by_role("heading", name="Most harmed"))
    harmed.get_by_role("button").first.click()
    page.locator(".two-rankings").wait_for()
    visit.photograph("story-5-verdict")


def _promote(visit: Visit, page: Page) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Models").click()
    page.locator('.model[data-name="story"] summary').click()
    page.get_by_role("region", name="Versions of story").get_by_role("link", name="story:1").click()
    page.locator("#views").get_by_role("link", name="Aliases").click()
    champion = page.locator('.alias[data-alias="champion"]')
    if not champion.count():
        page.locator(".alias-form").get_by_role("textbox", name="Name").fill("champion")
    page.get_by_role("button", name="Promote version 1").first.click()
    expect(champion.get_by_role("heading")).to_contain_text("this version")
    visit.photograph("story-6-promoted")


def _try(visit: Visit, page: Page) -> None:
    page.locator("#views").get_by_role("link", name="Try it").click()
    first = page.locator(".candidates tbody tr[data-document]").first
    first.get_by_role("button", name="Why").click()
    expect(page.locator(".reasons:not([hidden])")).to_contain_text("f6")
    visit.photograph("story-7-try")


def _export(visit: Visit, page: Page) -> None:
    page.locator("#views").get_by_role("link", name="Exports").click()
    page.locator("#exports").get_by_label("Format").select_option("onnx")
    page.get_by_role("button", name="Export and compare").click()
    report = page.locator(".parity")
    expect(report.get_by_role("heading", name="It decides as the model does")).to_be_visible()
    visit.photograph("story-8-export")
    with page.expect_download() as archive:
        report.get_by_role("button", name="Download with proof").click()
    assert archive.value.path().read_bytes()[:2] == b"PK"


def _choose(page: Page, label: str, dataset: str) -> None:
    """Choose a dataset, whose option also tells the number of queries."""
    options = page.get_by_label(label).locator("option").all_inner_texts()
    page.get_by_label(label).select_option(label=next(text for text in options if text.startswith(dataset)))
