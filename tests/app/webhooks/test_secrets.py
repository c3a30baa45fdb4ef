"""Secrets of webhooks in the database, in clear and encrypted."""

import base64
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError
from structlog.testing import capture_logs

from app import ApiSettings, create_app
from app.webhooks.secrets import SecretCipher, SecretNotDecrypted, reencrypt_secrets
from core.store import Store
from core.store.clock import utc_now
from rankery.webhooks import new_secret
from tests.app.conftest import TestClient
from tests.servers.webhook_receiver import running_receiver


def new_key() -> SecretStr:
    """Return a Fernet key."""
    return SecretStr(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())


@contextmanager
def _running(settings: ApiSettings, *keys: SecretStr) -> Iterator[TestClient]:
    changes = {"encryption_keys": list(keys), "outbound_allowed": ["127.0.0.1"]}
    application = create_app(settings.model_copy(update=changes))
    with TestClient(application, base_url="http://127.0.0.1") as client:
        yield client


def _stored_secrets(settings: ApiSettings) -> list[tuple[str, str | None]]:
    """Return the present and the former secret of each webhook as stored."""
    with closing(Store.open(settings)) as store, store.read() as tx:
        return [(row.secret, row.former_secret) for row in tx.webhooks.page(None, 10).items]


@pytest.mark.long
@pytest.mark.both_stores
def test_a_key_encrypts_secrets_stored_in_plain_text(settings: ApiSettings, tmp_path: Path) -> None:
    """The next start encrypts stored secrets; receivers keep their secrets, and no answer shows the key."""
    key = new_key()
    with running_receiver(tmp_path / "receiver") as receiver:
        with _running(settings) as client:
            webhook = client.post("/v1/webhooks", json={"url": receiver.url}).json()
        assert _stored_secrets(settings) == [(webhook["secret"], None)]
        receiver.set_secret(webhook["secret"])
        with _running(settings, key) as client:
            ((encrypted, _),) = _stored_secrets(settings)
            assert encrypted != webhook["secret"]
            assert SecretCipher([key]).decrypt(encrypted) == webhook["secret"]
            test = f"/v1/webhooks/{webhook['id']}/test"
            assert client.post(test).json()["delivered"]
            rotated = client.post(f"/v1/webhooks/{webhook['id']}/rotate").json()["secret"]
            for secret in (webhook["secret"], rotated):  # for a day both sign
                receiver.set_secret(secret)
                assert client.post(test).json()["delivered"]
            client.post("/v1/webhooks", json={"url": receiver.url})
            assert "whsec_" not in str(_stored_secrets(settings))
            assert key.get_secret_value() not in client.get("/v1/settings").text
        with _running(settings) as client:  # the key is lost: nothing is sent, with the reason
            answer = client.post(test).json()
            assert not answer["delivered"]
            assert "RANKERY_ENCRYPTION_KEYS" in answer["error"]
            rotated = client.post(f"/v1/webhooks/{webhook['id']}/rotate").json()["secret"]
            receiver.set_secret(rotated)
            assert client.post(test).json()["delivered"]


def test_keys_rotate(settings: ApiSettings) -> None:
    """The first key encrypts the secrets of the other keys again, which may then be removed."""
    old, new, secret = new_key(), new_key(), new_secret()
    with closing(Store.open(settings)) as store:
        with store.begin() as tx:
            tx.webhooks.add("https://example.com/", secret)
        for keys in ([old], [old, new], [new, old], [new]):
            reencrypt_secrets(store, SecretCipher(keys))
            after = _stored_secrets(settings)
            assert SecretCipher(keys[:1]).decrypt(after[0][0]) == secret
        reencrypt_secrets(store, SecretCipher([new]))
        assert _stored_secrets(settings) == after  # nothing is written where nothing changes
        for lost in ([old], []):
            with capture_logs() as logs:
                reencrypt_secrets(store, SecretCipher(lost))
            assert [entry["event"] for entry in logs] == ["webhooks.secrets_not_decrypted"]
            assert _stored_secrets(settings) == after
    with pytest.raises(SecretNotDecrypted):
        SecretCipher([old]).decrypt(after[0][0])


def test_the_former_secret_signs_where_it_can_be_decrypted(settings: ApiSettings) -> None:
    """The present secret signs even if the key of the former secret is lost."""
    lost, key = SecretCipher([new_key()]), SecretCipher([new_key()])
    former, present = new_secret(), new_secret()
    with closing(Store.open(settings)) as store, store.begin() as tx:
        webhook = tx.webhooks.add("https://example.com/", key.encrypt(former))
        webhook = tx.webhooks.rotate(webhook.id, key.encrypt(present))
    assert key.secrets_of(webhook, utc_now()) == [present, former]
    assert key.secrets_of(webhook, utc_now() + timedelta(days=2)) == [present]
    webhook.former_secret = lost.encrypt(former)
    assert key.secrets_of(webhook, utc_now()) == [present]


@pytest.mark.parametrize("key", ["short", "A" * 43, "+" * 43 + "="])
def test_invalid_encryption_keys_are_refused(key: str) -> None:
    """The error has a command that makes a key, and does not repeat the given value."""
    with pytest.raises(ValidationError) as refused:
        ApiSettings(encryption_keys=[SecretStr(key)])
    (fault,) = refused.value.errors()
    assert "openssl rand" in fault["msg"]
    assert key not in fault["msg"]
