"""Create datasets from URLs, which workers read, and from finished resumable uploads."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from app.datasets import schemas
from app.datasets.ingestion import accepted_dataset, queue_ingestion
from app.datasets.uploads import (
    IMPORT_EXAMPLES,
    DatasetUpload,
    new_dataset_ids,
    register_upload,
    upload_keys,
)
from app.http.caller import UseCaller
from app.http.idempotency import IdempotentRequest, UseIdempotency
from app.http.labels import NewProject
from app.http.openapi import body_problems
from app.http.route import ACCEPTED, Router
from app.http.schemas import DisplayName, RequestModel
from app.http.services import Services, UseServices
from app.uploads.form import FILE, FormReceiver, ReceivedForm
from app.uploads.multipart import UPLOAD_REFERENCE
from app.uploads.source_urls import UPLOAD_PREFIX, JsonBodyRoute, NamedUpload, requested_urls
from core.data.folders import MAX_FILES, MAX_PATTERN_LENGTH, PARTS
from core.data.options import DatasetFormat, reading_options
from core.errors import InputProblem, InvalidInput
from core.store import Dataset as DatasetRow
from core.store import Transaction, new_id
from core.store.sources.source_urls import AllowedUrls

_UrlTexts = schemas.SourceUrl | Annotated[list[schemas.SourceUrl], Field(min_length=1, max_length=MAX_FILES)]


class AddressDatasetRequest(RequestModel):
    """URLs of files that become one dataset, or one dataset per part.

    The URLs begin with a prefix of `RANKERY_SOURCES`, or all of them refer to resumable uploads.
    """

    source: _UrlTexts | None = Field(
        None,
        description="URL that begins with `s3://`, `gs://`, `https://`, `hf://datasets/ORG/NAME/`,"
        " `ir_datasets:`, or `upload:` and an id; with `files` the URL of a folder. A list of URLs becomes"
        " one dataset",
        examples=["s3://clicks/2026/train.parquet"],
    )
    parts: dict[schemas.PartName, _UrlTexts] | None = Field(
        None,
        min_length=1,
        description="URLs by part, instead of `source`; each part becomes a dataset",
        examples=[{"train": "hf:org/name/train.parquet", "test": "hf:org/name/test.parquet"}],
    )
    files: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_PATTERN_LENGTH,
        description="Pattern of up to 1,000 file names in a bucket or repository, which become one dataset",
        examples=["part-*.parquet"],
    )
    name: DisplayName | None = Field(
        None,
        description="Display name; by default the URL or the name of the uploaded file. With `parts`, each"
        " dataset's part is appended",
    )
    format: DatasetFormat = Field("auto", description="`auto` detects it")
    non_contiguous_queries: Literal["regroup", "error"] | None = Field(
        None, description=schemas.SPLIT_QUERIES
    )
    repeated_features: schemas.RepeatedFeatures = None
    columns: schemas.ColumnRoles = None
    feature_names: schemas.FeatureNames = None
    credentials: schemas.CredentialsName = None
    project: NewProject = None

    def options(self) -> dict[str, Any]:
        """Return the reading options as JSON, without the format.

        Raises:
            InvalidInput: The options contradict each other.
        """
        options = self.model_dump(include=set(schemas.OPTION_NAMES), exclude_none=True)
        reading_options(options)
        return options

    def uploads(self) -> dict[str, NamedUpload]:
        """Return the named resumable uploads by form part; empty for a request with URLs.

        Raises:
            InvalidInput: Not exactly one of source and parts is given; or a reference is malformed, or is
                combined with URLs or options of URLs.
        """
        if (self.source is None) == (self.parts is None):
            raise InvalidInput.at("/source", "give either source or parts")
        requested = {FILE: self.source} if self.parts is None else dict(self.parts)
        texts_by_part = {
            part: [texts] if isinstance(texts, str) else texts or [] for part, texts in requested.items()
        }
        if not any(text.startswith(UPLOAD_PREFIX) for texts in texts_by_part.values() for text in texts):
            return {}
        uploads: dict[str, NamedUpload] = {}
        problems = [
            InputProblem(f"/{name}", "can only be used with URLs, not with uploads")
            for name in ("files", "credentials")
            if getattr(self, name) is not None
        ]
        for part, texts in texts_by_part.items():
            pointer = "/source" if part == FILE else f"/parts/{part}"
            reference = UPLOAD_REFERENCE.fullmatch(texts[0])
            if len(texts) > 1:
                problems.append(
                    InputProblem(pointer, "must be a single upload, since each upload is one dataset")
                )
            elif reference is None:
                problems.append(
                    InputProblem(pointer, "must be upload:upl_…; uploads cannot be combined with URLs")
                )
            else:
                uploads[part] = NamedUpload(reference[1], pointer)
        if problems:
            raise InvalidInput(*problems)
        return uploads

    def fields(self) -> dict[str, str]:
        """Return the text fields of the equivalent upload form."""
        fields = self.model_dump(include={"name", "format", "project"}, exclude_none=True)
        for name, value in self.options().items():
            fields[name] = value if isinstance(value, str) else json.dumps(value)
        return fields


class RequestedSources:
    """The checked URLs of a request, by the part that becomes a dataset.

    Args:
        prefixes: Prefixes of the URLs that may be read.

    Raises:
        InvalidInput: A URL is not allowed, or the options contradict each other.
    """

    def __init__(self, request: AddressDatasetRequest, prefixes: list[str]) -> None:
        self._request = request
        self._options = request.options()
        self._allowed = AllowedUrls(prefixes)
        requested: Mapping[str | None, Any] = {None: request.source}
        if request.parts is not None:
            requested = {part: request.parts[part] for part in PARTS if part in request.parts}
        self._parts = {part: self._urls(part, requested[part]) for part in requested}

    @property
    def n_datasets(self) -> int:
        """Number of datasets to create."""
        return len(self._parts)

    def add(self, tx: Transaction, key_id: str | None) -> list[DatasetRow]:
        """Record a dataset for each part, owned by the API key of the request."""
        request = self._request
        ids = {part: new_id("ds_") for part in self._parts}
        ids_by_part: dict[str, str] = {part: ids[part] for part in ids if part is not None}
        source = {
            "kind": "address",
            **request.model_dump(include={"files", "credentials"}, exclude_none=True),
            "format": request.format,
            "options": self._options,
        }
        return [
            tx.datasets.add(
                self._name_of(part),
                {**source, "addresses": self._parts[part]},
                dataset_id,
                parts=ids_by_part if len(ids_by_part) > 1 else None,
                key_id=key_id,
                project=request.project,
            )
            for part, dataset_id in ids.items()
        ]

    def _urls(self, part: str | None, requested: Any) -> list[str]:
        pointer = "/source" if part is None else f"/parts/{part}"
        has_pattern = self._request.files is not None
        return requested_urls(requested, pointer, self._allowed, with_pattern=has_pattern)

    def _name_of(self, part: str | None) -> str:
        first, files = self._parts[part][0], self._request.files
        default_name = (f"{first}/{files}" if files else first)[-schemas.MAX_BASE_NAME_LENGTH :]
        base_name = self._request.name or default_name
        return schemas.checked_name(base_name if part is None else f"{base_name} {part}")


# Registered before the router of uploads, which has the same path and describes both in the OpenAPI document.
router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonBodyRoute)


@router.post(
    "",
    summary="Import a dataset",
    status_code=ACCEPTED,
    response_model=schemas.Dataset,
    responses=body_problems(409, 507),
)
def import_datasets(
    body: Annotated[AddressDatasetRequest, Body(openapi_examples=IMPORT_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Create datasets from files at URLs, which a worker downloads and reads.

    Each URL begins with a prefix of `RANKERY_SOURCES`. The API downloads nothing: a missing file makes
    the dataset `invalid`. The first part's dataset is returned; `parts` names them all. A finished resumable
    upload (`POST /v1/uploads`) can be used once.
    """
    settings = services.settings
    if uploads := body.uploads():
        return _create_from_uploads(services, caller.key_id, idempotency, body, uploads)
    requested = RequestedSources(body, settings.sources)
    with idempotency.begin(services.store) as tx:
        remaining_bytes = tx.quotas.remaining_bytes(caller.key_id, settings.max_stored_bytes)
        tx.quotas.allow_jobs(caller.key_id, settings.max_active_jobs, requested.n_datasets)
        datasets = requested.add(tx, caller.key_id)
        jobs = [queue_ingestion(tx, dataset, caller.key_id, remaining_bytes) for dataset in datasets]
        created = idempotency.keep(tx, accepted_dataset(datasets[0]))
    services.wake_workers(*jobs)
    return created


def _create_from_uploads(
    services: Services,
    key_id: str | None,
    idempotency: IdempotentRequest,
    body: AddressDatasetRequest,
    uploads: Mapping[str, NamedUpload],
) -> Response:
    """Create datasets from resumable uploads, as a form that refers to them does."""
    ids = new_dataset_ids()
    with FormReceiver(services, key_id, upload_keys(ids), services.settings.max_upload_bytes) as receiver:
        for part, upload in uploads.items():
            receiver.add_upload(part, upload.id, upload.pointer)
        receiver.copy_uploads()
        requested = DatasetUpload.of(ReceivedForm(receiver.files(), body.fields()))
    return register_upload(services, key_id, idempotency, requested, ids)
