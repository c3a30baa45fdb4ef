"""Encrypt the signing secrets of webhooks in the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import structlog
from pydantic import SecretStr

from app.http.services import injected
from core.errors import ExtraMissing
from core.store import Store
from core.store.tables import Webhook
from rankery.webhooks import SECRET_PREFIX

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_log = structlog.stdlib.get_logger("rankery.webhooks")


class SecretNotDecrypted(Exception):
    """The secret of a webhook was encrypted with a key that this process does not have."""

    def __init__(self) -> None:
        super().__init__(
            "the secret is encrypted with a key that RANKERY_ENCRYPTION_KEYS does not list;"
            " add the key, or rotate the secret"
        )


class SecretCipher:
    """Encrypt secrets with the first key and decrypt secrets of any key; ciphertexts are Fernet tokens.

    Without keys secrets are stored in plain text. Plain secrets begin with `whsec_`, unlike tokens, so that
    one database may hold both.

    Args:
        keys: Keys of 32 bytes in URL-safe base64.

    Raises:
        ExtraMissing: There are keys, and the extra `encryption` is not installed.
    """

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        self._fernets = [_fernet(key.get_secret_value()) for key in keys]

    def encrypt(self, secret: str) -> str:
        """Return the text to store for a secret."""
        return self._fernets[0].encrypt(secret.encode()).decode() if self._fernets else secret

    def decrypt(self, stored: str) -> str:
        """Return the plain text of a stored secret.

        Raises:
            SecretNotDecrypted: The secret was encrypted with none of the keys.
        """
        if stored.startswith(SECRET_PREFIX):
            return stored
        secret = next(filter(None, (_decrypted(fernet, stored) for fernet in self._fernets)), None)
        if secret is None:
            raise SecretNotDecrypted
        return secret

    def reencrypt(self, stored: str) -> str:
        """Encrypt a stored secret with the first key, or return it unchanged if that key encrypted it.

        Raises:
            SecretNotDecrypted: The secret was encrypted with none of the keys.
        """
        if self._fernets and _decrypted(self._fernets[0], stored) is not None:
            return stored
        return self.encrypt(self.decrypt(stored))

    def secrets_of(self, webhook: Webhook, at: datetime) -> list[str]:
        """Return the secrets that sign a message: the current secret, and for a day the former one.

        Raises:
            SecretNotDecrypted: The current secret was encrypted with none of the keys.
        """
        secrets = [self.decrypt(webhook.secret)]
        if webhook.former_secret is None or webhook.former_until is None or at >= webhook.former_until:
            return secrets
        try:
            return [*secrets, self.decrypt(webhook.former_secret)]
        except SecretNotDecrypted:  # the secret may have been rotated because its key was lost
            return secrets


UseCipher = Annotated[SecretCipher, injected(SecretCipher)]


def reencrypt_secrets(store: Store, cipher: SecretCipher) -> None:
    """Encrypt all stored secrets with the first key; log the webhooks whose secrets cannot be decrypted."""
    not_decrypted: set[str] = set()
    with store.begin() as tx:
        for webhook in tx.webhooks.all_locked():
            try:
                webhook.secret = cipher.reencrypt(webhook.secret)
                webhook.former_secret = webhook.former_secret and cipher.reencrypt(webhook.former_secret)
            except SecretNotDecrypted:
                not_decrypted.add(webhook.id)
    if not_decrypted:
        _log.warning(
            "webhooks.secrets_not_decrypted", webhooks=sorted(not_decrypted), hint=str(SecretNotDecrypted())
        )


def _fernet(key: str) -> "Fernet":
    try:
        from cryptography.fernet import Fernet
    except ImportError as error:
        raise ExtraMissing("the encryption of secrets", "encryption") from error
    return Fernet(key)


def _decrypted(fernet: "Fernet", stored: str) -> str | None:
    from cryptography.fernet import InvalidToken

    try:
        return fernet.decrypt(stored).decode()
    except InvalidToken:
        return None
