"""Routes that label many jobs or models."""

from typing import Annotated, Any

from fastapi import Body

from app.http.openapi import BODY_PROBLEMS, problems
from app.http.route import JsonRoute, Router
from app.http.services import Services, UseServices
from app.labels.schemas import Labelled, LabelRequest
from app.lifecycle.caches import UseReferences
from app.lifecycle.filters import JobFilter, ModelFilter
from core.store.labelling import LabelChanges, label_objects
from core.store.trash.kinds import JOB, KINDS, MODEL

router = Router(prefix="/v1", route_class=JsonRoute)

_PROBLEMS = problems(*BODY_PROBLEMS)


def _examples(filter: dict[str, Any], object_id: str) -> Any:
    return {
        "preview": {
            "summary": "Count the objects that would move to a project, without moving them",
            "value": {"filter": filter, "project": "web"},
        },
        "label": {
            "summary": "Set one tag and remove another",
            "value": {"ids": [object_id], "tags": {"team": "search", "draft": None}, "dry_run": False},
        },
    }


@router.post("/jobs/labels", summary="Label several jobs", tags=["jobs"], responses=_PROBLEMS)
def label_jobs(
    body: Annotated[
        LabelRequest[JobFilter],
        Body(openapi_examples=_examples({"project": "-", "kind": "train"}, "job_01k9x2z4q7c8v5n3b6r1")),
    ],
    services: UseServices,
) -> Labelled:
    """Change tags and the project of jobs, selected by ids or a filter; a dry run by default.

    Other tags stay. Results move with their jobs, except models, whose project is that of their name.
    """
    return _label(services, JOB, body)


@router.post("/models/labels", summary="Label several models", tags=["models"], responses=_PROBLEMS)
def label_models(
    body: Annotated[
        LabelRequest[ModelFilter],
        Body(
            openapi_examples=_examples({"project": "-", "tag": ["team:search"]}, "mdl_01k9x3a7d5f8g2h4j6k9")
        ),
    ],
    services: UseServices,
    references: UseReferences,
) -> Labelled:
    """Change tags and the project of models, selected by ids, references or a filter; as for jobs.

    All versions of a name belong to one project and move together.
    """
    labelled = _label(services, MODEL, body)
    if labelled.moved_names and not body.dry_run:
        references.invalidate()
    return labelled


def _label(services: Services, kind: str, body: LabelRequest) -> Labelled:  # type: ignore[type-arg]
    body.check()
    project = body.project
    if body.moves:
        with services.store.read() as tx:
            project = tx.projects.of_new(project)
    changes = LabelChanges(body.tags, body.moves, project)
    object_ids = body.object_ids(services.store, KINDS[kind])
    labelling = label_objects(services.store, KINDS[kind], object_ids, changes, dry_run=body.dry_run)
    return Labelled.of(labelling, dry_run=body.dry_run)
