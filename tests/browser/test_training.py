"""Trainings on the dashboard, from synthetic data to a tested model."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import fill_training, make_dataset, start_training
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

ITERATIONS = 1500
SHORT_ITERATIONS = 40
METRIC_INTERVAL = 2
TRUNCATION_LEVEL = 5


@pytest.mark.slow  # `test_story` watches a training, and `test_polling` tests updates
def test_a_training_is_watched_from_the_form_to_its_metrics(visit: Visit, prepared: Prepared) -> None:
    """The user creates data and starts a training; the page shows progress, curve and test metrics."""
    make_dataset(visit, "watched", queries=400, seed=1)
    prepared.synthetic("held back", queries=100, seed=2)
    page = fill_training(visit, dataset="watched", model="watched", iterations=ITERATIONS, test="held back")
    job_id = start_training(page)

    page.goto(f"{visit.url}/jobs")
    job = page.locator(f'[data-job="{job_id}"]')
    seen = _distinct_bar_values(page, job_id, 3)
    assert seen == sorted(seen)
    job.get_by_role("button", name="Details of watched").click()
    plot = job.locator(".plot[data-points]")
    plot.wait_for()
    before = int(plot.get_attribute("data-points") or 0)
    page.wait_for_function(
        "([id, before]) => document.querySelector(`[data-job='${id}'] .plot`).dataset.points > before",
        arg=[job_id, before],
    )
    visit.photograph("running")

    expect(job.locator(".status").first).to_have_text("succeeded")
    expect(job.locator("[data-points]")).to_have_attribute("data-points", str(ITERATIONS))
    expect(job.get_by_text("best, iteration")).to_be_visible()
    tested = job.locator("td.tested").first
    expect(tested).to_contain_text("–")
    mean, lower, upper = (float(word) for word in tested.inner_text().replace("–", " ").split())
    assert 0 < lower < mean < upper < 1


@pytest.mark.slow
def test_options_of_a_loss_are_sent_and_its_curve_is_drawn(visit: Visit, prepared: Prepared) -> None:
    """Options and a gain list reach the job as typed, and the curve of the loss is in the last tab."""
    prepared.synthetic("in detail", queries=100, seed=3)
    page = fill_training(visit, dataset="in detail", model="in-detail", iterations=SHORT_ITERATIONS)
    page.locator("#loss").select_option("ndcg-loss2++")
    page.get_by_label("Truncation level").fill(str(TRUNCATION_LEVEL))
    page.get_by_label("Pair selection").select_option("static")
    page.locator("#loss-parameters").get_by_label("Gain").first.select_option("custom numbers…")
    page.get_by_label("Gain, custom numbers").fill("0, 1, 3, 7.5, 15")
    page.get_by_label("Measure every").fill(str(METRIC_INTERVAL))
    visit.photograph("loss-in-detail")
    job_id = start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")

    spec = page.request.get(f"{visit.url}/v1/jobs/{job_id}").json()["spec"]
    assert spec["metric_interval"] == METRIC_INTERVAL
    assert spec["loss"]["pair_selection"] == "static"
    assert spec["loss"]["truncation_level"] == TRUNCATION_LEVEL
    assert spec["loss"]["gain"] == [0, 1, 3, 7.5, 15]
    assert spec["loss"]["discount"] == "log2", "left alone, so the default"

    curve = page.locator(".curve")
    tabs = curve.get_by_role("group").get_by_role("button")
    expect(tabs.last).to_have_text("loss")
    expect(tabs.last).to_have_attribute("aria-pressed", "false")
    tabs.last.click()
    expect(tabs.last).to_have_attribute("aria-pressed", "true")
    plot = curve.locator(".plot")
    expect(plot).to_have_attribute("aria-label", re.compile(r"^Learning curve of loss .* best at iteration"))
    expect(plot).to_have_attribute("data-points", str(SHORT_ITERATIONS // METRIC_INTERVAL))
    expect(curve.locator(".figure-legend button")).to_have_text(["train", re.compile("^best, iteration")])
    for key in ("Home", "End"):
        plot.press(key)
        expect(page.locator("#announcer")).to_have_text(re.compile(r"^iteration \d+: train 0\.\d+$"))
    expect(page.locator(".metrics tbody th").filter(has_text="loss")).to_have_count(0)
    expect(page.locator(".metrics")).to_contain_text("Training loss at the best iteration")
    expect(page.locator(".iteration-times .legend")).to_contain_text("tree")
    expect(page.locator(".phases tbody th").first).to_have_text("loading")
    visit.fit("loss-curve")
    page.goto(f"{visit.url}/jobs")
    expect(page.locator(f'[data-job="{job_id}"] [data-column="metric"]')).to_contain_text("ndcg@5")


def _distinct_bar_values(page: Page, job_id: str, wanted: int) -> list[int]:
    """Wait until the job's bar has shown this number of different values, and return them."""
    counts = page.evaluate(
        """async ([id, wanted]) => {
            const seen = [];
            while (seen.length < wanted) {
                const bar = document.querySelector(`[data-job="${id}"] progress`);
                const status = document.querySelector(`[data-job="${id}"] .status`)?.dataset.status;
                if (status === "succeeded" || status === "failed") throw new Error(`only saw ${seen}`);
                const now = bar?.hasAttribute("value") && status === "running" ? bar.value : null;
                if (now !== null && !seen.includes(now)) seen.push(now);
                await new Promise((resolve) => setTimeout(resolve, 50));
            }
            return seen;
        }""",
        [job_id, wanted],
    )
    return [int(count) for count in counts]


def test_a_running_job_is_cancelled_from_its_page(visit: Visit, prepared: Prepared) -> None:
    """Cancel ends a running job; its curve stays, and the button disappears."""
    prepared.synthetic("cancelled", queries=400)
    page = fill_training(visit, dataset="cancelled", model="cancelled", iterations=20_000)
    start_training(page)
    page.locator(".plot[data-points]").wait_for()

    page.get_by_role("button", name="Cancel job").click()

    expect(page.locator(".job-heading .status")).to_have_text("cancelled")
    expect(page.get_by_role("button", name="Cancel job")).to_have_count(0)
    expect(page.locator(".plot")).to_be_visible()
