"""The log of a sample of the scored requests."""

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.scoring import sample_writer, samples
from app.scoring.sample_writer import SampleWriter
from app.scoring.tensors import HEAD_BYTES
from app.settings import ApiSettings
from core.errors import StoreUnavailable
from core.store import Model, Store
from core.store.artifacts.keys import samples_folder, samples_key
from core.store.tables import ScoreSamples
from tests.app.conftest import TestClient
from tests.app.scoring.conftest import arrow_stream, rank_stream

BODY = {
    "queries": [
        {"id": "q", "documents": [{"id": "a", "features": {"bm25": 0.5}}, {"id": "b", "features": {}}]}
    ]
}


@pytest.fixture
def share() -> float:
    """Share of the requests that is kept, by default all."""
    return 1.0


@pytest.fixture
def max_bytes() -> int:
    """Limit of the log's size, by default more than the tests write."""
    return 2**20


@pytest.fixture
def settings(settings: ApiSettings, share: float, max_bytes: int) -> ApiSettings:
    """Settings that keep a share of the requests, up to a number of bytes."""
    return settings.model_copy(update={"score_log_share": share, "score_log_bytes": max_bytes})


def read_log(client: TestClient, settings: ApiSettings) -> list[dict[str, Any]]:
    """Return the lines of the file."""
    client.__exit__(None, None, None)
    (file,) = (settings.data_dir / "scored").iterdir()
    client.__enter__()
    return [json.loads(line) for line in file.read_text().splitlines()]


def rank_table(client: TestClient, **columns: Any) -> None:
    """Rank the rows of a table."""
    assert rank_stream(client, arrow_stream(pa.table(columns))).status_code == 200


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("max_bytes", [2_000])
def test_scored_features_are_logged_up_to_the_size_limit(
    client: TestClient, settings: ApiSettings, add_model: Callable[[str], Model]
) -> None:
    """Lines have features, scores and the model, up to the size limit; with share 0, nothing is written."""
    model = add_model("web")
    answers = []
    for number in range(30):
        headers = {"X-Request-ID": f"r{number}"}
        answers.append(client.post("/v1/models/web/rank", json=BODY, headers=headers).json())
    folder = settings.data_dir / "scored"
    client.__exit__(None, None, None)
    if not settings.score_log_share:
        assert not folder.exists()
        return
    files: list[Path] = sorted(folder.iterdir())
    assert sum(file.stat().st_size for file in files) <= 2_000
    last = json.loads(files[0].read_text().splitlines()[-1])
    assert last["request_id"] == "r29"
    assert last["model"] == {"id": model.id, "name": "web", "version": 1}
    (query,) = last["queries"]
    assert [document["features"] for document in query["documents"]] == [[0.5, None, None], [None] * 3]
    ranked = {document["id"]: document["score"] for document in answers[-1]["queries"][0]["ranking"]}
    assert {document["id"]: document["score"] for document in query["documents"]} == ranked
    client.__enter__()


def test_tables_and_tensors_are_kept_as_json_is(
    client: TestClient, settings: ApiSettings, add_model: Callable[[str], Model]
) -> None:
    """All forms of one request give equal features and scores; tensors and some tables have no ids."""
    add_model("web")
    columns = {"bm25": [0.5, None, 0.25], "age/days": [1, 2, 3]}
    matrix = [[0.5, None, 1.0], [None, None, 2.0], [0.25, None, 3.0]]
    rank_table(client, query_id=[7, 7, 8], document_id=["a", "b", "a"], **columns)
    rank_table(client, **columns)
    flat = [value for row in matrix for value in row]
    tensor = {"name": "x", "shape": [3, 3], "datatype": "FP64", "data": flat}
    assert client.post("/v2/models/web/infer", json={"inputs": [tensor]}).status_code == 200
    content = np.array(flat, "<f4").tobytes()
    del tensor["data"]
    binary = {**tensor, "datatype": "FP32", "parameters": {"binary_data_size": len(content)}}
    head = json.dumps({"inputs": [binary]}).encode()
    sent = client.post("/v2/models/web/infer", content=head + content, headers={HEAD_BYTES: str(len(head))})
    assert sent.status_code == 200
    lines = read_log(client, settings)
    assert [
        [(query["id"], [document["id"] for document in query["documents"]]) for query in line["queries"]]
        for line in lines
    ] == [[("7", ["a", "b"]), ("8", ["a"])]] + [[(None, [None] * 3)]] * 3
    for line in lines:
        documents = [document for query in line["queries"] for document in query["documents"]]
        assert [document["features"] for document in documents] == matrix
        assert [document["score"] for document in documents] == [
            document["score"] for query in lines[0]["queries"] for document in query["documents"]
        ]


