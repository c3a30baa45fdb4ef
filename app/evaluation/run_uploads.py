"""Upload runs: rankings of other systems in TREC format."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.idempotency import IdempotencyKey
from app.http.labels import PROJECT_PART, project_problems
from app.http.route import accepted
from app.http.services import Services
from app.jobs.schemas import Job
from app.jobs.submission.checks import require_ready
from app.uploads.form import ReceivedFile, ReceivedForm, file_body, missing_file, record_files
from core.errors import InputProblem, InvalidInput
from core.jobs.folders import run_folder
from core.jobs.ingest import ImportRunJob
from core.store import Job as JobRow
from core.store import Transaction
from core.store.repositories.projects import Labels

MAX_RUN_FIELD_BYTES: Mapping[str, int] = MappingProxyType({"dataset_id": 64, "name": 4_096, "project": 400})
_MAX_NAME = 200
RUN_BODY = file_body(
    "Lines of `qid Q0 docno rank score tag`; plain, gzip or Zstandard",
    {
        "dataset_id": {"type": "string", "description": "A ready dataset with its queries"},
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": _MAX_NAME,
            "description": "Display name of the system; by default the name of the file",
        },
        "project": PROJECT_PART,
    },
    ["dataset_id"],
    {
        "run": {
            "summary": "A run of another engine",
            "value": {
                "file": "10032 Q0 GX029-35-5894638 1 2.31 bm25\n",
                "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
                "name": "bm25",
            },
        }
    },
)


@dataclass(frozen=True)
class RunUpload:
    """A complete upload of a run.

    Attributes:
        upload_id: Id of the stored bytes.
        request_digest: Digest of the form, for idempotency.
        dataset_id: Dataset whose queries the run ranks.
        project: Requested project of the ranking; None for the dataset's project.
    """

    upload_id: str
    request_digest: str
    dataset_id: str
    name: str
    file: ReceivedFile
    project: str | None = None

    @classmethod
    def of(cls, received: ReceivedForm, upload_id: str) -> "RunUpload":
        """Validate the received files.

        Raises:
            InvalidInput: With a pointer for each part that is missing or invalid.
        """
        fields = received.fields
        problems = [*missing_file(received.files, "run"), *project_problems(fields)]
        if "dataset_id" not in fields:
            problems.append(InputProblem("/dataset_id", "required: the dataset whose queries the run ranks"))
        if problems:
            raise InvalidInput(*problems)
        file = received.files["file"]
        name = fields.get("name", file.filename[-_MAX_NAME:]).strip()
        if not name.isprintable() or not 1 <= len(name) <= _MAX_NAME:
            raise InvalidInput.at("/name", f"must be 1 to {_MAX_NAME} printable characters")
        digest = received.request_digest
        return cls(upload_id, digest, fields["dataset_id"], name, file, fields.get("project"))

    def spec(self) -> ImportRunJob:
        """Return the specification of the job that reads the run."""
        return ImportRunJob(
            upload_id=self.upload_id, dataset_id=self.dataset_id, name=self.name, filename=self.file.filename
        )


def register_run(
    services: Services, key_id: str | None, idempotency: IdempotencyKey, upload: RunUpload
) -> Response:
    """Queue the job that reads a run, for the API key of the upload.

    Raises:
        JobQuotaExceeded: The key has too many jobs.
        NotFound: There is no such dataset.
        WrongState: The dataset is not ready.
    """

    def record(tx: Transaction) -> tuple[JSONResponse, list[JobRow]]:
        tx.quotas.allow_jobs(key_id, services.settings.max_active_jobs)
        require_ready(tx, [upload.dataset_id])
        job = tx.enqueue(upload.spec(), key_id, Labels(project=upload.project))
        return accepted(Job.of(tx, job), f"/v1/jobs/{job.id}"), [job]

    folders = [run_folder(upload.upload_id)]
    idempotent = idempotency.of(upload.request_digest)
    return record_files(services, key_id, idempotent, [upload.file], folders, record)
