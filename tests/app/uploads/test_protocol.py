"""The tus protocol: statuses and headers of its specification."""

import asyncio
import base64
import errno
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from fastapi import FastAPI

from app import ApiSettings
from app.http.headers import MAX_HEADERS, MAX_TARGET_BYTES
from app.http.services import Services, registered
from app.uploads.resumable import PieceWriter, receive_piece
from core.errors import UploadTakenOver
from core.store import Store
from core.store.clock import utc_now
from tests.app.conftest import MAX_UPLOAD_BYTES, TestClient
from tests.app.http.conftest import eventually, waits_for_a_lock
from tests.app.uploads.conftest import PIECE, VERSION, create, offset_of, send

CONTENT = b"2 qid:1 1:0.5 2:3.0 # d1\n0 qid:1 1:0.1 2:1.0 # d2\n"
SIZE = str(len(CONTENT))


def _checksum(algorithm: str, content: bytes) -> str:
    return f"{algorithm} {base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


def test_the_protocol_describes_itself(client: TestClient) -> None:
    """OPTIONS needs no version, and names versions, extensions, algorithms and the largest file."""
    response = client.options("/v1/uploads")
    assert response.status_code == 204
    assert response.headers["tus-version"] == response.headers["tus-resumable"] == "1.0.0"
    assert response.headers["tus-max-size"] == str(MAX_UPLOAD_BYTES)
    assert response.headers["tus-checksum-algorithm"] == "sha1,sha256"
    assert set(response.headers["tus-extension"].split(",")) == {
        *("creation", "creation-with-upload", "creation-defer-length"),
        *("expiration", "checksum", "termination"),
    }


