"""Record the datasets of a folder that workers read in place."""

from typing import Any, Literal

from pydantic import Field

from app.datasets import schemas
from app.datasets.ingestion import queue_ingestion
from app.http.labels import NewProject
from app.http.pointers import validated
from app.http.schemas import DisplayName, RequestModel
from app.settings import ApiSettings
from core.data.folders import MAX_FOLDER_LENGTH, MAX_PATTERN_LENGTH, DataRoots, JudgedFolder
from core.data.options import reading_options
from core.errors import InputProblem, InvalidInput
from core.store import Dataset, Job, Transaction, new_id
from core.store.data_files import DataFiles

_MAX_COMPARED_DATASETS = 50  # the newest datasets of a name, to compare with a request


class FolderDatasetRequest(RequestModel):
    """A folder below `RANKERY_DATA_ROOTS` whose judged files become datasets, or with `files` one dataset."""

    folder: str = Field(
        min_length=1,
        max_length=MAX_FOLDER_LENGTH,
        description="Path below a data root, or absolute path; Yahoo's sets are `…/set1` and `…/set2`; with"
        " `files` also `s3://bucket/prefix`",
        examples=["MSLR-WEB30K/Fold1"],
    )
    part: schemas.PartName | None = Field(
        None, description="Create a dataset of this part only; of all parts by default"
    )
    name: DisplayName | None = Field(
        None,
        description="Display name, followed by the part if there are several; by default the path of the"
        " folder, and the part or `files`",
        examples=["web30k fold 1"],
    )
    project: NewProject = None
    files: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_PATTERN_LENGTH,
        description="Pattern of up to 1,000 file names, which become one dataset: LETOR text, or tables of"
        " the same columns",
        examples=["part-*.parquet"],
    )
    format: Literal["auto", "letor", "csv", "parquet"] | None = Field(
        None, description="Format of `files`; detected by default"
    )
    non_contiguous_queries: Literal["regroup", "error"] | None = Field(
        None,
        description="Non-contiguous rows of a query in `files`: `regroup` groups them, `error` refuses them",
    )
    repeated_features: schemas.RepeatedFeatures = None
    columns: schemas.ColumnRoles = None
    feature_names: schemas.FeatureNames = None

    def options(self) -> dict[str, Any]:
        """Return the reading options as JSON, without the format.

        Raises:
            InvalidInput: The options contradict each other, or are given without `files`.
        """
        options = self.model_dump(include=set(schemas.OPTION_NAMES), exclude_none=True)
        if self.files is None:
            without_files = [*options, *(["format"] if self.format is not None else [])]
            problems = [
                InputProblem(f"/{name}", "requires files, which is missing") for name in without_files
            ]
        else:
            problems = [InputProblem("/part", "cannot be combined with files")] if self.part else []
        if problems:
            raise InvalidInput(*problems)
        reading_options(options)
        return options


class FolderDatasets:
    """A request for the datasets of a folder.

    Raises:
        InvalidInput: The folder may not be read, or does not have the part.
    """

    def __init__(self, data_roots: DataRoots, request: FolderDatasetRequest) -> None:
        self._folder = data_roots.recognise(request.folder)
        self._name = request.name
        self._project = request.project
        parts = self._folder.parts
        self.parts = tuple(parts) if request.part is None else (request.part,)
        if not self.parts or self.parts[0] not in parts:
            raise InvalidInput.at("/part" if parts else "/folder", _missing_part_detail(self._folder))

    def allow(self, tx: Transaction, settings: ApiSettings, key_id: str | None) -> None:
        """Check the quotas of the API key.

        Raises:
            ByteQuotaExceeded: The key exceeds its quota of bytes.
            JobQuotaExceeded: The key exceeds its quota of jobs.
        """
        size_bytes = sum(self._folder.sizes[part] for part in self.parts)
        tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, size_bytes)
        tx.quotas.allow_jobs(key_id, settings.max_active_jobs, len(self.parts))

    def existing(self, tx: Transaction) -> list[Dataset]:
        """Return existing datasets of the same files, ready or pending; empty unless every part has one."""
        datasets = [self._existing_dataset(tx, part) for part in self.parts]
        return [dataset for dataset in datasets if dataset is not None] if None not in datasets else []

    def _existing_dataset(self, tx: Transaction, part: str) -> Dataset | None:
        source = self._source(part)
        named = tx.datasets.page(None, _MAX_COMPARED_DATASETS, name=self._name_of(part)).items
        for dataset in named:
            if dataset.project != self._project:
                continue
            same = {name: dataset.source.get(name) for name in source} | {"format": source["format"]}
            if same == source and "options" not in dataset.source and _is_reusable(tx, dataset):
                return dataset
        return None

    def _source(self, part: str) -> dict[str, Any]:
        return {
            "kind": "folder",
            "folder": self._folder.folder,
            "filename": self._folder.parts[part],
            "modified": self._folder.modified[part],
            "part": part,
            "format": "auto",
        }

    def add(self, tx: Transaction, key_id: str | None) -> list[Dataset]:
        """Record a dataset for each part, owned by the API key of the request."""
        ids = {part: new_id("ds_") for part in self.parts}
        return [
            tx.datasets.add(
                self._name_of(part),
                self._source(part),
                dataset_id,
                size_bytes=self._folder.sizes[part],
                parts=ids if len(ids) > 1 else None,
                key_id=key_id,
                project=self._project,
            )
            for part, dataset_id in ids.items()
        ]

    def _name_of(self, part: str) -> str:
        if self._name is not None and len(self.parts) == 1:
            return self._name
        base_name = self._name or self._folder.folder.removeprefix(".")
        return schemas.checked_name(f"{base_name[-schemas.MAX_BASE_NAME_LENGTH :]} {part}".strip())


