"""Files of web servers."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urljoin

import httpx

from core.errors import DatasetError, InvalidInput
from core.store.sources.credentials import Credentials
from core.store.sources.remote_file import ByteStream, DownloadInterrupted, FileVersion
from core.store.sources.source_urls import SETTING, AllowedUrls, SourceUrl, parse_redirect

_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_NO_RANGE = re.compile(r"bytes \*/(\d+)")


class WebFile:
    """A file of a web server, over HTTPS, or over HTTP where a prefix of that scheme allows it.

    Every redirect must be below an allowed prefix, too. Credentials are sent only to URLs for which they
    are valid. The bytes are read as stored, without content encoding.

    Args:
        client: HTTP client with an `SsrfGuard`; it must not follow redirects itself.
    """

    def __init__(
        self, url: SourceUrl, client: httpx.Client, allowed: AllowedUrls, credentials: Credentials
    ) -> None:
        self.url = url
        self._client = client
        self._allowed = allowed
        self._credentials = credentials

    @contextlib.contextmanager
    def read(self, start: int, version: FileVersion | None) -> Iterator[ByteStream]:
        """Open the file; see `RemoteFile.read`."""
        headers = {"Accept-Encoding": "identity", "User-Agent": "rankery"}
        condition = _condition(version)
        if start and condition:
            headers |= {"Range": f"bytes={start}-", "If-Range": condition}
        try:
            with contextlib.ExitStack() as stack:
                response = self._response(headers, stack)
                if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and "Range" in headers:
                    if version is not None and _size_of(response) == start:  # all bytes were read before
                        yield ByteStream(replace(version, size_bytes=start), start, iter(()))
                        return
                    del headers["Range"], headers["If-Range"]
                    response = self._response(headers, stack)
                yield self._stream(response, start)
        except httpx.TransportError as error:
            raise DownloadInterrupted(f"{self.url.host}: {type(error).__name__}") from error

    def _response(self, headers: dict[str, str], stack: contextlib.ExitStack) -> httpx.Response:
        """Request the file and follow redirects."""
        url = self.url
        for _ in range(_MAX_REDIRECTS + 1):
            credential_headers = dict(self._credentials.headers) if self._credentials.fits(url) else {}
            with contextlib.ExitStack() as attempt:
                request = self._client.stream("GET", str(url), headers={**credential_headers, **headers})
                response = attempt.enter_context(request)
                if response.status_code not in _REDIRECTS:
                    stack.push(attempt.pop_all())
                    return response
                location = response.headers.get("Location", "")
            url = self._redirect(url, location)
        raise self._dataset_error(f"but it redirects more than {_MAX_REDIRECTS} times")

    def _redirect(self, url: SourceUrl, location: str) -> SourceUrl:
        try:
            target = parse_redirect(urljoin(str(url), location))
            self._allowed.check(target)
        except InvalidInput as invalid:
            # Omit path and query of the target, which may be signed.
            host = _host(urljoin(str(url), location))
            raise self._dataset_error(
                f"but it redirects to {host}, which is not below a prefix of {SETTING}"
            ) from invalid
        return target

    def _stream(self, response: httpx.Response, start: int) -> ByteStream:
        status = response.status_code
        if status in _RETRYABLE_STATUSES:
            raise DownloadInterrupted(f"{self.url.host} answers {status}")
        if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            raise self._dataset_error(f"but {self.url.host} answers {status}")
        etag, last_modified = response.headers.get("ETag"), response.headers.get("Last-Modified")
        if status == HTTPStatus.PARTIAL_CONTENT:
            content_range = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if content_range is None or int(content_range[1]) != start:
                raise self._dataset_error(f"but {self.url.host} returned another range than requested")
            size = None if content_range[2] == "*" else int(content_range[2])
        else:
            start = 0
            declared = response.headers.get("Content-Length", "")
            size = int(declared) if declared.isdecimal() else None
        return ByteStream(FileVersion(size, etag, last_modified), start, response.iter_raw())

    def _dataset_error(self, problem: str) -> DatasetError:
        return DatasetError.at(f"expected a file at {self.url}, {problem}", file=self.url.name)


def _size_of(response: httpx.Response) -> int | None:
    """Return the size of the file from a response without any byte of the requested range."""
    size = _NO_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return None if size is None else int(size[1])


def _condition(version: FileVersion | None) -> str | None:
    """Return the value of `If-Range`: a strong entity tag, else the time of the last change."""
    if version is None:
        return None
    if version.etag is not None and not version.etag.startswith("W/"):
        return version.etag
    return version.last_modified


def _host(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return "an invalid URL"
    return f"{parsed.scheme}://{parsed.host}"
