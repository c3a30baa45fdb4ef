"""Models: show, describe, import and reproduce them."""

from typing import Annotated, Any

from fastapi import Body, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency, UseIdempotencyKey
from app.http.labels import ProjectFilter, TagFilters, tag_filters
from app.http.lists import (
    ListQuery,
    Prefix,
    SelectedFields,
    list_query,
)
from app.http.openapi import (
    UPLOAD_PROBLEMS,
    body_problems,
    etag_responses,
    problems,
)
from app.http.route import ACCEPTED, JsonRoute, Router, accepted
from app.http.schemas import PRINTABLE, Cursor, Limit
from app.http.services import UseServices
from app.jobs.requests.fields import MetricName
from app.jobs.schemas import Job
from app.jobs.submission import submit
from app.lifecycle.caches import UseReferences
from app.models import schemas
from app.models.distillation import DistilRequest, distillation, reproduction
from app.models.uploads import (
    MAX_MODEL_BYTES,
    MAX_MODEL_FIELD_BYTES,
    MODEL_BODY,
    ModelUpload,
    register_model,
)
from app.uploads.form import UploadKeys, receive_form
from core.jobs.folders import model_upload_folder
from core.scorers.parameters import ScorerKind
from core.store import new_id
from core.store.artifacts.keys import model_upload_key
from core.store.repositories.models import Models
from core.store.repositories.projects import Labels

router = Router(prefix="/v1/models", tags=["models"], route_class=JsonRoute)
names_router = Router(prefix="/v1", tags=["models"], route_class=JsonRoute)

Reference = Annotated[
    str,
    Path(
        description="`mdl_…` id, `name` (its latest version), `name:version` or `name@alias`",
        examples=["web@champion"],
    ),
]
_CHANGE_EXAMPLES: Any = {
    "describe": {
        "summary": "Set the description and one tag, and remove another tag",
        "value": {
            "title": "The spring model",
            "description": "Trained on clicks of the spring",
            "tags": {"team": "search", "draft": None},
        },
    }
}
_TAG_EXAMPLES: Any = {
    "two": {
        "summary": "Tag two versions",
        "value": {
            "ids": ["mdl_01k9x3a7d5f8g2h4j6k9", "mdl_01k9x3a7d5f8g2h4j6m2"],
            "tags": {"team": "search"},
        },
    }
}
_DISTIL_EXAMPLES: Any = {
    "defaults": {"summary": "Use the data of the model", "value": {}},
    "log": {
        "summary": "Train on queries of a log, and evaluate on judged queries",
        "value": {
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r7",
            "leaves": 31,
        },
    },
}

_Listing = Annotated[
    ListQuery,
    list_query(
        schemas.ListedModel,
        Models.columns,
        "Sort key; `metric` is the mean of the metric in the query parameter `metric`",
        MetricName,
    ),
]


@router.get("", summary="List models", responses=etag_responses(422))
def list_models(
    services: UseServices,
    listing: _Listing,
    name: Annotated[
        str | None, Query(max_length=100, pattern=PRINTABLE, description="Only versions of this name")
    ] = None,
    tag: TagFilters = [],  # noqa: B006 - FastAPI copies it
    project: ProjectFilter = None,
    kind: Annotated[ScorerKind | None, Query(description="Only models of this kind")] = None,
    latest: Annotated[bool, Query(description="Only the latest version of each name")] = False,
    prefix: Prefix = None,
) -> schemas.ModelPage | SelectedFields:
    """List model versions, newest first by default, filtered by tags that must all match."""
    with services.store.read() as tx:
        page = tx.models.page(
            name=name,
            tags=tag_filters(tag),
            **listing.paging,
            project=project,
            prefix=prefix,
            kind=kind,
            latest=latest,
        )
        version_aliases = tx.models.aliases_of(model.id for model in page.items)
        name_aliases = tx.models.aliases_of_names({model.name for model in page.items})
        datasets = tx.datasets.names(model.dataset_id for model in page.items)
    items = [
        schemas.ListedModel(
            **dict(schemas.Model.of(model, version_aliases[model.id])),
            name_aliases=name_aliases[model.name],
            dataset_name=datasets.get(model.dataset_id or ""),
        )
        for model in page.items
    ]
    return listing.page(schemas.ModelPage, items, page.next_cursor)


@router.post("/tags", summary="Tag several models", responses=body_problems(404))
def tag_models(
    body: Annotated[schemas.TaggedModels, Body(openapi_examples=_TAG_EXAMPLES)], services: UseServices
) -> schemas.ModelList:
    """Set and remove tags of several models; if one of them does not exist, change none."""
    with services.store.begin() as tx:
        # Lock in a fixed order to avoid deadlocks between requests.
        for model_id in sorted(set(body.ids)):
            tx.models.tag(model_id, body.tags)
        models = tx.models.get_many(body.ids)
        aliases = tx.models.aliases_of(models)
    return schemas.ModelList(
        items=[schemas.Model.of(models[each], aliases[each]) for each in dict.fromkeys(body.ids)]
    )


