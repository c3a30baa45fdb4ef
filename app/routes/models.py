"""Trained models: showing and naming them."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query

from app.documentation import BODY_PROBLEMS, NOT_MODIFIED, problems
from app.routes.route import JsonRoute
from app.schemas.base import PRINTABLE, Cursor, Limit
from app.schemas.models import AliasRequest, Model, ModelPage
from app.services import UseServices
from core.store import Model as ModelRow

router = APIRouter(prefix="/models", tags=["models"], route_class=JsonRoute)

Reference = Annotated[
    str,
    Path(
        description="`mdl_…` id, `name` (its latest version), `name:version` or `name@alias`",
        examples=["web@champion"],
    ),
]
_ALIAS_EXAMPLES: Any = {"promote": {"summary": "Point at version 3", "value": {"version": 3}}}


@router.get("", summary="List models", responses={**NOT_MODIFIED, **problems(422)})
def list_models(
    services: UseServices,
    name: Annotated[
        str | None, Query(max_length=100, pattern=PRINTABLE, description="Only versions of this name")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ModelPage:
    """List model versions, newest first."""
    with services.store.read() as tx:
        page = tx.models.page(cursor, limit, name=name)
        aliases = tx.models.aliases_of(model.id for model in page.items)
    items = [_view(model, aliases[model.id]) for model in page.items]
    return ModelPage(items=items, next_cursor=page.next_cursor)


@router.get("/{ref}", summary="Show a model", responses={**NOT_MODIFIED, **problems(404)})
def get_model(ref: Reference, services: UseServices) -> Model:
    """Show one version of a model."""
    with services.store.read() as tx:
        model = tx.models.resolve(ref)
        aliases = tx.models.aliases_of([model.id])
    return _view(model, aliases[model.id])


@router.put("/{name}/aliases/{alias}", summary="Set an alias", responses=problems(404, *BODY_PROBLEMS))
def set_alias(
    name: Annotated[str, Path(description="The model's name", examples=["web"])],
    alias: Annotated[str, Path(description="The alias to set or move", examples=["champion"])],
    body: Annotated[AliasRequest, Body(openapi_examples=_ALIAS_EXAMPLES)],
    services: UseServices,
) -> Model:
    """Let `name@alias` mean one version from now on; scoring follows at once."""
    with services.store.begin() as tx:
        tx.models.set_alias(name, alias, body.version)
        model = tx.models.resolve(f"{name}@{alias}")
        aliases = tx.models.aliases_of([model.id])
    services.models.forget_meanings()
    return _view(model, aliases[model.id])


def _view(model: ModelRow, aliases: list[str]) -> Model:
    columns = {name: getattr(model, name) for name in Model.model_fields if name != "aliases"}
    return Model(**columns, aliases=aliases)
