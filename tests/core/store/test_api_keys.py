"""API keys: hashed secrets, scopes, expiry, revocation and last use."""

import hashlib
import re
from datetime import timedelta

import pytest

from core.errors import InvalidInput, NotFound
from core.store import ApiKey, Store
from core.store.clock import utc_now
from core.store.repositories.api_keys import LAST_USE_INTERVAL, SCOPES


def sha256(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def create(store: Store, *scopes: str) -> tuple[ApiKey, str]:
    """Create a key with its secret."""
    with store.begin() as tx:
        return tx.api_keys.create("ci", scopes or ["read"])


def key_id_of(store: Store, secret: str) -> str | None:
    """Return the id of the key with a secret, or None."""
    with store.read() as tx:
        key = tx.api_keys.find(sha256(secret))
        return None if key is None else key.id


def test_a_key_is_found_by_its_secret_which_is_not_stored(store: Store) -> None:
    """The row has the SHA-256 of the whole secret and its first eight characters, nothing more of it."""
    key, secret = create(store, "write", "score")
    assert re.fullmatch(r"rk_[A-Za-z0-9_-]{43}", secret)
    assert re.fullmatch(r"key_[0-9a-z]{20}", key.id)
    assert key_id_of(store, secret) == key.id
    with store.read() as tx:
        row = tx.api_keys.get(key.id)
        columns = {column.name: getattr(row, column.name) for column in ApiKey.__table__.columns}
    assert columns["secret_sha256"] == sha256(secret)
    assert columns["hint"] == secret[:8]
    assert secret not in str(columns)
    assert columns["scopes"] == ["score", "write"]


def test_secrets_differ(store: Store) -> None:
    """Keys of the same name have different secrets."""
    (first, one), (second, other) = create(store), create(store)
    assert one != other
    assert (key_id_of(store, one), key_id_of(store, other)) == (first.id, second.id)


def test_an_unknown_secret_finds_no_key(store: Store) -> None:
    """A secret that differs in one character, or is the hash itself, finds nothing."""
    key, secret = create(store)
    other = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    assert [key_id_of(store, wrong) for wrong in (other, "", key.secret_sha256, key.hint)] == [None] * 4


def test_a_revoked_key_is_refused_and_stays_on_record(store: Store) -> None:
    """The moment is that of the first revocation, however often it is revoked."""
    key, secret = create(store)
    with store.begin() as tx:
        revoked_at = tx.api_keys.revoke(key.id).revoked_at
    with store.begin() as tx:
        assert tx.api_keys.revoke(key.id).revoked_at == revoked_at
    assert key_id_of(store, secret) is None
    with store.read() as tx:
        assert tx.api_keys.any_exists()
        assert [row.id for row in tx.api_keys.page(None, 10).items] == [key.id]


def test_revoking_an_unknown_key_is_an_error(store: Store) -> None:
    """The id of no key raises `NotFound`."""
    with pytest.raises(NotFound), store.begin() as tx:
        tx.api_keys.revoke("key_1")


def test_a_key_is_accepted_until_it_expires(store: Store) -> None:
    """A key is refused from the moment of its expiry."""
    with store.begin() as tx:
        key, secret = tx.api_keys.create("ci", ["read"], expires_at=utc_now() + timedelta(hours=1))
    assert key_id_of(store, secret) == key.id
    with store.begin() as tx:
        tx.api_keys.get(key.id).expires_at = utc_now()
    assert key_id_of(store, secret) is None


@pytest.mark.parametrize("scopes", [[], ["root"], ["read", "Read"], [""]])
def test_only_known_scopes_are_kept(store: Store, scopes: list[str]) -> None:
    """A later release could give a meaning to an unknown scope."""
    with pytest.raises(InvalidInput, match=r"/scopes: must be a list of read, score, write, admin"):
        create(store, *scopes) if scopes else _create_without_scopes(store)
    with store.read() as tx:
        assert not tx.api_keys.any_exists()


def _create_without_scopes(store: Store) -> None:
    with store.begin() as tx:
        tx.api_keys.create("ci", [])


def test_a_key_that_has_expired_already_is_refused(store: Store) -> None:
    """The error has a pointer to the expiry."""
    with pytest.raises(InvalidInput, match="/expires_at: must be in the future"), store.begin() as tx:
        tx.api_keys.create("ci", SCOPES, expires_at=utc_now())


def test_uses_are_noted_to_the_minute(store: Store) -> None:
    """A second use within the minute writes nothing; one after it does."""
    key, _ = create(store)
    with store.begin() as tx:
        tx.api_keys.record_use(key.id)
    with store.begin() as tx:
        first = tx.api_keys.get(key.id).last_used_at
        tx.api_keys.record_use(key.id)
    assert first is not None
    assert utc_now() - first < timedelta(minutes=1)
    with store.begin() as tx:
        row = tx.api_keys.get(key.id)
        assert row.last_used_at == first
        row.last_used_at = first - LAST_USE_INTERVAL
    with store.begin() as tx:
        tx.api_keys.record_use(key.id)
    with store.read() as tx:
        assert (tx.api_keys.get(key.id).last_used_at or first) >= first


def test_keys_are_listed_newest_first_by_pages(store: Store) -> None:
    """The cursor is the id of the last key seen."""
    created = [create(store)[0].id for _ in range(3)]
    with store.read() as tx:
        page = tx.api_keys.page(None, 2)
        rest = tx.api_keys.page(page.next_cursor, 2)
    assert [key.id for key in (*page.items, *rest.items)] == created[::-1]
    assert (page.next_cursor, rest.next_cursor) == (created[1], None)
