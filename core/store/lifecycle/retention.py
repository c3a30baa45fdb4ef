"""Retention: move expired objects to the trash, and purge those not restored in time."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType

from core.errors import StoreUnavailable
from core.store.clock import utc_now
from core.store.lifecycle.deletion import (
    CHUNK,
    RETENTION,
    UNAUDITED_ACTOR,
    Actor,
    Deletion,
    DeletionMode,
    delete_folders,
    delete_objects,
    empty_trash,
    preview,
)
from core.store.lifecycle.inventory import FolderSizes
from core.store.settings import StoreSettings
from core.store.store import Store
from core.store.transaction import Transaction
from core.store.trash import kinds

_ROWS = 1_000  # maximum number of rows that one transaction deletes
_BY_RETENTION = Actor(request_id="retention", action=RETENTION)


@dataclass(frozen=True)
class RetentionPolicy:
    """Retention periods of objects by kind.

    Attributes:
        days: Days by kind; objects of other kinds are kept for ever.
        audit_days: Days of audit entries, None to keep them for ever.
        list_days: Days of interleaved lists, None to keep them for ever.
        trash_days: Days during which deleted objects can be restored.
    """

    days: Mapping[str, float]
    audit_days: float | None
    trash_days: float
    served_days: float = 90.0
    list_days: float | None = None

    @classmethod
    def of(cls, settings: StoreSettings) -> "RetentionPolicy":
        """Return the policy of the settings."""
        settings_by_kind = {
            # Dependents first: an object is deleted after those that depend on it.
            kinds.EXPERIMENT: settings.retention_experiments_days,
            kinds.INSPECTION: settings.retention_inspections_days,
            kinds.COMPARISON: settings.retention_comparisons_days,
            kinds.EVALUATION: settings.retention_evaluations_days,
            kinds.RANKING: settings.retention_rankings_days,
            kinds.MODEL: settings.retention_models_days,
            kinds.CLICK_LOG: settings.retention_click_logs_days,
            kinds.JOB: settings.retention_jobs_days,
        }
        days = {kind: number for kind, number in settings_by_kind.items() if number is not None}
        return cls(
            MappingProxyType(days),
            settings.retention_audit_days,
            settings.trash_days,
            settings.retention_served_rankings_days,
            settings.retention_interleaved_lists_days,
        )

    def oldest_kept(self, kind: str, now: datetime) -> datetime:
        """Return the time before which objects of a kind have expired."""
        return now - timedelta(days=self.days[kind])


def retention_preview(store: Store, policy: RetentionPolicy, sizes: FolderSizes) -> dict[str, Deletion]:
    """Return the deletions that the policy would make now, by kind.

    Args:
        store: Store of the objects; the service may be running.
        sizes: Sizes of folders of the same store.
    """
    deletions, deleted_ids, mode = {}, set[str](), DeletionMode(trash_days=policy.trash_days)
    for name in policy.days:
        object_ids = _too_old(store, policy, name)
        deletions[name] = preview(store, kinds.KINDS[name], object_ids, mode, deleted_ids, sizes)
    return deletions


def _too_old(store: Store, policy: RetentionPolicy, name: str) -> Iterator[str]:
    before = policy.oldest_kept(name, utc_now())
    for page in _pages(
        store, lambda tx, after: tx.trash.past_retention(kinds.KINDS[name], before, after, CHUNK)
    ):
        yield from page


def _overdue_trash(store: Store, before: datetime) -> Iterator[list[str]]:
    """Yield pages of ids of objects that were moved to the trash before a moment.

    Jobs come before models, and models before their results, so that objects that were deleted together are
    purged together.
    """
    with store.read() as tx:
        if not tx.trash.has_overdue_trash(before):
            return
    for kind in kinds.OWNERS_FIRST:
        yield from _pages(store, partial(_overdue_page, kind, before))


def _overdue_page(kind: kinds.Kind, before: datetime, tx: Transaction, after: str) -> list[str]:
    return tx.trash.overdue_trash(kind, before, after, CHUNK)


def _pages(store: Store, list_ids: Callable[[Transaction, str], list[str]]) -> Iterator[list[str]]:
    """Yield pages of ids; `list_ids` lists those above an id."""
    after = ""
    while True:
        with store.read() as tx:
            page = list_ids(tx, after)
        yield page
        if len(page) < CHUNK:
            return
        after = page[-1]


class Upkeep:
    """Upkeep that frees deleted objects and applies a retention policy, in short steps.

    Args:
        interval_seconds: Interval between two applications of the policy.
    """

    def __init__(self, policy: RetentionPolicy, interval_seconds: float) -> None:
        self._policy = policy
        self._interval_seconds = interval_seconds
        self._due_at = 0.0
        self._remaining: list[tuple[str, Iterator[str]]] = []
        self._overdue_pages: Iterator[list[str]] | None = None

    def run(self, store: Store, seconds: float) -> None:
        """Do the due work until the time limit; the rest waits for the next call.

        Raises:
            StoreUnavailable: The database or the storage cannot be reached.
        """
        deadline = time.monotonic() + seconds
        with store.read() as tx:
            expired, pending = tx.uploads.expired(), tx.trash.pending(CHUNK)
        if expired:
            with store.begin() as tx:
                tx.uploads.delete_expired()
                pending = tx.trash.pending(CHUNK)
        delete_folders(store, pending, FolderSizes(store.artifacts))
        if not self._purge_overdue(store, deadline) or time.monotonic() < self._due_at:
            return
        if self._expire(store, deadline) and self._forget_rows(store, deadline):
            self._due_at = time.monotonic() + self._interval_seconds

    def _expire(self, store: Store, deadline: float) -> bool:
        """Move expired objects to the trash; return whether all were handled."""
        if not self._remaining:
            self._remaining = [(name, _too_old(store, self._policy, name)) for name in self._policy.days]
        while self._remaining:
            name, object_ids = self._remaining[0]
            seconds = deadline - time.monotonic()
            mode = DeletionMode(trash_days=self._policy.trash_days, seconds=seconds)
            try:
                deletion = delete_objects(store, kinds.KINDS[name], object_ids, mode, _BY_RETENTION)
            except StoreUnavailable:
                self._remaining.clear()  # the next call lists the objects again
                raise
            if not deletion.is_complete:
                return False
            self._remaining.pop(0)
        return True

    def _purge_overdue(self, store: Store, deadline: float) -> bool:
        """Purge objects whose time in the trash is over; return whether all were handled."""
        if self._overdue_pages is None:
            self._overdue_pages = _overdue_trash(store, utc_now() - timedelta(days=self._policy.trash_days))
        for page in self._overdue_pages:
            # `empty_trash` keeps objects on which an object outside the trash depends.
            empty_trash(store, page, DeletionMode(seconds=1), UNAUDITED_ACTOR)
            if time.monotonic() > deadline:
                return False
        self._overdue_pages = None
        return True

    def _forget_rows(self, store: Store, deadline: float) -> bool:
        """Delete old audit entries and served rankings, and expire old lists; return whether all are done."""
        policy = self._policy
        return all(
            _forget(store, days, deadline, forget)
            for days, forget in (
                (policy.audit_days, lambda tx, before: tx.audit.forget_before(before, _ROWS)),
                (policy.served_days, lambda tx, before: tx.served.forget_before(before, _ROWS)),
                (policy.list_days, lambda tx, before: tx.interleavings.expire_lists(before, _ROWS)),
            )
        )


def _forget(
    store: Store, days: float | None, deadline: float, forget: Callable[[Transaction, datetime], int]
) -> bool:
    if days is None:
        return True
    before = utc_now() - timedelta(days=days)
    while time.monotonic() < deadline:
        with store.begin() as tx:
            if forget(tx, before) < _ROWS:
                return True
    return False
