"""Requests that label many jobs or models."""

from typing import Annotated, Any, Generic

from fastapi import Body
from pydantic import Field

from app.http.labels import ProjectName, TagChanges
from app.http.openapi import body_problems
from app.http.route import JsonRoute, Router
from app.http.schemas import ResponseModel
from app.http.services import Services, UseServices
from app.lifecycle.caches import UseReferences
from app.lifecycle.filters import F, JobFilter, ModelFilter, Selection
from core.errors import InvalidInput
from core.store.labelling import LabelChanges, Labelling, label_objects
from core.store.trash.kinds import JOB, KINDS, MODEL


class LabelRequest(Selection[F], Generic[F]):
    """A selection of objects to label, and their new labels: tags, a project, or both."""

    tags: TagChanges = Field(default_factory=dict)
    project: ProjectName | None = Field(
        None,
        description="Project to move the objects to; null for no project; omit it to keep the project",
        examples=["web"],
    )
    dry_run: bool = Field(True, description="Whether only to count the changes, without changing anything")

    @property
    def moves(self) -> bool:
        """Whether the request moves the objects to a project, or out of theirs."""
        return "project" in self.model_fields_set

    def check(self) -> None:
        """Check that the request has labels.

        Raises:
            InvalidInput: Neither tags nor a project are given.
        """
        if not self.tags and not self.moves:
            raise InvalidInput.at("", "must have tags, a project, or both")


class UnlabelledObject(ResponseModel):
    """An object that keeps its labels."""

    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    reason: str = Field(examples=["would result in 65 tags; the maximum is 64"])


class Labelled(ResponseModel):
    """Objects that a request labelled; in a dry run, objects that it would label."""

    dry_run: bool = Field(description="Whether nothing was changed")
    changed: int = Field(description="Number of objects that get other labels", examples=[3])
    unchanged: int = Field(description="Number of objects that have these labels already", examples=[1])
    moved_names: list[str] = Field(
        description="Names of models that move to the project, each with all of its versions",
        examples=[["web"]],
    )
    missing: list[str] = Field(description="Ids that do not exist", examples=[[]])
    refused: list[UnlabelledObject] = Field(description="The first 100 objects that keep their labels")
    refused_count: int = Field(description="Number of objects that keep their labels", examples=[0])
    complete: bool = Field(
        description="False if the request stopped after a minute; send it again for the rest"
    )

    @classmethod
    def of(cls, labelling: Labelling, *, dry_run: bool) -> "Labelled":
        """Return the response of a labelling."""
        return cls(
            dry_run=dry_run,
            changed=labelling.changed,
            unchanged=labelling.unchanged,
            moved_names=sorted(labelling.moved_names),
            missing=labelling.missing,
            refused=[UnlabelledObject.model_validate(each) for each in labelling.refused],
            refused_count=labelling.refused_count,
            complete=labelling.is_complete,
        )


router = Router(prefix="/v1", route_class=JsonRoute)

_PROBLEMS = body_problems()


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
            project = tx.projects.for_new_object(project)
    changes = LabelChanges(body.tags, body.moves, project)
    object_ids = body.object_ids(services.store, KINDS[kind])
    labelling = label_objects(services.store, KINDS[kind], object_ids, changes, dry_run=body.dry_run)
    return Labelled.of(labelling, dry_run=body.dry_run)
