"""One rule for numbers, whatever the form of the request."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.scoring.tables import MEDIA_TYPE
from app.scoring.tensors import HEAD_BYTES
from core.store import Model
from tests.app.conftest import FEATURE_NAMES, TestClient
from tests.app.scoring.conftest import arrow_stream, rank_stream

JSON = {"Content-Type": "application/json"}
RANK, INFER = "/v1/models/web/rank", "/v2/models/web/infer"
LARGEST = np.finfo(np.float32).max
# Half a step above float32's largest is a tie that goes to even, which is infinity.
TIE = (2 - 2.0**-24) * 2.0**127
SPELLINGS = {
    "3.402823469788112e+38": True,
    repr(float(LARGEST)): True,
    repr(float(np.nextafter(TIE, 0))): True,
    repr(-float(np.nextafter(TIE, 0))): True,
    repr(TIE): False,
    repr(-TIE): False,
    "1e39": False,
    "1e308": False,
    f"0.{'0' * 1500}1e1501": True,
    f"0.{'0' * 1500}5e1500": True,
    "1e-400": True,
    "5e-324": True,
    "-0": True,
    "0.44999999999999999999999999999999": True,
    "340282356779733623858607532500980858880": True,
    "340282356779733661637539395458142568447": False,
    "340282356779733661637539395458142568448": False,
    "9007199791611905": True,
}


def _responses(client: TestClient, spelling: str) -> Iterator[tuple[str, Any]]:
    """Send the number in each form that can hold it."""
    number = float(spelling)
    for form, features in {
        "array": f'"features":[{spelling},null,null]',
        "object": f'"features":{{"bm25":{spelling}}}',
        "unusual array": f'"\\u0066eatures":[{spelling},null,null]',
        "unusual object": f'"\\u0066eatures":{{"bm25":{spelling}}}',
    }.items():
        body = f'{{"queries":[{{"id":"q","documents":[{{"id":"d",{features}}}]}}]}}'
        yield form, client.post(RANK, content=body.encode(), headers=JSON)
    table = pa.table({"bm25": pa.array([number], pa.float64())})
    yield "table", rank_stream(client, arrow_stream(table))
    if spelling.isdecimal() and len(spelling) < 19:
        whole = pa.table({"bm25": pa.array([int(spelling)], pa.int64())})
        yield "table of int64", rank_stream(client, arrow_stream(whole))
    for form, data in {"tensor": spelling, "unusual tensor": f"[{spelling}]"}.items():
        for datatype in ("FP32", "FP64"):
            tensor = f'{{"name":"bm25","shape":[1],"datatype":"{datatype}","data":[{data}]}}'
            yield f"{form} of {datatype}", client.post(INFER, content=f'{{"inputs":[{tensor}]}}'.encode())
    size = {"binary_data_size": 8}
    binary = {"name": "bm25", "shape": [1], "datatype": "FP64", "parameters": size}
    head = json.dumps({"inputs": [binary]}).encode()
    content = head + np.array([number], "<f8").tobytes()
    yield "binary tensor", client.post(INFER, content=content, headers={HEAD_BYTES: str(len(head))})


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_means_the_same_in_every_form(
    client: TestClient, add_model: Callable[[str], Model], spelling: str
) -> None:
    """A number within the range of float32 is accepted and scored as its float32 value."""
    add_model("web")
    scores = {}
    for form, response in _responses(client, spelling):
        assert (response.status_code == 200) == SPELLINGS[spelling], (form, response.text)
        if SPELLINGS[spelling]:
            scores[form] = _score(response)
        else:
            assert "beyond the range of float32" in response.text, form
    assert len(set(scores.values())) <= 1, scores


def _score(response: Any) -> float:
    if response.headers["content-type"] == MEDIA_TYPE:
        return float(pa.ipc.open_stream(response.content).read_all()["score"][0].as_py())
    answer = response.json()
    if "outputs" in answer:
        return float(answer["outputs"][0]["data"][0])
    return float(answer["queries"][0]["ranking"][0]["score"])


def test_the_model_distinguishes_the_numbers(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Different numbers have different scores; otherwise, equal scores would prove nothing."""
    assert FEATURE_NAMES[0] == "bm25"
    add_model("web")
    assert len({_score(next(_responses(client, text))[1]) for text in ("0", "0.45", "1")}) == 3