class JoinedFiles:
    """A request for one dataset of several files of a folder, which may be in a bucket.

    Raises:
        InvalidInput: The folder may not be read, no file matches, or the options do not fit together.
        StoreUnavailable: The storage of the bucket does not answer.
    """

    def __init__(self, settings: ApiSettings, request: FolderDatasetRequest) -> None:
        files = DataFiles(settings.data_roots, settings.storage_patience_seconds)
        self._request = request
        self._options = request.options()
        self._files = files.find(request.folder, request.files or "")

    def allow(self, tx: Transaction, settings: ApiSettings, key_id: str | None) -> None:
        """Check the quotas of the API key.

        Raises:
            ByteQuotaExceeded: The key exceeds its quota of bytes.
            JobQuotaExceeded: The key exceeds its quota of jobs.
        """
        tx.quotas.allow_bytes(key_id, settings.max_stored_bytes, self._files.size_bytes)
        tx.quotas.allow_jobs(key_id, settings.max_active_jobs, 1)

    def add(self, tx: Transaction, key_id: str | None) -> list[Dataset]:
        """Record the dataset, owned by the API key of the request."""
        files, request = self._files, self._request
        source: dict[str, Any] = {
            "kind": "folder",
            "folder": files.folder,
            "files": request.files,
            "filenames": list(files.names),
            "modified": files.modified,
            "format": request.format or "auto",
        }
        if self._options:
            source["options"] = self._options
        base_name = f"{files.folder.removeprefix('.')}/{request.files}".lstrip("/")
        name = request.name or schemas.checked_name(base_name[-schemas.MAX_BASE_NAME_LENGTH :])
        size_bytes, project = files.size_bytes, request.project
        return [tx.datasets.add(name, source, size_bytes=size_bytes, key_id=key_id, project=project)]


def requested_datasets(settings: ApiSettings, request: FolderDatasetRequest) -> FolderDatasets | JoinedFiles:
    """Check the requested files, and return the datasets to record.

    Raises:
        InvalidInput: The files may not be read, or the request contradicts itself.
        StoreUnavailable: The storage of the bucket does not answer.
    """
    if request.files is not None:
        return JoinedFiles(settings, request)
    request.options()
    return FolderDatasets(DataRoots(settings.data_roots), request)


def add_folder(
    tx: Transaction, settings: ApiSettings, folder: str, key_id: str | None, project: str | None
) -> dict[str, tuple[Dataset, Job | None]]:
    """Return a folder's datasets by part, each with its ingestion job, or None if the dataset is ready.

    Datasets of the project are reused if every part has a dataset of the same, unchanged file. Otherwise all
    parts are recorded and their ingestions queued.

    Raises:
        InvalidInput: The folder may not be read, or has no parts.
        ByteQuotaExceeded: The key exceeds its quota of bytes.
        JobQuotaExceeded: The key exceeds its quota of jobs.
    """
    body = validated(FolderDatasetRequest, {"folder": folder, "project": project})
    requested = FolderDatasets(DataRoots(settings.data_roots), body)
    if existing := requested.existing(tx):
        jobs = [None if each.status == "ready" else tx.jobs.get(each.job_id or "") for each in existing]
        return dict(zip(requested.parts, zip(existing, jobs, strict=True), strict=True))
    requested.allow(tx, settings, key_id)
    return {
        part: (dataset, queue_ingestion(tx, dataset, key_id))
        for part, dataset in zip(requested.parts, requested.add(tx, key_id), strict=True)
    }


def _is_reusable(tx: Transaction, dataset: Dataset) -> bool:
    if dataset.status != "pending" or dataset.job_id is None:
        return dataset.status == "ready"
    return tx.jobs.get(dataset.job_id).status in ("queued", "running")


def _missing_part_detail(folder: JudgedFolder) -> str:
    if folder.parts:
        return f"the folder has only the parts {', '.join(folder.parts)}"
    below = f"; folders in it: {', '.join(folder.folders[:10])}" if folder.folders else ""
    return f"has no file named train, vali or test, such as train.txt{below}"
