"""The whole workflow on the dashboard, from files of judgments to a model in use, without API calls."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import (
    choose_files,
    compare_export,
    open_training,
    open_training_form,
    send_upload,
    start_training,
    upload,
    wait_until_read,
)
from tests.browser.prepared import judged_table
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

ITERATIONS = 120
GRID = 4


def test_a_user_gets_from_upload_to_export(visit: Visit) -> None:
    """Upload data, read its findings, train twice, compare, promote, try and export a model."""
    page = visit.open("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Data", exact=True).click()
    upload_and_read_the_doctor(visit, page)
    open_training_form(page)
    train_and_watch(visit, page)
    _train_again_with_another_loss(visit, page)
    _compare(visit, page)
    _promote(visit, page)
    _try(visit, page)
    _export(visit, page)
    page.get_by_role("link", name="Rankery").click()
    champion = page.locator("#champions").get_by_role("link", name="story:1")
    expect(champion).to_be_visible()
    visit.photograph("story-9-overview")


def upload_and_read_the_doctor(visit: Visit, page: Page) -> None:
    """Upload judgments from the page of datasets, and wait for the findings."""
    parts = enumerate(("train", "test"), start=11)
    choose_files(page, **{part: (f"story {part}.csv", judged_table(seed)) for seed, part in parts})
    visit.photograph("story-1-upload")
    send_upload(page)
    wait_until_read(page)
    findings = page.get_by_role("region", name=re.compile("^Findings"))
    expect(findings).to_contain_text("no relevant document")
    visit.photograph("story-2-doctor")


def train_and_watch(visit: Visit, page: Page) -> None:
    """Train from the form that opened from the dataset's page, and watch until the job has ended."""
    expect(page.get_by_label("Train on").locator("option:checked")).to_contain_text("story train")
    page.get_by_label("Model name").fill("story")
    page.locator("#loss").select_option("ndcg-loss2++")
    expect(page.locator(".loss-words")).to_contain_text("Wang et al. 2018")
    _choose(page, "Test on", "story test")
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
    for version in (1, 2):
        page.get_by_label(f"Select story:{version}").check()
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
    page.locator("#models").get_by_role("link", name="story:1", exact=True).click()
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
    report = compare_export(page, "onnx", "The export decides as the model does")
    visit.photograph("story-8-export")
    with page.expect_download() as archive:
        report.get_by_role("button", name="Download with parity files").click()
    assert archive.value.path().read_bytes()[:2] == b"PK"


def test_a_user_selects_a_model_of_a_grid_and_cancels_jobs(visit: Visit) -> None:
    """Train a grid, select by validation, find the worst queries, fail a gate, and cancel six jobs."""
    page = upload(visit, file=("team.csv", judged_table(21)))
    wait_until_read(page)
    open_training_form(page)
    _train_a_grid(visit, page)
    best = _select_by_validation(visit, page)
    _find_the_worst_queries(visit, page, best)
    _fail_the_gate(visit, page, best)
    _cancel_a_grid(visit, page)


def _train_a_grid(visit: Visit, page: Page) -> None:
    page.get_by_label("Model name").fill("team")
    page.get_by_role("group", name="Validate on").get_by_label("held-out queries").check()
    page.get_by_label("Test on").select_option("held-out queries")
    page.get_by_label("Iterations", exact=True).fill("4")
    page.get_by_label("Learning rate").fill("0.05, 0.2")
    page.get_by_label("Leaves per tree", exact=True).fill("4, 15")
    page.get_by_label("Documents per leaf", exact=True).fill("5")
    page.get_by_role("button", name=f"Start {GRID} trainings").click()
    page.wait_for_url(re.compile(r"/jobs/compare\?"))
    expect(page.locator(".compared tbody .status", has_text="succeeded")).to_have_count(GRID)


