"""Click logs of the client, with a mocked HTTP server."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from rankery.client import ClickLog, Client
from rankery.errors import WrongType
from tests.rankery.answers import click_log_document, dataset_document, job_document


class Service:
    """A service that keeps the requests and answers with a log."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        request.read()
        self.requests.append(request)
        if request.method == "DELETE":
            return httpx.Response(204)
        if request.url.path == "/v1/datasets":
            named = dataset_document(
                id=f"ds_of_{request.url.params['name']}", name=request.url.params["name"]
            )
            return httpx.Response(200, json={"items": [named], "next_cursor": None})
        if request.url.path == "/v1/jobs":
            return httpx.Response(202, json=job_document())
        ranks = [{"rank": 1, "impressions": 3, "clicks": 1}]
        statistics = {"lists": 3, "impressions": 3, "clicks": 1, "ranks": ranks}
        return httpx.Response(200, json=click_log_document(statistics=statistics))

    def client(self) -> Client:
        """Return a client of the service."""
        return Client("http://rankery.test", transport=httpx.MockTransport(self), retries=0)


def test_a_file_is_sent_with_its_options(tmp_path: Path) -> None:
    """Options are form parts as JSON, and omitted options are not sent."""
    path, queries = tmp_path / "events.ndjson", tmp_path / "queries.ndjson"
    path.write_text('{"action_name": "click"}\n')
    queries.write_text('{"query_id": "1"}\n')
    service = Service()
    with service.client() as client:
        log = client.upload_clicks(path, queries=queries, actions={"click": 1, "purchase": 5}, rank_base=0)
    assert (log.id, log.summary()["clicks"]) == ("clk_1", "1")
    (request,) = service.requests
    assert (request.method, request.url.path) == ("POST", "/v1/click-logs")
    body = request.content.decode()
    assert 'name="file"; filename="events.ndjson"' in body
    assert 'name="queries"; filename="queries.ndjson"' in body
    assert '{"click": 1, "purchase": 5}' in body
    assert 'name="rank_base"\r\n\r\n0' in body
    assert 'name="columns"' not in body


def test_urls_are_sent_as_json() -> None:
    """The request has URLs as JSON, since a worker downloads the files."""
    service = Service()
    with service.client() as client:
        client.upload_clicks(["s3://clicks/a", "s3://clicks/b"], "May", columns={"document": "sku"})
    assert json.loads(service.requests[0].content) == {
        "source": ["s3://clicks/a", "s3://clicks/b"],
        "name": "May",
        "format": "auto",
        "columns": {"document": "sku"},
    }


def test_other_data_are_refused_before_a_request() -> None:
    """Other types of data are refused with one sentence."""
    service = Service()
    with service.client() as client, pytest.raises(WrongType):
        client.upload_clicks(7)  # type: ignore[arg-type]
    assert not service.requests


def test_a_log_is_deleted_by_itself_or_its_id() -> None:
    """A log or its id can be deleted, also permanently."""
    service = Service()
    with service.client() as client:
        client.click_log("clk_1").delete()
        client.delete_click_log("clk_1", permanently=True)
    paths = [request.url.raw_path.decode() for request in service.requests if request.method == "DELETE"]
    assert paths == ["/v1/click-logs/clk_1", "/v1/click-logs/clk_1?permanently=true"]


def test_a_log_is_shown_as_a_card() -> None:
    """The title of the card has the name of the log."""
    statistics = {"lists": 3, "ranks": [{"rank": 1, "impressions": 3, "clicks": 1}]}
    card = ClickLog.model_validate(click_log_document(statistics=statistics)).card()
    assert card.title == "click log clicks.csv"


def test_jobs_on_a_log_are_submitted() -> None:
    """Omitted options are not sent, and objects are sent as their ids."""
    service = Service()
    with service.client() as client:
        log = client.click_log("clk_1")
        client.propensities(log, "pivot", positions=5, resamples=20)
        client.simulate_clicks("ds_1", "simulated", features=["bm25"], lists=100, swaps="first")
    sent = [json.loads(request.content) for request in service.requests[1:]]
    assert sent == [
        {"kind": "propensity", "click_log_id": "clk_1", "method": "pivot", "positions": 5, "resamples": 20},
        {
            "kind": "simulate-clicks",
            "dataset_id": "ds_1",
            "log_name": "simulated",
            "models": [],
            "features": ["bm25"],
            "user_model": "ultra-pbm",
            "lists": 100,
            "swaps": "first",
        },
    ]


def test_datasets_and_systems_are_named() -> None:
    """Jobs on a log take names of datasets as trainings do, and references of models and rankings."""
    service = Service()
    with service.client() as client:
        client.judge_clicks("clk_1", "features", judged="judged")
        client.propensities("clk_1", "regression-em", dataset="features")
        client.simulate_clicks("judged", "simulated")
        systems: list[Any] = ["web:3", "rnk_1", {"model": "web:4"}]
        job = SimpleNamespace(id="job_7")
        client.counterfactual("clk_1", "features", systems, estimator="examination", propensity_job=job)
    sent = [json.loads(request.content) for request in service.requests if request.method == "POST"]
    assert (sent[0]["features_dataset_id"], sent[0]["judged_dataset_id"]) == (
        "ds_of_features",
        "ds_of_judged",
    )
    assert [spec["dataset_id"] for spec in sent[1:]] == ["ds_of_features", "ds_of_judged", "ds_of_features"]
    assert sent[3]["systems"] == [{"model": "web:3"}, {"ranking_id": "rnk_1"}, {"model": "web:4"}]
    assert sent[3]["propensity_job"] == "job_7"
