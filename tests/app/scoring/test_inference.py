"""The Open Inference Protocol."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI

from app.http.services import registered
from app.scoring.inference_routes import InferenceRoute
from app.scoring.services import ScoringServices
from app.scoring.tensors import HEAD_BYTES
from core.scoring import Forest
from core.store import Model, Store
from core.store.artifacts.keys import model_key
from core.types import Float64Array
from tests.app.conftest import TestClient

VALUES = [[0.1, None, 3.0], [0.9, 2.0, None]]
MATRIX = np.array([[np.nan if value is None else value for value in row] for row in VALUES])


@pytest.fixture
def scores(store: Store, add_model: Callable[[str], Model]) -> Float64Array:
    """Scores of `VALUES` by the model."""
    return Forest.parse(store.artifacts.read_bytes(model_key(add_model("web").id))).score(MATRIX)


def _tensor(**members: Any) -> dict[str, Any]:
    return {"name": "x", "shape": [2, 3], "datatype": "FP64", "data": VALUES[0] + VALUES[1], **members}


def _infer(client: TestClient, *tensors: Any, **members: Any) -> Any:
    return client.post("/v2/models/web/infer", json={"inputs": list(tensors), **members})


def test_the_server_and_its_models_describe_themselves(client: TestClient, scores: Float64Array) -> None:
    """KServe and Triton request these descriptions before they send anything."""
    assert client.get("/v2").json()["extensions"] == ["binary_tensor_data"]
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").status_code == 200  # scoring needs no broker
    for path in ("web", "web/versions/1"):
        described = client.get(f"/v2/models/{path}").json()
        assert (described["name"], described["versions"]) == ("web", ["1"])
        assert described["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 3]}]
        assert described["outputs"] == [{"name": "predict", "datatype": "FP64", "shape": [-1]}]
        assert client.get(f"/v2/models/{path}/ready").json() == {"name": "web", "ready": True}
    for path in ("shop", "shop/ready", "web/versions/2", "web/versions/x/ready"):
        missing = client.get(f"/v2/models/{path}")
        assert (missing.status_code, list(missing.json())) == (404, ["error"])


def test_an_imported_model_asks_for_float64(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """The trees were trained on float64, so that float32 would round the values."""
    model = add_model("web")
    with store.begin() as tx:
        tx.models.get(model.id).dataset_id = None  # as of every imported one
    (tensor,) = client.get("/v2/models/web").json()["inputs"]
    assert tensor["datatype"] == "FP64"


def test_scores_come_in_the_order_of_the_documents(client: TestClient, scores: Float64Array) -> None:
    """A request has one tensor, flat or nested, or one per feature; null is a missing value."""
    columns = [
        {"name": name, "shape": shape, "datatype": "FP32", "data": [row[i] for row in VALUES]}
        for i, (name, shape) in enumerate(
            zip(("bm25", "pagerank", "age/days"), ([2], [2, 1], [2]), strict=True)
        )
    ]
    wanted = {"outputs": [{"name": "predict"}], "id": "7", "parameters": {"unknown": 1}}
    for response in (
        _infer(client, _tensor(), **wanted),
        _infer(client, _tensor(data=VALUES), **wanted),
        _infer(client, *columns, **wanted),
        client.post("/v2/models/web/versions/1/infer", json={"inputs": [_tensor()], **wanted}),
    ):
        answer = response.json()
        assert (answer["model_name"], answer["model_version"], answer["id"]) == ("web", "1", "7")
        (output,) = answer["outputs"]
        assert (output["name"], output["shape"], output["datatype"]) == ("predict", [2], "FP64")
        assert output["data"] == pytest.approx(scores.tolist(), rel=1e-6)
    assert _infer(client, _tensor()).json()["outputs"][0]["data"] == scores.tolist()


@pytest.mark.parametrize("dtype", ["<f8", "<f4"])
def test_tensors_may_be_bytes(client: TestClient, scores: Float64Array, dtype: str) -> None:
    """Requests and answers support the extension for binary data."""
    data = MATRIX.astype(dtype).tobytes()
    tensor = _tensor(
        datatype="FP64" if dtype == "<f8" else "FP32", parameters={"binary_data_size": len(data)}
    )
    del tensor["data"]
    head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    headers = {HEAD_BYTES: str(len(head)), "Content-Type": "application/octet-stream"}
    response = client.post("/v2/models/web/infer", content=head + data, headers=headers)
    size = int(response.headers[HEAD_BYTES])
    (output,) = json.loads(response.content[:size])["outputs"]
    assert output["parameters"] == {"binary_data_size": 16}
    assert np.frombuffer(response.content[size:], "<f8") == pytest.approx(scores, rel=1e-6)
    for bad in (head + data[:-1], head + data + b"x", head):
        refused = client.post("/v2/models/web/infer", content=bad, headers=headers)
        assert (refused.status_code, list(refused.json())) == (400, ["error"])


@pytest.mark.parametrize("value", ["0", "1", "-1", "null", "[0.9,0.1]", '"x"', "{}"])
@pytest.mark.parametrize("name", ["data", "d\\u0061ta"])
def test_an_array_belongs_to_the_tensor_around_it(
    client: TestClient, scores: Float64Array, name: str, value: str
) -> None:
    """Arrays of other members are not used as data, and the last of duplicate members counts."""
    bm25 = f'"data":[7,7],"parameters":{{"data":[0.9,0.1]}},"data":[0.1,0.9],"{name}":{value}'
    bm25, other = (
        f'{{"name":"{feature}","shape":[2],"datatype":"FP64",{data}}}'
        for feature, data in (("bm25", bm25), ("pagerank", '"data":[null,2]'))
    )
    repeated = client.post("/v2/models/web/infer", content=f'{{"inputs":[{bm25},{other}]}}'.encode())
    if value != "[0.9,0.1]":
        assert (repeated.status_code, list(repeated.json())) == (400, ["error"])
    else:
        assert repeated.json()["outputs"][0]["data"] == [scores[1], scores[0]]


@pytest.mark.parametrize("shape", [[2], [2, 1]])
def test_one_tensor_may_be_one_feature(client: TestClient, scores: Float64Array, shape: list[int]) -> None:
    """A single tensor is selected by its name as well, and other features are missing."""
    column = _tensor(name="bm25", shape=shape, data=[0.9, 0.1])
    assert _infer(client, column).json()["outputs"][0]["data"] == [scores[1], scores[0]]
    unknown = _infer(client, {**column, "name": "speed"})
    assert (unknown.status_code, list(unknown.json())) == (400, ["error"])


@pytest.mark.long
def test_sizes_are_bounded_before_there_is_a_matrix(
    client: TestClient, scores: Float64Array, application: FastAPI
) -> None:
    """Tensors by name are as wide as the model, even if there are few of them."""

    def post(shape: list[int], size: int, name: str = "bm25") -> Any:
        parameters = {"binary_data_size": size}
        tensor = {"name": name, "shape": shape, "datatype": "INT8", "parameters": parameters}
        head = json.dumps({"inputs": [tensor]}).encode()
        headers = {HEAD_BYTES: str(len(head))}
        return client.post("/v2/models/web/infer", content=head + bytes(size), headers=headers)

    assert len(post([10_000], 10_000).json()["outputs"][0]["data"]) == 10_000
    assert post([0, 3], 0, "x").json()["outputs"][0]["data"] == []
    cases = [
        ([10_001], 10_001, "/inputs/0/shape: at most 10000 documents are scored in one request"),
        ([0, 2**62], 0, "/inputs/0/shape/1"),
        ([0, 2**31 - 1], 0, "/inputs/0/shape"),
        ([2**62, 0], 0, "/inputs/0/shape/0"),
        ([2**31 - 1, 2**31 - 1], 3, "/inputs/0/shape"),
        ([10**4000, 1], 3, "/inputs/0/shape/0"),
        ([-1, -3], 3, "/inputs/0/shape/0"),
    ]
    for shape, size, reason in cases:
        refused = post(shape, size, "x")
        assert (refused.status_code, refused.json()["error"][: len(reason)]) == (400, reason)
    services = registered(application, ScoringServices)
    object.__setattr__(services, "settings", services.settings.model_copy(update={"max_rank_cells": 29}))
    assert post([9], 9).status_code == 200
    assert "30 values; at most 29 are scored in one request" in post([10], 10).json()["error"]


def test_there_are_no_more_tensors_than_features(client: TestClient, scores: Float64Array) -> None:
    """No two tensors may have the same name."""
    twice = [_tensor(name="bm25", shape=[1], data=[value]) for value in (1, 2)]
    assert "/inputs/1/name: two tensors have this name" in _infer(client, *twice).json()["error"]
    for data in ([1], [[1]]):
        many = [_tensor(name="bm25", shape=[1], data=data)] * 4
        assert _infer(client, *many).json()["error"].startswith("/inputs: must have at most 3 tensors")


@pytest.mark.parametrize(("datatype", "dtype"), [("FP16", "<f2"), ("FP32", "<f4"), ("FP64", "<f8")])
def test_infinity_is_refused(client: TestClient, scores: Float64Array, datatype: str, dtype: str) -> None:
    """Infinity is refused, and NaN is a missing value."""
    infinity = np.array([np.inf], dtype)
    signalling_nan = (infinity.view(dtype.replace("f", "u")) + 1).view(dtype)  # a NaN that a cast warns of
    for data, status in (
        (infinity.tobytes(), 400),
        ((-infinity).tobytes(), 400),
        (np.array([np.nan], dtype).tobytes(), 200),
        (signalling_nan.tobytes(), 200),
    ):
        parameters = {"binary_data_size": len(data)}
        tensor = {"name": "bm25", "shape": [1], "datatype": datatype, "parameters": parameters}
        head = json.dumps({"inputs": [tensor]}).encode()
        headers = {HEAD_BYTES: str(len(head))}
        answer = client.post("/v2/models/web/infer", content=head + data, headers=headers)
        assert answer.status_code == status


def test_a_bad_request_is_refused_in_the_words_of_the_protocol(
    client: TestClient, scores: Float64Array
) -> None:
    """400 has a sentence with the place and the reason."""
    cases = [
        ({"inputs": []}, "/inputs"),
        ({"inputs": [_tensor(shape=[2, 2])]}, "/inputs/0/shape: is [2, 2], but there are 6 values"),
        ({"inputs": [_tensor(shape=[3, 2])]}, "/inputs/0/shape: is [3, 2]; the model has 3 features"),
        ({"inputs": [_tensor(shape=[-2, -3])]}, "/inputs/0/shape"),
        ({"inputs": [_tensor(shape=[6])]}, "/inputs/0/name: not a feature of this model"),
        ({"inputs": [_tensor(datatype="BYTES")]}, "/inputs/0/datatype: must be one of BOOL"),
        ({"inputs": [_tensor(data=["x"] * 6)]}, "/inputs/0/data: must be numbers"),
        ({"inputs": [_tensor(data=[10**400] * 6)]}, "/inputs/0/data"),
        ({"inputs": [_tensor(data=5)]}, "/inputs/0/data: must be a JSON array"),
        ({"inputs": [_tensor(data=None)]}, "/inputs/0/data: required"),
        ({"inputs": [_tensor()], "outputs": [{"name": "classes"}]}, "/outputs: the only output is predict"),
        ({"inputs": [_tensor(), _tensor(name="bm25")]}, "/inputs/0/name"),
    ]
    for body, reason in cases:
        response = client.post("/v2/models/web/infer", json=body)
        assert response.status_code == 400, (body, response.text)
        assert response.json()["error"].startswith(reason)
    text = client.post("/v2/models/web/infer", content=b"{", headers={"Content-Type": "application/json"})
    assert "is not JSON" in text.json()["error"]
    beyond = client.post("/v2/models/web/infer", content=b"{}", headers={HEAD_BYTES: "9"})
    assert "the body has 2 bytes" in beyond.json()["error"]
    assert client.post("/v2/models/shop/infer", json={"inputs": [_tensor()]}).status_code == 404
    assert client.post("/v2/models/web/infer", content=b" " * 200_000).status_code == 413


def test_too_little_memory_is_not_an_internal_error(client: TestClient, application: FastAPI) -> None:
    """The answer is 503, as in the protocol."""

    async def take() -> int:
        return int(np.empty(2**55)[0])

    application.router.add_api_route("/v1/memory", take, route_class_override=InferenceRoute)
    answer = client.get("/v1/memory")
    assert (answer.status_code, list(answer.json())) == (503, ["error"])