# Method, whether of an existing upload, headers, body, status
REFUSED: dict[str, tuple[str, bool, dict[str, str], bytes, int]] = {
    "create without version": ("POST", False, {"Upload-Length": "1"}, b"", 412),
    "create of another version": ("POST", False, {"Tus-Resumable": "0.2.2", "Upload-Length": "1"}, b"", 412),
    "ask without version": ("HEAD", True, {}, b"", 412),
    "send without version": ("PATCH", True, {**PIECE, "Tus-Resumable": "", "Upload-Offset": "0"}, b"a", 412),
    "delete without version": ("DELETE", True, {}, b"", 412),
    "no length": ("POST", False, VERSION, b"", 400),
    "length no number": ("POST", False, {**VERSION, "Upload-Length": "1e3"}, b"", 400),
    "length negative": ("POST", False, {**VERSION, "Upload-Length": "-1"}, b"", 400),
    "length too large": ("POST", False, {**VERSION, "Upload-Length": str(MAX_UPLOAD_BYTES + 1)}, b"", 413),
    "length endless": ("POST", False, {**VERSION, "Upload-Length": "9" * 40}, b"", 400),
    "deferred by 2": ("POST", False, {**VERSION, "Upload-Defer-Length": "2"}, b"", 400),
    "length and deferred": (
        *("POST", False, {**VERSION, "Upload-Length": "1", "Upload-Defer-Length": "1"}, b"", 400),
    ),
    "concatenation": ("POST", False, {**VERSION, "Upload-Length": "1", "Upload-Concat": "partial"}, b"", 400),
    "metadata not base64": (
        *("POST", False, {**VERSION, "Upload-Length": "1", "Upload-Metadata": "filename t.txt"}, b"", 400),
    ),
    "metadata twice": (
        *("POST", False, {**VERSION, "Upload-Length": "1", "Upload-Metadata": "a YQ==,a YQ=="}, b"", 400),
    ),
    "metadata without key": (
        *("POST", False, {**VERSION, "Upload-Length": "1", "Upload-Metadata": "a YQ==,"}, b"", 400),
    ),
    "first piece of another type": (
        *("POST", False, {**VERSION, "Upload-Length": "1", "Content-Type": "text/plain"}, b"a", 415),
    ),
    "first piece too large": ("POST", False, {**PIECE, "Upload-Length": "1"}, b"ab", 413),
    "piece of another type": (
        *("PATCH", True, {**VERSION, "Content-Type": "text/plain", "Upload-Offset": "0"}, b"a", 415),
    ),
    "piece of no type": ("PATCH", True, {**VERSION, "Upload-Offset": "0"}, b"a", 415),
    "no offset": ("PATCH", True, PIECE, b"a", 400),
    "offset no number": ("PATCH", True, {**PIECE, "Upload-Offset": "x"}, b"a", 400),
    "offset ahead": ("PATCH", True, {**PIECE, "Upload-Offset": "1"}, b"a", 409),
    "beyond the length": ("PATCH", True, {**PIECE, "Upload-Offset": "0"}, CONTENT + b"1", 413),
    "another length": ("PATCH", True, {**PIECE, "Upload-Offset": "0", "Upload-Length": "1"}, b"a", 400),
    "checksum of another algorithm": (
        *("PATCH", True, {**PIECE, "Upload-Offset": "0", "Upload-Checksum": "md5 YQ=="}, b"a", 400),
    ),
    "checksum not base64": (
        *("PATCH", True, {**PIECE, "Upload-Offset": "0", "Upload-Checksum": "sha1 ?"}, b"a", 400),
    ),
    "checksum wrong": (
        *("PATCH", True, {**PIECE, "Upload-Offset": "0", "Upload-Checksum": _checksum("sha1", b"b")}, b"a"),
        460,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_invalid_request_is_refused_and_changes_nothing(
    client: TestClient, store: Store, case: str
) -> None:
    """Each mistake has the status of the specification, names the version, and changes nothing."""
    method, is_of_upload, headers, body, status = REFUSED[case]
    path = create(client, len(CONTENT)) if is_of_upload else "/v1/uploads"
    response = client.request(method, path, headers=headers, content=body)
    assert response.status_code == status
    assert response.headers["tus-resumable"] == "1.0.0"
    if status == 412:
        assert response.headers["tus-version"] == "1.0.0"
    if method != "HEAD":
        assert response.json()["status"] == status
        assert response.headers["content-type"] == "application/problem+json"
    assert "upload-offset" not in response.headers
    if is_of_upload:
        assert offset_of(client, path) == 0
    assert list(store.artifacts.files()) == []


def test_errors_outside_of_the_routes_name_the_version(
    application: FastAPI, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An overlong URL, too many headers and an internal error have `Tus-Resumable`."""

    def fail(*_: Any) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(registered(application, Services).store, "read", fail)
    for path, headers, status in (
        ("/v1/uploads/" + "a" * MAX_TARGET_BYTES, {}, 414),
        ("/v1/uploads", {f"x-{number}": "1" for number in range(MAX_HEADERS)}, 431),
        ("/v1/uploads", {}, 500),
    ):
        response = client.get(path, headers=headers)
        assert response.status_code == status
        assert response.headers["tus-resumable"] == "1.0.0"


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "streamed"])
def test_a_body_beyond_the_length_is_refused(client: TestClient, declared: bool) -> None:
    """Bytes beyond the length are refused, whether or not the body declares its length."""
    path = create(client, 4)
    headers = {**PIECE, "Upload-Offset": "0"}
    content: Any = b"abcdef" if declared else iter([b"ab", b"cd", b"ef"])
    assert client.patch(path, content=content, headers=headers).status_code == 413
    assert offset_of(client, path) <= 4


def test_pieces_are_added_and_the_offset_is_reported(client: TestClient) -> None:
    """HEAD has offset, length and metadata; answers to PATCH have the new offset and the expiry."""
    path = create(client, len(CONTENT))
    assert path.startswith("/v1/uploads/upl_")
    first = send(client, path, 0, CONTENT[:20])
    assert (first.status_code, first.content) == (204, b"")
    assert first.headers["upload-offset"] == "20"
    assert first.headers["upload-expires"].endswith("GMT")
    status = client.head(path, headers=VERSION)
    assert status.headers["upload-length"] == SIZE
    assert "etag" not in status.headers  # a 304 would have no offset
    assert status.headers["upload-metadata"] == "filename dHJhaW4udHh0"
    assert status.headers["upload-offset"] == "20"
    assert "upload-defer-length" not in status.headers
    last = send(client, path, 20, CONTENT[20:])
    assert last.headers["upload-offset"] == SIZE
    assert send(client, path, len(CONTENT), b"").status_code == 204
    (listed,) = client.get("/v1/uploads").json()["items"]
    assert (listed["filename"], listed["size_bytes"], listed["received_bytes"]) == (
        *("train.txt", len(CONTENT), len(CONTENT)),
    )


def test_the_first_piece_may_come_with_the_creation(client: TestClient) -> None:
    """The answer has the offset, and the checksum of the first piece is verified."""
    headers = {**PIECE, "Upload-Length": SIZE}
    created = client.post("/v1/uploads", headers=headers, content=CONTENT[:7])
    assert (created.status_code, created.headers["upload-offset"]) == (201, "7")
    assert created.json() == client.get("/v1/uploads").json()["items"][0]
    assert offset_of(client, created.headers["location"]) == 7
    wrong = {**headers, "Upload-Checksum": _checksum("sha256", b"x")}
    assert client.post("/v1/uploads", headers=wrong, content=CONTENT).status_code == 460


def test_the_length_may_come_later(client: TestClient) -> None:
    """A PATCH sets a deferred length once, and not below the received bytes."""
    created = client.post("/v1/uploads", headers={**VERSION, "Upload-Defer-Length": "1"})
    path = created.headers["location"]
    assert send(client, path, 0, CONTENT[:9]).status_code == 204
    status = client.head(path, headers=VERSION)
    assert status.headers["upload-defer-length"] == "1"
    assert "upload-length" not in status.headers
    assert send(client, path, 9, b"", {"Upload-Length": "8"}).status_code == 400
    assert send(client, path, 9, CONTENT[9:], {"Upload-Length": SIZE}).status_code == 204
    assert send(client, path, len(CONTENT), b"", {"Upload-Length": "99"}).status_code == 400
    assert client.head(path, headers=VERSION).headers["upload-length"] == SIZE


@pytest.mark.servers
@pytest.mark.usefixtures("client")
def test_a_part_is_recorded_before_the_quota_is_locked(application: FastAPI, store: Store) -> None:
    """Both requests lock the upload first and the quota second, so they do not deadlock."""
    with store.begin() as tx:
        key_id = tx.api_keys.create("ours", ["write"], max_stored_bytes=60)[0].id
        upload = tx.uploads.add(None, utc_now() + timedelta(hours=1), key_id=key_id)
        assert tx.uploads.begin_writing(upload.id, 0, "earlier")
    pieces = PieceWriter(registered(application, Services), upload, "earlier", 0, None)
    pieces.write(CONTENT)
    with ThreadPoolExecutor(1) as requests:
        with store.begin() as tx:
            assert tx.uploads.begin_writing(upload.id, 0, "later")
            stored = requests.submit(pieces.finish)
            eventually(lambda: waits_for_a_lock(store))
            tx.quotas.allow_bytes(key_id, None, 0)
        with pytest.raises(UploadTakenOver):
            stored.result()
    pieces.abandon()


@pytest.mark.usefixtures("client")
def test_bytes_that_the_disk_loses_are_not_counted(
    application: FastAPI, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk fails within a part, the whole part is received again."""
    services = registered(application, Services)
    writing = services.store.artifacts.writing

    @contextmanager
    def fail_at_the_second_block(key: str) -> Iterator[Any]:
        with writing(key):
            yield SimpleNamespace(write=Mock(side_effect=[None, OSError(errno.EIO, "the disk is on fire")]))

    async def body() -> AsyncIterator[bytes]:
        yield CONTENT[:20]
        yield CONTENT[20:]

    monkeypatch.setattr("app.uploads.resumable.BLOCK_BYTES", 10)
    monkeypatch.setattr(services.store.artifacts, "writing", fail_at_the_second_block)
    with store.begin() as tx:
        upload = tx.uploads.add(len(CONTENT), utc_now() + timedelta(hours=1))
        assert tx.uploads.begin_writing(upload.id, 0, "writer")
    pieces = PieceWriter(services, upload, "writer", 0, None)
    with pytest.raises(OSError, match="on fire"):
        asyncio.run(receive_piece(body(), pieces, len(CONTENT)))
    with store.read() as tx:
        assert tx.uploads.get(upload.id, None).received_bytes == 0
        assert tx.uploads.parts(upload.id) == []


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_piece_is_kept_only_with_its_checksum(client: TestClient, algorithm: str) -> None:
    """A wrong checksum is 460 and keeps the offset; the right one follows at the same offset."""
    path = create(client, len(CONTENT))
    assert send(client, path, 0, CONTENT[:5]).status_code == 204
    wrong = send(client, path, 5, CONTENT[5:], {"Upload-Checksum": _checksum(algorithm, CONTENT)})
    assert wrong.status_code == 460
    assert wrong.json()["type"] == "/problems/checksum-mismatch"
    assert offset_of(client, path) == 5
    right = {"Upload-Checksum": _checksum(algorithm, CONTENT[5:])}
    assert send(client, path, 5, CONTENT[5:], right).status_code == 204


def test_a_deleted_upload_is_gone(client: TestClient, store: Store) -> None:
    """DELETE is 204 once, and the parts of the upload are marked for deletion."""
    path = create(client, len(CONTENT))
    send(client, path, 0, CONTENT[:5])
    assert client.delete(path, headers=VERSION).status_code == 204
    for response in (
        client.delete(path, headers=VERSION),
        client.head(path, headers=VERSION),
        send(client, path, 5, CONTENT[5:]),
    ):
        assert response.status_code == 404
    assert _pending(store) == [f"uploads/{path.rpartition('/')[2]}"]


def test_an_expired_upload_is_gone(client: TestClient, store: Store) -> None:
    """An upload is not found after its expiry; its row is deleted and its parts are marked for deletion."""
    path = create(client, len(CONTENT))
    send(client, path, 0, CONTENT[:5])
    upload_id = path.rpartition("/")[2]
    with store.begin() as tx:
        assert tx.uploads.delete_expired() == []
        tx.uploads.get(upload_id, None).expires_at = utc_now() - timedelta(seconds=1)
    assert client.head(path, headers=VERSION).status_code == 404
    assert send(client, path, 5, CONTENT[5:]).status_code == 404
    assert client.get("/v1/uploads").json() == {"items": []}
    with store.begin() as tx:
        assert tx.uploads.delete_expired() == [upload_id]
    assert _pending(store) == [f"uploads/{upload_id}"]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_the_method_may_be_in_a_header(client: TestClient, method: str) -> None:
    """`X-HTTP-Method-Override` replaces the method of a POST, and of no other request."""
    path = create(client, len(CONTENT))
    headers = {**PIECE, "Upload-Offset": "0", "X-HTTP-Method-Override": method}
    assert client.get(path, headers=headers).status_code == 405
    assert client.post(path, headers=headers, content=CONTENT).status_code == 204
    if method == "PATCH":
        assert offset_of(client, path) == len(CONTENT)
    else:
        assert client.head(path, headers=VERSION).status_code == 404


def test_open_uploads_are_bounded(client: TestClient, settings: ApiSettings) -> None:
    """A caller may have a limited number of open uploads; after a deletion, another one can be created."""
    paths = [create(client, 1) for _ in range(settings.max_open_uploads)]
    refused = client.post("/v1/uploads", headers={**VERSION, "Upload-Length": "1"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.json()["type"] == "/problems/too-many-uploads"
    assert client.delete(paths[0], headers=VERSION).status_code == 204
    create(client, 1)


def test_a_creation_is_repeated_by_its_idempotency_key(client: TestClient) -> None:
    """The same key creates one upload; with another length it is refused."""
    headers = {**VERSION, "Idempotency-Key": "once", "Upload-Length": SIZE}
    first, again = (client.post("/v1/uploads", headers=headers) for _ in range(2))
    assert first.headers["location"] == again.headers["location"]
    other = client.post("/v1/uploads", headers={**headers, "Upload-Length": "1"})
    assert other.status_code == 422
    assert len(client.get("/v1/uploads").json()["items"]) == 1


def test_pieces_are_not_audited(client: TestClient) -> None:
    """The audit has the creation and the deletion of an upload, but not its pieces."""
    path = create(client, len(CONTENT))
    send(client, path, 0, CONTENT[:5])
    send(client, path, 0, CONTENT[:5])
    client.delete(path, headers=VERSION)
    entries = client.get("/v1/audit").json()["items"]
    assert [(entry["method"], entry["path"]) for entry in entries] == [
        ("DELETE", path),
        ("POST", "/v1/uploads"),
    ]


def test_uploads_belong_to_their_key(client: TestClient, store: Store) -> None:
    """An upload does not exist for any other key."""
    keys = []
    for name in ("ours", "theirs"):
        with store.begin() as tx:
            keys.append(tx.api_keys.create(name, ["write"])[1])
    ours, theirs = ({"Authorization": f"Bearer {secret}"} for secret in keys)
    created = client.post("/v1/uploads", headers={**VERSION, **ours, "Upload-Length": SIZE})
    path = created.headers["location"]
    reference = f"upload:{path.rpartition('/')[2]}"
    assert send(client, path, 0, CONTENT, ours).status_code == 204

    def statuses(key: Mapping[str, str]) -> list[int]:
        return [
            client.head(path, headers={**VERSION, **key}).status_code,
            send(client, path, len(CONTENT), b"", key).status_code,
            client.post("/v1/datasets", files={"file": (None, reference)}, headers=key).status_code,
            client.delete(path, headers={**VERSION, **key}).status_code,
        ]

    assert client.get("/v1/uploads", headers=theirs).json() == {"items": []}
    assert statuses(theirs) == [404, 404, 422, 404]
    assert statuses(ours) == [200, 204, 202, 204]


def _pending(store: Store) -> list[str]:
    with store.read() as tx:
        return list(tx.trash.pending(10))
