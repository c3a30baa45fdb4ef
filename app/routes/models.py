"""Models: showing and describing them."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from pydantic import Field

from app.documentation import BODY_PROBLEMS, NOT_MODIFIED, problems
from app.routes.route import JsonRoute
from app.schemas.base import PRINTABLE, Cursor, Limit
from app.schemas.models import (
    TAG_LINE,
    TAG_NAME,
    LatestVersion,
    Model,
    ModelChanges,
    ModelPage,
    NamedModel,
    NamedModelPage,
)
from app.services import UseServices

router = APIRouter(prefix="/models", tags=["models"], route_class=JsonRoute)
names_router = APIRouter(tags=["models"], route_class=JsonRoute)

Reference = Annotated[
    str,
    Path(
        description="`mdl_…` id, `name` (its latest version), `name:version` or `name@alias`",
        examples=["web@champion"],
    ),
]
_CHANGE_EXAMPLES: Any = {
    "describe": {
        "summary": "Describe it, set one tag and take another away",
        "value": {
            "description": "Trained on clicks of the spring",
            "tags": {"team": "search", "draft": None},
        },
    }
}
_WantedTag = Annotated[str, Field(max_length=400, pattern=rf"^{TAG_NAME}(:{TAG_LINE})?$")]
WantedTags = Annotated[
    list[_WantedTag],
    Query(max_length=8, description="Only those with this tag: `team`, or `team:search` with this value"),
]


@router.get("", summary="List models", responses={**NOT_MODIFIED, **problems(422)})
def list_models(
    services: UseServices,
    name: Annotated[
        str | None, Query(max_length=100, pattern=PRINTABLE, description="Only versions of this name")
    ] = None,
    tag: WantedTags = [],  # noqa: B006 - FastAPI copies it
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ModelPage:
    """List model versions, newest first; of several tags a model must have all."""
    with services.store.read() as tx:
        page = tx.models.page(cursor, limit, name=name, tags=_wanted(tag))
        aliases = tx.models.aliases_of(model.id for model in page.items)
    items = [Model.of(model, aliases[model.id]) for model in page.items]
    return ModelPage(items=items, next_cursor=page.next_cursor)


@names_router.get("/model-names", summary="List names of models", responses={**NOT_MODIFIED, **problems(422)})
def list_model_names(
    services: UseServices,
    contains: Annotated[
        str | None, Query(max_length=100, pattern=PRINTABLE, description="Only names that contain this")
    ] = None,
    tag: WantedTags = [],  # noqa: B006 - FastAPI copies it
    cursor: Cursor = None,
    limit: Limit = 50,
) -> NamedModelPage:
    """List each name with its latest version, which has all of several tags, and where its aliases point.

    Versions count up from 1, so that the latest one also tells how many there are.
    """
    with services.store.read() as tx:
        page = tx.models.page_of_names(cursor, limit, containing=contains, tags=_wanted(tag))
        aliases = tx.models.aliases_of_names(model.name for model in page.items)
    items = [
        NamedModel(name=model.name, aliases=aliases[model.name], latest=LatestVersion.model_validate(model))
        for model in page.items
    ]
    return NamedModelPage(items=items, next_cursor=page.next_cursor)


@router.get("/{ref}", summary="Show a model", responses={**NOT_MODIFIED, **problems(404)})
def get_model(ref: Reference, services: UseServices) -> Model:
    """Show one version of a model."""
    with services.store.read() as tx:
        model = tx.models.resolve(ref)
        aliases = tx.models.aliases_of([model.id])
    return Model.of(model, aliases[model.id])


@router.patch("/{ref}", summary="Describe a model", responses=problems(404, *BODY_PROBLEMS))
def change_model(
    ref: Reference,
    body: Annotated[ModelChanges, Body(openapi_examples=_CHANGE_EXAMPLES)],
    services: UseServices,
) -> Model:
    """Change what is said of a model: its description, and those of its tags that are named."""
    with services.store.begin() as tx:
        model = tx.models.resolve(ref)
        if "description" in body.model_fields_set:
            model = tx.models.describe(model.id, body.description)
        if body.tags:
            model = tx.models.tag(model.id, body.tags)
        aliases = tx.models.aliases_of([model.id])
    return Model.of(model, aliases[model.id])


def _wanted(tags: Sequence[str]) -> list[tuple[str, str | None]]:
    parts = (tag.partition(":") for tag in tags)
    return [(name, value if colon else None) for name, colon, value in parts]
