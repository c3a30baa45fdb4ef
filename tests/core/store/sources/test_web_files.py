"""Downloads from a real web server over TLS, with lost connections, redirects and credentials."""

import json
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import AddressRefused, DatasetError, InvalidInput, StoreFull, StoreUnavailable
from core.store.sources.download import Downloaded, DownloadLimits, download
from core.store.sources.files import RemoteFiles
from core.store.sources.scratch import PartialFile
from core.store.sources.source_urls import parse_source_url
from tests.servers.web import WebFile, WebServer

pytestmark = pytest.mark.long

CONTENT = random.Random(1).randbytes(3_000_000)
LIMITS = DownloadLimits(
    size_bytes=2**30, deadline=math.inf, seconds=600, min_free_bytes=0, patience_seconds=5.0
)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for certificates."""
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture
def server(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """A server that this process trusts."""
    with WebServer(certificates) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        server.files["/data/x.bin"] = WebFile(CONTENT)
        yield server


Fetch = Callable[..., Downloaded]


@pytest.fixture
def fetch(server: WebServer, tmp_path: Path) -> Fetch:
    """A function that downloads a file of the server to `tmp_path / "x.bin"`."""

    def fetch(
        path: str = "/data/x.bin",
        *,
        prefixes: list[str] | None = None,
        hosts: tuple[str, ...] = ("localhost",),
        limits: DownloadLimits = LIMITS,
        credentials: str | None = None,
        on_bytes: Callable[[int, int | None], Any] = lambda *_: None,
    ) -> Downloaded:
        credentials_file = tmp_path / "credentials.json"
        with RemoteFiles(prefixes or [f"{server.url}/data"], hosts, credentials_file) as remote:
            (file,) = remote.find([parse_source_url(server.url + path)], None, credentials)
            return download(file, PartialFile(tmp_path / "x.bin"), limits, on_bytes)

    return fetch


def test_a_file_is_downloaded(server: WebServer, fetch: Fetch, tmp_path: Path) -> None:
    """The download has its version, size and checksum, and progress in bytes."""
    reported: list[tuple[int, int | None]] = []
    downloaded = fetch(on_bytes=lambda *done: reported.append(done))
    assert (tmp_path / "x.bin").read_bytes() == CONTENT
    assert downloaded.sha256 == server.files["/data/x.bin"].sha256
    assert downloaded.version.to_json() == {"size_bytes": len(CONTENT), "etag": '"1"'}
    assert reported[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)


def test_a_download_resumes_after_a_lost_connection(server: WebServer, fetch: Fetch) -> None:
    """Each later request names the version of the first one, and continues after the bytes so far."""
    file = server.files["/data/x.bin"]
    file.cut_after = [1_000_000, 0, 700_000]
    assert fetch().sha256 == file.sha256
    ranges = [request.headers.get("range") for request in server.requests]
    assert ranges == [None, "bytes=1000000-", "bytes=1000000-", "bytes=1700000-"]
    assert all(request.headers["if-range"] == '"1"' for request in server.requests[1:])


def test_another_process_resumes_a_download(server: WebServer, fetch: Fetch) -> None:
    """A process resumes from the bytes and version of another one; a whole file is not requested again."""

    class Killed(Exception):
        """Ends a download."""

    def stop(done: int, _: int | None) -> None:
        if done > 1_500_000:
            raise Killed

    with pytest.raises(Killed):
        fetch(on_bytes=stop)
    assert fetch().sha256 == server.files["/data/x.bin"].sha256
    assert int(server.requests[-1].headers["range"].removeprefix("bytes=").removesuffix("-")) > 1_500_000
    n_requests = len(server.requests)
    assert fetch().sha256 == server.files["/data/x.bin"].sha256
    assert len(server.requests) == n_requests


def test_a_whole_file_of_unknown_size_is_not_requested_beyond_its_end(
    server: WebServer, fetch: Fetch, tmp_path: Path
) -> None:
    """A process that is killed after the last byte does not know the size; the server answers 416."""

    class Killed(Exception):
        """Ends a download."""

    def stop(done: int, _: int | None) -> None:
        if done == len(CONTENT):
            raise Killed

    file = server.files["/data/x.bin"]
    file.declares_size = False
    with pytest.raises(Killed):
        fetch(on_bytes=stop)
    downloaded = fetch()
    assert (downloaded.sha256, downloaded.size_bytes) == (file.sha256, len(CONTENT))
    assert server.sent_bytes == len(CONTENT)

    # A file that became shorter under the same entity tag is read from its start.
    (tmp_path / "x.bin").unlink()
    with pytest.raises(Killed):
        fetch(on_bytes=stop)
    file.content = CONTENT[:1_000_000]
    assert fetch().sha256 == file.sha256


@pytest.mark.parametrize("takes_ranges", [True, False])
@pytest.mark.parametrize("etag", ['"2"', 'W/"1"', None])
def test_a_file_that_may_have_changed_is_read_from_the_start(
    server: WebServer, fetch: Fetch, takes_ranges: bool, etag: str | None
) -> None:
    """Bytes of two versions are never put together."""
    server.files["/data/x.bin"] = WebFile(CONTENT, cut_after=[1_000_000], status=[])
    other = WebFile(CONTENT[::-1], etag=etag, takes_ranges=takes_ranges)

    def exchange(done: int, _: int | None) -> None:
        server.files["/data/x.bin"] = other

    assert fetch(on_bytes=exchange).sha256 == other.sha256


def test_a_server_without_sizes_and_ranges_is_read(server: WebServer, fetch: Fetch) -> None:
    """The size of the file is unknown until the end."""
    file = server.files["/data/x.bin"] = WebFile(CONTENT, etag=None, takes_ranges=False, declares_size=False)
    reported: list[int | None] = []
    assert fetch(on_bytes=lambda _, total: reported.append(total)).sha256 == file.sha256
    assert set(reported) == {None}


def test_requests_to_a_busy_server_are_repeated(server: WebServer, fetch: Fetch, tmp_path: Path) -> None:
    """A failing server is retried until `patience_seconds` after its last new byte."""
    file = server.files["/data/x.bin"]
    file.status = [503, 429, 500]
    assert fetch().sha256 == file.sha256
    file.status = [503] * 1_000
    (tmp_path / "x.bin").unlink()
    before = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"localhost:[0-9]+ answers 503"):
        fetch(limits=replace(LIMITS, patience_seconds=1.0))
    assert time.monotonic() - before < 5


@pytest.mark.parametrize("status", [403, 404, 410, 304])
def test_a_refusal_is_final(server: WebServer, fetch: Fetch, status: int) -> None:
    """The error names the URL and the status."""
    server.files["/data/x.bin"].status = [status]
    with pytest.raises(DatasetError, match=f"expected a file at {server.url}/data/x.bin.* answers {status}"):
        fetch()
    assert len(server.requests) == 1


@pytest.mark.parametrize("declares_size", [True, False])
def test_sizes_are_bounded(server: WebServer, fetch: Fetch, tmp_path: Path, declares_size: bool) -> None:
    """Both the declared size and the received size are bounded."""
    server.files["/data/x.bin"].declares_size = declares_size
    limits = replace(LIMITS, size_bytes=2_000_000)
    with pytest.raises(DatasetError, match=r"at most 2,000,000 bytes, by RANKERY_SOURCE_BYTES"):
        fetch(limits=limits)
    partial_file = tmp_path / "x.bin"
    size = partial_file.stat().st_size if partial_file.exists() else 0
    assert size <= (0 if declares_size else 2_000_000)


def test_time_is_bounded(server: WebServer, fetch: Fetch) -> None:
    """A server that sends slowly without end does not occupy a worker without end."""
    server.files["/data/x.bin"].bytes_per_second = 300_000
    limits = replace(LIMITS, deadline=time.monotonic() + 1, seconds=1)
    with pytest.raises(DatasetError, match=r"within 1 seconds \(RANKERY_SOURCE_SECONDS\)"):
        fetch(limits=limits)


def test_the_disk_keeps_free_space(fetch: Fetch) -> None:
    """The download stops before less than `min_free_bytes` are free."""
    with pytest.raises(StoreFull, match="stay free"):
        fetch(limits=replace(LIMITS, min_free_bytes=2**60))


def test_private_hosts_are_refused(server: WebServer, fetch: Fetch) -> None:
    """The prefix is allowed, but the guard refuses the host, which is not in the guard's setting."""
    with pytest.raises(AddressRefused):
        fetch(hosts=())
    assert server.requests == []


