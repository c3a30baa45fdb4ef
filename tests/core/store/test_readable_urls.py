"""URLs by which a process without credentials reads an artifact."""

import os
import uuid
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
import pytest

from core.data import synthetic_dataset, write_parquet
from core.data.stored_features import StoredFeatures
from core.errors import NotFound, StoreUnavailable
from core.store.artifacts.artifacts import Artifacts
from core.types import Float32Array
from tests.servers import S3Server

KEY = "datasets/dst_1/data.parquet"


@pytest.fixture
def on_s3(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Artifacts:
    """Artifacts in a bucket."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return Artifacts(s3.new_bucket()[0])


def _store(artifacts: Artifacts) -> Float32Array:
    dataset = synthetic_dataset(20, seed=3, n_features=4)
    with artifacts.writing(KEY) as file:
        write_parquet(dataset, file)
    return dataset.matrix


def _read(url: str, matrix: Float32Array) -> Float32Array:
    n_documents, n_features = matrix.shape
    return StoredFeatures(url, np.arange(n_documents), np.arange(n_features))[:]


def test_a_local_artifact_is_read_by_its_path(tmp_path: Path) -> None:
    """The folder may have any characters."""
    artifacts = Artifacts(f"file://{tmp_path}/größe 100%25 #1/artifacts")
    matrix = _store(artifacts)
    url = artifacts.readable_url(KEY, seconds=60)
    assert url.startswith("file:///")
    np.testing.assert_array_equal(_read(url, matrix), matrix)


def test_a_missing_local_artifact_has_no_url(tmp_path: Path) -> None:
    """A missing artifact has no URL, and neither has a folder of artifacts."""
    artifacts = Artifacts(str(tmp_path))
    _store(artifacts)
    for key in ("datasets/dst_2/data.parquet", "datasets/dst_1"):
        with pytest.raises(NotFound):
            artifacts.readable_url(key, seconds=60)


def test_the_error_of_a_storage_that_cannot_sign_urls_has_alternatives(tmp_path: Path) -> None:
    """A folder or S3 can store artifacts instead."""
    artifacts = Artifacts(f"memory://{uuid.uuid4().hex}", patience_seconds=60.0)
    artifacts.write_bytes(KEY, b"content")
    with pytest.raises(StoreUnavailable, match="store artifacts in a folder or on S3"):
        artifacts.readable_url(KEY, seconds=60)


@pytest.mark.long
def test_an_artifact_on_s3_is_read_without_credentials(
    on_s3: Artifacts, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signature allows to read this one object, for the requested time."""
    matrix = _store(on_s3)
    url = on_s3.readable_url(KEY, seconds=77)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    np.testing.assert_array_equal(_read(url, matrix), matrix)
    parts = urlsplit(url)
    assert parts.path.endswith(f"/artifacts/{KEY}")
    signed = parse_qs(parts.query)
    assert signed["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert signed["X-Amz-Expires"] == ["77"]
    assert s3.environment["AWS_SECRET_ACCESS_KEY"] not in url
    assert httpx.get(url, headers={"Range": "bytes=0-3"}).content == b"PAR1"


@pytest.mark.long
def test_a_missing_artifact_on_s3_has_no_url(on_s3: Artifacts) -> None:
    """A signature could be made, but the object is missing."""
    with pytest.raises(NotFound):
        on_s3.readable_url(KEY, seconds=60)
