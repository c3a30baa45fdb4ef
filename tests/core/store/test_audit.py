"""The audit log: append-only entries, newest first."""

from typing import Any

import pytest

from core.errors import InvalidInput
from core.store import AuditEntry, Store


def add(store: Store, **values: Any) -> AuditEntry:
    """Record a request."""
    defaults = {
        "method": "POST",
        "path": "/v1/jobs",
        "status": 202,
        "request_id": "r-1",
        "key_id": None,
        "address": "192.0.2.7",
    }
    with store.begin() as tx:
        return tx.audit.add(**{**defaults, **values})


def test_entries_are_listed_newest_first_by_pages_and_by_key(store: Store) -> None:
    """A filter by key can be combined with a cursor."""
    mine = [add(store, key_id="key_1").id for _ in range(3)]
    add(store, key_id="key_2")
    add(store, status=401)
    with store.read() as tx:
        first = tx.audit.page(None, 2, key_id="key_1")
        rest = tx.audit.page(first.next_cursor, 2, key_id="key_1")
        everything = tx.audit.page(None, 10)
    assert [entry.id for entry in (*first.items, *rest.items)] == mine[::-1]
    assert rest.next_cursor is None
    assert [entry.status for entry in everything.items] == [401, 202, 202, 202, 202]


def test_a_long_path_is_truncated_to_1_000_characters(store: Store) -> None:
    """Requests of unknown callers must not fill the database."""
    assert add(store, path="/v1/" + "a" * 5_000).path == "/v1/" + "a" * 996


def test_a_cursor_of_another_list_is_refused(store: Store) -> None:
    """The id of a job is no cursor of the audit log."""
    with store.read() as tx, pytest.raises(InvalidInput, match="/cursor"):
        tx.audit.page("job_00000000000000000000", 10)
