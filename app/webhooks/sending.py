"""Send one event to one webhook."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

import httpx

from app.events.schemas import Event
from app.webhooks.secrets import SecretCipher, SecretNotDecrypted
from core.errors import AddressRefused
from core.events import WEBHOOK_TEST
from core.outbound.clients import open_async_client
from core.outbound.guard import SsrfGuard
from core.store.clock import utc_now
from core.store.tables import Webhook
from rankery.retry_after import retry_after_seconds
from rankery.webhooks import sign

# Bytes of the answer's body that are read and stored in the log.
ANSWER_BYTES = 1_024
_OVERLOADED = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass(frozen=True)
class Message:
    """A message to a receiver.

    Attributes:
        id: Id of the message, the same in all attempts.
    """

    id: str
    body: bytes

    @classmethod
    def of(cls, delivery_id: str, event: Event) -> "Message":
        """Return the message of an event."""
        content = event.model_dump(mode="json")
        return cls(delivery_id, _json({"type": event.kind, "timestamp": content["at"], "data": content}))

    @classmethod
    def test(cls, message_id: str, webhook_id: str) -> "Message":
        """Return a message that tests a webhook, with the kind `WEBHOOK_TEST` and without an event's data."""
        at = _rfc3339(utc_now())
        content = {"id": 0, "kind": WEBHOOK_TEST, "at": at, "object": {"kind": "webhook", "id": webhook_id}}
        content |= {"project": None, "key_id": None, "data": {}}
        return cls(message_id, _json({"type": WEBHOOK_TEST, "timestamp": at, "data": content}))

    def headers(self, secrets: Sequence[str], timestamp: int) -> dict[str, str]:
        """Return the headers of an attempt, with a signature for each secret."""
        signatures = [sign(secret, self.id, timestamp, self.body) for secret in secrets]
        return {
            "Content-Type": "application/json",
            "webhook-id": self.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(signatures),
        }


@dataclass(frozen=True)
class Attempt:
    """Outcome of sending a message.

    Attributes:
        status: HTTP status of the answer, None without an answer.
        took_seconds: Seconds until the answer.
        error: Why the message does not count as delivered, None if it does.
        answer: The beginning of the answer's body, None without an answer.
        retry_after_seconds: Pause that an overloaded receiver requests by `Retry-After`.
    """

    at: datetime
    status: int | None
    took_seconds: float
    error: str | None
    answer: str | None
    retry_after_seconds: float = 0.0

    @property
    def delivered(self) -> bool:
        """Whether the receiver accepted the message."""
        return self.error is None

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants no further messages."""
        return self.status == HTTPStatus.GONE

    def to_json(self) -> dict[str, Any]:
        """Return the entry for the delivery's log."""
        return {
            "at": _rfc3339(self.at),
            "status": self.status,
            "took_seconds": round(self.took_seconds, 3),
            "error": self.error,
            "answer": self.answer,
        }


def open_sender(guard: SsrfGuard, timeout_seconds: float, version: str) -> httpx.AsyncClient:
    """Open the client that sends messages; it follows no redirects."""
    # Accept no compression, as protection from decompression bombs.
    headers = {"User-Agent": f"Rankery/{version}", "Accept-Encoding": "identity"}
    return open_async_client(guard, timeout=timeout_seconds, headers=headers)


async def send(
    client: httpx.AsyncClient,
    webhook: Webhook,
    message: Message,
    cipher: SecretCipher,
    timeout_seconds: float,
) -> Attempt:
    """Send a message once; a message that cannot be signed is a failed attempt without a request.

    Args:
        client: HTTP client of `open_sender`.
        cipher: Decrypts the secrets of the webhook.
        timeout_seconds: Timeout for the whole answer.
    """
    at, started = utc_now(), time.monotonic()
    status, answer, retry_after = None, None, 0.0
    try:
        secrets = cipher.secrets_of(webhook, at)
    except SecretNotDecrypted as not_decrypted:
        return Attempt(at, None, 0.0, str(not_decrypted), None)
    headers = message.headers(secrets, int(at.timestamp()))
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            client.stream("POST", webhook.url, content=message.body, headers=headers) as response,
        ):
            status = response.status_code
            if status in _OVERLOADED:
                retry_after = retry_after_seconds(response.headers.get("Retry-After"))
            answer = await _beginning(response)
            error = _refusal(response)
    except (TimeoutError, httpx.TimeoutException):
        # A success status suffices, even if the body is incomplete.
        arrived = status is not None and _is_success(status)
        error = None if arrived else f"no answer within {timeout_seconds:g} s"
    except AddressRefused as refused:
        error = str(refused)
    except httpx.HTTPError as failed:
        arrived = status is not None and _is_success(status)
        error = None if arrived else f"the connection failed: {failed or type(failed).__name__}"
    return Attempt(at, status, time.monotonic() - started, error, answer, retry_after)


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _refusal(response: httpx.Response) -> str | None:
    if _is_success(response.status_code):
        return None
    if response.is_redirect:
        return f"the receiver answered {response.status_code}, but redirects are not followed"
    return f"the receiver answered {response.status_code}"


async def _beginning(response: httpx.Response) -> str:
    body = b""
    async for part in response.aiter_raw(ANSWER_BYTES):
        body += part
        if len(body) >= ANSWER_BYTES:
            break
    return body[:ANSWER_BYTES].decode("utf-8", "replace").replace("\x00", "\ufffd")


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def _rfc3339(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
