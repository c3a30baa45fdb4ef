"""Job pages with several attempts, and job pages with an exceeded limit."""

import pytest
from playwright.sync_api import expect

from tests.browser import histories
from tests.browser.recorded.conftest import OnRecord
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_a_resumed_training_lists_its_attempts(visit: Visit, on_record: OnRecord) -> None:
    """Each attempt has its outcome and first iteration; a summary counts lost workers and returned jobs."""
    page = visit.open(f"/jobs/{on_record('resumed', histories.resumed)}")
    panel = page.locator(".attempts")
    expect(panel.locator("tbody tr")).to_have_count(3)
    expect(panel.locator(".status")).to_have_text(["returned", "worker lost", "running"])
    expect(panel.locator("tbody tr").last).to_contain_text(f"iteration {histories.CHECKPOINT}")
    expect(panel.locator(".hint")).to_contain_text(
        "Its worker stopped answering once, and a worker returned it to the queue once."
    )
    expect(panel.locator(".hint")).to_contain_text(f"resumed from iteration {histories.CHECKPOINT}")
    expect(page.locator(".job-marks")).to_have_text("resumed")
    visit.fit("attempts")


def test_a_job_that_lost_all_its_workers_shows_the_reason(visit: Visit, on_record: OnRecord) -> None:
    """The page shows why the job failed, the next step for the user, and every attempt."""
    page = visit.open(f"/jobs/{on_record('lost', histories.lost_for_good)}")
    problem = page.locator(".job-problem")
    expect(problem).to_contain_text("Worker lost")
    expect(problem).to_contain_text("runs out of memory")
    expect(page.locator(".attempts .status")).to_have_text(["worker lost"] * histories.ATTEMPTS)
    expect(page.locator(".progress-words")).to_contain_text(f"over {histories.ATTEMPTS} attempts")


@pytest.mark.parametrize("title", ["Time limit", "Memory limit"])
def test_a_job_that_exceeded_a_limit_shows_limits_and_advice(
    visit: Visit, on_record: OnRecord, title: str
) -> None:
    """Limits are shown at the top, advice below the problem, and a single attempt has no history."""
    limits = {"seconds": 5400.0, "memory_bytes": 4_000_000_000}
    job_id = on_record(title, lambda store: histories.failed(store, title, "It was too much.", limits))
    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator(".job-meta")).to_contain_text("at most 1 h 30 min and 4.0 GB")
    expect(page.locator(".job-problem")).to_contain_text(title)
    expect(page.locator(".job-problem")).to_contain_text("submit the job again with a higher limit")
    expect(page.locator(".attempts")).to_be_hidden()
    expect(page.locator(".metrics")).to_contain_text("No metrics were recorded")
    expect(page.locator(".curve")).to_be_hidden()


def test_the_list_marks_jobs_with_several_attempts(visit: Visit, on_record: OnRecord) -> None:
    """The list marks a job that had several attempts, but not a job with a single attempt."""
    lost = on_record("lost", histories.lost_for_good)
    once = on_record("once", lambda store: histories.failed(store, "Time limit", "It was too much.", {}))
    page = visit.open("/jobs")
    expect(page.locator(f'[data-job="{lost}"] .tag')).to_have_text("3 attempts")
    expect(page.locator(f'[data-job="{once}"] .status')).to_have_text("failed")
    expect(page.locator(f'[data-job="{once}"] .tag')).to_have_count(0)
