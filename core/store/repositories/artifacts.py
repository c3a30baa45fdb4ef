"""Checksums of artifacts, and the artifacts that rows refer to."""

from collections.abc import Collection, Iterable

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from core.jobs import orphaned_artifacts
from core.jobs.base import ACTIVE
from core.jobs.folders import click_log_folder, dataset_upload_folder
from core.store.artifacts.keys import (
    comparison_key,
    data_folder,
    evaluation_key,
    model_key,
    ranking_key,
    resumable_upload_folder,
    samples_key,
)
from core.store.clock import utc_now
from core.store.tables import (
    ArtifactDigest,
    ClickLog,
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


class ArtifactRecords:
    """Checksums of artifacts, and the artifacts that rows refer to, within one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, key: str) -> ArtifactDigest | None:
        """Return the record of an artifact's checksum or damage, None without one."""
        return self._session.get(ArtifactDigest, key)

    def recorded(self, keys: Collection[str]) -> set[str]:
        """Return those of the keys that have a record."""
        return set(self._session.scalars(select(ArtifactDigest.key).where(ArtifactDigest.key.in_(keys))))

    def record_checksum(self, key: str, sha256: str, size_bytes: int) -> None:
        """Store the checksum of an artifact and clear its mark as damaged."""
        row = ArtifactDigest(key=key, sha256=sha256, size_bytes=size_bytes, damaged_at=None)
        self._session.merge(row)
        self._session.flush()

    def mark_damaged(self, key: str) -> None:
        """Mark an artifact as damaged or missing."""
        row = self._session.get(ArtifactDigest, key) or ArtifactDigest(key=key)
        row.damaged_at = row.damaged_at or utc_now()
        self._session.add(row)
        self._session.flush()

    def damaged(self, limit: int) -> list[str]:
        """List the keys of damaged artifacts, most recent first."""
        rows = select(ArtifactDigest.key).where(ArtifactDigest.damaged_at.is_not(None))
        newest = rows.order_by(ArtifactDigest.damaged_at.desc(), ArtifactDigest.key)
        return list(self._session.scalars(newest.limit(limit)))

    def delete_checksums(self, folder: str) -> None:
        """Delete the checksums of the artifacts in a folder."""
        inside = ArtifactDigest.key.startswith(f"{folder}/", autoescape=True)
        self._session.execute(delete(ArtifactDigest).where(inside))

    def delete_checksums_of(self, keys: Iterable[str]) -> None:
        """Delete the checksums of a few artifacts."""
        self._session.execute(delete(ArtifactDigest).where(ArtifactDigest.key.in_(list(keys))))

    def referenced(self) -> set[str]:
        """Return the keys of the artifacts that rows refer to, those in the trash included."""
        data_keys = select(Dataset.data_key).where(Dataset.data_key.is_not(None))
        with with_trash(self._session):
            keys = {*self._session.scalars(select(ArtifactDigest.key)), *self._session.scalars(data_keys)}
            for ids, key_of in (
                (select(Model.id), model_key),
                (select(Evaluation.id), evaluation_key),
                (select(Ranking.id), ranking_key),
                (select(Comparison.id), comparison_key),
                (select(ScoreSamples.id), samples_key),
            ):
                keys |= set(map(key_of, self._session.scalars(ids)))
        return keys

    def referenced_folders(self) -> set[str]:
        """Return the folders of datasets, click logs, active jobs, uploads and pending deletions."""
        with with_trash(self._session):
            active = self._session.scalars(select(Job).where(Job.status.in_(ACTIVE)))
            folders = {folder for job in active for folder in orphaned_artifacts(job)}
            for dataset_id, data_key in self._session.execute(select(Dataset.id, Dataset.data_key)):
                folders.add(dataset_upload_folder(dataset_id))
                folders |= {data_folder(data_key)} if data_key else set()
            folders |= set(map(click_log_folder, self._session.scalars(select(ClickLog.id))))
            folders |= set(map(resumable_upload_folder, self._session.scalars(select(Upload.id))))
            return folders | set(self._session.scalars(select(PendingDeletion.folder)))
