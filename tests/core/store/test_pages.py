"""Cursor pagination."""

import pytest

from core.errors import InvalidInput
from core.store import Store
from tests.purging import purge


def _walk(store: Store, limit: int, *, adding: int = 0) -> list[str]:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        with store.read() as tx:
            page = tx.jobs.page(cursor, limit)
        assert len(page.items) <= limit
        seen += [job.id for job in page.items]
        with store.begin() as tx:
            for _ in range(adding):
                tx.jobs.add("train", {})
        if page.next_cursor is None:
            return seen
        cursor = page.next_cursor


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 10, 11])
def test_pages_list_each_row_once(store: Store, limit: int) -> None:
    """Walking the pages gives every row once, newest first, whatever the limit; no page is empty."""
    with store.begin() as tx:
        job_ids = [tx.jobs.add("train", {}).id for _ in range(10)]
    assert _walk(store, limit) == job_ids[::-1]


@pytest.mark.both_stores
def test_rows_added_between_two_pages_are_not_listed(store: Store) -> None:
    """Rows that are added between two pages are not listed, and earlier rows are listed once."""
    with store.begin() as tx:
        job_ids = [tx.jobs.add("train", {}).id for _ in range(10)]
    assert _walk(store, 3, adding=2) == job_ids[::-1]


def test_a_cursor_stays_valid_after_its_row_is_deleted(store: Store) -> None:
    """The next page begins after the position of the deleted row."""
    with store.begin() as tx:
        oldest, middle, _ = (tx.datasets.add("d", {}).id for _ in range(3))
        cursor = tx.datasets.page(None, 2).next_cursor
        assert cursor == middle
        purge(tx, "dataset", middle)
        assert [row.id for row in tx.datasets.page(cursor, 2).items] == [oldest]


def test_an_empty_list_has_one_empty_page(store: Store) -> None:
    """The page has no items and no cursor of a next page."""
    with store.read() as tx:
        page = tx.models.page(None, 10)
    assert (page.items, page.next_cursor) == ([], None)


@pytest.mark.parametrize(
    "cursor", ["", "x", "ds_00000000000000000000", "job_", "job_zzz", "job_' OR 1=1 --xxxxxx"]
)
def test_a_cursor_of_another_list_is_refused(store: Store, cursor: str) -> None:
    """A cursor that this list never gave is refused."""
    with store.read() as tx, pytest.raises(InvalidInput) as raised:
        tx.jobs.page(cursor, 10)
    assert raised.value.problems[0].pointer == "/cursor"


def test_a_page_size_of_0_is_refused(store: Store) -> None:
    """With empty pages, a client that follows cursors would never end."""
    with store.read() as tx, pytest.raises(InvalidInput):
        tx.jobs.page(None, 0)
