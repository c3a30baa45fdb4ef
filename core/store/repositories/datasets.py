"""Stored datasets."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, String, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import WrongState
from core.store.artifacts.keys import data_folder
from core.store.engines import advisory_lock
from core.store.repositories import ids
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.data import DataRepository, columns_of
from core.store.tables import Dataset, JobDataset
from core.store.visibility import with_trash

_DIGEST_LOCKS = 0x44415441  # namespace of advisory locks: "DATA"


def name_of_dataset(dataset_id: InstrumentedAttribute[str]) -> ColumnElement[Any]:
    """Return the name of a row's dataset as a sort key."""
    return select(func.lower(Dataset.name, type_=String)).where(Dataset.id == dataset_id).scalar_subquery()


class Datasets(DataRepository[Dataset]):
    """Datasets within one transaction.

    Datasets with the same digest, including those in the trash, share one stored content. Every transaction
    that shares or releases the content takes the advisory lock of the digest first. A purge thus never
    deletes a content that a dataset has just started to share, and only one of two concurrent purges does.
    """

    table = Dataset
    kind = "dataset"
    id_prefix = ids.DATASET
    columns = columns_of(Dataset, "queries", "documents", "features")
    searched = (Dataset.name.expression,)

    def exists(self, id: str) -> bool:
        """Return whether there is a dataset of this id."""
        return self._session.scalar(select(Dataset.id).where(Dataset.id == id)) is not None

    def newest(self, name: str, project: str | None = None) -> Dataset | None:
        """Return the newest ready dataset of a name, or None.

        Args:
            name: Name of the dataset.
            project: Only datasets of this project or without a project; None for all datasets.
        """
        rows = select(Dataset).where(Dataset.name == name, Dataset.status == "ready")
        if project is not None:
            rows = rows.where(or_(Dataset.project == project, Dataset.project.is_(None)))
        return self._session.scalar(rows.order_by(Dataset.id.desc()).limit(1))

    def feature_names_of(self, dataset_ids: Sequence[str]) -> dict[str, list[str] | None]:
        """Return the feature names of some datasets by id, None for datasets without stored names."""
        rows = select(Dataset.id, Dataset.feature_names).where(Dataset.id.in_(dataset_ids))
        return {row.id: row.feature_names for row in self._session.execute(rows)}

    def names_by_job(self, job_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the names of datasets by id for each of some jobs, in one statement."""
        names: dict[str, dict[str, str]] = {job_id: {} for job_id in job_ids}
        rows = select(JobDataset.job_id, Dataset.id, Dataset.name).join(
            Dataset, Dataset.id == JobDataset.dataset_id
        )
        for job_id, dataset_id, name in self._session.execute(
            rows.where(JobDataset.job_id.in_(names)).order_by(Dataset.id)
        ):
            names[job_id][dataset_id] = name
        return names

    def attach_job(self, id: str, job_id: str) -> Dataset:
        """Set the job that reads or makes the dataset, which is then among the datasets of the job.

        Raises:
            NotFound: The dataset or the job does not exist.
        """
        dataset = super().attach_job(id, job_id)
        self._session.merge(JobDataset(job_id=job_id, dataset_id=id))
        self._session.flush()
        return dataset

    def mark_ready(
        self,
        id: str,
        *,
        statistics: dict[str, Any],
        feature_names: Sequence[str] | None = None,
        findings: Sequence[dict[str, Any]] = (),
        digest: str | None = None,
        data_key: str | None = None,
        format: str | None = None,
        replaces: str | None = None,
    ) -> Dataset:
        """Mark a dataset as ready.

        If another dataset of the same digest became ready meanwhile, both share its content. The row then has
        another `data_key`, and the caller may delete the artifact that it wrote.

        Args:
            id: The dataset.
            statistics: See `core.data.dataset_statistics`.
            feature_names: Names of its features in their order.
            findings: Findings of the doctor.
            digest: Digest of its content.
            data_key: Key of its Parquet artifact.
            format: Detected format of the uploaded file.
            replaces: The `data_key` of a damaged copy of the same content; all datasets that share it get the
                new `data_key`.

        Raises:
            NotFound: It does not exist.
        """
        if digest is not None and data_key is not None and replaces is not None:
            self._replace(digest, replaces, data_key)
        if digest is not None and (shared := self.take_over(id, digest)):
            return shared
        dataset = self.get(id)
        dataset.status, dataset.problem = "ready", None
        dataset.digest, dataset.data_key = digest, data_key
        dataset.statistics, dataset.findings = statistics, list(findings)
        dataset.feature_names = None if feature_names is None else list(feature_names)
        self._record_format(dataset, format)
        self._session.flush()
        return dataset

    def take_over(self, id: str, digest: str) -> Dataset | None:
        """Make a dataset ready with the content of another dataset with this digest; return None without one.

        Raises:
            NotFound: The dataset does not exist.
        """
        dataset = self.get(id)
        advisory_lock(self._session, _DIGEST_LOCKS, digest)
        other = self.ready_with(digest, id)
        if other is None:
            return None
        dataset.status, dataset.problem = "ready", None
        dataset.digest, dataset.data_key = digest, other.data_key
        dataset.statistics, dataset.findings = other.statistics, other.findings
        dataset.feature_names = other.feature_names
        self._record_format(dataset, other.source.get("format"))
        self._session.flush()
        return dataset

    def ready_with(self, digest: str, other_than: str) -> Dataset | None:
        """Return another ready dataset of a digest, which may be in the trash, or None."""
        same = (Dataset.digest == digest, Dataset.status == "ready", Dataset.id != other_than)
        with with_trash(self._session):
            return self._session.scalar(select(Dataset).where(*same).order_by(Dataset.id).limit(1))

    def read_again(self, id: str, options: dict[str, Any]) -> Dataset:
        """Make an invalid dataset pending again, with other options.

        Raises:
            NotFound: It does not exist.
            WrongState: It is not invalid.
        """
        dataset = self.locked(id)
        if dataset.status != "invalid":
            raise WrongState("dataset", id, dataset.status, "only an invalid dataset can be read again")
        dataset.status, dataset.problem = "pending", None
        dataset.source = {**dataset.source, "options": options}
        self._session.flush()
        return dataset

    @staticmethod
    def _record_format(dataset: Dataset, format: str | None) -> None:
        if format is not None and "format" in dataset.source:
            dataset.source = {**dataset.source, "format": format}

    def _replace(self, digest: str, damaged_key: str, data_key: str) -> None:
        """Set a new `data_key` on all datasets that share a damaged copy."""
        advisory_lock(self._session, _DIGEST_LOCKS, digest)
        sharing = (Dataset.digest == digest, Dataset.data_key == damaged_key)
        self._session.execute(update(Dataset).where(*sharing).values(data_key=data_key))
        ArtifactRecords(self._session).delete_checksums(data_folder(damaged_key))


def shared_contents(
    session: Session, contents: Collection[str], ignored: Collection[str], *, lock: bool
) -> set[str]:
    """Return the contents that datasets visible to the session refer to.

    Args:
        session: Session of the transaction.
        contents: Values of `data_key`.
        ignored: Ids of datasets to ignore.
        lock: Whether to lock the digests of the contents until the transaction ends.
    """
    if lock:
        digests = select(Dataset.digest).where(Dataset.data_key.in_(contents)).distinct()
        for digest in sorted(filter(None, session.scalars(digests))):
            advisory_lock(session, _DIGEST_LOCKS, digest)
    rows = select(Dataset.id, Dataset.data_key).where(Dataset.data_key.in_(contents))
    return {row.data_key for row in session.execute(rows) if row.id not in ignored}