def test_other_urls_are_refused(server: WebServer, fetch: Fetch) -> None:
    """A worker refuses what its own setting does not allow."""
    with pytest.raises(InvalidInput, match="RANKERY_SOURCES"):
        fetch("/private/x.bin")
    assert server.requests == []


@pytest.mark.parametrize(
    "location",
    [
        "/private/x.bin",
        "http://localhost/data/x",
        "file:///etc/passwd",
        "https://127.0.0.1/data/x",
        "//ex.org/x",
    ],
)
def test_redirects_are_checked(server: WebServer, fetch: Fetch, location: str) -> None:
    """Each target must be below a prefix; a refused one is not requested."""
    server.files["/private/x.bin"] = WebFile(b"private")
    server.files["/data/x.bin"].location = location
    with pytest.raises(DatasetError, match=r"redirects to .* which is not below a prefix of RANKERY_SOURCES"):
        fetch()
    assert len(server.requests) == 1


def test_a_redirect_below_a_prefix_is_followed(server: WebServer, fetch: Fetch) -> None:
    """A signed redirect is followed, too; an endless one is refused."""
    server.files["/data/signed?sig=5ecret"] = WebFile(CONTENT)
    server.files["/data/x.bin"].location = "/data/signed?sig=5ecret"
    downloaded = fetch()
    assert downloaded.size_bytes == len(CONTENT)
    server.files["/data/loop"] = WebFile(location="/data/loop")
    with pytest.raises(DatasetError, match="redirects more than 5 times"):
        fetch("/data/loop")


