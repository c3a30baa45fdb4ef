"""Browser sessions: hashed tokens, end, expiry, and revocation of their key."""

import hashlib
from datetime import timedelta

import pytest

from core.store import ApiKey, BrowserSession, Store
from core.store.clock import utc_now

HOUR = timedelta(hours=1)


def sha256(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def key(store: Store) -> ApiKey:
    """A key to sign in with."""
    with store.begin() as tx:
        return tx.api_keys.create("ci", ["read"])[0]


def sign_in(store: Store, key: ApiKey, lifetime: timedelta = HOUR) -> str:
    """Sign in with a key, and return the token of the session."""
    with store.begin() as tx:
        return tx.api_keys.begin_session(key.id, lifetime)


def key_id_of(store: Store, token: str) -> str | None:
    """Return the id of the key of a session, or None."""
    with store.read() as tx:
        key = tx.api_keys.of_session(sha256(token))
        return None if key is None else key.id


def test_a_session_has_the_access_of_its_key(store: Store, key: ApiKey) -> None:
    """Each browser has a separate token of 43 characters; the hash of a token is not accepted as a token."""
    one, other = sign_in(store, key), sign_in(store, key)
    assert one != other
    assert len(one) == 43
    assert key_id_of(store, one) == key_id_of(store, other) == key.id
    assert key_id_of(store, sha256(one)) is None
    assert key_id_of(store, "") is None


def test_sessions_end_separately(store: Store, key: ApiKey) -> None:
    """Signing out of one browser leaves the others signed in; doing so twice is no error."""
    one, other = sign_in(store, key), sign_in(store, key)
    for _ in range(2):
        with store.begin() as tx:
            tx.api_keys.end_session(sha256(one))
    assert (key_id_of(store, one), key_id_of(store, other)) == (None, key.id)


def test_revoking_a_key_ends_its_sessions_for_good(store: Store, key: ApiKey) -> None:
    """Rows of the key's sessions are deleted; those of other keys stay."""
    with store.begin() as tx:
        second, _ = tx.api_keys.create("other", ["read"])
    token, kept_token = sign_in(store, key), sign_in(store, second)
    with store.begin() as tx:
        tx.api_keys.revoke(key.id)
    assert (key_id_of(store, token), key_id_of(store, kept_token)) == (None, second.id)
    with store.begin() as tx:
        tx.api_keys.get(key.id).revoked_at = None
    assert key_id_of(store, token) is None


def test_a_session_ends_with_its_key(store: Store, key: ApiKey) -> None:
    """The expiry of a key ends its sessions."""
    token = sign_in(store, key)
    with store.begin() as tx:
        tx.api_keys.get(key.id).expires_at = utc_now()
    assert key_id_of(store, token) is None


def test_a_session_ends_after_its_lifetime(store: Store, key: ApiKey) -> None:
    """An expired session finds no key, and is deleted when the next one begins."""
    token = sign_in(store, key, timedelta(0))
    assert key_id_of(store, token) is None
    kept_token = sign_in(store, key)
    with store.begin() as tx:
        session = tx.api_keys._session
        assert session.get(BrowserSession, sha256(token)) is None
        assert session.get(BrowserSession, sha256(kept_token)) is not None
