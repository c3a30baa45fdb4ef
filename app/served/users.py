"""Hashes of users and sessions."""

import hashlib
import hmac

_LENGTH = 32


class UserHashes:
    """Pseudonymise users and sessions by HMAC with a random key of the database.

    Without the key a hash cannot be matched with guessed names; with the key it can.

    Args:
        key: The secret key.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: str) -> str:
        """Return the first 32 hexadecimal digits of the HMAC-SHA256 of texts."""
        message = "\x1f".join(parts).encode(errors="surrogatepass")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()[:_LENGTH]
