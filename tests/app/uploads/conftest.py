"""Requests of the tus protocol."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app import ApiSettings
from tests.app.conftest import TestClient

VERSION = {"Tus-Resumable": "1.0.0"}
PIECE = {**VERSION, "Content-Type": "application/offset+octet-stream"}


def create(client: TestClient, size_bytes: int, filename: str | None = "train.txt") -> str:
    """Begin an upload and return its path."""
    headers = {**VERSION, "Upload-Length": str(size_bytes)}
    if filename is not None:
        headers["Upload-Metadata"] = f"filename {base64.b64encode(filename.encode()).decode()}"
    response = client.post("/v1/uploads", headers=headers)
    assert response.status_code == 201, response.text
    return response.headers["location"]


def send(
    client: TestClient, path: str, offset: int, content: bytes, headers: Mapping[str, str] | None = None
) -> Any:
    """Send a piece of a file."""
    return client.patch(
        path, content=content, headers={**PIECE, "Upload-Offset": str(offset), **(headers or {})}
    )


def offset_of(client: TestClient, path: str) -> int:
    """Return the offset of an upload, as HEAD reports it."""
    response = client.head(path, headers=VERSION)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    return int(response.headers["upload-offset"])


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings of all tests, without rate limits, because a file in many pieces needs many requests."""
    return settings.model_copy(update={"reads_per_second": 0.0, "writes_per_second": 0.0})


@pytest.fixture
def uploaded(client: TestClient) -> Callable[[bytes], str]:
    """Function that uploads a whole file and returns the value of a form's field for it."""

    def upload(content: bytes) -> str:
        path = create(client, len(content))
        assert send(client, path, 0, content).status_code == 204
        return f"upload:{path.rpartition('/')[2]}"

    return upload
