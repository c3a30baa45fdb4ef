"""Stored datasets."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from core.errors import NotFound, WrongState
from core.jobs.folders import upload_folder
from core.store.advisory_locks import advisory_lock
from core.store.artifacts.keys import data_folder
from core.store.repositories import ids
from core.store.repositories.artifact_digests import ArtifactDigests
from core.store.repositories.job_states import ACTIVE
from core.store.repositories.pages import Page, Span, narrowed
from core.store.repositories.rows import added, found
from core.store.tables import AliasGate, Dataset, Job, JobDataset

_DIGEST_TURNS = 0x44415441  # any number of Rankery's own: "DATA"


class Datasets:
    """Datasets within one transaction.

    Datasets of one digest share what is stored. All that shares or unshares it first takes its turn with the
    digest, so that it happens one after the other: neither is anything deleted that a dataset has just taken
    over, nor do two that are deleted at once each leave it to the other.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        name: str,
        source: dict[str, Any],
        id: str | None = None,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
        parts: Mapping[str, str] | None = None,
        key_id: str | None = None,
    ) -> Dataset:
        """Add a pending dataset.

        Args:
            name: What its owner calls it.
            source: Where it comes from.
            id: Made beforehand, where its bytes had to be stored first.
            size_bytes: Size of the bytes as sent.
            sha256: Checksum of the bytes as sent, in hexadecimal.
            parts: The ids of all datasets of one upload, this one's among them: `{"train": "ds_…", …}`.
            key_id: The API key that sent it, None where none was needed.
        """
        dataset = Dataset(
            id=id or ids.new_id(ids.DATASET),
            name=name,
            source=source,
            size_bytes=size_bytes,
            sha256=sha256,
            parts=None if parts is None else dict(parts),
            key_id=key_id,
        )
        return added(self._session, dataset)

    def get(self, id: str) -> Dataset:
        """Return one dataset.

        Raises:
            NotFound: There is none.
        """
        return found(self._session, Dataset, "dataset", id)

    def page(
        self,
        cursor: str | None,
        limit: int,
        *,
        status: str | None = None,
        name: str | None = None,
        sha256: str | None = None,
    ) -> Page[Dataset]:
        """List datasets, newest first, filtered by status, name or checksum."""
        rows = narrowed(select(Dataset), status=status, name=name, sha256=sha256)
        return Span(cursor, limit).take(self._session, rows, Dataset.id, ids.DATASET)

    def names_by_job(self, job_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the names of the datasets of each of some jobs by id; one statement for a page."""
        found: dict[str, dict[str, str]] = {job_id: {} for job_id in job_ids}
        rows = select(JobDataset.job_id, Dataset.id, Dataset.name).join(
            Dataset, Dataset.id == JobDataset.dataset_id
        )
        for job_id, dataset_id, name in self._session.execute(
            rows.where(JobDataset.job_id.in_(found)).order_by(Dataset.id)
        ):
            found[job_id][dataset_id] = name
        return found

    def attach_job(self, id: str, job_id: str) -> Dataset:
        """Set the job that ingests the dataset.

        Raises:
            NotFound: Either does not exist.
        """
        dataset = self.get(id)
        if self._session.get(Job, job_id) is None:
            raise NotFound("job", job_id)
        dataset.job_id = job_id
        self._session.merge(JobDataset(job_id=job_id, dataset_id=id))
        self._session.flush()
        return dataset

    def mark_ready(
        self,
        id: str,
        *,
        statistics: dict[str, Any],
        findings: Sequence[dict[str, Any]] = (),
        digest: str | None = None,
        data_key: str | None = None,
        format: str | None = None,
        replaces: str | None = None,
    ) -> Dataset:
        """Mark a dataset as ready.

        Where a dataset of the same digest became ready meanwhile, this one takes over what that one stored;
        whoever stored `data_key` then sees another in the row, and its own may go.

        Args:
            id: The dataset.
            statistics: What it holds, in numbers.
            findings: What is to be said about it.
            digest: What decides its content.
            data_key: Where its Parquet is.
            format: What the uploaded file turned out to be.
            replaces: The `data_key` of a damaged copy of the same content, in whose place this one comes for
                all datasets.

        Raises:
            NotFound: There is none.
        """
        if digest is not None and data_key is not None and replaces is not None:
            self._replace(digest, replaces, data_key)
        if digest is not None and (taken := self.take_over(id, digest)):
            return taken
        dataset = self.get(id)
        dataset.status, dataset.problem = "ready", None
        dataset.digest, dataset.data_key = digest, data_key
        dataset.statistics, dataset.findings = statistics, list(findings)
        self._tell_format(dataset, format)
        self._session.flush()
        return dataset

    def take_over(self, id: str, digest: str) -> Dataset | None:
        """Make a dataset ready by sharing the content of another one with the same digest, or return None.

        Raises:
            NotFound: The dataset does not exist.
        """
        dataset = self.get(id)
        advisory_lock(self._session, _DIGEST_TURNS, digest)
        other = self.ready_with(digest, id)
        if other is None:
            return None
        dataset.status, dataset.problem = "ready", None
        dataset.digest, dataset.data_key = digest, other.data_key
        dataset.statistics, dataset.findings = other.statistics, other.findings
        self._tell_format(dataset, other.source.get("format"))
        self._session.flush()
        return dataset

    def ready_with(self, digest: str, other_than: str) -> Dataset | None:
        """Return another ready dataset of a digest, or None."""
        same = (Dataset.digest == digest, Dataset.status == "ready", Dataset.id != other_than)
        return self._session.scalar(select(Dataset).where(*same).order_by(Dataset.id).limit(1))

    def mark_invalid(self, id: str, problem: dict[str, Any]) -> Dataset:
        """Mark a dataset as invalid.

        Raises:
            NotFound: There is none.
        """
        dataset = self.get(id)
        dataset.status, dataset.problem = "invalid", problem
        self._session.flush()
        return dataset

    def delete(self, id: str) -> list[str]:
        """Delete a dataset.

        Returns:
            The folders of artifacts that no dataset needs any more, for the caller to delete once this has
            been committed.

        Raises:
            NotFound: There is none.
            WrongState: A queued or running job uses it, or the gate of an alias.
        """
        # Locked first: a job that is being added then either shows in the next statement or finds no dataset.
        dataset = self._session.get(Dataset, id, with_for_update=True)
        if dataset is None:
            raise NotFound("dataset", id)
        user = self._session.scalar(
            select(Job.id)
            .join(JobDataset, JobDataset.job_id == Job.id)
            .where(JobDataset.dataset_id == id, Job.status.in_(ACTIVE))
            .limit(1)
        )
        if user is not None:
            raise WrongState("dataset", id, dataset.status, f"{user} is using it; cancel it or wait")
        gate = self._session.scalar(select(AliasGate).where(AliasGate.dataset_id == id).limit(1))
        if gate is not None:
            detail = f"the gate of {gate.reference} compares on it; change or delete that gate first"
            raise WrongState("dataset", id, dataset.status, detail)
        folders = [upload_folder(id)]
        if dataset.data_key is not None and not self._is_shared(dataset):
            folders.append(data_folder(dataset.data_key))
            ArtifactDigests(self._session).forget(folders[-1])
        self._session.delete(dataset)
        self._session.flush()
        return folders

    @staticmethod
    def _tell_format(dataset: Dataset, format: str | None) -> None:
        if format is not None and "format" in dataset.source:
            dataset.source = {**dataset.source, "format": format}

    def _replace(self, digest: str, damaged_key: str, data_key: str) -> None:
        """Point all datasets that share a damaged copy at another one."""
        advisory_lock(self._session, _DIGEST_TURNS, digest)
        sharing = (Dataset.digest == digest, Dataset.data_key == damaged_key)
        self._session.execute(update(Dataset).where(*sharing).values(data_key=data_key))
        ArtifactDigests(self._session).forget(data_folder(damaged_key))

    def _is_shared(self, dataset: Dataset) -> bool:
        if dataset.digest is not None:
            advisory_lock(self._session, _DIGEST_TURNS, dataset.digest)
        others = select(Dataset.id).where(Dataset.data_key == dataset.data_key, Dataset.id != dataset.id)
        return self._session.scalar(others.limit(1)) is not None
