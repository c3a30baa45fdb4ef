"""Compare stored artifacts with database rows to find damaged, missing and orphaned ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from core.errors import ArtifactDamaged, NotFound
from core.store.clock import utc_now
from core.store.store import Store

# Jobs and uploads record their artifacts only when they end.
ORPHAN_GRACE_PERIOD = timedelta(hours=1)


@dataclass
class Inventory:
    """The result of an inventory of artifacts.

    Attributes:
        artifacts: Number of artifacts that rows refer to.
        damaged: Keys of artifacts that do not match their checksum.
        missing: Keys of artifacts that do not exist.
        unverified: Keys of artifacts without a checksum, which the next read computes.
        orphaned: Keys of files without a row, older than an hour at the start.
    """

    artifacts: int = 0
    damaged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)


def take_inventory(store: Store) -> Inventory:
    """Verify all artifacts and find orphaned ones.

    Args:
        store: Store of the artifacts; the service may be running.

    Raises:
        StoreUnavailable: The database or the storage cannot be reached.
    """
    before = utc_now() - ORPHAN_GRACE_PERIOD  # rows of later artifacts may be committed after this snapshot
    with store.read() as tx:
        keys, folders = tx.artifacts.referenced(), tx.artifacts.referenced_folders()
    inventory = Inventory(artifacts=len(keys))
    for key in sorted(keys):
        _examine(store, key, inventory)
    inventory.orphaned = sorted(_orphaned(store, keys, folders, before))
    return inventory


def _examine(store: Store, key: str, inventory: Inventory) -> None:
    try:
        if not store.verified.check(key, again=True):
            inventory.unverified.append(key)
    except (ArtifactDamaged, NotFound):
        with store.read() as tx:
            deleted = key not in tx.artifacts.referenced()
        if not deleted:
            (inventory.damaged if store.artifacts.exists(key) else inventory.missing).append(key)


def _orphaned(store: Store, keys: set[str], folders: set[str], before: datetime) -> Iterator[str]:
    for key, written_at in store.artifacts.files():
        parents = {str(folder) for folder in PurePosixPath(key).parents}
        if written_at < before and key not in keys and not parents & folders:
            yield key
