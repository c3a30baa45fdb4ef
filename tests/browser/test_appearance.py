"""Pages in light and dark, in desktop and phone widths, by pointer and by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.appearance import check_pages
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

PAGES = {
    "overview": "/",
    "jobs": "/jobs",
    "datasets": "/datasets",
    "dataset-add": "/datasets#add",
    "click-logs": "/click-logs",
    "click-log-upload": "/click-logs#add",
    "simulate-clicks": "/click-logs#simulate",
    "aliases": "/aliases",
    "interleavings": "/interleavings",
    "interleave": "/interleavings#create",
    "train": "/train",
    "train-one-loss": "/train?goal=loss",
    "models": "/models",
    "evaluations": "/evaluations",
    "rankings": "/rankings",
    "studies": "/studies",
    "new-study": "/studies/new",
    "experiments": "/experiments",
    "run-experiment": "/experiments#run",
    "evaluate": "/evaluations#evaluate",
    "comparisons": "/comparisons",
    "compare-form": "/comparisons?system=compared:1&system=compared:2#compare",
}
PARTS_TO_SEE = {
    "job": [".plot .drawing"],
    "compare": [".plot .drawing"],
    "run-experiment": ["#run-form:not([aria-busy])"],
    "new-study": ["#new-study:not([aria-busy])"],
    "evaluate": ["#evaluate-form:not([aria-busy])"],
    "simulate-clicks": ["#simulate-form:not([aria-busy])"],
    "compare-form": ["#compare-form:not([aria-busy])"],
}


@pytest.fixture(scope="module")
def job_page(prepared: Prepared) -> str:
    """Train a model with test data and return the URL of the job's page."""
    job_id = prepared.training(
        model_name="looks",
        dataset_id=prepared.dataset("learnt from.csv", 1),
        test_dataset_id=prepared.test_data(),
        loss={"name": "lambdarank"},
        hyperparameters={"num_iterations": 20},
        metrics=["ndcg@10"],
    )
    return f"/jobs/{job_id}"


def test_every_page_is_accessible_in_every_look(visit: Visit, prepared: Prepared, job_page: str) -> None:
    """Pages follow the preferred colour scheme, do not scroll sideways, and pass axe-core."""
    prepared.model(2)
    job = {"job": job_page, "compare": job_page.replace("jobs/", "jobs/compare?job=")}
    check_pages(visit, PAGES | job, PARTS_TO_SEE)


def test_a_row_opens_by_keyboard(visit: Visit, job_page: str) -> None:
    """Enter on a job's button opens its row, which shows the curve, and closes it again."""
    job_id = job_page.rsplit("/", 1)[1]
    page = visit.open("/jobs")
    row = page.locator(f'[data-job="{job_id}"]')
    button = row.get_by_role("button", name="Details of looks")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(row.locator(".plot .drawing").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(row.locator(".plot")).to_be_hidden()


def test_the_first_tab_stop_skips_to_the_content(visit: Visit) -> None:
    """The first tab stop is a link to the content, past the navigation."""
    page = visit.open("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_results_link_to_the_model_and_the_ranking(visit: Visit, job_page: str) -> None:
    """A finished job links to its model, and offers downloads of the model file and the ranking."""
    page = visit.open(job_page)
    with page.expect_download() as ranking:
        page.get_by_role("link", name="Ranking (TREC)").click()
    assert ranking.value.path().read_text().split()[1] == "Q0"
    with page.expect_download() as model:
        page.get_by_role("link", name="Model file").click()
    assert model.value.path().read_text().startswith("tree")
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page.get_by_role("heading", name="looks:1")).to_be_visible()
