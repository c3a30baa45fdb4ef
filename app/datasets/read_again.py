"""Read the files of an invalid dataset again."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from app.datasets.ingestion import accepted_dataset, queue_ingestion
from app.datasets.schemas import Dataset
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.openapi import body_problems
from app.http.route import ACCEPTED, JsonRoute, Router
from app.http.schemas import RequestModel
from app.http.services import UseServices
from core.data.options import reading_options
from core.data.tables.problems import listed
from core.errors import InvalidInput, WrongState
from core.store import Dataset as DatasetRow
from core.store.artifacts.keys import dataset_upload_key

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_READ_AGAIN_EXAMPLES: Any = {
    "column": {"summary": "Without a column", "value": {"ignore": ["price"]}},
    "corrected": {"summary": "After the files at the URLs were corrected", "value": {}},
}


class ReadAgainRequest(RequestModel):
    """Read the files of an invalid dataset again."""

    ignore: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(
        default_factory=list,
        max_length=1000,
        description="Columns to ignore, in addition to those that were ignored before; at least one for an"
        " upload, whose bytes are the same",
        examples=[["price"]],
    )


@router.post(
    "/{dataset_id}/read-again",
    summary="Read an invalid dataset again",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=body_problems(404, 409),
)
def read_again(
    dataset_id: str,
    body: Annotated[ReadAgainRequest, Body(openapi_examples=_READ_AGAIN_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Read the files of an invalid dataset again: as they are now at its URLs or in its folder, or an upload.

    Columns can be ignored. Uploaded bytes are kept until the dataset is ready or deleted, if one of the
    `causes` of its `problem` has `can_ignore`. Only tables have such causes.
    """
    settings = services.settings
    with idempotency.begin(services.store) as tx:
        dataset = tx.datasets.get(dataset_id)
        options, problem = _options_ignoring(dataset, body.ignore), dataset.problem
        dataset = tx.datasets.read_again(dataset_id, options)
        kind = dataset.source["kind"]
        if kind in ("synthetic", "clicks"):
            reason = "it was generated, not read from a file; generate it again"
            raise WrongState("dataset", dataset_id, "invalid", reason)
        if kind == "upload" and not services.store.artifacts.exists(dataset_upload_key(dataset_id)):
            reason = "its uploaded bytes were deleted; upload the file again"
            raise WrongState("dataset", dataset_id, "invalid", reason)
        if kind == "upload" and not body.ignore:
            detail = "must name a column: the upload is unchanged; or upload a corrected file"
            raise InvalidInput.at("/ignore", detail)
        _check_can_ignore(problem or {}, body.ignore)
        tx.quotas.allow_jobs(caller.key_id, settings.max_active_jobs)
        limited = kind == "address"
        max_bytes = tx.quotas.remaining_bytes(caller.key_id, settings.max_stored_bytes) if limited else None
        job = queue_ingestion(tx, dataset, caller.key_id, max_bytes)
        created = idempotency.keep(tx, accepted_dataset(dataset))
    services.wake_workers(job)
    return created


def _check_can_ignore(problem: Mapping[str, Any], ignore: Sequence[str]) -> None:
    """Refuse columns that do not prevent reading, since reading would fail again and delete the upload."""
    invalid = [cause["column"] for cause in problem.get("causes", ()) if cause["can_ignore"]]
    for index, name in enumerate(ignore):
        if invalid and name not in invalid:
            raise InvalidInput.at(
                f"/ignore/{index}", f"{name!r} does not prevent reading, only {listed(invalid)}"
            )


def _options_ignoring(dataset: DatasetRow, ignore: Sequence[str]) -> dict[str, Any]:
    """Return the reading options of a dataset, with more columns left out."""
    options = dict(dataset.source.get("options") or {})
    if not ignore:
        return options
    left_out = set(ignore)
    columns: dict[str, Any] = {}
    for role, named in (options.get("columns") or {}).items():
        if isinstance(named, str):
            columns |= {} if named in left_out else {role: named}
        elif named is not None:
            columns[role] = [name for name in named if name not in left_out]
            if role == "features" and named and not columns[role]:
                raise InvalidInput.at("/columns/features", "must list at least one column")
    columns["ignore"] = [*columns.get("ignore", ()), *dict.fromkeys(ignore)]
    names = options.get("feature_names")
    if isinstance(names, dict):
        options["feature_names"] = {name: value for name, value in names.items() if name not in left_out}
    options["columns"] = columns
    reading_options(options)
    return options