def test_documents_of_large_requests_are_drawn(
    client: TestClient,
    settings: ApiSettings,
    add_model: Callable[[str], Model],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only sampled documents are written, to save time; the line has the number of all documents."""
    add_model("web")
    monkeypatch.setattr(samples, "MAX_VALUES", 12)
    queries = [f"q{row // 2}" for row in range(40)]
    rank_table(client, query_id=queries, document_id=list(range(40)), bm25=np.arange(40) / 64)
    (line,) = read_log(client, settings)
    assert line["scored_documents"] == 40
    documents = [(query["id"], document) for query in line["queries"] for document in query["documents"]]
    assert len(documents) == 12 // 3
    for query_id, document in documents:
        assert document["features"][0] == int(document["id"]) / 64
        assert query_id == queries[int(document["id"])]


def test_a_full_chunk_waits_while_the_database_is_unavailable(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunk is written again after an interval, not immediately; a failed write leaves no artifact."""
    monkeypatch.setattr(sample_writer, "CHUNK_BYTES", 100)
    failed, begin = threading.Event(), store.begin
    tries: list[float] = []

    def refuse() -> Any:
        tries.append(time.monotonic())
        failed.set()
        raise StoreUnavailable("the database is away")

    monkeypatch.setattr(store, "begin", refuse)
    writer = SampleWriter(store, 2**20, 3600)
    writer.start()
    record = {"msg": "x" * 150, "model_name": "web", "created": time.time()}
    writer.emit(logging.makeLogRecord(record))
    assert failed.wait(60)
    writer.emit(logging.makeLogRecord({**record, "msg": "y"}))
    monkeypatch.setattr(store, "begin", begin)
    writer.close()
    assert len(tries) == 1
    with store.read() as tx:
        now = datetime.now(UTC)
        (sample,) = tx.drift.samples_between(now - timedelta(days=1), now + timedelta(days=1), "web")
    assert sample.requests == 2
    assert {key.split("/")[1] for key, _ in store.artifacts.sizes() if key.startswith("scored/")} == {
        sample.id
    }


def test_stored_requests_outlast_a_failed_removal_of_older_ones(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An oldest artifact that cannot be removed is left to a sweep; the newest stays."""
    now, delete = datetime.now(UTC), store.artifacts.delete

    def newest() -> ScoreSamples:
        with store.read() as tx:
            return tx.drift.samples_between(now - timedelta(days=1), now + timedelta(days=1), "web")[0]

    def write(minute: int) -> None:
        writer = SampleWriter(store, 200, 3600)
        writer.start()
        created = (now + timedelta(minutes=minute)).timestamp()
        record = {"msg": secrets.token_hex(80), "model_name": "web", "created": created}
        writer.emit(logging.makeLogRecord(record))
        writer.close()

    write(0)
    oldest = samples_folder(newest().id)

    def refuse(folder: str) -> None:
        if folder == oldest:
            raise StoreUnavailable("the storage is away")
        delete(folder)

    monkeypatch.setattr(store.artifacts, "delete", refuse)
    write(1)
    assert newest().last_at > now + timedelta(seconds=1)
    assert store.artifacts.exists(samples_key(newest().id))
    with store.read() as tx:
        assert tx.trash.pending(10) == [oldest]
