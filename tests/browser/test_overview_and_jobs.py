"""The overview, filters and comparisons of jobs, and trainings submitted again or as a grid."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.actions import fill_training, job_spec, open_training, start_training
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

REPOSITORY = Path(__file__).parents[2]
FEW_ITERATIONS = 12


def _filters(page: Page, **chosen: str) -> None:
    for name, words in chosen.items():
        page.locator(f'#filters [data-filter="{name}"]').select_option(label=words)


def _answering(answer: Any) -> Callable[[Route], None]:
    return lambda route: route.fulfill(json=answer)


def _names(page: Page) -> list[str]:
    page.locator("#jobs:not([aria-busy])").wait_for()
    return page.locator("[data-job] th").all_inner_texts()


def test_the_overview_shows_current_jobs_and_failures(visit: Visit, prepared: Prepared) -> None:
    """The overview shows running jobs, their workers, failures with their reason, and champions."""
    prepared.model(1)
    page = visit.page
    page.request.put(f"{visit.url}/v1/models/compared/aliases/champion", data={"version": 1})
    prepared.synthetic("at a glance", queries=300, seed=1)
    page = fill_training(visit, dataset="at a glance", model="hopeless", iterations=500)
    page.get_by_label("Minutes, at most").fill("0.01")
    start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("failed")
    page = fill_training(visit, dataset="at a glance", model="long", iterations=20_000)
    job_id = start_training(page)

    page = visit.open("/")
    running = page.locator(f'.job-line[data-job="{job_id}"]')
    expect(running.locator(".status")).to_have_text("running")
    expect(running.locator(".progress-words")).to_contain_text("of 20,000")
    expect(page.locator("#workers").get_by_role("link", name="Training")).to_have_attribute(
        "href", f"/jobs/{job_id}"
    )
    expect(page.locator("#champions")).to_contain_text("compared:1")
    expect(page.locator("#failures")).to_contain_text("exceeded its time limit")
    expect(page.locator('[data-count="running"]')).to_have_text(re.compile("[1-9]"))
    visit.photograph("overview-busy")
    page.locator('[data-count="running"]').click()
    expect(page.locator(f'[data-job="{job_id}"]')).to_be_visible()
    page.request.post(f"{visit.url}/v1/jobs/{job_id}/cancel")
    expect(page.locator(f'[data-job="{job_id}"]'), "the list shows running jobs only").to_have_count(0)


def _answer_as_empty(page: Page, *, datasets: int = 0, click_logs: int = 0) -> None:
    empty_list: dict[str, Any] = {"items": [], "next_cursor": None}
    answers = {
        "counts": {
            "jobs": dict.fromkeys(("queued", "running", "succeeded", "refused", "failed", "cancelled"), 0),
            "waiting": {"training": 1, "quick": 0},
            "refused_promotions": 0,
            **dict.fromkeys(("models", "evaluations", "comparisons", "rankings"), 0),
            "datasets": datasets,
        },
        **dict.fromkeys(("jobs", "workers", "aliases", "comparisons"), empty_list),
        "click-logs": {**empty_list, "items": [{"id": f"clk_{number}"} for number in range(click_logs)]},
    }
    for name, answer in answers.items():
        page.route(re.compile(rf"/v1/{name}\b"), _answering(answer))


def test_an_empty_service_shows_the_first_steps(visit: Visit) -> None:
    """The overview of an empty service lists the first steps without empty panels, and reports no worker."""
    _answer_as_empty(visit.page)
    page = visit.open("/")
    steps = page.locator(".step")
    expect(steps.get_by_role("link")).to_have_text(
        ["Add a dataset", "Find the best model", "Choose a model", "Compare", "Read how"]
    )
    expect(steps.first.get_by_role("link")).to_have_attribute("href", "/datasets#add")
    expect(steps.last).to_contain_text("clicks")
    expect(page.get_by_role("main").get_by_role("heading", level=2)).to_have_text(["First steps", "Now"])
    expect(page.locator(".count")).to_have_count(0)
    expect(page.locator("#workers")).to_contain_text("No worker is running")
    expect(page.locator("#banner")).to_contain_text("No training worker, 1 job waits")
    expect(page.locator("#banner code")).to_have_text("rankery worker --lane training")
    expect(page.locator("#overview .skeleton")).to_have_count(0)
    visit.photograph("overview-empty")


@pytest.mark.parametrize(("of", "open_step"), [("datasets", "Learn from clicks"), ("click_logs", "Add data")])
def test_a_first_step_ends_with_its_kind_of_data(visit: Visit, of: str, open_step: str) -> None:
    """A dataset completes only the step that adds data, and a click log only the step about clicks."""
    _answer_as_empty(visit.page, **{of: 1})
    page = visit.open("/")
    steps = page.locator(".step").get_by_role("heading")
    expect(steps).to_have_count(4)
    expect(steps.filter(has_text=open_step)).to_be_visible()


def test_jobs_are_filtered_sorted_and_compared(visit: Visit, prepared: Prepared) -> None:
    """The URL keeps filters and selection; the comparison shows differences and the best training."""
    prepared.synthetic("side by side", queries=120, seed=4)
    page = fill_training(visit, dataset="side by side", model="beside", iterations=FEW_ITERATIONS)
    visit.refusals_expected = True
    page.get_by_label("Learning rate").fill("0.05, 0")
    page.get_by_role("button", name="Start 2 trainings").click()
    expect(page.get_by_label("Learning rate")).to_have_attribute("aria-invalid", "true")
    assert page.request.get(f"{visit.url}/v1/jobs?kind=train&text=beside").json()["items"] == []
    page.get_by_label("Learning rate").fill("0.05, 0.2")
    page.get_by_label("listnet", exact=True).check()
    expect(page.locator("#grid")).to_contain_text("2 of losses × 2 of learning rate")
    page.get_by_role("button", name="Start 4 trainings").click()
    page.wait_for_url(re.compile(r"/jobs/compare\?job="))
    ids = parse_qs(urlsplit(page.url).query)["job"]
    jobs = [page.request.get(f"{visit.url}/v1/jobs/{job_id}").json() for job_id in ids]
    specs, titles = [job["spec"] for job in jobs], [job["title"] for job in jobs]
    assert titles[3] == "beside (learning_rate 0.2, loss listnet)"
    assert [(spec["loss"]["name"], spec["hyperparameters"]["learning_rate"]) for spec in specs] == [
        ("lambdarank", 0.05), ("lambdarank", 0.2), ("listnet", 0.05), ("listnet", 0.2)
    ]  # fmt: skip
    assert {spec["model_name"] for spec in specs} == {"beside"}
    assert {name: specs[3]["tags"][name] for name in ("learning_rate", "loss")} == {
        "learning_rate": "0.2", "loss": "listnet"
    }  # fmt: skip
    assert len({spec["tags"]["grid"] for spec in specs}) == 1

    rows = page.locator(".compared tbody tr")
    expect(rows.locator('[data-status="succeeded"]')).to_have_count(4)
    expect(page.locator(".plot").first).to_have_attribute("data-lines", "4")
    head = page.locator(".compared thead th").all_inner_texts()
    assert {"Loss", "Learning rate", "Validation ndcg@5", "Status"} <= set(head)
    assert not {"Num leaves", "Seed"} & set(head), "the table has only the options that differ"
    best = page.locator(".compared .best").first
    values = [float(row.locator("td").first.inner_text().split()[0]) for row in rows.all()]
    assert float(best.inner_text()) == max(values)
    page.locator(".compared").get_by_role("button", name="validation ndcg@5").click()
    page.get_by_role("group", name="Metric of the curves").get_by_role("button", name="ndcg@10").click()
    page.reload()
    expect(page.locator('[aria-sort="descending"]')).to_contain_text("Validation ndcg@10")
    expect(page.get_by_role("button", name="ndcg@10", pressed=True)).to_be_visible()
    visit.photograph("trainings-compared")
    expect(page.get_by_role("link", name="Compare query by query")).to_have_attribute(
        "href", re.compile(r"/comparisons\?system=beside.*system=beside")
    )

    page = visit.open("/jobs?kind=train")
    page.get_by_label("Filter by tag").fill(f"grid:{specs[0]['tags']['grid']}")
    expect(page.locator("[data-job]")).to_have_count(4)
    page.get_by_label("Filter by tag").fill("")
    page.get_by_label("Search by name").fill("BESIDE (l")
    expect(page.locator("[data-job]")).to_have_count(4)
    assert _names(page) == titles[::-1]
    _filters(page, dataset="side by side", status="Succeeded")
    with page.expect_response(re.compile(r"/v1/jobs\?.*sort=metric")):
        page.get_by_role("button", name="Metric").click()
    expect(page.locator('[aria-sort="descending"]')).to_have_text("Metric")
    assert "sort=metric&order=desc" in page.url
    page.reload()
    names = _names(page)
    assert sorted(names) == sorted(titles)
    figures = [float(text) for text in page.locator('[data-column="metric"] strong').all_inner_texts()]
    assert figures == sorted(figures, reverse=True)
    visit.photograph("jobs-found")
    page.get_by_label(f"Select {names[0]}, ").check()
    expect(page.get_by_role("link", name=re.compile("^Compare "))).to_have_count(0)
    page.get_by_label(f"Select {names[3]}, ").check()
    page.reload()
    page.get_by_role("link", name="Compare 2").click()
    expect(rows).to_have_count(2)
    visit.open("/jobs?text=nothing-like-it")
    expect(page.get_by_text("No matching jobs")).to_be_visible()
    visit.open("/jobs/compare?job=job_none")
    visit.refusals_expected = True
    expect(page.get_by_text("Nothing to compare")).to_be_visible()


@pytest.mark.slow  # `test_story` clones and edits a training
def test_a_training_is_submitted_again(visit: Visit, prepared: Prepared) -> None:
    """The form is filled with the earlier values; the page shows commands for the shell and for Python."""
    prepared.synthetic("again", queries=60, seed=5)
    prepared.synthetic("again test", queries=30, seed=6)
    page = fill_training(visit, dataset="again", model="again", iterations=FEW_ITERATIONS, test="again test")
    page.locator("#loss").select_option("ndcg-loss2++")
    page.get_by_label("Truncation level").fill("5")
    page.get_by_label("Gain", exact=True).select_option("custom numbers…")
    page.get_by_label("Gain, custom numbers").fill("0, 1, 3, 7, 15")
    page.get_by_role("group", name="Validate on").get_by_label("one of several folds").check()
    page.get_by_label("Conventions").select_option("lightgbm")
    page.get_by_label("Diagnose every").fill("5")
    page.get_by_label("Minutes, at most").fill("1.5")
    first = start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    expect(page.locator(".log li")).to_have_count(3)

    page.get_by_text("Submit again with code").click()
    code = {name: page.locator(f'[data-code="{name}"]').inner_text() for name in ("curl", "Python")}
    visit.photograph("job-as-code")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    subprocess.run(["bash", "-c", f"{code['curl']} --fail --silent"], check=True, capture_output=True)
    subprocess.run([sys.executable, "-c", code["Python"]], check=True, capture_output=True, env=environment)

    page.get_by_role("link", name="Clone and edit").click()
    page.locator("#train:not([aria-busy])").wait_for()
    visit.photograph("train-cloned")
    start_training(page)
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")
    jobs = page.request.get(f"{visit.url}/v1/jobs?kind=train&text=again").json()["items"]
    spec = job_spec(visit, first)
    assert spec.pop("automatic")  # the clone uses automatic sizes, too
    assert [job["spec"] for job in jobs] == [*[spec] * 3, job_spec(visit, first)]


def test_a_new_hyperparameter_has_its_field(visit: Visit, prepared: Prepared) -> None:
    """The form has a field for each declared hyperparameter, with its description and bounds."""

    def declare(route: Route) -> None:
        document = route.fetch().json()
        document["schemas"]["Hyperparameters"]["properties"]["line_leaves"] = {
            "type": "boolean", "default": False, "description": "Fit a line in each leaf."
        }  # fmt: skip
        route.fulfill(json=document)

    prepared.synthetic("declared", queries=5)
    visit.page.route("**/v1/job-schemas", declare)
    page = open_training(visit)
    field = page.locator(".field").filter(has=page.get_by_label("Line leaves"))
    expect(field).to_contain_text("Fit a line in each leaf")
    expect(page.locator(".field").filter(has=page.get_by_label("Learning rate"))).to_contain_text("above 0")
    too_many = ", ".join(str(seed) for seed in range(101))
    page.get_by_label("Seed", exact=True).last.fill(too_many)
    page.get_by_role("button", name="Start 101 trainings").click()
    expect(page.get_by_role("alert")).to_contain_text("at most 100")
