"""Polling of the pages, with and without an API."""

import itertools
import time
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Response, Route, expect

from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

NOT_MODIFIED = 304


def test_an_unchanged_list_is_answered_with_304(visit: Visit, prepared: Prepared) -> None:
    """The list sends If-None-Match, so an unchanged list has a response without a body."""
    prepared.synthetic("unchanged", queries=5)
    page = visit.open("/jobs")
    page.locator("[data-job]").first.wait_for()
    with page.expect_response(_is_unmodified_list) as answer:
        pass
    assert "if-none-match" in answer.value.request.headers


def _is_unmodified_list(response: Response) -> bool:
    return "/v1/jobs?" in response.url and response.status == NOT_MODIFIED


@pytest.mark.parametrize("own_page", [True])
def test_a_hidden_tab_sends_no_requests(visit: Visit) -> None:
    """Polling pauses while the tab is hidden and continues when the tab is visible again."""
    visit.page.clock.install()
    page = visit.open("/jobs")
    page.locator("#jobs:not([aria-busy])").wait_for()
    with page.expect_request("**/v1/jobs?**"):
        page.clock.run_for(20_000)  # longer than the slowest poll of a visible tab
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


def test_an_unreachable_api_is_shown_until_it_answers(visit: Visit, prepared: Prepared) -> None:
    """A list stays readable while the API does not answer, with a notice and a button to try again."""
    visit.refusals_expected = True
    prepared.synthetic("present", queries=5)
    page = visit.open("/jobs")
    page.locator("[data-job]").first.wait_for()
    page.route("**/v1/**", lambda route: route.abort())
    notice = page.get_by_role("status").filter(has_text="does not answer")
    expect(notice).to_be_visible()
    expect(page.locator("[data-job]").first).to_be_visible()
    assert visit.violations() == []
    visit.photograph("away")
    with page.expect_request("**/v1/**"):
        notice.get_by_role("button", name="Try now").click()
    page.unroute("**/v1/**")
    expect(notice).to_be_hidden()


def test_a_list_above_the_rate_limit_is_read_again(visit: Visit, prepared: Prepared) -> None:
    """A refusal for too many requests leaves the list as it is, and the list is read again."""
    visit.refusals_expected = True
    prepared.synthetic("present", queries=5)
    page = visit.open("/jobs")
    page.locator("[data-job]").first.wait_for()
    problem = '{"title": "Too many requests", "status": 429, "detail": "try again in 1 s"}'
    page.route(
        "**/v1/jobs?**",
        lambda route: route.fulfill(status=429, content_type="application/problem+json", body=problem),
    )
    page.get_by_role("button", name="Submitted").click()
    notice = page.get_by_role("status").filter(has_text="try again in 1 s. The page may be out of date.")
    expect(notice).to_be_visible()
    expect(page.locator("[data-job]").first).to_be_visible()
    page.unroute("**/v1/jobs?**")
    expect(notice).to_be_hidden()


def test_an_unknown_job_has_a_message(visit: Visit) -> None:
    """The page of an unknown job has a message and a link to all jobs."""
    visit.refusals_expected = True
    page = visit.open("/jobs/job_00000000000000000000")
    expect(page.get_by_role("heading", name="There is no such job")).to_be_visible()
    expect(page.get_by_role("link", name="All jobs")).to_be_visible()


@pytest.mark.parametrize("own_page", [True])
def test_a_list_follows_the_event_stream(visit: Visit) -> None:
    """The event stream alone updates a list when a job ends, since the page's timers are paused."""
    page = visit.page
    page.clock.install()
    with page.expect_response("**/v1/events") as stream:
        visit.open("/jobs")
    assert stream.value.headers["content-type"].startswith("text/event-stream")
    page.locator("#jobs:not([aria-busy])").wait_for()
    page.clock.pause_at("2099-01-01")
    created = page.request.post(f"{visit.url}/v1/datasets/synthetic", data={"name": "streamed", "queries": 5})
    assert created.ok, created.text()
    expect(page.locator("[data-job]").filter(has_text="streamed")).to_have_attribute(
        "data-status", "succeeded"
    )


