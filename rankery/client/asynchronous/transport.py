"""HTTP transport with retries."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import httpx

from rankery.client import reading
from rankery.client.connections import UNAVAILABLE, AsyncOwner, RetryPolicy
from rankery.client.downloads import PartialFile
from rankery.client.event_lines import StreamLines
from rankery.client.uploads import Upload
from rankery.errors import ClientClosed, ServiceUnreachable, WrongType

_UPLOAD_SECONDS = 3600.0
_SILENCE_SECONDS = 60.0  # four times the interval of keep-alive messages


class AsyncTransport:
    """Send requests to one service, with retries.

    Args:
        base_url: URL of the service; RANKERY_URL if None.
        api_key: Secret of an API key; RANKERY_API_KEY if None.
        timeout_seconds: Timeout of one response. Uploads may take an hour.
        retries: Maximum number of retries of a request.
        resumable_bytes: Larger files are uploaded in pieces.
        transport: Custom httpx transport.
    """

    def __init__(
        self,
        base_url: str | None,
        *,
        api_key: str | None,
        timeout_seconds: float,
        retries: int,
        resumable_bytes: int,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._headers = reading.authorization(api_key)
        self.base_url = reading.service_url(base_url).rstrip("/")
        self._has_key = bool(self._headers)
        self._transport = transport
        self._timeout_seconds = timeout_seconds
        self.retries = retries
        self.resumable_bytes = resumable_bytes
        self._is_closed = False
        self._https: dict[AsyncOwner, httpx.AsyncClient] = {}
        self._unowned = [self._new_http()]  # of the first owner; an invalid proxy is refused here

    async def close(self) -> None:
        """Close the connections; those of other owners can no longer be used."""
        if not self._is_closed:
            http = self._open_http()
            self._is_closed = True
            await http.aclose()

    def _open_http(self) -> httpx.AsyncClient:
        if self._is_closed:
            raise ClientClosed(
                f"the client of {self.base_url} is closed: make another one, and fetch the object with it"
            )
        owner = AsyncOwner()
        http = self._https.get(owner)
        if http is None:
            for other in [each for each in list(self._https) if each.has_ended]:
                self._https.pop(other, None)
            # Owners in different threads may get here at the same time.
            try:
                new = self._unowned.pop()
            except IndexError:
                new = self._new_http()
            http = self._https.setdefault(owner, new)
        return http

    def _new_http(self) -> httpx.AsyncClient:
        transport = self._transport
        if transport is None and reading.is_on_this_machine(self.base_url):
            transport = httpx.AsyncHTTPTransport()  # without the proxies of the environment
        with reading.proxy_errors():
            return httpx.AsyncClient(
                base_url=self.base_url,
                timeout=self._timeout_seconds,
                transport=transport,
                headers=self._headers,
            )

    def __reduce__(self) -> NoReturn:
        raise WrongType(
            "objects of the client hold its connections and cannot be pickled or copied deeply: keep the id,"
            " and fetch the object with a client of the other process"
        )

    async def get(self, path: str, **parameters: Any) -> reading.Document:
        """GET a JSON document; omit parameters that are None."""
        return reading.document_of(await self.request("GET", path, parameters=parameters))

    async def create(self, path: str, json: Any = None) -> reading.Document:
        """Create an object by POST, idempotent across retries."""
        return reading.document_of(await self.request("POST", path, json=json, headers=_idempotent()))

    async def upload_form(
        self, path: str, upload: Upload, on_bytes: Callable[[int], None]
    ) -> reading.Document:
        """Create an object by POST of files as one form.

        Args:
            path: Path of the collection, such as `/v1/datasets`.
            upload: The files, read from the start at each attempt.
            on_bytes: Called with the bytes sent since the last call; negative for bytes to send again.
        """
        sent = 0

        def count(n_bytes: int) -> None:
            nonlocal sent
            sent += n_bytes
            on_bytes(n_bytes)

        headers = _idempotent()
        attempts = RetryPolicy(self.retries, repeatable=True)
        while True:
            count(-sent)
            with upload.opened(count) as files:
                response = await self._attempt(
                    attempts,
                    "POST",
                    path,
                    files=files,
                    data=dict(upload.fields),
                    headers=headers,
                    timeout=httpx.Timeout(self._timeout_seconds, read=_UPLOAD_SECONDS, write=_UPLOAD_SECONDS),
                )
            if response is not None:
                return reading.document_of(response)

    async def request(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = True,
        read_seconds: float | None = None,
    ) -> httpx.Response:
        """Send a request with retries.

        A DELETE may return 404 after a lost response: an earlier attempt has deleted the object.

        Args:
            method: GET, POST, …
            path: Path below the URL of the service; it may have a query string.
            parameters: Additional query parameters; None values are left out.
            json: Body as JSON.
            content: Body as bytes, instead of `json`.
            headers: Additional headers.
            repeatable: Whether the request is idempotent, so that it may be retried.
            read_seconds: Time that the service may take for the response, if longer than the timeout.

        Raises:
            ServiceUnreachable: The service did not respond.
            InvalidArgument: A number in `json` is NaN or infinite.
        """
        attempts = RetryPolicy(self.retries, repeatable=repeatable)
        options: dict[str, Any] = {"content": content, "headers": headers}
        if json is not None:
            options = {
                "content": reading.json_body(json),
                "headers": {**reading.JSON_TYPE, **(headers or {})},
            }
        if read_seconds is not None:
            longest = max(self._timeout_seconds, read_seconds)
            options["timeout"] = httpx.Timeout(self._timeout_seconds, read=longest)
        while True:
            response = await self._attempt(
                attempts, method, reading.with_query(path, parameters or {}), **options
            )
            if response is not None:
                return response

    async def send_once(
        self, method: str, path: str, *, content: AsyncIterator[bytes], headers: Mapping[str, str]
    ) -> httpx.Response:
        """Send a request with a streamed body, without retries.

        Raises:
            ServiceUnreachable: The service did not respond.
        """
        once = RetryPolicy(0, repeatable=False)
        response = await self._attempt(once, method, path, content=content, headers=headers)
        if response is None:
            raise RuntimeError("a request without retries was to be sent again")
        return response

    async def download(
        self,
        method: str,
        path: str,
        target: Path,
        *,
        parameters: Mapping[str, Any] | None = None,
        json: Any = None,
        on_bytes: Callable[[int, int | None], None],
    ) -> None:
        """Stream a response into a file, written atomically; resume after a lost connection.

        Args:
            method: GET or POST.
            path: Path of the download.
            target: Target file.
            parameters: Query parameters; None values are left out.
            json: Body as JSON.
            on_bytes: Called with the number of bytes so far and the total, None if unknown.

        Raises:
            FileUnusable: The file cannot be written.
            ServiceUnreachable: No more bytes arrived, after all retries.
            InvalidArgument: A number in `json` is NaN or infinite.
        """
        attempts = RetryPolicy(self.retries, repeatable=True)
        content, json_headers = (None, {}) if json is None else (reading.json_body(json), reading.JSON_TYPE)
        url = reading.with_query(path, parameters or {})
        response = None
        with PartialFile(target) as part:
            while response is None:
                into = part, on_bytes
                headers = {**json_headers, **part.headers()}
                response = await self._attempt(
                    attempts, method, url, into=into, content=content, headers=headers
                )
            part.finish()

    async def lines(
        self, path: str, parameters: Mapping[str, Any], last_event_id: str | None
    ) -> AsyncIterator[str]:
        """Yield the lines of a stream of server-sent events, without retries.

        Args:
            path: Path of the stream.
            parameters: Query parameters; None values are left out.
            last_event_id: Id of the event after which the stream begins.

        Raises:
            ServiceUnreachable: The service did not respond, or the connection was lost.
        """
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        headers |= {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        timeout = httpx.Timeout(self._timeout_seconds, read=_SILENCE_SECONDS)
        try:
            async with self._open_http().stream(
                "GET", reading.with_query(path, parameters), headers=headers, timeout=timeout
            ) as response:
                if response.status_code in UNAVAILABLE:
                    raise ServiceUnreachable(f"the service at {self.base_url} is not available at present")
                if not response.is_success:
                    await response.aread()
                reading.checked(response, has_key=self._has_key)
                lines = StreamLines()
                async for content in response.aiter_bytes():
                    for line in lines.add(content):
                        yield line
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ServiceUnreachable(f"no answer from the service at {self.base_url}: {reason}") from error

    async def _attempt(
        self,
        attempts: RetryPolicy,
        method: str,
        url: httpx.URL | str,
        *,
        into: tuple[PartialFile, Callable[[int, int | None], None]] | None = None,
        **options: Any,
    ) -> httpx.Response | None:
        """Send the request once; if it should be retried, pause and return None."""
        try:
            response = await self._send(method, url, into, options)
        except httpx.HTTPError as error:
            if into is not None and into[0].has_grown():
                attempts.renew()
            pause = attempts.pause_after_error(error) if isinstance(error, httpx.TransportError) else None
            if pause is None:
                reason = str(error) or type(error).__name__
                raise ServiceUnreachable(
                    f"no answer from the service at {self.base_url}: {reason}"
                    f"{reading.proxy_hint(self.base_url)}{reading.certificate_hint(error)}"
                ) from error
        else:
            pause = attempts.pause_after(response)
            if pause is None:
                if method == "DELETE" and attempts.may_have_been_executed and reading.is_missing(response):
                    return response
                return reading.checked(response, has_key=self._has_key)
        await asyncio.sleep(pause)
        return None

    async def _send(
        self,
        method: str,
        url: httpx.URL | str,
        into: tuple[PartialFile, Callable[[int, int | None], None]] | None,
        options: dict[str, Any],
    ) -> httpx.Response:
        if into is None:
            return await self._open_http().request(method, url, **options)
        part, on_bytes = into
        async with self._open_http().stream(method, url, **options) as response:
            if not response.is_success:
                await response.aread()
                return response
            total = part.begin(response)
            async for chunk in response.aiter_bytes():
                part.write(chunk)
                on_bytes(part.size_bytes, total)
            return response


def _idempotent() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}
