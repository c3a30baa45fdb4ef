"""Signatures of webhooks."""

import base64
import json
import time

import pytest

import rankery
from rankery.errors import WebhookNotVerified
from rankery.webhooks import new_secret, sign, verify_webhook

BODY = b'{"type":"job.ended","timestamp":"2026-01-05T10:02:11Z","data":{"title":"\xc3\xbcber"}}'


def _headers(secret: str, timestamp: int | None = None, body: bytes = BODY) -> dict[str, str]:
    at = int(time.time()) if timestamp is None else timestamp
    return {
        "Webhook-Id": "dlv_1",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": sign(secret, "dlv_1", at, body),
    }


def test_the_example_of_standard_webhooks_is_verified() -> None:
    """The signature equals that of the reference implementations of Standard Webhooks."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == expected


@pytest.mark.parametrize("body", [BODY, BODY.decode()])
def test_a_signed_body_is_verified(body: bytes | str) -> None:
    """The body is returned as JSON, whatever the case of the headers."""
    secret = new_secret()
    assert rankery.verify_webhook(body, _headers(secret), secret) == json.loads(BODY)
    lower = {name.lower(): value for name, value in _headers(secret).items()}
    assert verify_webhook(body, lower, secret)["type"] == "job.ended"


def test_one_of_several_signatures_is_enough() -> None:
    """After a rotation one of two signatures is enough, and unknown versions are ignored."""
    old, new = new_secret(), new_secret()
    headers = _headers(new)
    headers["Webhook-Signature"] = (
        f"v1a,x {sign(old, 'dlv_1', int(headers['Webhook-Timestamp']), BODY)} "
        + (headers["Webhook-Signature"])
    )
    assert verify_webhook(BODY, headers, old) == verify_webhook(BODY, headers, new)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"Webhook-Id": "dlv_2"}, "no signature"),
        ({"Webhook-Signature": "v1,"}, "no signature"),
        ({"Webhook-Signature": "ü"}, "no signature"),
        ({"Webhook-Signature": "v1,\udcfc"}, "no signature"),
        ({"Webhook-Id": "\udcfc"}, "no signature"),
        ({"Webhook-Signature": None}, "webhook-signature is missing"),
        ({"Webhook-Timestamp": None}, "webhook-timestamp is missing"),
        ({"Webhook-Timestamp": "soon"}, "not a number of seconds"),
        ({"Webhook-Timestamp": "9" * 30}, "not a number of seconds"),
        ({"Webhook-Timestamp": "1614265330"}, "differs from now by more than 300 s"),
    ],
)
def test_changed_headers_are_refused(change: dict[str, str | None], reason: str) -> None:
    """Signed headers cannot be changed, and old requests cannot be repeated."""
    secret = new_secret()
    headers = {name: value for name, value in (_headers(secret) | change).items() if value is not None}
    with pytest.raises(WebhookNotVerified, match=reason):
        verify_webhook(BODY, headers, secret)


def test_a_changed_timestamp_is_refused() -> None:
    """A changed timestamp is refused, even within the tolerance."""
    secret, now = new_secret(), int(time.time())
    headers = _headers(secret, now) | {"Webhook-Timestamp": str(now - 10)}
    with pytest.raises(WebhookNotVerified, match="no signature"):
        verify_webhook(BODY, headers, secret)


def test_other_bodies_and_secrets_are_refused() -> None:
    """A body with one changed byte and another secret are refused."""
    secret = new_secret()
    for body, given_secret in ((BODY + b" ", secret), (BODY, new_secret())):
        with pytest.raises(WebhookNotVerified, match="no signature"):
            verify_webhook(body, _headers(secret), given_secret)
    for given_secret in ("whsec_?", "whsec_é", "whsec_", ""):
        with pytest.raises(WebhookNotVerified, match="whsec_ and base64"):
            verify_webhook(BODY, _headers(secret), given_secret)
    for body in (b"[]", b"{", b"\xff"):
        with pytest.raises(WebhookNotVerified, match="not a JSON object"):
            verify_webhook(body, _headers(secret, body=body), secret)


def test_the_tolerance_can_be_chosen() -> None:
    """A receiver with a wrong clock or with a queue can allow more time."""
    secret = new_secret()
    headers = _headers(secret, int(time.time()) - 1_000)
    assert verify_webhook(BODY, headers, secret, tolerance_seconds=2_000)
    with pytest.raises(WebhookNotVerified, match="more than 999 s"):
        verify_webhook(BODY, headers, secret, tolerance_seconds=999)


def test_secrets_are_long_and_different() -> None:
    """A secret has 256 random bits."""
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"))) for secret in secrets} == {32}
