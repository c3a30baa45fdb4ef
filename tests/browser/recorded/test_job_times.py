"""Times and memory on the page of a job."""

import pytest
from playwright.sync_api import expect

from tests.browser import histories
from tests.browser.recorded.conftest import OnRecord
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_a_training_shows_the_mean_times_of_its_iterations(visit: Visit, on_record: OnRecord) -> None:
    """A bar shows the mean times of the iterations, without the first one, which is slow."""
    page = visit.open(f"/jobs/{on_record('timed', histories.timed)}")
    times = page.locator(".iteration-times")
    expect(times.get_by_role("img")).to_have_attribute(
        "aria-label", "Mean time of an iteration: tree 95 ms, objective 8.2 ms, metrics 4.0 ms."
    )
    expect(times.locator(".legend li")).to_have_text(["tree 95 ms", "objective 8.2 ms", "metrics 4.0 ms"])
    expect(times.locator(".hint")).to_have_text("107 ms in total; means of iterations 2 to 9.")
    widths = times.locator(".stacked-bar span").evaluate_all(
        "parts => parts.map(part => part.getBoundingClientRect().width)"
    )
    assert widths[0] / widths[1] == pytest.approx(94.5 / 8.2, rel=0.02)

    rows = page.locator(".phases tbody tr")
    expect(rows).to_have_count(5)
    shares = rows.locator(".bar-cell rect").evaluate_all(
        "bars => bars.map(bar => +bar.getAttribute('width'))"
    )
    assert shares == pytest.approx([0.77, 3.35, 100, 0.5, 0.6], abs=0.01)  # relative to the longest time
    expect(rows.nth(1)).to_contain_text("binning")
    expect(rows.locator(".number")).to_have_text(
        ["3.2 s", "412 MB", "14 s", "2.3 GB", "6 min 58 s", "1.2 GB", "<0.1 s", "1.2 GB", "2.5 s", "1.2 GB"]
    )
    page.locator(".plot .drawing").first.wait_for()
    visit.fit("job-times")
    assert visit.violations() == []


def test_a_job_of_an_earlier_release_has_no_times(visit: Visit, on_record: OnRecord) -> None:
    """The page of a job without recorded times shows neither iteration times nor phases."""
    job_id = on_record("failed", lambda store: histories.failed(store, "Time limit", "It was too much.", {}))
    page = visit.open(f"/jobs/{job_id}")
    expect(page.locator(".job-heading .status")).to_have_text("failed")
    expect(page.locator(".iteration-times")).to_be_hidden()
    expect(page.locator(".phases")).to_be_hidden()


def test_binning_has_a_bar(visit: Visit, on_record: OnRecord) -> None:
    """The progress bar of the binning phase shows a percentage and no iterations."""
    page = visit.open(f"/jobs/{on_record('binning', histories.binning)}")
    expect(page.locator("#job > .progress .progress-words")).to_have_text("binning · 37% · 24 s left")
    expect(page.locator("#job > .progress progress")).to_have_attribute("value", "37")
