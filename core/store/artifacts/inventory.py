"""Compare stored artifacts with database rows: damaged, missing and orphaned ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import ArtifactDamaged, NotFound
from core.jobs import orphaned_artifacts
from core.jobs.folders import upload_folder
from core.store.artifacts.keys import (
    comparison_key,
    data_folder,
    evaluation_key,
    model_key,
    ranking_key,
    resumable_folder,
    samples_key,
)
from core.store.clock import utc_now
from core.store.repositories.job_states import ACTIVE
from core.store.tables import (
    ArtifactDigest,
    Comparison,
    Dataset,
    Evaluation,
    Job,
    Model,
    PendingDeletion,
    Ranking,
    ScoreSamples,
    Upload,
)
from core.store.visibility import with_trash

if TYPE_CHECKING:
    from core.store.store import Store

# What a job or an upload writes is on record only when that has ended.
UNFINISHED = timedelta(hours=1)


class NeededArtifacts:
    """The artifacts referenced by database rows, those in the trash included."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def artifacts(self) -> set[str]:
        """Return the keys of all referenced artifacts."""
        with with_trash(self._session):
            return self._artifacts()

    def _artifacts(self) -> set[str]:
        keys = set(self._session.scalars(select(ArtifactDigest.key)))
        keys |= set(self._session.scalars(select(Dataset.data_key).where(Dataset.data_key.is_not(None))))
        for ids, key_of in (
            (select(Model.id), model_key),
            (select(Evaluation.id), evaluation_key),
            (select(Ranking.id), ranking_key),
            (select(Comparison.id), comparison_key),
            (select(ScoreSamples.id), samples_key),
        ):
            keys |= set(map(key_of, self._session.scalars(ids)))
        return keys

    def folders(self) -> set[str]:
        """Return the folders of datasets, active jobs and uploads, and those that are being deleted."""
        with with_trash(self._session):
            return self._folders()

    def _folders(self) -> set[str]:
        active = self._session.scalars(select(Job).where(Job.status.in_(ACTIVE)))
        folders = {folder for job in active for folder in orphaned_artifacts(job)}
        for dataset_id, data_key in self._session.execute(select(Dataset.id, Dataset.data_key)):
            folders |= {upload_folder(dataset_id)} | ({data_folder(data_key)} if data_key else set())
        folders |= {resumable_folder(upload_id) for upload_id in self._session.scalars(select(Upload.id))}
        return folders | set(self._session.scalars(select(PendingDeletion.folder)))


@dataclass
class Inventory:
    """The result of an inventory of artifacts.

    Attributes:
        artifacts: How many artifacts the rows need.
        damaged: Keys of those with other bytes than were written.
        missing: Keys of those that are gone.
        unverified: Keys of those that get their checksum when they are first read.
        orphaned: Keys of files that nothing needs, older than an hour.
    """

    artifacts: int = 0
    damaged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether no artifact is damaged or missing."""
        return not self.damaged and not self.missing


def take_inventory(store: "Store") -> Inventory:
    """Verify all artifacts and find orphaned ones.

    Args:
        store: Where they are; the service may be running.

    Raises:
        StoreUnavailable: The database or the storage cannot be reached.
    """
    with store.read() as tx:
        keys, folders = tx.needed.artifacts(), tx.needed.folders()
    found = Inventory(artifacts=len(keys))
    for key in sorted(keys):
        _examine(store, key, found)
    found.orphaned = sorted(_orphaned(store, keys, folders))
    return found


def _examine(store: "Store", key: str, found: Inventory) -> None:
    try:
        if not store.verified.check(key, again=True):
            found.unverified.append(key)
    except (ArtifactDamaged, NotFound):
        with store.read() as tx:
            deleted = key not in tx.needed.artifacts()
        if not deleted:
            (found.damaged if store.artifacts.exists(key) else found.missing).append(key)


def _orphaned(store: "Store", keys: set[str], folders: set[str]) -> Iterator[str]:
    before = utc_now() - UNFINISHED
    for key, written_at in store.artifacts.files():
        above = {str(folder) for folder in PurePosixPath(key).parents}
        if written_at < before and key not in keys and not above & folders:
            yield key
