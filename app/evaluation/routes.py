"""Evaluations and comparisons that jobs made."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from app.evaluation.compared_queries import ComparedQueries
from app.evaluation.comparison_schemas import (
    ComparedQueryPage,
    Comparison,
    ComparisonEntry,
    ComparisonPage,
    Differences,
    QueryRankings,
)
from app.evaluation.schemas import Evaluation, EvaluationPage, QueryValues, QueryValuesPage
from app.http.openapi import NOT_MODIFIED, problems
from app.http.parquet_pages import read_rows
from app.http.route import JsonRoute, Router
from app.http.schemas import PRINTABLE, Cursor, Limit
from app.jobs.requests import MetricName
from app.services import UseServices
from core.store.artifacts.keys import evaluation_key

comparisons_router = Router(prefix="/v1/comparisons", tags=["results"], route_class=JsonRoute)


@comparisons_router.get("", summary="List comparisons", responses={**NOT_MODIFIED, **problems(422)})
def list_comparisons(services: UseServices, cursor: Cursor = None, limit: Limit = 50) -> ComparisonPage:
    """List comparisons with their conclusions, newest first."""
    with services.store.read() as tx:
        page = tx.comparisons.page(cursor, limit)
    items = [
        ComparisonEntry(
            id=row.id,
            job_id=row.job_id,
            dataset_id=row.dataset_id,
            sentence=row.sentence,
            systems=[system["name"] for system in row.systems],
            created_at=row.created_at,
        )
        for row in page.items
    ]
    return ComparisonPage(items=items, next_cursor=page.next_cursor)


@comparisons_router.get(
    "/{comparison_id}", summary="Show a comparison", responses={**NOT_MODIFIED, **problems(404)}
)
def get_comparison(comparison_id: str, services: UseServices) -> Comparison:
    """Show the conclusion for every pair of systems, and the tests behind it."""
    with services.store.read() as tx:
        comparison = tx.comparisons.get(comparison_id)
    return Comparison.model_validate(comparison)


@comparisons_router.get(
    "/{comparison_id}/queries",
    summary="List the values of single queries",
    responses={**NOT_MODIFIED, **problems(404, 422)},
)
def list_compared_queries(
    comparison_id: str, services: UseServices, cursor: Cursor = None, limit: Limit = 100
) -> ComparedQueryPage:
    """List each query's metrics for all systems, in the dataset's order."""
    return ComparedQueries(services.store, comparison_id).page(cursor, limit)


@comparisons_router.get(
    "/{comparison_id}/differences",
    summary="Show the differences of a pair",
    responses={**NOT_MODIFIED, **problems(404, 422)},
)
def get_differences(
    comparison_id: str,
    services: UseServices,
    a: Annotated[int, Query(ge=0, le=19, description="Place of A in `systems`, from 0")] = 0,
    b: Annotated[int, Query(ge=0, le=19, description="Place of B")] = 1,
    metric: Annotated[
        MetricName | None, Query(description="A metric of the comparison; the first when left out")
    ] = None,
) -> Differences:
    """Show B − A over the queries in ascending order, for a plot."""
    return ComparedQueries(services.store, comparison_id).differences(a, b, metric)


@comparisons_router.get(
    "/{comparison_id}/rankings",
    summary="Show a query as each system ranks it",
    responses={**NOT_MODIFIED, **problems(404, 422)},
)
def get_query_rankings(
    comparison_id: str,
    services: UseServices,
    query_id: Annotated[
        str, Query(max_length=1024, description="A query of the dataset", examples=["10032"])
    ],
    top: Annotated[int, Query(ge=1, le=1000, description="Documents of each ranking")] = 20,
) -> QueryRankings:
    """Show the top of every system's ranking of one query side by side, with judged labels."""
    return ComparedQueries(services.store, comparison_id).rankings(query_id, top)


router = Router(prefix="/v1/evaluations", tags=["results"], route_class=JsonRoute)

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
