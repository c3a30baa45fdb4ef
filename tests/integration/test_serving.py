"""Models in use: clients of other servers, and an alias that moves while it serves requests."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput
from tritonclient.utils import InferenceServerException

from core.scoring import Forest
from core.types import Float32Array
from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack
from tests.integration.requests import train_job

REQUESTS_A_SECOND = 50
SECONDS = 6
SENDERS = 4


@pytest.fixture
def triton(stack: EmbeddedStack) -> Iterator[InferenceServerClient]:
    """NVIDIA's client, as published on PyPI."""
    with InferenceServerClient(urlsplit(stack.url).netloc) as triton:
        yield triton


@pytest.fixture
def forest(stack: EmbeddedStack, trained: Job) -> Forest:
    """The exported model."""
    return Forest.parse(httpx.get(f"{stack.url}/v1/models/shared/export?format=lightgbm", timeout=60).text)


def _documents(forest: Forest) -> Float32Array:
    documents = np.random.default_rng(0).normal(size=(20, forest.n_features)).astype(np.float32)
    documents[::5, 1] = np.nan
    return documents


def test_tritons_client_works_unchanged(triton: InferenceServerClient, forest: Forest, trained: Job) -> None:
    """The client gets readiness, metadata, and scores with tensors as bytes or as JSON."""
    documents, model = _documents(forest), trained.made("model_id")
    assert triton.is_server_live()
    assert triton.is_server_ready()
    assert triton.get_server_metadata()["name"] == "rankery"
    assert triton.is_model_ready("shared")
    assert not triton.is_model_ready("unknown")
    metadata = triton.get_model_metadata(model)
    (described,) = metadata["inputs"]
    assert described == {"name": "features", "datatype": "FP32", "shape": [-1, forest.n_features]}
    for binary in (True, False):
        tensor = InferInput("features", list(documents.shape), "FP32")
        tensor_data = (
            documents if binary else np.nan_to_num(documents)
        )  # the client writes NaN, which is not JSON
        tensor.set_data_from_numpy(tensor_data, binary_data=binary)
        outputs = [InferRequestedOutput("predict", binary_data=binary)]
        response = triton.infer("shared", [tensor], model_version=metadata["versions"][0], outputs=outputs)
        np.testing.assert_array_equal(response.as_numpy("predict"), forest.score(tensor_data))
    narrow = InferInput("features", [1, 2], "FP32")
    narrow.set_data_from_numpy(documents[:1, :2])
    with pytest.raises(InferenceServerException, match="the model has"):
        triton.infer("shared", [narrow])


def test_requests_succeed_while_an_alias_moves(
    client: Client, stack: EmbeddedStack, datasets: dict[str, str]
) -> None:
    """No request fails, no third version answers, and the last move takes effect within a second."""
    for iterations in (2, 5, 8):
        client.submit(train_job(datasets, model_name="moving", num_iterations=iterations)).wait(
            timeout_seconds=200
        )
    url = f"{stack.url}/v1/models/moving"
    names = client.model("moving").feature_names
    documents = [{"id": str(i), "features": [i / 10] * len(names)} for i in range(5)]
    body = {"queries": [{"id": "q", "documents": documents}]}
    expected = {
        version: httpx.post(f"{url}:{version}/rank", json=body).json()["queries"] for version in (1, 2, 3)
    }
    assert len({str(scores) for scores in expected.values()}) == 3

    client.set_alias("moving", "live", 1)
    answers: list[tuple[float, int, Any]] = []
    moves: list[tuple[float, int]] = []
    threads = [
        threading.Thread(target=_send_requests, args=(f"{url}@live/rank", body, number, answers.append))
        for number in range(SENDERS)
    ]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    while (
        time.monotonic() - began < SECONDS - 2
    ):  # requests continue for more than a second after the last move
        version = 2 if len(moves) % 2 == 0 else 1
        client.set_alias("moving", "live", version)
        moves.append((time.monotonic(), version))
        time.sleep(0.4)
    for thread in threads:
        thread.join()
    assert len(answers) == REQUESTS_A_SECOND * SECONDS
    for _, status, answer in answers:
        assert status == 200, answer
        version = answer["model"]["version"]
        assert version in (1, 2)
        assert answer["queries"] == expected[version]
    assert {answer["model"]["version"] for _, _, answer in answers} == {1, 2}
    moved_at, last = moves[-1]
    late = [answer for sent_at, _, answer in answers if sent_at > moved_at + 1.0]
    assert {answer["model"]["version"] for answer in late} == {last}


def _send_requests(url: str, body: Any, sender: int, take: Callable[[tuple[float, int, Any]], None]) -> None:
    """Send the requests of one sender at a fixed rate."""
    began = time.monotonic()
    with httpx.Client() as connection:
        for number in range(sender, REQUESTS_A_SECOND * SECONDS, SENDERS):
            time.sleep(max(0.0, began + number / REQUESTS_A_SECOND - time.monotonic()))
            sent_at = time.monotonic()
            answer = connection.post(url, json=body)
            take((sent_at, answer.status_code, answer.json()))
