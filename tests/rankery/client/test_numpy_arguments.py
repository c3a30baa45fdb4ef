"""NumPy scalars, arrays and single strings as arguments of the client, instead of numbers and lists."""

import json
from typing import Any

import httpx
import numpy as np
import pandas
import pytest

from rankery.client import Client
from rankery.client.arguments import search_space_field
from rankery.client.frames.incoming import as_table
from rankery.client.frames.judged import checked_columns
from rankery.client.reading import json_body
from rankery.errors import InvalidArgument, RankeryApiError
from tests.rankery.answers import dataset_document

FRAME = pandas.DataFrame({"query": ["a", "b"], "label": [0, 1], "bm25": [1.0, 2.0], "age": [2.0, 1.0]})


def test_numbers_and_arrays_are_written_as_json() -> None:
    """NumPy and pandas values are written to a request as the equal Python values are."""
    request = {
        "num_leaves": np.int64(31),
        "linear_tree": np.bool_(False),
        "gain": np.array([0, 1, 3]),
        "features": pandas.Index(["bm25"]),
    }
    plain = {"num_leaves": 31, "linear_tree": False, "gain": [0, 1, 3], "features": ["bm25"]}
    assert json.loads(json_body(request)) == plain


def test_keys_of_a_map_may_be_numpy_scalars() -> None:
    """A label map built from two columns has the keys that Python numbers would have."""
    spec = {"items": [{"label_map": {np.int64(4): np.float32(3.0), np.float32(0.5): 0, np.nan: 1}}]}
    assert json.loads(json_body(spec)) == {"items": [{"label_map": {"4": 3.0, "0.5": 0, "nan": 1}}]}


@pytest.mark.parametrize("value", [{"ndcg@10"}, {(4, 5): 3}, object()])
def test_other_values_are_refused_by_type(value: Any) -> None:
    """The client raises its own error, which names the type, instead of the JSON library's."""
    with pytest.raises(InvalidArgument, match=r"cannot be written as JSON: .*(set|tuple|object)"):
        json_body({"metrics": value})


def test_search_spaces_take_numbers_and_arrays() -> None:
    """Bounds may be NumPy scalars, and choices may be an array."""
    space = search_space_field({"num_leaves": (np.int64(4), np.int64(8)), "max_depth": np.array([3, 5])})
    assert space == {
        "/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 8, "log": False},
        "/hyperparameters/max_depth": {"type": "choice", "choices": [3, 5]},
    }


def test_columns_of_a_role_may_be_a_pandas_index() -> None:
    """An index is used as the list of its names."""
    columns: Any = {"ignore": FRAME.columns[2:3]}
    assert checked_columns(FRAME, as_table(FRAME), columns) == {"ignore": ["bm25"]}


def test_a_query_id_may_be_an_int() -> None:
    """The id is written into the path as its digits."""
    paths = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        if request.url.path == "/v1/datasets/ds_1":
            return httpx.Response(200, json=dataset_document())
        return httpx.Response(404, json={"title": "Not found", "status": 404, "detail": "there is no query"})

    dataset = Client("http://rankery.test", transport=httpx.MockTransport(answer), retries=0).dataset("ds_1")
    with pytest.raises(RankeryApiError, match="there is no query"):
        dataset.query(3)
    assert paths[-1] == "/v1/datasets/ds_1/queries/3"


def test_the_error_of_unequal_lengths_names_the_arrays() -> None:
    """The error names X and y, not the group."""
    client = Client("http://rankery.test", retries=0)
    with pytest.raises(InvalidArgument, match="X has 4 documents, but y has 3 labels"):
        client.upload_dataset((np.ones((4, 2)), np.ones(3), [4]))


def test_numbers_of_a_training_may_be_numpy_scalars() -> None:
    """Hold-out fractions, early-stopping rounds, ranks and repeats may be NumPy scalars."""
    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            requests.append(json.loads(request.content))
        return httpx.Response(404, json={"title": "Not found", "status": 404, "detail": "there is none"})

    client = Client("http://rankery.test", transport=httpx.MockTransport(answer), retries=0)
    plain: dict[str, Any] = {"validation": 0.25, "test": 0.5, "early_stopping": 3, "distribution": 2}
    given: dict[str, Any] = {
        "validation": np.float32(0.25),
        "test": np.float32(0.5),
        "early_stopping": np.int64(3),
        "distribution": np.int64(2),
    }
    for arguments in (plain, given):
        with pytest.raises(RankeryApiError):
            client.train("web", "ds_1", "lambdarank", **arguments)
    counts: list[Any] = [2, np.int64(2)]
    for repeats in counts:
        with pytest.raises(RankeryApiError):
            client.submit_all([{"kind": "train"}], repeats=repeats)
    assert requests[0] == requests[1]
    assert requests[2] == requests[3]


@pytest.mark.parametrize("call", ["train", "evaluate", "compare"])
def test_metrics_may_be_one_string(call: str) -> None:
    """The request has this metric only; a training also uses it for early stopping."""
    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(json.loads(request.content))
        return httpx.Response(422, json={"title": "Not valid", "status": 422, "detail": "see above"})

    client = Client("http://rankery.test", transport=httpx.MockTransport(answer), retries=0)
    arguments: dict[str, Any] = {
        "train": {"model_name": "web", "dataset": "ds_1", "early_stopping": 3},
        "evaluate": {"system": "web:1", "dataset": "ds_1"},
        "compare": {"dataset": "ds_1", "systems": ["web:1", "web:2"]},
    }
    for metrics in ("ndcg@3", ("ndcg@3",)):
        with pytest.raises(RankeryApiError):
            getattr(client, call)(**arguments[call], metrics=metrics)
    assert requests[0] == requests[1]
    assert requests[0]["metrics"] == ["ndcg@3"]
    assert requests[0].get("early_stopping", {}).get("metric", "ndcg@3") == "ndcg@3"
