"""Signatures of webhooks, as Standard Webhooks (https://www.standardwebhooks.com) defines them."""

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Any

from rankery.errors import WebhookNotVerified
from rankery.json_text import parsed_json

SECRET_PREFIX = "whsec_"  # noqa: S105 - prefix of all secrets
TOLERANCE_SECONDS = 300.0
_SECRET_BYTES = 32
_VERSION = "v1"


def new_secret() -> str:
    """Return a new secret: `whsec_` and 32 random bytes in base64."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message, `v1,` and HMAC-SHA256 in base64.

    Args:
        secret: Secret of the webhook, `whsec_…`.
        message_id: Header `webhook-id`.
        timestamp: Header `webhook-timestamp`, in seconds since 1970.
        body: Body of the request.

    Raises:
        WebhookNotVerified: The secret is not a webhook secret.
    """
    content = _encoded(f"{message_id}.{timestamp}.") + body
    digest = hmac.new(_key_of(secret), content, hashlib.sha256).digest()
    return f"{_VERSION},{base64.b64encode(digest).decode('ascii')}"


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> dict[str, Any]:
    """Verify that a request was sent by the service, and return its body.

    Pass the raw bytes of the request: JSON that was parsed and serialised again has another signature.
    Repeated deliveries have the same `webhook-id`.

    Args:
        body: Body of the request.
        headers: Headers of the request; their case does not matter.
        secret: Secret of the webhook, `whsec_…`.
        tolerance_seconds: Largest difference between the time of sending and now, against replay attacks.

    Raises:
        WebhookNotVerified: A header is missing, the secret is invalid, no signature matches, the timestamp is
            out of tolerance, or the body is not a JSON object.

    Example:
        >>> secret, body = new_secret(), b'{"type": "job.ended", "timestamp": "2026-11-24", "data": {}}'
        >>> headers = {"webhook-id": "dlv_1", "webhook-timestamp": str(int(time.time()))}
        >>> headers["webhook-signature"] = sign(secret, "dlv_1", int(headers["webhook-timestamp"]), body)
        >>> verify_webhook(body, headers, secret)["type"]
        'job.ended'
    """
    sent = _encoded(body) if isinstance(body, str) else bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    message_id, signatures = _header(given, "webhook-id"), _header(given, "webhook-signature")
    timestamp = _timestamp(_header(given, "webhook-timestamp"))
    if not abs(time.time() - timestamp) <= tolerance_seconds:
        raise WebhookNotVerified(f"the timestamp differs from now by more than {tolerance_seconds:g} s")
    expected = _encoded(sign(secret, message_id, timestamp, sent))
    # Compared in constant time, and as bytes, since a header may hold non-ASCII text.
    if not any(hmac.compare_digest(expected, _encoded(each)) for each in signatures.split(" ")):
        raise WebhookNotVerified("no signature matches this body and this secret")
    try:
        content = parsed_json(sent)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise WebhookNotVerified("the body is not a JSON object")
    return content


def _encoded(text: str) -> bytes:
    """Return a text in UTF-8; some servers have invalid bytes of a header as surrogates."""
    return text.encode("utf-8", "surrogatepass")


def _header(headers: Mapping[str, str], name: str) -> str:
    if name not in headers:
        raise WebhookNotVerified(f"the header {name} is missing")
    return headers[name]


def _timestamp(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise WebhookNotVerified("the header webhook-timestamp is not a number of seconds since 1970")
    return int(text)


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except ValueError:  # of text beyond ASCII, too
        key = b""
    if not key:  # anybody can sign with an empty key
        raise WebhookNotVerified("the secret must be whsec_ and base64, as shown at its creation")
    return key
