"""API keys straight on the database, the service running or not; a border to core as `local` is one."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rankery.errors import UserError

if TYPE_CHECKING:
    from rich.table import Table

    from core.store import ApiKey, Store

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_PAGE = 200


class KeyMissing(UserError):
    """The service would be open to everybody on the network."""


class KeyRejected(UserError):
    """A key cannot be made as asked for, or there is none of that name."""


class StoreUnusable(UserError):
    """The database cannot be used."""


@dataclass(frozen=True)
class CreatedKey:
    """A key just made.

    Attributes:
        secret: What to send; kept nowhere.
        sentence: What was made.
    """

    secret: str
    sentence: str


def create_key(data_dir: Path, name: str, scopes: Sequence[str], expires_in: str | None) -> CreatedKey:
    """Make a key.

    Args:
        data_dir: The data folder; the database is in it unless RANKERY_DATABASE_URL names another.
        name: What people call the key.
        scopes: Of `read`, `score`, `write` and `admin`.
        expires_in: `90d`, `12h`; None for as long as it is not revoked.

    Raises:
        KeyRejected: A scope or the lifetime cannot be understood.
        StoreUnusable: The database cannot be used.
    """
    if not name.strip() or not name.isprintable() or len(name) > 200:
        raise KeyRejected("a key's name is up to 200 printable characters")
    expires_at = None if expires_in is None else _moment_in(expires_in)
    with _store(data_dir) as store, store.begin() as tx:
        key, secret = tx.api_keys.create(name, scopes, expires_at=expires_at)
    until = "" if key.expires_at is None else f", until {_shown(key.expires_at)}"
    return CreatedKey(secret, f"{key.id} may {', '.join(key.scopes)}{until}; its secret is shown this once")


def key_table(data_dir: Path) -> "Table":
    """Show all keys, newest first.

    Raises:
        StoreUnusable: The database cannot be used.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("id", "name", "secret", "scopes", "state", "made", "last used"):
        table.add_column(heading, overflow="fold", no_wrap=heading not in ("name", "scopes"))
    for key in _all_keys(data_dir):
        used = _shown(key.last_used_at) if key.last_used_at else "never"
        table.add_row(
            key.id,
            escape(key.name),
            f"{key.hint}…",
            ", ".join(key.scopes),
            _state(key),
            f"{key.created_at:%Y-%m-%d}",
            used,
        )
    return table


def revoke_key(data_dir: Path, id: str) -> str:
    """Let a key in no more; returns what was done.

    Raises:
        KeyRejected: There is none.
        StoreUnusable: The database cannot be used.
    """
    with _store(data_dir) as store, store.begin() as tx:
        key = tx.api_keys.revoke(id)
    return f"{key.id}, {key.name}, is revoked"


def require_key_beyond_loopback(host: str, data_dir: Path) -> None:
    """Let a service without keys listen on loopback alone.

    Raises:
        KeyMissing: The address is another one, and no key was ever made.
        StoreUnusable: The database cannot be used.
    """
    from core.loopback import is_loopback

    if is_loopback(host):
        return
    with _store(data_dir) as store, store.read() as tx:
        if tx.api_keys.any_exists():
            return
    raise KeyMissing(
        f"without an API key the service listens on loopback only, not on {host}: make one first with"
        " `rankery keys create NAME --scope admin`"
        " (in a container: `docker compose run --rm api keys create NAME --scope admin`)"
    )


@contextmanager
def _store(data_dir: Path) -> "Iterator[Store]":
    from pydantic import ValidationError

    from core.errors import InvalidInput, NotFound, RankeryError
    from core.store import Store, StoreSettings

    try:
        store = Store.open(StoreSettings(data_dir=data_dir.absolute()))
        try:
            store.migrate()
            yield store
        finally:
            store.close()
    except InvalidInput as error:
        raise KeyRejected("; ".join(problem.detail for problem in error.problems)) from None
    except NotFound as error:
        raise KeyRejected(str(error)) from None
    except (RankeryError, ValidationError) as error:
        raise StoreUnusable(str(error)) from error


def _all_keys(data_dir: Path) -> "list[ApiKey]":
    found: list[ApiKey] = []
    with _store(data_dir) as store, store.read() as tx:
        page = tx.api_keys.page(None, _PAGE)
        found += page.items
        while page.next_cursor is not None:
            page = tx.api_keys.page(page.next_cursor, _PAGE)
            found += page.items
    return found


def _moment_in(duration: str) -> datetime:
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhdw])", duration.strip())
    if found is None:
        raise KeyRejected(f"{duration!r} is no length of time: give minutes, hours, days or weeks as in 90d")
    try:
        return datetime.now(UTC) + int(found[1]) * _UNITS[found[2]]
    except OverflowError:
        raise KeyRejected(f"{duration} is too long") from None


def _state(key: "ApiKey") -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "active"
    return f"{'expired' if key.expires_at <= datetime.now(UTC) else 'until'} {key.expires_at:%Y-%m-%d}"


def _shown(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")
