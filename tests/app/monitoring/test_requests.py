"""Prometheus metrics of requests."""

from collections.abc import Callable

import pytest
from fastapi import FastAPI

from tests.app.conftest import TestClient
from tests.app.monitoring.conftest import Samples, sample_key


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "path", "route", "status"),
    [
        ("GET", "/v1/jobs", "/v1/jobs", 200),
        ("GET", "/v1/jobs/job_1", "/v1/jobs/{job_id}", 404),
        ("GET", "/v1/jobs?limit=0", "/v1/jobs", 422),
        ("PUT", "/v1/jobs", "/v1/jobs", 405),
        ("GET", "/jobs/job_1", "/jobs/{job_id}", 200),
        ("GET", "/datasets/ds_1/queries/a/b", "/datasets/{dataset_id}/queries/{query_id}", 200),
        ("GET", "/static/views/job.js", "/static/*", 200),
        ("GET", "/static/nothing.js", "/static/*", 404),
        ("GET", "/static-offline-docs/nothing", "/static-offline-docs/*", 404),
        ("GET", "/guide/nothing/at/all", "/guide/*", 404),
        ("GET", "/openapi.json", "/openapi.json", 200),
        ("GET", "/healthz", "/healthz", 200),
        ("GET", "/v1/nothing", "unmatched", 404),
        ("GET", "/%0Arankery_up 1", "unmatched", 404),
    ],
)
def test_a_request_is_counted_by_its_route(
    client: TestClient, scrape: Callable[[], Samples], method: str, path: str, route: str, status: int
) -> None:
    """The label is the declared path of the route, not the path that the client sends."""
    assert client.request(method, path).status_code == status
    values = scrape()
    assert (
        values[sample_key("rankery_http_requests_total", route=route, method=method, status=str(status))] == 1
    )
    assert values[sample_key("rankery_http_request_duration_seconds_count", route=route, method=method)] == 1


def test_paths_of_clients_add_no_time_series(client: TestClient, scrape: Callable[[], Samples]) -> None:
    """All unknown paths share one time series, as do all unknown methods and all ids of a route."""
    scrape()
    before = len(scrape())
    for number in range(30):
        client.get(f"/nothing-{number}")
        client.get(f"/guide/{number}")
        client.get(f"/static/{number}")
        client.get(f"/static-offline-docs/{number}")
        client.get(f"/v1/jobs/job_{number}")
        client.request(f"BREW{number}", "/coffee")
    after = scrape()
    assert (
        after[sample_key("rankery_http_requests_total", route="unmatched", method="GET", status="404")] == 30
    )
    assert (
        after[sample_key("rankery_http_requests_total", route="unmatched", method="other", status="404")]
        == 30
    )
    # A counter and the buckets, count and sum of a histogram, for each of six pairs of route and method.
    assert len(after) - before == 6 * (1 + 16 + 2)


def test_an_unhandled_exception_is_counted(
    application: FastAPI, client: TestClient, scrape: Callable[[], Samples]
) -> None:
    """The status of an unhandled exception is 500."""

    def fail() -> None:
        raise RuntimeError

    application.add_api_route("/v1/fail", fail)
    client.get("/v1/fail")
    assert (
        scrape()[sample_key("rankery_http_requests_total", route="/v1/fail", method="GET", status="500")] == 1
    )


def test_requests_in_progress_are_counted(client: TestClient, scrape: Callable[[], Samples]) -> None:
    """A request that has ended does not count; the scrape itself does."""
    client.get("/healthz")
    assert scrape()[sample_key("rankery_http_requests_in_progress")] == 1
