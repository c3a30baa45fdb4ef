"""Jobs that were tried more than once, and jobs that met a limit, as their users see them."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from core.store import Store
from tests.browser import histories
from tests.browser.actions import fill_training, make_dataset, start_training
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


@pytest.fixture
def resumed_job(store: Store) -> Iterator[str]:
    """A training that runs for the third time, until the test ends."""
    job = histories.resumed(store)
    yield job.id
    with store.begin() as tx:
        tx.jobs.cancelled(job.id, job.token)


def test_a_training_that_went_on_tells_its_history(visit: Visit, resumed_job: str) -> None:
    """Each attempt with its end and where it began; the sentence above says what it comes to."""
    page = visit.open(f"/jobs/{resumed_job}")
    panel = page.locator(".attempts")
    expect(panel.locator("tbody tr")).to_have_count(3)
    expect(panel.locator(".status")).to_have_text(["handed back", "worker lost", "running"])
    expect(panel.locator("tbody tr").last).to_contain_text(f"iteration {histories.CHECKPOINT}")
    expect(panel.locator(".hint")).to_contain_text(
        "Its worker stopped answering once, and a worker handed it back once."
    )
    expect(panel.locator(".hint")).to_contain_text(f"went on from iteration {histories.CHECKPOINT}")
    expect(page.locator(".job-marks")).to_have_text("resumed")
    visit.fit("attempts")


def test_a_job_that_took_its_workers_with_it(visit: Visit, store: Store) -> None:
    """Why it failed, what to do about it, and every attempt."""
    page = visit.open(f"/jobs/{histories.lost_for_good(store)}")
    problem = page.locator(".job-problem")
    expect(problem).to_contain_text("Worker lost")
    expect(problem).to_contain_text("for want of memory")
    expect(page.locator(".attempts .status")).to_have_text(["worker lost"] * histories.ATTEMPTS)
    expect(page.locator(".progress-words")).to_contain_text(f"over {histories.ATTEMPTS} attempts")


@pytest.mark.parametrize("title", ["Time limit", "Memory limit"])
def test_a_job_that_met_a_limit(visit: Visit, store: Store, title: str) -> None:
    """The limits stand at the top, the way on below the problem; one attempt is no history."""
    limits = {"seconds": 5400.0, "memory_bytes": 4_000_000_000}
    page = visit.open(f"/jobs/{histories.failed(store, title, 'It was too much.', limits)}")
    expect(page.locator(".job-meta")).to_contain_text("at most 1 h 30 min and 4.0 GB")
    expect(page.locator(".job-problem")).to_contain_text(title)
    expect(page.locator(".job-problem")).to_contain_text("submit it again with a higher limit")
    expect(page.locator(".attempts")).to_be_hidden()


def test_the_list_marks_what_was_tried_again(visit: Visit, store: Store) -> None:
    """A job of one attempt has no mark."""
    lost, once = histories.lost_for_good(store), histories.failed(store, "Time limit", "It was too much.", {})
    page = visit.open("/jobs")
    expect(page.locator(f'[data-job="{lost}"] .tag')).to_have_text("3 attempts")
    expect(page.locator(f'[data-job="{once}"] .status')).to_have_text("failed")
    expect(page.locator(f'[data-job="{once}"] .tag')).to_have_count(0)


def test_priority_and_limits_are_set_in_the_form(visit: Visit) -> None:
    """Minutes and gigabytes reach the API as seconds and bytes, and the job says both."""
    make_dataset(visit, "with limits", queries=60, seed=4)
    page = fill_training(visit, dataset="with limits", model="limited", iterations=5)
    page.get_by_label("Priority").select_option("high")
    page.locator("details", has_text="Limits").locator("summary").click()
    page.get_by_label("Minutes, at most").fill("1.5")
    page.get_by_label("GB of memory, at most").fill("3")
    job_id = start_training(page)
    expect(page.locator(".job-marks")).to_contain_text("high priority")
    expect(page.locator(".job-meta")).to_contain_text("at most 1 min 30 s and 3.0 GB")
    job = page.request.get(f"{visit.url}/v1/jobs/{job_id}").json()
    assert job["priority"] == "high"
    assert job["spec"]["limits"] == {"seconds": 90, "memory_bytes": 3_000_000_000}
    expect(page.locator(".job-heading .status")).to_have_text("succeeded")


def test_a_limit_that_is_refused_is_shown_at_its_field(visit: Visit) -> None:
    """The server's answer finds the field, whatever unit it was typed in."""
    visit.refusals_expected = True
    make_dataset(visit, "refused limits", queries=60, seed=5)
    page = fill_training(visit, dataset="refused limits", model="limited", iterations=5)
    page.locator("details", has_text="Limits").locator("summary").click()
    page.get_by_label("Minutes, at most").fill("-1")
    page.get_by_role("button", name="Start training").click()
    field = page.locator(".field", has_text=re.compile("Minutes, at most"))
    expect(field.locator(".field-error")).to_contain_text("greater than 0")
