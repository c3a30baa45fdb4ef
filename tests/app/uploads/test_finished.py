"""Finished uploads as files of any form."""

import base64
import hashlib
import itertools
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.store import Store
from tests.app.conftest import MAX_UPLOAD_BYTES, TestClient
from tests.app.uploads.conftest import PIECE, VERSION, create, offset_of, send
from tests.examples import examples
from tests.servers.fixtures import stored_datasets

CONTENT = b"2 qid:1 1:0.5 2:3.0 # d1\n0 qid:1 1:0.1 2:1.0 # d2\n"


def _references(**references: str) -> dict[str, Any]:
    return {field: (None, reference) for field, reference in references.items()}


def test_a_dataset_is_made_of_a_finished_upload(
    client: TestClient, store: Store, uploaded: Callable[[bytes], str]
) -> None:
    """The dataset equals that of the same file sent directly: name, source, size, checksum and bytes."""
    reference = uploaded(CONTENT)
    created = client.post("/v1/datasets", files=_references(file=reference), data={"format": "letor"})
    assert created.status_code == 202
    dataset = created.json()
    sent = client.post(
        "/v1/datasets", files={"file": ("train.txt", CONTENT)}, data={"format": "letor"}
    ).json()
    for field in ("name", "source", "size_bytes", "sha256"):
        assert dataset[field] == sent[field]
    assert dataset["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert store.artifacts.read_bytes(f"datasets/{dataset['id']}/upload") == CONTENT
    assert client.get("/v1/uploads").json() == {"items": []}
    with store.read() as tx:
        assert list(tx.trash.pending(10)) == [f"uploads/{reference.removeprefix('upload:')}"]


def test_a_form_accepts_files_and_finished_uploads_together(
    client: TestClient, uploaded: Callable[[bytes], str]
) -> None:
    """Each part of a form is a file in the request or a finished upload."""
    files: dict[str, Any] = {"train": (None, uploaded(CONTENT)), "test": ("test.txt", CONTENT)}
    created = client.post("/v1/datasets", files={**files, **_references(train_query=uploaded(b"2\n"))})
    assert created.status_code == 202
    assert set(created.json()["parts"]) == {"train", "test"}
    assert created.json()["source"]["query_sizes_filename"] == "train.txt"


def test_runs_and_models_are_made_of_a_finished_upload(
    client: TestClient, ready_dataset: Callable[[], str], uploaded: Callable[[bytes], str]
) -> None:
    """The forms of runs and models accept an upload, and a job reads it."""
    run = client.post(
        "/v1/rankings",
        files=_references(file=uploaded(b"1 Q0 d1 1 2.5 bm25\n")),
        data={"dataset_id": ready_dataset()},
    )
    assert (run.status_code, run.json()["kind"]) == (202, "import")
    model = client.post("/v1/models", files=_references(file=uploaded(b"tree\n")), data={"name": "web"})
    assert (model.status_code, model.json()["kind"]) == (202, "import-model")
    assert client.get("/v1/uploads").json() == {"items": []}


def test_an_upload_is_used_once_however_often_the_request_is_sent(
    client: TestClient, uploaded: Callable[[bytes], str]
) -> None:
    """A repetition with the same key gets the first answer; another request is refused."""
    reference, key = uploaded(CONTENT), {"Idempotency-Key": "once"}
    first, again = (
        client.post("/v1/datasets", files=_references(file=reference), headers=key) for _ in range(2)
    )
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    other = client.post("/v1/datasets", files=_references(file=reference))
    assert (other.status_code, other.json()["type"]) == (409, "/problems/wrong-state")
    path = f"/v1/uploads/{reference.removeprefix('upload:')}"
    assert client.head(path, headers=VERSION).status_code == 410
    assert send(client, path, len(CONTENT), b"").status_code == 410
    assert len(client.get("/v1/datasets").json()["items"]) == 1


def test_json_makes_the_dataset_of_a_form(
    client: TestClient, store: Store, uploaded: Callable[[bytes], str]
) -> None:
    """The options are the same, and a repeated request creates one dataset."""
    options = {"format": "csv", "repeated_features": "last", "project": "shop"}
    columns = {"label": "grade", "query": "search"}
    content = b"grade,search,bm25\n1,a,0.5\n0,a,0.1\n"
    sent = client.post(
        "/v1/datasets",
        files={"file": ("train.txt", content)},
        data={**options, "columns": json.dumps(columns)},
    ).json()
    reference, key = uploaded(content), {"Idempotency-Key": "once"}
    body = {"source": reference, "columns": columns, **options}
    first, again = (client.post("/v1/datasets", json=body, headers=key) for _ in range(2))
    assert (first.status_code, again.json()) == (202, first.json())
    for field in ("name", "source", "size_bytes", "sha256", "project"):
        assert first.json()[field] == sent[field]
    assert store.artifacts.read_bytes(f"datasets/{first.json()['id']}/upload") == content
    assert client.post("/v1/datasets", json=body).json()["type"] == "/problems/wrong-state"


@pytest.mark.both_stores
def test_simultaneous_requests_use_an_upload_once(
    client: TestClient, uploaded: Callable[[bytes], str]
) -> None:
    """Requests with one idempotency key all get the answer of the request that used the upload."""
    body, key = {"source": uploaded(CONTENT)}, {"Idempotency-Key": "once"}

    def create(_: int) -> Any:
        return client.post("/v1/datasets", json=body, headers=key)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(create, range(4)))
    assert {answer.status_code for answer in answers} == {202}, [answer.text for answer in answers]
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_json_makes_parts_of_uploads(client: TestClient, uploaded: Callable[[bytes], str]) -> None:
    """Each part is a dataset, and each lists all parts."""
    parts = {part: uploaded(CONTENT) for part in ("test", "train")}
    created = client.post("/v1/datasets", json={"name": "may", "parts": parts})
    assert created.status_code == 202, created.text
    assert (created.json()["name"], list(created.json()["parts"])) == ("may train", ["train", "test"])


