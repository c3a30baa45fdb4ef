"""Evaluations that jobs made."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from app.documentation import NOT_MODIFIED, problems
from app.result_files import read_rows
from app.routes.route import JsonRoute
from app.schemas.base import PRINTABLE, Cursor, Limit
from app.schemas.evaluations import Evaluation, EvaluationPage, QueryValues, QueryValuesPage
from app.services import UseServices
from core.store.result_keys import evaluation_key

router = APIRouter(prefix="/evaluations", tags=["results"], route_class=JsonRoute)

Wanted = Annotated[str | None, Field(max_length=64, pattern=PRINTABLE)]


@router.get("", summary="List evaluations", responses={**NOT_MODIFIED, **problems(422)})
def list_evaluations(
    services: UseServices,
    dataset_id: Annotated[Wanted, Query(description="Only those on its queries")] = None,
    model_id: Annotated[Wanted, Query(description="Only those of this version of a model")] = None,
    ranking_id: Annotated[Wanted, Query(description="Only those of this ranking")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> EvaluationPage:
    """List evaluations of models and of rankings with their means, newest first."""
    with services.store.read() as tx:
        page = tx.evaluations.page(
            cursor, limit, dataset_id=dataset_id, model_id=model_id, ranking_id=ranking_id
        )
    return EvaluationPage.model_validate(page)


@router.get("/{evaluation_id}", summary="Show an evaluation", responses={**NOT_MODIFIED, **problems(404)})
def get_evaluation(evaluation_id: str, services: UseServices) -> Evaluation:
    """Show each metric's mean over the queries, its 95 % interval, and the contract behind it.

    Beside it stand rankings that need no training, and the same metrics of parts of the queries.
    """
    with services.store.read() as tx:
        evaluation = tx.evaluations.get(evaluation_id)
    return Evaluation.model_validate(evaluation)


@router.get(
    "/{evaluation_id}/queries",
    summary="List the values of single queries",
    responses={**NOT_MODIFIED, **problems(404, 422)},
)
def list_evaluation_queries(
    evaluation_id: str, services: UseServices, cursor: Cursor = None, limit: Limit = 100
) -> QueryValuesPage:
    """List each query's metrics, in the dataset's order."""
    with services.store.read() as tx:
        evaluation = tx.evaluations.get(evaluation_id)
    with services.store.verified.open(evaluation_key(evaluation.id)) as file:
        rows, next_cursor = read_rows(file, cursor, limit)
    items = [QueryValues(query_id=row.pop("query_id"), values=row) for row in rows]
    return QueryValuesPage(items=items, next_cursor=next_cursor)