@pytest.mark.parametrize("own_page", [True])
def test_an_idle_overview_sends_at_most_four_requests_a_minute(visit: Visit, prepared: Prepared) -> None:
    """While nothing changes, the page requests only the workers, whose leases end without an event."""
    prepared.wait_until_idle()
    _count_signals(visit)
    with visit.page.expect_response("**/v1/events"):
        earlier = _open(visit, "/")
    visit.page.locator("#overview:not([aria-busy])").wait_for()
    paths = _requests_within_a_minute(visit, earlier)
    assert 1 <= len(paths) <= 4
    assert set(paths) == {"/v1/workers"}


def _running_job(number: int, iteration: int) -> dict[str, Any]:
    moment = "2026-01-01T00:00:00Z"
    return {
        "id": f"job_{number}",
        "kind": "train",
        "kind_label": "Training",
        "title": f"model {number}",
        "status": "running",
        "attempt": 1,
        "cancel_requested": False,
        "resumable_from": None,
        "created_at": moment,
        "started_at": moment,
        "finished_at": None,
        "progress": {"phase": "training", "iteration": iteration, "total": 1000, "eta_seconds": 60.0},
    }


@pytest.mark.parametrize("own_page", [True])
def test_an_overview_of_running_jobs_sends_two_requests_a_second(visit: Visit, prepared: Prepared) -> None:
    """While running jobs fill the list, only they and the counts are read after each change."""
    prepared.wait_until_idle()
    visit.refusals_expected = True
    iterations = itertools.count(1)

    def answer(route: Route) -> None:
        iteration = next(iterations)
        jobs = [_running_job(number, iteration) for number in range(8)]
        route.fulfill(json={"items": jobs, "next_cursor": None})

    visit.page.clock.install()
    visit.page.route("**/v1/jobs?status=running**", answer)
    visit.page.route("**/v1/events", lambda route: route.fulfill(status=502, body="no streams here"))
    earlier = _open(visit, "/")
    visit.page.locator("#overview:not([aria-busy])").wait_for()
    before = len(visit.requests)
    for _ in range(20):
        visit.page.clock.run_for(1_000)
        _wait_for_responses(visit, earlier)
    urls = [urlsplit(request.url) for request in visit.requests[before:]]
    assert not [url for url in urls if "status=queued" in url.query]
    frequent = Counter(url.path for url in urls if "status=running" in url.query or url.path == "/v1/counts")
    # A task that ends after a step of the clock is called one second later.
    assert set(frequent) == {"/v1/jobs", "/v1/counts"}
    assert max(frequent.values()) <= 21
    assert len(urls) - frequent.total() <= 2 * 7  # the other parts and the stream, twice at most


@pytest.mark.parametrize("own_page", [True])
def test_the_overview_reads_all_parts_after_missed_events(visit: Visit, prepared: Prepared) -> None:
    """A hidden tab gets no events; visible again, it reads champions, even after a failure."""
    prepared.wait_until_idle()
    visit.refusals_expected = True
    page = visit.page
    _count_signals(visit)
    with page.expect_response("**/v1/events"):
        earlier = _open(visit, "/")
    page.locator("#overview:not([aria-busy])").wait_for()
    page.clock.run_for(6_000)  # longer than the interval of an idle page, shorter than that of all parts
    _wait_for_responses(visit, earlier)
    page.route("**/v1/aliases?**", lambda route: route.abort(), times=1)
    _set_hidden(visit, "true")
    signals = page.evaluate("signals")
    _set_hidden(visit, "false")
    while page.evaluate("signals") == signals:
        time.sleep(0.05)
    with page.expect_response("**/v1/aliases?**", timeout=8_000):
        page.clock.run_for(6_000)


@pytest.mark.parametrize("own_page", [True])
def test_parts_that_did_not_change_are_not_drawn_again(visit: Visit, prepared: Prepared) -> None:
    """A poll keeps the elements of the job's heading, facts and problem, so that text stays selected."""
    prepared.broken("not drawn again.csv", b"no,table\n")
    job = prepared.get("/v1/jobs?status=failed&limit=1")["items"][0]
    visit.page.clock.install()
    page = visit.open(f"/jobs/{job['id']}")
    parts = page.locator(".job-heading *, .job-meta *, .job-problem *")
    page.locator(".job-problem p").first.wait_for()
    parts.evaluate_all("parts => parts.forEach((part) => { part.drawnBefore = true; })")
    with page.expect_response(f"**/v1/jobs/{job['id']}"):
        page.clock.run_for(20_000)  # longer than the slowest poll
    page.clock.run_for(1_000)
    assert parts.evaluate_all("parts => parts.length && parts.every((part) => part.drawnBefore)")


