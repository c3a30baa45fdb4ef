"""A client that repeats each request without an answer under the same `Idempotency-Key`."""

import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import httpx

Document: TypeAlias = dict[str, Any]

_PAUSE_SECONDS = 0.2
# 409: the service is processing the same request. 429 and 503: the client must send the request later.
_RETRIED_STATUSES = frozenset({409, 429, 500, 502, 503, 504, 507})


class Refused(Exception):
    """The service understood the request and refused it."""


class RetryingClient:
    """A client that repeats requests until they are answered; may be used by several threads.

    Args:
        url: URL of the API.
        patience_seconds: Time for which a request is repeated.

    Attributes:
        resent: Number of repeated requests.
        statuses: Number of unsuccessful responses by status.
    """

    def __init__(self, url: str, patience_seconds: float = 120.0) -> None:
        self._http = httpx.Client(base_url=url, timeout=10, trust_env=False)
        self._patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._unanswered_creations = 0
        self.resent = 0
        self.statuses: dict[int, int] = {}

    def __enter__(self) -> "RetryingClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    @property
    def is_submitting(self) -> bool:
        """Whether a creation has been sent and not been answered."""
        return self._unanswered_creations > 0

    def get(self, path: str, **params: Any) -> Document:
        """Request a JSON document."""
        document: Document = self.fetch(path, **params).json()
        return document

    def fetch(self, path: str, **params: Any) -> httpx.Response:
        """Request a path and return the response."""
        return self._retry(lambda: self._http.get(path, params=params))

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._retry(lambda: self._http.delete(path))

    def create(self, path: str, body: Document | None = None, file: Path | None = None) -> Document:
        """Create an object once, however often the request is sent."""
        headers = {"Idempotency-Key": uuid.uuid4().hex}

        def send() -> httpx.Response:
            if file is None:
                return self._http.post(path, json=body, headers=headers)
            with file.open("rb") as content:
                return self._http.post(
                    path, files={"file": (file.name, content)}, headers=headers, timeout=60
                )

        with self._lock:
            self._unanswered_creations += 1
        try:
            document: Document = self._retry(send).json()
        finally:
            with self._lock:
                self._unanswered_creations -= 1
        return document

    def _retry(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send a request until it succeeds, and return the response.

        Raises:
            Refused: The response has another status than `_RETRIED_STATUSES`, or the patience has ended.
        """
        deadline = time.monotonic() + self._patience_seconds
        while True:
            try:
                response = send()
            except httpx.TransportError as error:
                refusal = f"no answer: {error!r}"
            else:
                if response.is_success:
                    return response
                refusal = f"{response.status_code} {response.text[:500]}"
                with self._lock:
                    self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
                if response.status_code not in _RETRIED_STATUSES:
                    raise Refused(refusal)
            if time.monotonic() > deadline:
                raise Refused(f"not answered for {self._patience_seconds:g} s, last {refusal}")
            with self._lock:
                self.resent += 1
            time.sleep(_PAUSE_SECONDS)
