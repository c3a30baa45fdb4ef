"""Polling of the pages, also without an API."""

import pytest
from playwright.sync_api import Response, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

NOT_MODIFIED = 304


def test_an_unchanged_list_costs_a_304(visit: Visit, prepared: Prepared) -> None:
    """The list is asked for with If-None-Match, so that nothing is sent when nothing has changed."""
    prepared.synthetic("unchanged", queries=5)
    page = visit.open("/jobs")
    page.locator("[data-job]").first.wait_for()
    with page.expect_response(_is_unmodified_list) as answer:
        pass
    assert "if-none-match" in answer.value.request.headers


def _is_unmodified_list(response: Response) -> bool:
    return "/v1/jobs?" in response.url and response.status == NOT_MODIFIED


@pytest.mark.parametrize("own_page", [True])
def test_a_hidden_tab_asks_nothing(visit: Visit) -> None:
    """Polling pauses while the tab is hidden, however long, and goes on as soon as it is seen again."""
    visit.page.clock.install()
    page = visit.open("/jobs")
    page.locator("#jobs:not([aria-busy])").wait_for()
    with page.expect_request("**/v1/jobs?**"):
        page.clock.run_for(20_000)  # longer than the slowest poll: it asks while it is seen
    _set_hidden(visit, "true")
    page.wait_for_load_state("networkidle")
    before = len(visit.requests)
    page.clock.run_for(120_000)
    assert [request.url for request in visit.requests[before:]] == []
    with page.expect_request("**/v1/jobs?**"):
        _set_hidden(visit, "false")


def _set_hidden(visit: Visit, value: str) -> None:
    visit.page.evaluate(
        f"Object.defineProperty(document, 'hidden', {{ get: () => {value}, configurable: true }});"
        "document.dispatchEvent(new Event('visibilitychange'));"
    )


def test_an_absent_api_is_told_and_its_return_noticed(visit: Visit, prepared: Prepared) -> None:
    """When the API goes away the list stays with a notice and a button; when it is back the notice goes."""
    visit.refusals_expected = True
    prepared.synthetic("present", queries=5)
    page = visit.open("/jobs")
    page.locator("[data-job]").first.wait_for()
    page.route("**/v1/**", lambda route: route.abort())
    notice = page.get_by_role("status").filter(has_text="does not answer")
    expect(notice).to_be_visible()
    expect(page.locator("[data-job]").first).to_be_visible()
    visit.photograph("away")
    with page.expect_request("**/v1/**"):
        notice.get_by_role("button", name="Try now").click()
    page.unroute("**/v1/**")
    expect(notice).to_be_hidden()


def test_an_unknown_job_is_told(visit: Visit) -> None:
    """The page of a job that does not exist says so and leads back to the list."""
    visit.refusals_expected = True
    page = visit.open("/jobs/job_00000000000000000000")
    expect(page.get_by_role("heading", name="There is no such job")).to_be_visible()
    expect(page.get_by_role("link", name="All jobs")).to_be_visible()


@pytest.mark.parametrize("own_page", [True])
def test_the_stream_brings_what_has_ended(visit: Visit) -> None:
    """A list follows the stream of events, also where no timer fires."""
    page = visit.page
    page.clock.install()
    with page.expect_response("**/v1/events") as stream:
        visit.open("/jobs")
    assert stream.value.headers["content-type"].startswith("text/event-stream")
    page.locator("#jobs:not([aria-busy])").wait_for()
    page.clock.pause_at("2099-01-01")
    made = page.request.post(f"{visit.url}/v1/datasets/synthetic", data={"name": "streamed", "queries": 5})
    assert made.ok, made.text()
    expect(page.locator("[data-job]").filter(has_text="streamed")).to_have_attribute(
        "data-status", "succeeded"
    )


@pytest.mark.parametrize("own_page", [True])
def test_an_idle_overview_asks_four_times_a_minute(visit: Visit) -> None:
    """While nothing changes only the workers are asked for, whose leases end without a change."""
    page = visit.page
    page.clock.install()
    with page.expect_response("**/v1/events"):
        visit.open("/")
    page.locator("#overview:not([aria-busy])").wait_for()
    quiet, others = 0, []
    while quiet < 4:
        before = len(visit.requests)
        page.clock.run_for(15_000)
        _wait_for_answers(visit)
        asked = [request.url.removeprefix(visit.url) for request in visit.requests[before:]]
        quiet = quiet + 1 if asked == ["/v1/workers"] else 0
        if not quiet:
            others.append(asked)
        # What changed before the stream was open is read again: once as it opens, once by its next look.
        assert len(others) <= 3, others


def _wait_for_answers(visit: Visit) -> None:
    """Wait until all that was asked for is answered, but the stream."""
    for request in visit.requests:
        if not request.url.endswith("/v1/events"):
            response = request.response()
            assert response is not None
            response.finished()


def test_a_list_is_polled_where_there_is_no_stream(visit: Visit) -> None:
    """A proxy that lets no stream through takes nothing but time."""
    visit.refusals_expected = True
    page = visit.page
    page.route("**/v1/events", lambda route: route.fulfill(status=502, body="no streams here"))
    visit.open("/jobs")
    page.locator("#jobs:not([aria-busy])").wait_for()
    made = page.request.post(f"{visit.url}/v1/datasets/synthetic", data={"name": "polled", "queries": 5})
    assert made.ok, made.text()
    expect(page.locator("[data-job]").filter(has_text="polled")).to_have_attribute("data-status", "succeeded")
