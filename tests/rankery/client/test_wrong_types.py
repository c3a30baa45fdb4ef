"""Arguments of a wrong type, closed clients and pickled objects, refused before anything is sent."""

import copy
import json
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pandas
import pytest
from sklearn.ensemble import RandomForestRegressor

from rankery.client import Client, Job
from rankery.client.arguments import clicks_field
from rankery.client.frames.candidates import prepare_candidates
from rankery.client.frames.runs import scores_table
from rankery.client.model_text import with_feature_names
from rankery.errors import (
    ClientClosed,
    FileUnreadable,
    InvalidArgument,
    KeyRefused,
    RankeryApiError,
    WrongType,
)
from tests.rankery.answers import job_document

FRAME = pandas.DataFrame({"query": ["a", "a"], "label": [0, 1], "bm25": [1.0, 2.0], "score": [2.0, 1.0]})
TEXT: Any = "query"
JOB = Job.of(job_document(), Client("http://rankery.test").transport)


@pytest.fixture
def client() -> Client:
    """Return a client whose service fails at each request."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"{request.method} {request.url} was sent")

    return Client("http://rankery.test", transport=httpx.MockTransport(refuse), retries=0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda c: c.upload_dataset(), "a path, a URL, .* not None"),
        (lambda c: c.upload_dataset(FRAME, columns="label"), r"column names by role.* not 'label' \(str\)"),
        (lambda c: c.upload_dataset(FRAME, columns=["label"]), "column names by role.* not a list of 1"),
        (lambda c: c.upload_dataset(FRAME, columns={"label": 3}), r"list of texts for label, not 3 \(int\)"),
        (lambda c: c.upload_dataset((np.ones((2, 1)), 2, [2])), r"labels must be an array .* not 2 \(int\)"),
        (lambda c: c.upload_dataset(parts=["train.txt"]), "paths by part.* not a list of 1"),
        (lambda c: c.upload_dataset(parts={"train": 3}), r"the path of train .* not 3 \(int\)"),
        (lambda c: c.train("web", "ds_1", 3), r"the name of a loss or a dictionary .* not 3 \(int\)"),
        (lambda c: c.train("web", "ds_1", clicks={"log": 3}), r"an object of the client .* not 3 \(int\)"),
        (lambda c: c.train("web", "ds_1", scorer=3), r"a kind of scorer or a dictionary .* not 3 \(int\)"),
        (lambda c: c.evaluate("web", "ds_1", metrics=3), r"a text or a list of texts .* not 3 \(int\)"),
        (lambda c: c.grid("web", "ds_1", "num_leaves"), r"a grid, such as .* not 'num_leaves' \(str\)"),
        (lambda c: c.tune("web", "ds_1", ["num_leaves"]), "a search space, such as .* not a list of 1"),
        (
            lambda _: prepare_candidates(FRAME, [], TEXT, "web:1", allow_absent_features=False),
            "by role.* not 'query'",
        ),
        (
            lambda c: c.upload_run(RandomForestRegressor(), "ds_1"),
            r"not a sklearn.RandomForestRegressor; pass its scores, such as model\.predict",
        ),
        (lambda _: scores_table(FRAME, TEXT), "by role.* not 'query'"),
        (lambda _: with_feature_names("feature_names=a b\n", "xy"), "must be a list of texts, not 'xy'"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_a_type_error(client: Client, call: Callable[[Any], Any], sentence: str) -> None:
    """The error has the accepted and the given type."""
    with pytest.raises(WrongType, match=sentence):
        call(client)


@pytest.mark.parametrize(
    ("call", "field", "expected"),
    [
        (lambda c: c.run_experiment("lambdaloss-2018", "table-4"), "tables", ["table-4"]),
        (lambda c: c.create_webhook("https://example.org", "job.ended"), "events", ["job.ended"]),
        (lambda c: c.simulate_clicks("ds_1", "log", features="bm25"), "features", ["bm25"]),
        (lambda c: c.simulate_clicks("ds_1", "log", models="web:3"), "models", ["web:3"]),
        (lambda c: c.create_interleaving("two", models=JOB), "models", ["job_1"]),
        (lambda c: c.create_interleaving("two", rankings="bm25"), "rankings", ["bm25"]),
        (lambda c: c.delete("jobs", "job_1"), "ids", ["job_1"]),
        (lambda c: c.delete("jobs", [JOB]), "ids", ["job_1"]),
        (lambda c: c.empty_trash(JOB), "ids", ["job_1"]),
    ],
)  # fmt: skip
def test_one_text_or_object_is_a_list_of_one(
    call: Callable[[Any], Any], field: str, expected: list[str]
) -> None:
    """A text is not split into its letters, nor an object into its fields."""
    bodies: list[Any] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(422, json={"detail": "refused"})

    client = Client("http://rankery.test", transport=httpx.MockTransport(refuse), retries=0)
    with pytest.raises(RankeryApiError):
        call(client)
    assert bodies[0][field] == expected


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        ({"thresholds": {"p": float("nan")}}, "/thresholds/p: must be a finite number, not nan"),
        ({"gain": [1.0, float("inf")]}, "/gain/1: must be a finite number, not inf"),
        ({"name": "\ud800"}, "the request cannot be written as JSON: .*surrogates"),
    ],
)  # fmt: skip
def test_a_value_that_json_cannot_express_is_named(
    client: Client, job: dict[str, Any], sentence: str
) -> None:
    """The error has the location of the number in the request."""
    with pytest.raises(InvalidArgument, match=sentence):
        client.submit(job)


def test_a_click_log_and_a_job_are_given_as_objects() -> None:
    """A training on clicks takes their ids; other fields stay."""
    log, job = SimpleNamespace(id="clk_1"), SimpleNamespace(id="job_1")
    clicks = {"log": log, "correction": "ips", "propensity_job": job}
    assert clicks_field(clicks) == {"log": "clk_1", "correction": "ips", "propensity_job": "job_1"}
    assert clicks_field({"log": "clk_1", "propensities": [1.0]}) == {"log": "clk_1", "propensities": [1.0]}
    assert clicks_field(None) is None


def test_an_unknown_order_is_refused(client: Client) -> None:
    """The client refuses the order, since scores by rank do not fit the rows of the frame."""
    with pytest.raises(InvalidArgument, match="order must be 'rank' or 'rows', not 'row'"):
        client.rank("web", FRAME, order="row")  # type: ignore[call-overload]


def test_a_closed_client_proposes_a_new_one() -> None:
    """Each call of the client and of its objects fails with the same error of the library."""
    answers = httpx.MockTransport(lambda _: httpx.Response(200, json=job_document()))
    with Client("http://rankery.test", transport=answers) as client:
        job = client.job("job_1")
    for call in (job.refresh, client.jobs().first, lambda: next(iter(client.events()))):
        with pytest.raises(ClientClosed, match=r"client of http://rankery.test is closed: make another one"):
            call()


@pytest.mark.parametrize("copied", [pickle.dumps, copy.deepcopy])
def test_objects_of_the_client_are_not_pickled(copied: Callable[[object], object]) -> None:
    """The error has the solution; a shallow copy shares the connections."""
    client = Client("http://rankery.test")
    job = Job.of(job_document(), client.transport)
    for kept in (client, job, client.jobs()):
        with pytest.raises(WrongType, match="keep the id, and fetch the object"):
            copied(kept)
    assert copy.copy(job).id == "job_1"


@pytest.mark.parametrize(
    "error",
    [RankeryApiError(404, {"detail": "no"}), KeyRefused(401, {}, True), FileUnreadable("no", [{}], [])],
)
def test_errors_reach_other_processes(error: Exception) -> None:
    """A pool of processes would wait for ever for a result whose error it cannot read."""
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), vars(copied)) == (type(error), str(error), vars(error))
    assert len({error, copied}) == 2