FOLLOWING = ["/jobs", "/datasets", "/schedules", "/settings/webhooks", "/settings/storage"]
OTHERS = [
    f"/{name}" for name in ("models", "evaluations", "comparisons", "rankings", "studies", "experiments")
]


@pytest.mark.parametrize("own_page", [True])
def test_idle_pages_send_at_most_four_requests_a_minute(visit: Visit, prepared: Prepared) -> None:
    """A page sends at most one request each 15 s while nothing changes, and none while it is hidden."""
    dataset_id = prepared.synthetic("idle", queries=5)
    job_id = prepared.get("/v1/jobs?limit=1")["items"][0]["id"]
    prepared.wait_until_idle()
    _check_idle(visit, [*FOLLOWING, f"/jobs/{job_id}", f"/datasets/{dataset_id}"])


@pytest.mark.slow
@pytest.mark.parametrize("own_page", [True])
def test_other_idle_pages_send_at_most_four_requests_a_minute(visit: Visit, prepared: Prepared) -> None:
    """A page requests trials only when their study has changed."""
    study_id = prepared.study("idle", trials=1)
    while prepared.get(f"/v1/studies/{study_id}")["status"] in {"running", "concluding"}:
        time.sleep(0.2)
    prepared.wait_until_idle()
    _check_idle(visit, [f"/studies/{study_id}", *OTHERS])


def _check_idle(visit: Visit, paths: list[str]) -> None:
    _count_signals(visit)
    counts = {}
    for path in paths:
        earlier = _open(visit, path)
        counts[path] = len(_requests_within_a_minute(visit, earlier))
        _set_hidden(visit, "true")
        assert _requests_within_a_minute(visit, earlier) == [], path
    assert max(counts.values()) == 4, "some pages must poll"
    assert {path: count for path, count in counts.items() if count > 4} == {}


def _count_signals(visit: Visit) -> None:
    """Let the test control the page's clock, and count the events that the stream sends."""
    visit.page.clock.install()
    visit.page.add_init_script("""
        window.signals = 0;
        window.EventSource = class extends EventSource {
          addEventListener(kind, listener) {
            super.addEventListener(kind, (event) => { window.signals += 1; listener(event); });
          }
        };
    """)


def _open(visit: Visit, path: str) -> int:
    """Open a page, wait until it has all responses, and return the number of earlier requests.

    A page sends no further request before it has the responses to its first ones, however slow they are.
    """
    earlier = len(visit.requests)
    visit.open(path)
    visit.settle()
    _wait_for_responses(visit, earlier)
    return earlier


def _requests_within_a_minute(visit: Visit, earlier: int) -> list[str]:
    """Wait until the page has read earlier changes, and return its requests in a minute without events."""
    while True:
        signals = visit.page.evaluate("signals")
        _pass_time(visit, earlier, quarters=3)
        before = len(visit.requests)
        _pass_time(visit, earlier, quarters=4)
        if visit.page.evaluate("signals") == signals:
            return [request.url.removeprefix(visit.url) for request in visit.requests[before:]]


def _pass_time(visit: Visit, earlier: int, quarters: int) -> None:
    """Advance the page's clock by quarters of a minute, and wait for all responses in each."""
    for _ in range(quarters):
        visit.page.clock.run_for(15_000)
        _wait_for_responses(visit, earlier)


def _wait_for_responses(visit: Visit, earlier: int) -> None:
    """Wait until all requests of a page but the stream have a response.

    Args:
        visit: The page.
        earlier: Number of requests before the page was opened.
    """
    position = earlier
    while position < len(visit.requests):  # a response may cause further requests
        request = visit.requests[position]
        position += 1
        if not request.url.endswith("/v1/events"):
            response = request.response()
            assert response is not None
            response.finished()


def test_a_list_is_polled_without_an_event_stream(visit: Visit) -> None:
    """If a proxy blocks the event stream, the list still gets every update, but later."""
    visit.refusals_expected = True
    page = visit.page
    page.route("**/v1/events", lambda route: route.fulfill(status=502, body="no streams here"))
    visit.open("/jobs")
    page.locator("#jobs:not([aria-busy])").wait_for()
    created = page.request.post(f"{visit.url}/v1/datasets/synthetic", data={"name": "polled", "queries": 5})
    assert created.ok, created.text()
    expect(page.locator("[data-job]").filter(has_text="polled")).to_have_attribute("data-status", "succeeded")
