"""HTTP transport with retries."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx

from rankery.client.downloads import opened_for_writing
from rankery.client.reading import Document, address, authorization, checked, document_of, with_query
from rankery.client.retries import RetryPolicy
from rankery.client.uploads import Upload
from rankery.errors import ServiceUnreachable

_UPLOAD_SECONDS = 3600.0


class AsyncTransport:
    """Send requests to one service, with retries.

    Args:
        base_url: Where the service is; RANKERY_URL where None.
        api_key: The secret of a key; that of RANKERY_API_KEY where None.
        timeout_seconds: How long to wait for one answer. Uploads may take an hour.
        retries: How often a request is sent again.
        transport: Another httpx transport.
    """

    def __init__(
        self,
        base_url: str | None,
        *,
        api_key: str | None,
        timeout_seconds: float,
        retries: int,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        headers = authorization(api_key)
        self.base_url = address(base_url).rstrip("/")
        self._has_key = bool(headers)
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._http = httpx.AsyncClient(
            base_url=self.base_url, timeout=timeout_seconds, transport=transport, headers=headers
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def get(self, path: str, **parameters: Any) -> Document:
        """GET a JSON document; omit parameters that are None."""
        return document_of(await self.request("GET", path, parameters=parameters))

    async def create(self, path: str, json: Any = None) -> Document:
        """POST a creation, idempotent across retries."""
        return document_of(await self.request("POST", path, json=json, headers=_idempotent()))

    async def upload(self, path: str, upload: Upload, on_bytes: Callable[[int], None]) -> Document:
        """POST a creation from files.

        Args:
            path: Where to.
            upload: The files, read from the start at each attempt.
            on_bytes: Called with the bytes sent since; with the negative of all where they are sent again.
        """
        sent = 0

        def count(n_bytes: int) -> None:
            nonlocal sent
            sent += n_bytes
            on_bytes(n_bytes)

        headers = _idempotent()
        attempts = RetryPolicy(self._retries, repeatable=True)
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
                return document_of(response)

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
    ) -> httpx.Response:
        """Send a request with retries.

        Args:
            method: GET, POST, …
            path: Where to, under the service's address; it may have a query string.
            parameters: Of the query, besides; those that are None are left out.
            json: The body.
            content: The body as bytes, instead.
            headers: Further headers.
            repeatable: Whether the service does the same however often it is asked.

        Raises:
            RankeryApiError: The service refused it.
            ServiceUnreachable: It was not answered.
        """
        attempts = RetryPolicy(self._retries, repeatable=repeatable)
        while True:
            response = await self._attempt(
                attempts,
                method,
                with_query(path, parameters or {}),
                json=json,
                content=content,
                headers=headers,
            )
            if response is not None:
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
        """Stream a response into a file, written atomically.

        Args:
            method: GET or POST.
            path: Where from.
            target: The file.
            parameters: Of the query; those that are None are left out.
            json: The body.
            on_bytes: Called with the bytes written so far and those in all, None where they are unknown.

        Raises:
            FileUnusable: The file cannot be written.
        """
        attempts = RetryPolicy(self._retries, repeatable=True)
        url = with_query(path, parameters or {})
        while True:
            response = await self._attempt(attempts, method, url, into=(target, on_bytes), json=json)
            if response is not None:
                return

    async def _attempt(
        self,
        attempts: RetryPolicy,
        method: str,
        url: httpx.URL | str,
        *,
        into: tuple[Path, Callable[[int, int | None], None]] | None = None,
        **options: Any,
    ) -> httpx.Response | None:
        """Send the request once; return None after a pause if it should be retried."""
        try:
            response = await self._answer(method, url, into, options)
        except httpx.HTTPError as error:
            pause = attempts.pause_after_error(error) if isinstance(error, httpx.TransportError) else None
            if pause is None:
                reason = str(error) or type(error).__name__
                raise ServiceUnreachable(
                    f"no answer from the service at {self.base_url}: {reason}"
                ) from error
        else:
            pause = attempts.pause_after(response)
            if pause is None:
                return checked(response, has_key=self._has_key)
        await asyncio.sleep(pause)
        return None

    async def _answer(
        self,
        method: str,
        url: httpx.URL | str,
        into: tuple[Path, Callable[[int, int | None], None]] | None,
        options: dict[str, Any],
    ) -> httpx.Response:
        if into is None:
            return await self._http.request(method, url, **options)
        target, on_bytes = into
        async with self._http.stream(method, url, **options) as response:
            if response.is_error:
                await response.aread()
                return response
            total = response.headers.get("Content-Length")
            written = 0
            with opened_for_writing(target) as file:
                async for chunk in response.aiter_bytes():
                    written += file.write(chunk)
                    on_bytes(written, int(total) if total else None)
            return response


def _idempotent() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}