def test_a_redirect_to_a_private_host_is_refused(server: WebServer, fetch: Fetch) -> None:
    """The guard refuses it, even if the prefix would allow it."""
    server.files["/data/x.bin"].location = "https://169.254.169.254/latest"
    with pytest.raises(AddressRefused):
        fetch(prefixes=[server.url, "https://169.254.169.254"])


def test_credentials_stay_with_their_urls(
    server: WebServer, fetch: Fetch, certificates: Path, tmp_path: Path
) -> None:
    """Credentials are sent to their URLs, and not to the target of a redirect."""
    credentials = {"partner": {"prefixes": [server.url], "headers": {"Authorization": "Bearer 5ecret"}}}
    (tmp_path / "credentials.json").write_text(json.dumps(credentials))
    file = server.files["/data/x.bin"]
    file.password = "Bearer 5ecret"
    with pytest.raises(DatasetError, match="answers 401"):
        fetch()
    assert fetch(credentials="partner").sha256 == file.sha256
    with WebServer(certificates) as other:
        other.files["/y.bin"] = WebFile(CONTENT[:10])
        file.location = f"{other.url}/y.bin"
        file.etag = '"4"'
        (tmp_path / "x.bin").unlink()
        fetch(credentials="partner", prefixes=[server.url, other.url])
        assert "authorization" not in other.requests[0].headers
        assert server.requests[-1].headers["authorization"] == "Bearer 5ecret"


def test_an_unknown_certificate_is_refused(
    server: WebServer, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server with an unknown certificate cannot be distinguished from another, and nothing is read."""
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(StoreUnavailable, match="ConnectError"):
        fetch(limits=replace(LIMITS, patience_seconds=0.0))
