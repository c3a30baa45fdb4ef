"""Uploads that are deleted while a client sends a piece of them, over real sockets."""

from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from app import ApiSettings
from app.uploads.storage import BLOCK_BYTES
from core.store import Store
from core.store.lifecycle.retention import RetentionPolicy, Upkeep
from tests.app.http.conftest import server
from tests.app.uploads.conftest import PIECE, VERSION

__all__ = ["server"]


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings of all tests, with a limit that allows a file of several blocks."""
    return settings.model_copy(update={"max_upload_bytes": 8 * BLOCK_BYTES})


@pytest.mark.parametrize("freed", [False, True], ids=["row gone", "bytes gone"])
def test_a_piece_of_a_deleted_upload_is_not_found(
    server: uvicorn.Server, settings: ApiSettings, freed: bool
) -> None:
    """The answer is 404, so clients do not retry, whether or not a sweep has freed the bytes."""
    host, port = server.servers[0].sockets[0].getsockname()
    store = Store.open(settings)
    with httpx.Client(base_url=f"http://{host}:{port}", trust_env=False) as client:
        created = client.post("/v1/uploads", headers={**VERSION, "Upload-Length": str(4 * BLOCK_BYTES)})
        assert created.status_code == 201, created.text
        path = created.headers["location"]

        def body() -> Iterator[bytes]:
            yield bytes(2 * BLOCK_BYTES)
            assert client.delete(path, headers=VERSION).status_code == 204
            if freed:
                Upkeep(RetentionPolicy.of(settings), 3600.0).run(store, 10.0)
            yield bytes(2 * BLOCK_BYTES)

        with httpx.Client(base_url=client.base_url, trust_env=False) as sender:
            answer = sender.patch(path, content=body(), headers={**PIECE, "Upload-Offset": "0"})
    store.close()
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found"), answer.text