@names_router.get("/model-names", summary="List names of models", responses=etag_responses(422))
def list_model_names(
    services: UseServices,
    contains: Annotated[
        str | None, Query(max_length=100, pattern=PRINTABLE, description="Only names that contain this")
    ] = None,
    tag: TagFilters = [],  # noqa: B006 - FastAPI copies it
    project: ProjectFilter = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> schemas.NamedModelPage:
    """List model names with their latest version and aliases, filtered by tags that must all match.

    Versions count up from 1; numbers of deleted versions are not reused.
    """
    with services.store.read() as tx:
        page = tx.models.page_of_names(
            cursor, limit, containing=contains, tags=tag_filters(tag), project=project
        )
        aliases = tx.models.aliases_of_names(model.name for model in page.items)
    items = [
        schemas.NamedModel(
            name=model.name, aliases=aliases[model.name], latest=schemas.LatestVersion.model_validate(model)
        )
        for model in page.items
    ]
    return schemas.NamedModelPage(items=items, next_cursor=page.next_cursor)


@router.get("/{ref}", summary="Show a model", responses=etag_responses(404))
def get_model(ref: Reference, services: UseServices) -> schemas.Model:
    """Show one version of a model."""
    with services.store.read() as tx:
        model = tx.models.resolve(ref)
        aliases = tx.models.aliases_of([model.id])
    return schemas.Model.of(model, aliases[model.id])


@router.patch("/{ref}", summary="Describe a model", responses=body_problems(404))
def change_model(
    ref: Reference,
    body: Annotated[schemas.ModelChanges, Body(openapi_examples=_CHANGE_EXAMPLES)],
    services: UseServices,
    references: UseReferences,
) -> schemas.Model:
    """Change the title, the description and the named tags of a version, and the project of its name.

    A name belongs to one project: all its versions, aliases and gates move together.
    """
    texts = {name: getattr(body, name) for name in body.model_fields_set & {"title", "description"}}
    with services.store.begin() as tx:
        model = tx.models.resolve(ref)
        if texts:
            model = tx.models.describe(model.id, **texts)
        if body.tags:
            model = tx.models.tag(model.id, body.tags)
        if "project" in body.model_fields_set:
            tx.projects.move_name(model.name, body.project)
        aliases = tx.models.aliases_of([model.id])
    if "project" in body.model_fields_set:
        references.invalidate()
    return schemas.Model.of(model, aliases[model.id])


jobs_router = Router(prefix="/v1/models", tags=["models"], route_class=JsonRoute)


@jobs_router.post(
    "",
    summary="Import a model",
    status_code=ACCEPTED,
    response_model=Job,
    responses=problems(*UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": MODEL_BODY},
)
async def import_model(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Import a model as the next version of a name: LightGBM's text, or a network's safetensors file.

    A job checks the file in a separate process; trees must score random documents as LightGBM does.
    """
    upload_id = new_id("mup_")
    keys = UploadKeys.single(model_upload_key(upload_id), model_upload_folder(upload_id))
    limit = min(services.settings.max_upload_bytes, MAX_MODEL_BYTES)
    upload = await receive_form(
        request, services, keys, MAX_MODEL_FIELD_BYTES, limit, lambda form: ModelUpload.of(form, upload_id)
    )
    return await run_in_threadpool(register_model, services, caller.key_id, idempotency, upload)


@jobs_router.post(
    "/{ref}/reproduce",
    summary="Train a model again",
    status_code=ACCEPTED,
    response_model=Job,
    responses=problems(404, 409, 422),
)
def reproduce_model(
    ref: Reference,
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Repeat a training from its lineage and compare the bytes; no model is created.

    A missing or damaged stored file is replaced if the new bytes have its recorded checksum.

    The job's result has `equal`, the checksums of the new, the expected and the stored bytes, and
    `differences` of the lineage: `[{"what": "numpy", "then": "2.3.1", "now": "2.4.0"}]`, null without a
    lineage.
    """
    with idempotency.begin(services.store) as tx:
        model = tx.models.resolve(ref)
        resolved = reproduction(tx, model)
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        job = tx.enqueue(resolved, caller.key_id, Labels(project=model.project))
        created = idempotency.keep(tx, accepted(Job.of(tx, job), f"/v1/jobs/{job.id}"))
    services.wake_workers(job)
    return created


@jobs_router.post(
    "/{ref}/distil",
    summary="Train a forest on a model's scores",
    status_code=ACCEPTED,
    response_model=Job,
    responses=body_problems(404, 409),
)
def distil_model(
    ref: Reference,
    body: Annotated[DistilRequest, Body(openapi_examples=_DISTIL_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Queue a training whose labels are the scores of a model, such as a sum or a network.

    The trained forest can be exported to every search engine. A finding of the job, `distilled`, has the
    metric of both models on the test queries, and the difference with its interval.
    """
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        job = submit(tx, distillation(tx, tx.models.resolve(ref), body), caller.key_id)
        created = idempotency.keep(tx, accepted(Job.of(tx, job), f"/v1/jobs/{job.id}"))
    services.wake_workers(job)
    return created
