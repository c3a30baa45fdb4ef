"""Upload models trained outside the service."""

from collections.abc import Mapping
from dataclasses import dataclass
from json import JSONDecodeError
from types import MappingProxyType
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.responses import Response

from app.http.bodies import parse_json
from app.http.idempotency import IdempotencyKey
from app.http.labels import MAX_MULTILINE_LENGTH, MULTILINE_PATTERN, PROJECT_PART
from app.http.pointers import body_errors, input_problems
from app.http.route import accepted
from app.http.services import Services
from app.jobs.schemas import Job
from app.models.schemas import ModelImport
from app.uploads.form import ReceivedFile, ReceivedForm, file_body, missing_file, record_files
from core.errors import InputProblem, InvalidInput
from core.jobs.folders import model_upload_folder
from core.jobs.ingest import ImportModelJob
from core.store import MODEL_NAME, Transaction
from core.store import Job as JobRow
from core.store.repositories.projects import Labels

# LightGBM's text takes about 60 bytes per split: a thousand trees of a thousand leaves are far smaller.
MAX_MODEL_BYTES = 2**28
MAX_MODEL_FIELD_BYTES: Mapping[str, int] = MappingProxyType(
    {"name": 400, "description": 16_384, "tags": 2**16, "project": 400}
)
MODEL_BODY = file_body(
    "File that LightGBM's `save_model` wrote, or a linear scorer or network that Rankery exported"
    " as `safetensors`",
    {
        "name": {
            "type": "string",
            "pattern": MODEL_NAME,
            "description": "Name of the model; the import becomes its next version",
        },
        "description": {
            "type": "string",
            "maxLength": MAX_MULTILINE_LENGTH,
            "pattern": MULTILINE_PATTERN,
            "description": "Description of this version",
        },
        "tags": {"type": "string", "description": "Tags of the model, as a JSON object of texts"},
        "project": PROJECT_PART,
    },
    ["name"],
    {
        "model": {
            "summary": "A model that LightGBM trained elsewhere",
            "value": {
                "file": "tree\nversion=v4\n…",
                "name": "web",
                "description": "Trained by the nightly notebook",
                "tags": '{"team": "search"}',
            },
        },
        "network": {
            "summary": "A network that another Rankery service exported as safetensors",
            "value": {"file": "…", "name": "web"},
        },
    },
)


@dataclass(frozen=True)
class ModelUpload:
    """A complete upload of a model.

    Attributes:
        request_digest: Digest of the form, for idempotency.
        metadata: Name, description, tags and project of the model.
    """

    upload_id: str
    request_digest: str
    file: ReceivedFile
    metadata: ModelImport

    @classmethod
    def of(cls, received: ReceivedForm, upload_id: str) -> "ModelUpload":
        """Validate the received form.

        Raises:
            InvalidInput: A part is missing or invalid; each problem has a pointer.
        """
        problems = missing_file(received.files, "model")
        fields: dict[str, Any] = dict(received.fields)
        try:
            if "tags" in fields:
                fields["tags"] = parse_json(fields["tags"].encode())
            metadata = ModelImport.model_validate(fields)
        except ValidationError as invalid:
            raise InvalidInput(*problems, *input_problems(body_errors(invalid), fields)) from invalid
        except JSONDecodeError as error:
            problems.append(InputProblem("/tags", f"must be JSON: {error.msg}"))
        if problems:
            raise InvalidInput(*problems)
        return cls(upload_id, received.request_digest, received.files["file"], metadata)

    def spec(self) -> ImportModelJob:
        """Return the specification of the job that imports the model."""
        return ImportModelJob(
            upload_id=self.upload_id,
            model_name=self.metadata.name,
            description=self.metadata.description,
            tags=self.metadata.tags,
            filename=self.file.filename,
            sha256=self.file.sha256,
            size_bytes=self.file.size_bytes,
        )


def _at_form_field(problem: InputProblem) -> InputProblem:
    """Return a problem with a pointer to the form field instead of the job's field."""
    return InputProblem("/name", problem.detail) if problem.pointer == "/model_name" else problem


def register_model(
    services: Services, key_id: str | None, idempotency: IdempotencyKey, upload: ModelUpload
) -> Response:
    """Queue the job that imports a model, for the API key of the upload.

    Raises:
        JobQuotaExceeded: The key has too many jobs.
        InvalidInput: The name belongs to another project.
    """

    def record(tx: Transaction) -> tuple[JSONResponse, list[JobRow]]:
        tx.quotas.allow_jobs(key_id, services.settings.max_active_jobs)
        try:
            job = tx.enqueue(
                upload.spec(), key_id, Labels(tags=upload.metadata.tags, project=upload.metadata.project)
            )
        except InvalidInput as invalid:
            raise InvalidInput(*map(_at_form_field, invalid.problems)) from invalid
        return accepted(Job.of(tx, job), f"/v1/jobs/{job.id}"), [job]

    folders = [model_upload_folder(upload.upload_id)]
    return record_files(
        services, key_id, idempotency.of(upload.request_digest), [upload.file], folders, record
    )