INVALID_JSON: dict[str, tuple[dict[str, Any], str, str]] = {
    "no id": ({"source": "upload:"}, "/source", "must be upload:upl_"),
    "unknown": ({"source": "upload:upl_00000000000000000000"}, "/source", "there is no upload"),
    "unknown part": (
        {"parts": {"test": "upload:upl_00000000000000000000"}},
        "/parts/test",
        "there is no upload",
    ),
    "several": ({"source": ["upload:upl_00000000000000000000"] * 2}, "/source", "must be a single upload"),
    "beside an address": (
        {"parts": {"train": "upload:upl_00000000000000000000", "test": "hf:org/name/test.csv"}},
        "/parts/test",
        "must be upload:upl_",
    ),
    "files": (
        {"source": "upload:upl_00000000000000000000", "files": "*.csv"},
        "/files",
        "can only be used with URLs",
    ),
}


@pytest.mark.parametrize("case", INVALID_JSON)
def test_mistakes_in_json_are_reported_with_their_pointer(
    client: TestClient, store: Store, case: str
) -> None:
    """No dataset is created."""
    body, pointer, detail = INVALID_JSON[case]
    response = client.post("/v1/datasets", json=body)
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == pointer
    assert detail in error["detail"]
    assert not any(key.startswith("datasets/") for key, _ in store.artifacts.files())


# Value of the form's field, and detail of the error
INVALID_REFERENCES = {
    "unknown": ("upload:upl_00000000000000000000", "there is no upload"),
    "no id": ("upload:", "name a finished upload"),
    "an address": ("https://example.org/train.txt", "send it as a file"),
    "much text": ("upload:upl_" + "0" * 500, "name a finished upload"),
}


@pytest.mark.parametrize("case", INVALID_REFERENCES)
def test_a_reference_without_an_upload_is_refused(client: TestClient, case: str) -> None:
    """The error points at the field of the form."""
    reference, detail = INVALID_REFERENCES[case]
    response = client.post("/v1/datasets", files=_references(train=reference))
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == "/train"
    assert detail in error["detail"]


def test_a_refused_form_leaves_the_upload(
    client: TestClient, store: Store, uploaded: Callable[[bytes], str]
) -> None:
    """Another mistake in the form neither uses up the upload nor leaves a copy."""
    reference = uploaded(CONTENT)
    wrong = client.post("/v1/datasets", files=_references(file=reference), data={"columns": "{"})
    assert wrong.status_code == 422
    assert not any(key.startswith("datasets/") for key, _ in store.artifacts.files())
    assert client.post("/v1/datasets", files=_references(file=reference)).status_code == 202


def test_an_unfinished_upload_is_refused_as_a_file(client: TestClient) -> None:
    """An incomplete upload, one without a known length and an empty one are refused."""
    part = create(client, len(CONTENT))
    send(client, part, 0, CONTENT[:9])
    deferred = client.post("/v1/uploads", headers={**VERSION, "Upload-Defer-Length": "1"})
    empty = create(client, 0)
    for path, detail in (
        (part, "is not complete: 9 of 50 bytes have arrived"),
        (deferred.headers["location"], "is not complete: 0 of ? bytes have arrived"),
        (empty, "is empty"),
    ):
        reference = f"upload:{path.rpartition('/')[2]}"
        response = client.post("/v1/datasets", files=_references(file=reference))
        assert response.status_code == 422
        assert response.json()["errors"] == [{"pointer": "/file", "detail": detail}]


