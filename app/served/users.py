"""Hashes of users and sessions."""

import hashlib
import hmac

_LENGTH = 32


class UserHashes:
    """Hash what identifies users, by a random key of the database.

    Without the key a hash cannot be compared with guessed names; with it, it can.

    Args:
        key: The key.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: str) -> str:
        """Return the HMAC-SHA256 of texts, 32 hexadecimal digits of it."""
        message = "\x1f".join(parts).encode(errors="surrogatepass")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()[:_LENGTH]
