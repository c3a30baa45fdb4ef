"""Rows of datasets and click logs."""

from collections.abc import Collection, Iterable, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from sqlalchemy import ColumnElement, String, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.errors import NotFound, WrongState
from core.store.artifacts.keys import data_folder
from core.store.engines import advisory_lock
from core.store.repositories import ids
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.pages import Columns
from core.store.repositories.projects import Projects
from core.store.repositories.repository import Repository
from core.store.tables import ClickLog, Dataset, Job, JobDataset
from core.store.visibility import with_trash

DataStatus = Literal["pending", "ready", "invalid"]
Data = TypeVar("Data", Dataset, ClickLog)


def columns_of(table: type[Dataset] | type[ClickLog], *counts: str) -> Columns:
    """Return the sort keys of a list of data, with counts among its statistics."""
    return MappingProxyType(
        {
            "created": None,
            "name": func.lower(table.name, type_=String),
            "status": table.status.expression,
            "size": table.size_bytes.expression,
            **{name: table.statistics[name].as_integer() for name in counts},
        }
    )


class DataRepository(Repository[Data]):
    """Datasets or click logs, which are pending until their job has read or made them."""

    def add(
        self,
        name: str,
        source: dict[str, Any],
        id: str | None = None,
        *,
        project: str | None = None,
        **values: Any,
    ) -> Data:
        """Add pending data.

        Args:
            source: Origin, see `core.store.tables`.
            id: Id if the bytes are stored already, else None.
            values: Other columns: `size_bytes` and `sha256` of the bytes as sent, `key_id` of the API key
                that sent them, and `parts`, the ids of all datasets of one upload.

        Raises:
            InvalidInput: The caller is limited to other projects, or must select a project.
        """
        new_project = Projects(self._session).for_new_object(project)
        return self._insert(id=id, name=name, source=source, project=new_project, **values)

    def names(self, object_ids: Iterable[str | None]) -> dict[str, str]:
        """Return the names of some rows by id, without those that do not exist."""
        wanted = {object_id for object_id in object_ids if object_id is not None}
        rows = select(self.table.id, self.table.name).where(self.table.id.in_(wanted))
        return {row.id: row.name for row in self._session.execute(rows)}

    def attach_job(self, id: str, job_id: str) -> Data:
        """Set the job that reads or makes the data.

        Raises:
            NotFound: The row or the job does not exist.
        """
        row = self.get(id)
        if self._session.get(Job, job_id) is None:
            raise NotFound("job", job_id)
        row.job_id = job_id
        self._session.flush()
        return row

    def record_download(self, id: str, files: Sequence[dict[str, Any]]) -> Data:
        """Record the downloaded files that the data are read from.

        Args:
            files: For each file its `address`, `size_bytes` and `sha256`, and its version if known.
        """
        row = self.get(id)
        row.source = {**row.source, "read": list(files)}
        row.size_bytes = sum(file["size_bytes"] for file in files)
        row.sha256 = files[0]["sha256"] if len(files) == 1 else None
        self._session.flush()
        return row


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
            statistics: See `core.data.dataset_statistics`.
            format: Detected format of the uploaded file.
            replaces: The `data_key` of a damaged copy of the same content; all datasets that share it get the
                new `data_key`.
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
            WrongState: The dataset is not invalid.
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
        contents: Values of `data_key`.
        lock: Whether to lock the digests of the contents until the transaction ends.
    """
    if lock:
        digests = select(Dataset.digest).where(Dataset.data_key.in_(contents)).distinct()
        for digest in sorted(filter(None, session.scalars(digests))):
            advisory_lock(session, _DIGEST_LOCKS, digest)
    rows = select(Dataset.id, Dataset.data_key).where(Dataset.data_key.in_(contents))
    return {row.data_key for row in session.execute(rows) if row.id not in ignored}


class ClickLogs(DataRepository[ClickLog]):
    """Click logs within one transaction."""

    table = ClickLog
    kind = "click log"
    id_prefix = ids.CLICK_LOG
    columns = columns_of(ClickLog, "lists", "impressions", "clicks")
    searched = (ClickLog.name.expression,)

    def ready(self, id: str) -> ClickLog:
        """Return a log that can be used.

        Raises:
            WrongState: The log has not been read, or could not be.
        """
        log = self.get(id)
        if log.status != "ready" or log.folder is None:
            raise WrongState(self.kind, id, log.status, "it can be used when it is ready")
        return log

    def hold(self, id: str) -> None:
        """Protect a log from deletion until the transaction ends."""
        self._existing(self._session.get(ClickLog, id, with_for_update={"read": True}), id)

    def mark_ready(
        self,
        id: str,
        *,
        folder: str,
        statistics: dict[str, Any],
        findings: Sequence[dict[str, Any]] = (),
        format: str | None = None,
    ) -> ClickLog:
        """Mark a log as ready.

        Args:
            statistics: Counts, see `core.clicks.statistics`.
            format: Detected format of the files, None for a log that was not read.
        """
        log = self.get(id)
        log.status, log.problem, log.folder = "ready", None, folder
        log.statistics, log.findings = statistics, list(findings)
        if format is not None:
            log.source = {**log.source, "format": format}
        self._session.flush()
        return log
