"""Files of the Hugging Face Hub and of Google Cloud Storage, read with the real client packages."""

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import DatasetError, InvalidInput, StoreUnavailable
from core.store.sources.download import Downloaded, DownloadLimits, download
from core.store.sources.files import RemoteFiles
from core.store.sources.remote_file import DownloadInterrupted
from core.store.sources.scratch import PartialFile
from core.store.sources.source_urls import parse_source_url
from tests.servers.hub import CloudStorageServer, FileServer, HubServer
from tests.servers.process import reserved_port

pytestmark = pytest.mark.long

CONTENT = random.Random(1).randbytes(9_000_000)  # two ranges
LIMITS = DownloadLimits(
    size_bytes=2**30, deadline=math.inf, seconds=600, min_free_bytes=0, patience_seconds=0.0
)
OPTIONS: dict[str, dict[str, Any]] = {"hf": {"token": "5ecret"}, "gs": {"token": "anon"}}
FOLDERS = {"hf": "hf:org/toy/data", "gs": "gs://clicks/data"}


@pytest.fixture(params=["hf", "gs"])
def scheme(request: pytest.FixtureRequest) -> str:
    """Each kind of storage."""
    return str(request.param)


@pytest.fixture
def server(scheme: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A server with two files in a folder, and credentials for it."""
    with HubServer() if scheme == "hf" else CloudStorageServer() as server:
        root = "org/toy" if scheme == "hf" else "clicks"
        server.token = "5ecret" if scheme == "hf" else None
        server.files = {
            f"{root}/data/part-1.csv": CONTENT,
            f"{root}/data/part-2.csv": b"second",
            f"{root}/README.md": b"# Clicks",
        }
        configure_credentials(monkeypatch, scheme, server.url)
        yield server


def configure_credentials(monkeypatch: pytest.MonkeyPatch, scheme: str, url: str, **changed: Any) -> None:
    """Configure the worker's credentials for a server."""
    endpoint = {"endpoint" if scheme == "hf" else "endpoint_url": url}
    credentials = {"prefixes": [FOLDERS[scheme]], "options": {**OPTIONS[scheme], **endpoint, **changed}}
    monkeypatch.setenv("RANKERY_CREDENTIALS_HUB", json.dumps(credentials))


def fetch(tmp_path: Path, url: str, pattern: str | None = None) -> list[Downloaded]:
    """Download the files of a URL to `tmp_path`."""
    with RemoteFiles(list(FOLDERS.values()), [], None) as remote:
        files = remote.find([parse_source_url(url)], pattern, "hub")
        targets = [PartialFile(tmp_path / file.url.name) for file in files]
        return [
            download(file, target, LIMITS, lambda *_: None)
            for file, target in zip(files, targets, strict=True)
        ]


def test_files_are_downloaded(server: FileServer, scheme: str, tmp_path: Path) -> None:
    """A file is requested in ranges and has a version; a URL names one file, a pattern several."""
    (found,) = fetch(tmp_path, f"{FOLDERS[scheme]}/part-1.csv")
    assert (tmp_path / "part-1.csv").read_bytes() == CONTENT
    assert found.version.revision if scheme == "hf" else found.version.generation
    ranges = [headers["range"] for _, headers in server.requests if "range" in headers]
    assert ranges == ["bytes=0-8388607", "bytes=8388608-8999999"]
    assert [each.size_bytes for each in fetch(tmp_path, FOLDERS[scheme], "part-*")] == [9_000_000, 6]


def test_a_download_is_resumed(server: FileServer, scheme: str, tmp_path: Path) -> None:
    """The same version is resumed after another process; another version is downloaded from the start."""
    (found,) = fetch(tmp_path, f"{FOLDERS[scheme]}/part-1.csv")
    target = tmp_path / "part-1.csv"
    target.write_bytes(CONTENT[:8_500_000])
    server.requests.clear()
    assert fetch(tmp_path, f"{FOLDERS[scheme]}/part-1.csv") == [found]
    ranges = [headers["range"] for _, headers in server.requests if "range" in headers]
    assert ranges == ["bytes=8500000-8999999"]
    target.write_bytes(CONTENT[:8_500_000])
    name = next(name for name in server.files if name.endswith("part-1.csv"))
    server.files[name] = CONTENT[::-1]
    fetch(tmp_path, f"{FOLDERS[scheme]}/part-1.csv")
    assert target.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("beside", ["/none.csv", "/none/x.csv"])
def test_a_missing_file_is_reported(server: FileServer, scheme: str, tmp_path: Path, beside: str) -> None:
    """The error does not distinguish a missing file from one that the worker may not read."""
    with pytest.raises(DatasetError, match="but found none that the worker may read"):
        fetch(tmp_path, FOLDERS[scheme] + beside)


def test_a_folder_needs_a_pattern(server: FileServer, scheme: str, tmp_path: Path) -> None:
    """The error lists some of its files."""
    with pytest.raises(InvalidInput, match=r"/files: must name one file: .* part-1.csv, part-2.csv"):
        fetch(tmp_path, FOLDERS[scheme])


@pytest.mark.parametrize("scheme", ["hf"], indirect=True)  # only Google's servers check tokens of Google
def test_wrong_credentials_are_reported(
    server: FileServer, tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error does not contain the credentials."""
    configure_credentials(monkeypatch, scheme, server.url, token="wr0ng")
    with pytest.raises(DatasetError, match="refuses the credentials") as refused:
        fetch(tmp_path, f"{FOLDERS[scheme]}/part-1.csv")
    assert "wr0ng" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["hf"], indirect=True)  # gcsfs repeats its requests for minutes
def test_an_unreachable_storage_is_reported(
    scheme: str, server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is tried again; the error does not contain the URL of the endpoint."""
    with reserved_port() as port:
        configure_credentials(monkeypatch, scheme, f"http://127.0.0.1:{port}")
        with pytest.raises((StoreUnavailable, DownloadInterrupted), match="the Hugging Face Hub"):
            fetch(tmp_path, f"{FOLDERS[scheme]}/part-1.csv")
