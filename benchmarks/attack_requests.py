"""Requests that attack the memory, threads, locks and hash tables of the service."""

import itertools
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from benchmarks.http_load import JSON
from benchmarks.serving import ARROW

WIDE_FEATURES = 1_000
COLLIDING_FEATURES = 24_000
REQUEST_BYTES = 455_000
WRITERS, PARITY_SENDERS = 40, 60
PACE_SECONDS = 0.1  # between requests of an attack, each of which could block the service for seconds

Request = tuple[str, str, bytes, Mapping[str, str]]


def _post(path: str, body: bytes, media_type: str, **headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return "POST", path, body, {"Content-Type": media_type, **named}


@cache
def arrow_without_columns(_: int = 0) -> Request:
    """Return an Arrow stream of a few hundred bytes that declares a hundred million rows."""
    sink, n_rows = pa.BufferOutputStream(), 7_777
    batch = pa.RecordBatch.from_pydict({"x": np.zeros(n_rows)}).select([])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    content = bytes(sink.getvalue()).replace(struct.pack("<q", n_rows), struct.pack("<q", 10**8))
    return _post("/v1/models/web/rank", content, ARROW)


@cache
def small_tensors_of_a_wide_model(_: int = 0) -> Request:
    """Return a request with two of a thousand features for 150,000 documents, one byte per value."""
    n_documents = 150_000
    tensors = [
        {
            "name": f"f{feature}",
            "shape": [n_documents],
            "datatype": "INT8",
            "parameters": {"binary_data_size": n_documents},
        }
        for feature in range(2)
    ]
    head = json.dumps({"inputs": tensors}).encode()
    body = head + bytes(2 * n_documents)
    path, length = "/v2/models/wide/infer", str(len(head))
    return _post(path, body, "application/octet-stream", Inference_Header_Content_Length=length)


@cache
def absurd_shapes(number: int) -> Request:
    """Return a tensor without data whose shape declares no values, or far too many."""
    shapes = ([0, 2**62], [2**62, 0], [2**31, 2**31], [-1, 4], [2**63 - 1])
    tensor = {"name": "features", "shape": shapes[number % len(shapes)], "datatype": "FP32", "data": []}
    return _post("/v2/models/wide/infer", json.dumps({"inputs": [tensor]}).encode(), JSON)


def tensors(number: int) -> Request:
    """Return small tensors and absurd shapes, alternating."""
    return absurd_shapes(number // 2) if number % 2 else small_tensors_of_a_wide_model()


@cache
def colliding_names() -> list[str]:
    """Return names with the same FNV-1a hash (usual basis) modulo 65,536.

    Modulo a power of two, each hash state depends only on the previous state. Each stage keeps the blocks of
    three letters with the most common next state (A. Joux 2004, Multicollisions).
    """
    letters = np.array(
        [ord(letter) for letter in "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"], np.uint32
    )
    blocks = np.array(list(itertools.product(letters, repeat=3)), np.uint32)
    state, stages = 0xCBF29CE484222325 % 2**16, []
    for _ in range(5):
        states = np.full(len(blocks), state, np.uint32)
        for column in blocks.T:
            states = ((states ^ column) * np.uint32(0x1B3)) % 2**16
        state = int(np.bincount(states).argmax())
        stages.append([bytes(block).decode() for block in blocks[states == state].astype(np.uint8)])
    return ["".join(parts) for parts in itertools.islice(itertools.product(*stages), COLLIDING_FEATURES)]


@cache
def colliding_features(_: int = 0) -> Request:
    """Return a document that repeats the last two of the colliding features."""
    last = [f'"{name}":1' for name in colliding_names()[-2:]]
    members = ",".join(itertools.islice(itertools.cycle(last), REQUEST_BYTES // (len(last[0]) + 1)))
    body = f'{{"queries":[{{"id":"q","documents":[{{"id":"d","features":{{{members}}}}}]}}]}}'
    return _post("/v1/models/colliding/rank", body.encode(), JSON)


def parity_reports(number: int) -> Request:
    """Return a request for a parity report: half of the requests are equal, half are distinct."""
    other = f"&model_name=m{number}" if number % 2 else ""
    return "GET", f"/v1/models/web/export/parity?format=solr{other}", b"", {}


def writes(number: int) -> Request:
    """Return a write request, which waits for the database lock."""
    return _post("/v1/datasets/synthetic", json.dumps({"queries": 1, "seed": number}).encode(), JSON)


@dataclass(frozen=True)
class Attack:
    """An attack that runs during the scoring requests.

    Attributes:
        name: Name in the table.
        request: Function from a number to a request.
        n_senders: Number of concurrent senders, each with sequential requests.
        pace_seconds: Time from the start of one request of a sender to the next.
        holds_lock: Whether the benchmark holds the database's lock most of the time.
    """

    name: str
    request: Callable[[int], Request]
    n_senders: int = 1
    pace_seconds: float = PACE_SECONDS
    holds_lock: bool = False


ATTACKS = (
    Attack("Arrow stream without columns, 10⁸ rows", arrow_without_columns),
    Attack("INT8 tensors, 1,000 features; absurd shapes", tensors),
    Attack("write lock held, 40 writers", writes, WRITERS, holds_lock=True),
    Attack("60 parallel parity reports", parity_reports, PARITY_SENDERS),
    Attack("colliding feature names, 455 KB", colliding_features),
)
