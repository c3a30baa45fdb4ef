"""Delete many objects in short transactions, so that the service stays responsive."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Protocol

import structlog

from core.errors import RankeryError
from core.store.clock import utc_now
from core.store.lifecycle.inventory import FolderSizes
from core.store.store import Store
from core.store.transaction import Transaction
from core.store.trash.holders import ActiveJobs
from core.store.trash.kinds import Kind
from core.store.trash.plan import Plan, Refused

# Maximum number of objects in one transaction, during which other writers wait.
CHUNK = 50
# Shortest pause between two transactions, for other writers. A pause lasts at least as long as the CPU time
# of the work before it: request threads get half of the interpreter's time.
PAUSE_SECONDS = 0.02
MAX_REFUSED = 100
REQUEST_SECONDS = 60.0
DELETED, RESTORED, PURGED, RETENTION = "DELETE", "RESTORE", "PURGE", "RETENTION"

_LOG = structlog.stdlib.get_logger("rankery.lifecycle")


@dataclass(frozen=True)
class Actor:
    """The caller of a deletion, for the trash and the audit log.

    Attributes:
        key_id: The API key; None without authentication and for deletions by retention.
        request_id: ID of the request, for audit entries; `retention` for deletions by retention.
        action: Value of `method` in the audit log.
        is_audited: Whether each object gets an audit entry; False where another entry records the deletion.
    """

    key_id: str | None = None
    request_id: str = ""
    address: str | None = None
    action: str = DELETED
    is_audited: bool = True

    def record(self, tx: Transaction, plan: Plan) -> None:
        """Add an audit entry for each requested object that is deleted."""
        if not self.is_audited:
            return
        shared = {
            "method": self.action,
            "status": 200,
            "request_id": self.request_id,
            "key_id": self.key_id,
            "address": self.address,
        }
        tx.audit.add_all(shared | {"path": f"/v1/{node.kind.plural}/{node.id}"} for node in plan.roots)


# The actor that purges expired objects of the trash; the audit log already has their deletions.
UNAUDITED_ACTOR = Actor(is_audited=False)


@dataclass
class Deletion:
    """The result of a deletion, or its preview.

    Attributes:
        counts: Number of objects by the plural of their kind.
        requested: Ids of the requested objects among them, in the order in which they were deleted.
        purge_at: Time at which these bytes are freed; None if they are freed already.
        missing: Ids that do not exist.
        refused: The first objects that could not be deleted, with their dependents.
        refused_count: Number of objects that could not be deleted.
        is_complete: Whether all objects were handled in time.
    """

    counts: Counter[str] = field(default_factory=Counter)
    requested: list[str] = field(default_factory=list)
    size_bytes: int = 0
    purge_at: datetime | None = None
    missing: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    refused_count: int = 0
    is_complete: bool = True

    def add(self, plan: Plan, sizes: FolderSizes) -> None:
        """Add the counts and bytes of a plan."""
        self.size_bytes += sum(sizes.of(plan.folders).values())
        self.counts += plan.counts
        self.requested += [node.id for node in plan.roots]
        self.missing += plan.missing
        self.refused += plan.refused[: MAX_REFUSED - len(self.refused)]
        self.refused_count += len(plan.refused)


@dataclass(frozen=True)
class DeletionMode:
    """Options of a deletion.

    Attributes:
        trash_days: Days during which deleted objects can be restored; 0 frees their bytes immediately.
        seconds: Time limit; objects not handled by then are kept.
    """

    with_results: bool = False
    trash_days: float = 0
    seconds: float = REQUEST_SECONDS

    @property
    def purge_at(self) -> datetime | None:
        """Time at which objects that are deleted now are purged, None for immediately."""
        return utc_now() + timedelta(days=self.trash_days) if self.trash_days > 0 else None


def delete_objects(
    store: Store, kind: Kind, object_ids: Iterable[str], mode: DeletionMode, actor: Actor
) -> Deletion:
    """Delete objects of a kind, except those that others depend on.

    With `mode.with_results`, each object is deleted with all of its results in one transaction, or kept.
    Otherwise an object with results is kept.

    Args:
        store: Store of the objects; the service may be running.
        object_ids: Their ids, deleted in this order.

    Raises:
        StoreUnavailable: The database or the storage cannot be reached; earlier deletions are kept.
    """
    deletion, active, sizes = Deletion(purge_at=mode.purge_at), ActiveJobs(), FolderSizes(store.artifacts)
    for chunk in chunks_in_time(object_ids, mode.seconds, deletion):
        with store.begin() as tx:
            plan = tx.trash.plan(
                kind, chunk, active, with_results=mode.with_results, permanently=mode.trash_days <= 0
            )
            actor.record(tx, plan)
            if mode.trash_days > 0:
                tx.trash.move(plan.nodes.values(), actor.key_id)
            else:
                tx.trash.add_trashed(plan)
                tx.trash.purge(plan)
            deletion.add(plan, sizes)  # reads the sizes before the sweeper can delete the folders
        if mode.trash_days <= 0:
            delete_folders(store, plan.folders, sizes)
    return deletion


def preview(
    store: Store,
    kind: Kind,
    object_ids: Iterable[str],
    mode: DeletionMode,
    deleted_ids: set[str],
    sizes: FolderSizes,
) -> Deletion:
    """Return the result that `delete_objects` would have, without deleting.

    Args:
        deleted_ids: Ids that count as deleted already; the ids of this preview are added to this set.
        sizes: Sizes of folders of the same store.

    Raises:
        StoreUnavailable: The database or the storage cannot be reached.
    """
    deletion, active = Deletion(purge_at=mode.purge_at), ActiveJobs()
    for chunk in chunks_in_time(object_ids, mode.seconds, deletion, pause_seconds=0):
        with store.read() as tx:
            plan = tx.trash.plan(
                kind,
                chunk,
                active,
                with_results=mode.with_results,
                permanently=mode.trash_days <= 0,
                deleted_ids=deleted_ids,
                lock=False,
            )
            if mode.trash_days <= 0:
                tx.trash.add_trashed(plan, deleted_ids, lock=False)
        plan.nodes = {each: node for each, node in plan.nodes.items() if each not in deleted_ids}
        deleted_ids.update(plan.nodes)
        deletion.add(plan, sizes)
    return deletion


def empty_trash(store: Store, object_ids: Iterable[str], mode: DeletionMode, actor: Actor) -> Deletion:
    """Purge objects in the trash, with their dependents in the trash, and free their bytes.

    Args:
        store: Store of the objects; the service may be running.
        mode: Options with the time limit; the other fields are ignored.

    Raises:
        InvalidInput: An id has no deletable kind.
        StoreUnavailable: The database or the storage cannot be reached; earlier deletions are kept.
    """
    deletion, sizes = Deletion(), FolderSizes(store.artifacts)
    deleted_ids: set[str] = set()
    for chunk in chunks_in_time(object_ids, mode.seconds, deletion):
        remaining_ids = [object_id for object_id in chunk if object_id not in deleted_ids]
        with store.begin() as tx:
            plan = tx.trash.purge_plan(remaining_ids)
            actor.record(tx, plan)
            tx.trash.purge(plan)
            deletion.add(plan, sizes)  # reads the sizes before the sweeper can delete the folders
        deleted_ids.update(plan.nodes)
        delete_folders(store, plan.folders, sizes)
    return deletion


def preview_of_emptying(store: Store, object_ids: Iterable[str], mode: DeletionMode) -> Deletion:
    """Return the result that `empty_trash` would have, without deleting.

    Raises:
        InvalidInput: An id has no deletable kind.
        StoreUnavailable: The database or the storage cannot be reached.
    """
    deletion, sizes = Deletion(), FolderSizes(store.artifacts)
    deleted_ids: set[str] = set()
    for chunk in chunks_in_time(object_ids, mode.seconds, deletion, pause_seconds=0):
        with store.read() as tx:
            plan = tx.trash.purge_plan(
                [each for each in chunk if each not in deleted_ids], deleted_ids, lock=False
            )
        plan.nodes = {each: node for each, node in plan.nodes.items() if each not in deleted_ids}
        deleted_ids.update(plan.nodes)
        deletion.add(plan, sizes)
    return deletion


def delete_folders(store: Store, folders: list[str], sizes: FolderSizes) -> None:
    """Delete artifact folders whose rows are gone; the sweeper retries failed deletions."""
    if not folders:
        return
    try:
        failed = store.artifacts.delete_all(sizes.of(folders))
        with store.begin() as tx:
            tx.trash.forget_pending(set(folders).difference(failed))
            tx.trash.postpone_pending(failed)
    except RankeryError:
        _LOG.warning("lifecycle.folders_left", folders=len(folders), exc_info=True)


class Progress(Protocol):
    """The progress of a bulk operation.

    Attributes:
        is_complete: Whether all objects were handled in time.
    """

    is_complete: bool


def chunks_in_time(
    object_ids: Iterable[str], seconds: float, progress: Progress, pause_seconds: float = PAUSE_SECONDS
) -> Iterator[list[str]]:
    """Yield ids in chunks, with a pause after each chunk, until the time limit."""
    deadline = time.monotonic() + seconds
    remaining = iter(object_ids)
    while True:
        if time.monotonic() > deadline:
            progress.is_complete = False
            return
        cpu_seconds_before = time.thread_time()
        chunk = list(islice(remaining, CHUNK))
        if not chunk:
            return
        yield chunk
        time.sleep(max(pause_seconds, time.thread_time() - cpu_seconds_before) if pause_seconds else 0)