def test_bytes_of_uploads_count_for_the_quota(client: TestClient, store: Store) -> None:
    """Open uploads count like stored bytes, and a dataset made from one is counted once."""
    with store.begin() as tx:
        _, secret = tx.api_keys.create("ours", ["write"], max_stored_bytes=60)
    key = {"Authorization": f"Bearer {secret}"}
    created = client.post("/v1/uploads", headers={**VERSION, **key, "Upload-Length": "50"})
    assert created.status_code == 201
    more = client.post("/v1/uploads", headers={**VERSION, **key, "Upload-Length": "11"})
    assert (more.status_code, more.json()["type"]) == (409, "/problems/quota-exceeded")
    path = created.headers["location"]
    assert send(client, path, 0, CONTENT, key).status_code == 204
    reference = f"upload:{path.rpartition('/')[2]}"
    dataset = client.post("/v1/datasets", files=_references(file=reference), headers=key)
    assert dataset.status_code == 202


@pytest.mark.parametrize("with_checksum", [False, True])
def test_an_upload_of_deferred_length_ends_at_the_quota(
    client: TestClient, store: Store, with_checksum: bool
) -> None:
    """A piece that exceeds the quota is refused and removed; pieces within it stay."""
    with store.begin() as tx:
        _, secret = tx.api_keys.create("ours", ["write"], max_stored_bytes=60)
    key = {"Authorization": f"Bearer {secret}"}
    path = client.post("/v1/uploads", headers={**VERSION, **key, "Upload-Defer-Length": "1"}).headers[
        "location"
    ]
    stored = 0
    for size, status in ((61, 409), (40, 204), (21, 409), (20, 204), (1, 409)):
        piece = bytes(size)
        digest = base64.b64encode(hashlib.sha256(piece).digest()).decode()
        checksum = {"Upload-Checksum": f"sha256 {digest}"} if with_checksum else {}
        sent = send(client, path, stored, piece, {**key, **checksum})
        assert sent.status_code == status, sent.text
        stored += size if status == 204 else 0
        (upload,) = client.get("/v1/uploads", headers=key).json()["items"]
        assert upload["received_bytes"] == stored
    assert len(list(store.artifacts.files())) == 2
    declared = send(client, path, stored, b"", {**key, "Upload-Length": "61"})
    assert (declared.status_code, declared.json()["type"]) == (409, "/problems/quota-exceeded")


@pytest.mark.long
@hypothesis.settings(
    max_examples=examples(40), suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@given(st.binary(min_size=1, max_size=3_000), st.data())
def test_refused_pieces_do_not_change_an_upload(
    client: TestClient, store: Store, content: bytes, data: Any
) -> None:
    """The file is whole after pieces at a wrong offset, too long ones and ones with a wrong checksum."""
    path, stored = create(client, len(content)), 0
    for _ in range(data.draw(st.integers(1, 8), "requests")):
        start = data.draw(st.sampled_from([stored, stored, stored, 0, stored + 1]), "offset")
        size = data.draw(st.integers(0, len(content) - stored), "bytes")
        piece = content[stored : stored + size]
        kind = data.draw(st.sampled_from(["whole", "chunks", "wrong checksum", "too long"]), "kind")
        headers = {**PIECE, "Upload-Offset": str(start)}
        body: Any = piece
        if kind == "chunks":
            cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=4), "cuts"))
            edges = [0, *cuts, size]
            body = iter([piece[a:b] for a, b in itertools.pairwise(edges)])
        elif kind == "wrong checksum":
            headers["Upload-Checksum"] = "sha1 YQ=="
        elif kind == "too long":
            body = piece + bytes(len(content) - stored - size + 1)
        response = client.patch(path, content=body, headers=headers)
        good = start == stored and kind in ("whole", "chunks")
        assert (response.status_code == 204) == good
        stored += size if good else 0
        assert offset_of(client, path) == stored
    assert send(client, path, stored, content[stored:]).status_code == 204
    reference = f"upload:{path.rpartition('/')[2]}"
    created = client.post("/v1/datasets", files=_references(file=reference))
    assert created.status_code == 202
    assert created.json()["sha256"] == hashlib.sha256(content).hexdigest()
    assert store.artifacts.read_bytes(f"datasets/{created.json()['id']}/upload") == content


def test_the_maximum_size_limits_the_sum_of_uploads_and_files(
    client: TestClient, settings: Any, uploaded: Callable[[bytes], str]
) -> None:
    """Two files that fit alone are refused if they do not fit together, and nothing remains."""
    large = bytes(MAX_UPLOAD_BYTES // 2 + 1)
    files: dict[str, Any] = {"train": (None, uploaded(large)), "test": ("test.txt", large)}
    assert client.post("/v1/datasets", files=files).status_code == 413
    assert stored_datasets(settings.storage_url) == set()
