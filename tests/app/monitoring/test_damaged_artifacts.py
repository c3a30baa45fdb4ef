"""Damaged artifacts: they are never used, and answers name them."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from app.monitoring.routes import readiness_response
from app.scoring.readiness import ReadinessResult
from core.data import dataset_statistics, synthetic_dataset, write_parquet
from core.data.query_index import write_query_index
from core.doctor import examine
from core.store import Model, Store
from core.store.artifacts.keys import features_key, model_key, queries_key
from tests.app.conftest import Answer, TestClient

DATASET = synthetic_dataset(20, seed=1, documents_per_query=5, n_features=3)
DATA_KEY = "data/x/data.parquet"
PAYLOAD = {"queries": [{"id": "q", "documents": [{"id": "d", "features": {"bm25": 0.7}}]}]}
PATHS = {
    DATA_KEY: "/v1/datasets/{}/queries/{}",
    queries_key(DATA_KEY): "/v1/datasets/{}/queries",
    features_key(DATA_KEY): "/v1/datasets/{}/features",
}


@pytest.fixture
def dataset_id(store: Store) -> str:
    """A dataset stored as by a worker of the previous release, without checksums."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "upload", "filename": "x", "format": "letor"})
        statistics = dataset_statistics(DATASET)
        tx.datasets.mark_ready(dataset.id, statistics=statistics, digest="d" * 64, data_key=DATA_KEY)
    with store.artifacts.writing(DATA_KEY) as file:
        write_parquet(DATASET, file)
    with store.artifacts.writing(queries_key(DATA_KEY)) as file:
        write_query_index(DATASET, file)
    profiles = json.dumps([asdict(profile) for profile in examine(DATASET).features])
    store.artifacts.write_bytes(features_key(DATA_KEY), profiles.encode())
    return dataset.id


def alter(store: Store, key: str, place: int | None = None) -> bytes:
    """Alter one byte of an artifact, by default in the middle; return the original content."""
    content = store.artifacts.read_bytes(key)
    place = len(content) // 2 if place is None else place
    store.artifacts.write_bytes(key, content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    return content


def damaged_key(response: Answer) -> str:
    """Return the key of the damaged artifact that a problem names."""
    problem = response.json()
    assert (response.status_code, problem["type"]) == (500, "/problems/artifact-damaged"), problem
    return str(problem["detail"].removeprefix("the stored artifact ").partition(" is damaged: ")[0])


def leaf_digit_position(store: Store, key: str) -> int:
    """Return the position of a digit in a leaf value; changing it gives a valid model of other scores."""
    text = store.artifacts.read_bytes(key)
    place = text.index(b"leaf_value=") + len(b"leaf_value=")
    return next(i for i in range(place, len(text)) if text[i : i + 1].isdigit())


REQUESTS: dict[str, Callable[[TestClient], Any]] = {
    "rank": lambda client: client.post("/v1/models/web/rank", json=PAYLOAD),
    "explain": lambda client: client.post("/v1/models/web/rank", json=PAYLOAD | {"explain": True}),
    "export": lambda client: client.get("/v1/models/web/export?format=lightgbm"),
    "trees": lambda client: client.get("/v1/models/web/trees/0"),
}


@pytest.mark.long
@pytest.mark.parametrize("request_name", REQUESTS)
def test_scores_never_change_silently(
    client: TestClient, store: Store, add_model: Callable[[str], Model], request_name: str
) -> None:
    """A model with one altered digit is refused and named, and accepted when its bytes are restored."""
    key = model_key(add_model("web").id)
    good = alter(store, key, leaf_digit_position(store, key))
    assert damaged_key(REQUESTS[request_name](client)) == key
    assert f"damaged artifacts: {key}" in client.get("/readyz").json()["detail"]
    store.artifacts.write_bytes(key, good)
    assert REQUESTS[request_name](client).status_code == 200
    assert client.get("/readyz?for=scoring").json()["damaged_artifacts"] == []


def test_a_model_without_its_text_is_reported_as_damaged(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """The model is on record, so the answer is not a 404."""
    key = model_key(add_model("web").id)
    store.artifacts.delete(key)
    assert damaged_key(client.post("/v1/models/web/rank", json=PAYLOAD)) == key


def test_a_good_copy_in_memory_is_still_used(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """Verified bytes in memory are used without reading the artifact again."""
    key = model_key(add_model("web").id)
    before = client.post("/v1/models/web/rank", json=PAYLOAD).json()
    alter(store, key, leaf_digit_position(store, key))
    assert client.post("/v1/models/web/rank", json=PAYLOAD).json() == before


def test_damage_keeps_the_service_ready() -> None:
    """Every replica has the same storage, so the service stays ready; the answer names the keys."""
    response = readiness_response(ReadinessResult({"database": None}, damaged=("models/mdl_1/model.txt",)))
    assert response.status_code == 200
    assert json.loads(bytes(response.body))["damaged_artifacts"] == ["models/mdl_1/model.txt"]


@pytest.mark.parametrize("key", PATHS)
def test_an_altered_file_of_a_dataset_is_not_shown(
    client: TestClient, store: Store, dataset_id: str, key: str
) -> None:
    """An altered file is refused, except the query index, which is in memory; the others are shown."""
    paths = {name: path.format(dataset_id, DATASET.query_ids[3]) for name, path in PATHS.items()}
    for path in paths.values():
        assert client.get(path).status_code == 200
    alter(store, key)
    # The query index is in memory by then, and valid.
    expected = 200 if key == queries_key(DATA_KEY) else 500
    assert client.get(paths[key]).status_code == expected
    for other in paths.keys() - {key}:
        assert client.get(paths[other]).status_code == 200


@pytest.mark.long
@pytest.mark.parametrize("key", PATHS)
@pytest.mark.parametrize("content", [b"", b"no such format", bytes(4096)], ids=["empty", "text", "zeros"])
def test_an_unreadable_file_without_a_checksum_is_damaged(
    client: TestClient, store: Store, dataset_id: str, key: str, content: bytes
) -> None:
    """Artifacts of an earlier release have no checksums, and are damaged if they cannot be read."""
    store.artifacts.write_bytes(key, content)
    response = client.get(PATHS[key].format(dataset_id, DATASET.query_ids[3]))
    assert damaged_key(response) == key
    with store.read() as tx:
        assert tx.artifacts.damaged(9) == [key]
