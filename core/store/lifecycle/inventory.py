"""Compare stored artifacts with database rows, and measure the sizes of their folders."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from core.errors import ArtifactDamaged, NotFound
from core.store.artifacts.artifacts import Artifacts
from core.store.clock import utc_now
from core.store.store import Store

# Largest number of folders listed one by one; for more, their parent folder is listed once.
_MAX_LISTINGS = 64
CHECKPOINTS = "checkpoints"


class FolderSizes:
    """The bytes in the folders of objects, cached: folders of recorded objects do not change.

    One request to an object storage lists one folder, or a thousand files. For many folders their parent
    folder is listed once; folders that are created later are listed one by one.
    """

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts
        self._bytes: dict[str, int] = {}
        self._requests: Counter[str] = Counter()
        self._listed: set[str] = set()

    def of(self, folders: Iterable[str]) -> dict[str, int]:
        """Return the size in bytes of each folder that is not empty.

        Raises:
            StoreUnavailable: The storage does not answer.
        """
        wanted = list(folders)
        for folder in wanted:
            self._requests[_top(folder)] += 1
        for top, number in self._requests.items():
            if number > _MAX_LISTINGS and top not in self._listed:
                self._listed.add(top)
                self._add(top)
        for folder in wanted:
            # List a folder that was created after the listing. A job without checkpoints has no folder.
            if folder not in self._bytes and not (
                _top(folder) == CHECKPOINTS and CHECKPOINTS in self._listed
            ):
                self._add(folder)
        return {folder: self._bytes[folder] for folder in wanted if folder in self._bytes}

    def everything(self) -> Counter[str]:
        """Return the bytes of all artifacts by the first part of their keys; cache the bytes of each folder.

        Raises:
            StoreUnavailable: The storage does not answer.
        """
        self._bytes.clear()
        self._add(None)
        by_top: Counter[str] = Counter()
        for folder, size_bytes in self._bytes.items():
            by_top[_top(folder)] += size_bytes
        self._listed |= {*by_top, CHECKPOINTS}
        return by_top

    def _add(self, listed: str | None) -> None:
        """Add the bytes of a folder, or of all folders below the first part of a key; None for all."""
        folder = listed if listed is not None and "/" in listed else None  # it may be part of another
        by_folder: Counter[str] = Counter()
        for key, size_bytes in self._artifacts.sizes(listed):
            by_folder[folder or _folder(key)] += size_bytes
        self._bytes |= by_folder


def _top(folder: str) -> str:
    return folder.partition("/")[0]


def _folder(key: str) -> str:
    return "/".join(key.split("/")[:2])


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