def _select_by_validation(visit: Visit, page: Page) -> str:
    rows = page.locator(".compared tbody tr")
    expect(rows.first).to_have_attribute("data-best", "")
    expect(page.get_by_text("Select by the validation metric, not by the test metric.")).to_be_visible()
    visit.settle()
    visit.photograph("story-10-grid")
    best = re.search(r"team:\d+", rows.first.inner_text())
    assert best is not None
    return best[0]


def _find_the_worst_queries(visit: Visit, page: Page, best: str) -> None:
    _search(page, best)
    page.wait_for_url(f"**/models/{best}*")
    page.get_by_role("link", name="Evaluations", exact=True).first.click()
    page.locator("#evaluations tbody").first.get_by_role("link").first.click()
    worst = page.locator(".query-values tbody tr")
    worst.first.wait_for()
    values = [float(row.locator("td").first.inner_text()) for row in worst.all()[:3]]
    assert values == sorted(values), "the worst first"
    visit.settle()
    visit.photograph("story-11-worst-queries")
    worst.first.get_by_role("link").first.click()
    expect(page.locator("tbody tr").first).to_be_visible()


def _fail_the_gate(visit: Visit, page: Page, best: str) -> None:
    """Promote a version whose features the gate's dataset lacks, so that the champion's gate refuses it."""
    _search(page, best)
    page.locator("#views").get_by_role("link", name="Aliases").click()
    page.locator(".alias-form").get_by_role("textbox", name="Name").fill("champion")
    page.get_by_role("button", name=re.compile("^Promote version")).first.click()
    champion = page.locator('.alias[data-alias="champion"]')
    champion.get_by_role("button", name="Set a gate").click()
    _choose(page, "Compared on the queries of", "team.csv")
    champion.get_by_role("button", name="Set gate").click()
    expect(champion.locator(".gate")).to_contain_text("must be not significantly worse")
    other_names = re.sub(r"\bf(\d)", r"g\1", judged_table(22))
    upload(visit, file=("renamed.csv", other_names))
    wait_until_read(page)
    open_training_form(page)
    page.get_by_label("Model name").fill("team")
    page.get_by_label("Iterations", exact=True).fill("4")
    start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    page.get_by_role("link", name="Model", exact=True).click()
    page.locator("#views").get_by_role("link", name="Aliases").click()
    champion.get_by_role("button", name=re.compile("^Promote version")).click()
    refused = champion.locator('[data-kind="refused"]')
    expect(refused).to_contain_text(re.compile(r"features"))
    visit.photograph("story-12-refused")


def _cancel_a_grid(visit: Visit, page: Page) -> None:
    page = open_training(visit)
    _choose(page, "Train on", "team.csv")
    page.get_by_label("Model name").fill("regretted")
    page.get_by_label("Iterations", exact=True).fill("5000")
    page.get_by_label("Patience").fill("5000")
    page.get_by_label("Learning rate").fill("0.01, 0.02, 0.03")
    page.get_by_label("Leaves per tree", exact=True).fill("15, 31")
    page.get_by_role("button", name="Start 6 trainings").click()
    page.wait_for_url(re.compile(r"/jobs/compare\?"))
    page = visit.open("/jobs?prefix=regretted")
    page.get_by_label("Select all on this page").check()
    bar = page.get_by_role("region", name="Selected jobs")
    bar.get_by_role("button", name="Cancel 6 jobs").click()
    expect(page.locator(".list .status", has_text=re.compile("^cancelled$"))).to_have_count(6)
    visit.photograph("story-13-cancelled")


def _search(page: Page, text: str) -> None:
    """Find a model by its name and open its page by keyboard."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search").fill(text)
    option = page.get_by_role("group", name="Models").get_by_role("option", name=text).first
    expect(option).to_be_visible()
    while option.get_attribute("aria-selected") != "true":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/models/{text}*")


def _choose(page: Page, label: str, dataset: str) -> None:
    """Choose a dataset as soon as it is offered; its option includes the number of queries."""
    option = page.get_by_label(label).locator("option", has_text=re.compile(f"^{re.escape(dataset)}")).first
    option.wait_for(state="attached")
    page.get_by_label(label).select_option(value=option.get_attribute("value"))
