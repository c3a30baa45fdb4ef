"""Exposition formats of the metrics."""

import platform
from collections.abc import Callable
from importlib.metadata import version

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from app import ApiSettings, create_app
from core.store import Model
from tests.app.conftest import TestClient
from tests.app.monitoring.conftest import Samples, sample_key, samples


def test_the_default_format_is_plain_text(client: TestClient) -> None:
    """The default is the text format, which every reader accepts; the answer is not cached."""
    response = client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"


def test_a_reader_of_openmetrics_parses_the_answer(client: TestClient) -> None:
    """Prometheus asks for OpenMetrics, whose reader is strict about names, units and order."""
    accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2"
    response = client.get("/metrics", headers={"accept": accept})
    assert response.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    families = text_string_to_metric_families(response.text)  # type: ignore[no-untyped-call]
    names = {family.name for family in families}
    assert {"rankery_http_requests", "rankery_jobs_queued", "rankery_database_up"} <= names


def test_names_follow_the_conventions(client: TestClient, scrape: Callable[[], Samples]) -> None:
    """All of our names begin with `rankery_`, and there are no samples of creation times."""
    names = {name for name, _ in scrape()}
    assert not [name for name in names if not name.startswith(("rankery_", "process_", "python_"))]
    assert not [name for name in names if name.endswith("_created")]


def test_the_build_is_a_metric(client: TestClient, scrape: Callable[[], Samples]) -> None:
    """The version and the Python version are labels."""
    build = sample_key("rankery_build_info", version=version("rankery"), python=platform.python_version())
    assert scrape()[build] == 1


def test_each_application_has_its_own_metrics(client: TestClient, settings: ApiSettings) -> None:
    """Requests to one application are not counted in another of the same process."""
    client.get("/v1/jobs")
    counted = sample_key("rankery_http_requests_total", route="/v1/jobs", method="GET", status="200")
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as other:
        assert counted not in samples(other.get("/metrics").text)
        other.get("/v1/jobs")
        assert samples(other.get("/metrics").text)[counted] == 1


def test_a_model_is_read_once_and_then_found_in_memory(
    client: TestClient, scrape: Callable[[], Samples], add_model: Callable[[str], Model]
) -> None:
    """The first request of a model reads it, and later ones find it in memory."""
    model = add_model("web")
    body = {"queries": [{"id": "q", "documents": [{"id": "d", "features": {"bm25": 0.5}}]}]}
    for _ in range(3):
        assert client.post(f"/v1/models/{model.id}/rank", json=body).status_code == 200
    values = scrape()
    assert values[sample_key("rankery_model_cache_misses_total")] == 1
    assert values[sample_key("rankery_model_cache_hits_total")] == 2
    assert values[sample_key("rankery_model_cache_models")] == 1


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_metrics_are_only_read(client: TestClient, method: str) -> None:
    """Methods that write are refused."""
    assert client.request(method, "/metrics").status_code == 405
