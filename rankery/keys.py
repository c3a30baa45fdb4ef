"""Manage API keys directly in the database, using core."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rankery.errors import UserError, invalid_settings
from rankery.loopback import is_loopback
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.store import ApiKey, Store

ShownKey: TypeAlias = dict[str, Any]

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_PAGE = 200


class KeyMissing(UserError):
    """Raised when a service without keys would be open to the network."""


class KeyRejected(UserError):
    """A key cannot be created with these arguments, or does not exist."""


class StoreUnusable(UserError):
    """The database cannot be used."""


@dataclass(frozen=True)
class CreatedKey:
    """A new API key with its secret.

    Attributes:
        key: The key, as in `all_keys`.
        secret: Secret for requests; it is not stored.
    """

    key: ShownKey
    secret: str
    sentence: str


def create_key(
    data_dir: Path,
    name: str,
    scopes: Sequence[str],
    expires_in: str | None,
    projects: Sequence[str] | None = None,
) -> CreatedKey:
    """Create an API key.

    Args:
        data_dir: The data folder; the database is in it unless RANKERY_DATABASE_URL names another.
        scopes: Any of `read`, `score`, `write` and `admin`.
        expires_in: Lifetime such as `90d` or `12h`; None for no expiry.
        projects: Projects that the key may access; None for all.

    Raises:
        KeyRejected: The name, a scope or the lifetime is invalid.
        StoreUnusable: The database cannot be used.
    """
    if not name.strip() or not name.isprintable() or len(name) > 200:
        raise KeyRejected("a key's name must have 1 to 200 printable characters")
    expires_at = None if expires_in is None else _expiry_after(expires_in)
    with open_store(data_dir) as store, store.begin() as tx:
        key, secret = tx.api_keys.create(name, scopes, expires_at=expires_at, projects=projects)
    until = "" if key.expires_at is None else f", until {key.expires_at:%Y-%m-%d %H:%M}"
    within = "" if projects is None else f" within {', '.join(projects)}"
    sentence = f"{key.id} may {', '.join(key.scopes)}{within}{until}; its secret is shown only once"
    return CreatedKey(_shown_key(key), secret, sentence)


def all_keys(data_dir: Path) -> list[ShownKey]:
    """Return all keys, newest first, without their secrets.

    Raises:
        StoreUnusable: The database cannot be used, or does not exist.
    """
    keys: list[ShownKey] = []
    with open_store(data_dir, must_exist=True) as store, store.read() as tx:
        page = tx.api_keys.page(None, _PAGE)
        keys += map(_shown_key, page.items)
        while page.next_cursor is not None:
            page = tx.api_keys.page(page.next_cursor, _PAGE)
            keys += map(_shown_key, page.items)
    return keys


def revoke_key(data_dir: Path, id: str) -> ShownKey:
    """Revoke a key and return it.

    Raises:
        KeyRejected: The key does not exist.
        StoreUnusable: The database cannot be used, or does not exist.
    """
    with open_store(data_dir, must_exist=True) as store, store.begin() as tx:
        return _shown_key(tx.api_keys.revoke(id))


def require_key_beyond_loopback(host: str, data_dir: Path) -> None:
    """Refuse to listen on an address beyond loopback if no API key exists.

    Raises:
        KeyMissing: The address is not loopback, and no key was ever created.
        StoreUnusable: The database cannot be used.
    """
    require_server_package()

    if is_loopback(host):
        return
    with open_store(data_dir) as store, store.read() as tx:
        if tx.api_keys.any_exists():
            return
    raise KeyMissing(
        f"without an API key the service listens on loopback only, not on {host}: create one first with"
        " `rankery keys create NAME --scope admin`"
        " (in a container: `docker compose run --rm api keys create NAME --scope admin`)"
    )


@contextmanager
def open_store(data_dir: Path, *, must_exist: bool = False) -> "Iterator[Store]":
    """Open and migrate the store of a data folder.

    Args:
        must_exist: Whether to refuse a folder without a database, instead of creating one.

    Raises:
        InvalidSettings: A `RANKERY_…` variable is invalid.
        StoreUnusable: The store cannot be used, or does not exist.
        KeyRejected: The store refused an operation in the block.
    """
    require_server_package()
    from pydantic import ValidationError

    from core.errors import InvalidInput, NotFound, RankeryError
    from core.store import Store, StoreSettings

    try:
        settings = StoreSettings(data_dir=data_dir.absolute())
        database = settings.database_file
        if must_exist and database is not None and not database.exists():
            raise StoreUnusable(
                f"there is no database {database}: name the data folder by --data-dir or RANKERY_DATA_DIR"
            )
        store = Store.open(settings)
        try:
            store.migrate()
            yield store
        finally:
            store.close()
    except InvalidInput as error:
        raise KeyRejected("; ".join(problem.detail for problem in error.problems)) from None
    except NotFound as error:
        raise KeyRejected(str(error)) from None
    except ValidationError as error:
        raise invalid_settings(error.errors()) from None
    except RankeryError as error:
        raise StoreUnusable(str(error)) from error


def _expiry_after(duration: str) -> datetime:
    match = re.fullmatch(r"([1-9][0-9]{0,5})([mhdw])", duration.strip())
    if match is None:
        raise KeyRejected(f"{duration!r} is not a duration: give minutes, hours, days or weeks as in 90d")
    try:
        return datetime.now(UTC) + int(match[1]) * _UNITS[match[2]]
    except OverflowError:
        raise KeyRejected(f"{duration} is too long") from None


def _shown_key(key: "ApiKey") -> ShownKey:
    return {
        "id": key.id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "projects": key.projects,
        "state": _state(key),
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at and key.expires_at.isoformat(),
        "revoked_at": key.revoked_at and key.revoked_at.isoformat(),
        "last_used_at": key.last_used_at and key.last_used_at.isoformat(),
    }


def _state(key: "ApiKey") -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "active"
    return f"{'expired' if key.expires_at <= datetime.now(UTC) else 'until'} {key.expires_at:%Y-%m-%d}"
