"""Routes to show evaluations and comparisons, and to rank trainings."""

from typing import Annotated, Literal

from fastapi import Query

from app.datasets.browsing import DatasetTexts
from app.evaluation import comparison_schemas, query_selection, schemas
from app.evaluation.compared_queries import ComparedQueries, SelectedPair
from app.evaluation.training_ranking import TrainingRanking, rank_trainings
from app.http.labels import ProjectFilter
from app.http.lists import (
    ListQuery,
    Prefix,
    SelectedFields,
    list_query,
)
from app.http.openapi import etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import Cursor, Id, Limit
from app.http.services import UseServices
from app.jobs.requests import MAX_BATCH_JOBS
from app.jobs.requests.fields import MetricName
from core.store.artifacts.keys import evaluation_key, evaluation_segments_key
from core.store.repositories.results import Comparisons, Evaluations

comparisons_router = Router(prefix="/v1/comparisons", tags=["results"], route_class=JsonRoute)

IndexOfA = Annotated[int, Query(ge=0, le=19, description="Index of A in `systems`, from 0")]
IndexOfB = Annotated[int, Query(ge=0, le=19, description="Index of B in `systems`, from 0")]
ComparedMetric = Annotated[
    MetricName | None, Query(description="A metric of the comparison; by default the first one")
]


_ComparisonListing = Annotated[ListQuery, list_query(comparison_schemas.ComparisonEntry, Comparisons.columns)]


@comparisons_router.get("", summary="List comparisons", responses=etag_responses(422))
def list_comparisons(
    services: UseServices,
    listing: _ComparisonListing,
    dataset_id: Annotated[Id | None, Query(description="Only results on this dataset")] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
) -> comparison_schemas.ComparisonPage | SelectedFields:
    """List comparisons with their conclusions, newest first by default."""
    with services.store.read() as tx:
        page = tx.comparisons.page(**listing.paging, dataset_id=dataset_id, project=project, prefix=prefix)
        names = tx.datasets.names(row.dataset_id for row in page.items)
    items = [comparison_schemas.ComparisonEntry.of(row, names.get(row.dataset_id)) for row in page.items]
    return listing.page(comparison_schemas.ComparisonPage, items, page.next_cursor)


@comparisons_router.get("/{comparison_id}", summary="Show a comparison", responses=etag_responses(404))
def get_comparison(comparison_id: str, services: UseServices) -> comparison_schemas.Comparison:
    """Show the conclusion for every pair of systems, and the tests behind it."""
    return ComparedQueries(services.store, comparison_id).comparison()


@comparisons_router.get(
    "/{comparison_id}/queries",
    summary="List the values of single queries",
    responses=etag_responses(404, 422),
)
def list_compared_queries(
    comparison_id: str,
    services: UseServices,
    sort: Annotated[
        Literal["difference", "a", "b"] | None,
        Query(
            description="Sort key: the `difference` B − A, or the value of one system; by default the"
            " dataset's order"
        ),
    ] = None,
    order: query_selection.Order = "asc",
    minimum: query_selection.Minimum = None,
    maximum: query_selection.Maximum = None,
    segment: query_selection.InSegment = None,
    a: IndexOfA = 0,
    b: IndexOfB = 1,
    metric: ComparedMetric = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> comparison_schemas.ComparedQueryPage:
    """List each query's metrics for all systems, sorted and filtered by a difference or by one system.

    `min`, `max` and the histogram refer to `sort`, by default to the difference.
    """
    selection = query_selection.Selection(sort is not None, order, minimum, maximum, segment)
    pair = SelectedPair(a, b, metric, sort)
    return ComparedQueries(services.store, comparison_id).page(selection, pair, cursor, limit)


@comparisons_router.get(
    "/{comparison_id}/differences",
    summary="Show the differences of a pair",
    responses=etag_responses(404, 422),
)
def get_differences(
    comparison_id: str,
    services: UseServices,
    a: IndexOfA = 0,
    b: IndexOfB = 1,
    metric: ComparedMetric = None,
) -> comparison_schemas.Differences:
    """Show B − A over the queries in ascending order, for a plot."""
    return ComparedQueries(services.store, comparison_id).differences(a, b, metric)


@comparisons_router.get(
    "/{comparison_id}/rankings",
    summary="Show a query as each system ranks it",
    responses=etag_responses(404, 422),
)
def get_query_rankings(
    comparison_id: str,
    services: UseServices,
    query_id: Annotated[
        str, Query(max_length=1024, description="A query of the dataset", examples=["10032"])
    ],
    top: Annotated[int, Query(ge=1, le=1000, description="Number of top documents of each ranking")] = 20,
) -> comparison_schemas.QueryRankings:
    """Show the top of every system's ranking of one query side by side, with judged labels."""
    return ComparedQueries(services.store, comparison_id).rankings(query_id, top)


trainings_router = Router(prefix="/v1/trainings", tags=["jobs"], route_class=JsonRoute)


@trainings_router.get("", summary="Rank trainings", responses=etag_responses(422))
def list_ranked_trainings(
    services: UseServices,
    job: Annotated[
        list[Id],
        Query(
            min_length=1,
            max_length=MAX_BATCH_JOBS,
            description="Ids of trainings, such as those of a grid",
            examples=[["job_01k9x2z4q7c8v5n3b6r1", "job_01k9x2z4q7c8v5n3b6r2"]],
        ),
    ],
    metric: Annotated[
        MetricName | None,
        Query(description="Metric to rank by; by default the most common main metric of the trainings"),
    ] = None,
) -> TrainingRanking:
    """Rank trainings by their validation data, and mark those not significantly worse than the best.

    Do not choose by the means of the test data, which are shown as well.
    """
    return rank_trainings(services.store, list(dict.fromkeys(job)), metric)


router = Router(prefix="/v1/evaluations", tags=["results"], route_class=JsonRoute)


_EvaluationListing = Annotated[
    ListQuery,
    list_query(
        schemas.EvaluationEntry,
        Evaluations.columns,
        "Sort key; `metric` is the mean of the metric in the query parameter `metric`",
        MetricName,
    ),
]


@router.get("", summary="List evaluations", responses=etag_responses(422))
def list_evaluations(
    services: UseServices,
    listing: _EvaluationListing,
    dataset_id: Annotated[Id | None, Query(description="Only results on this dataset")] = None,
    model_id: Annotated[Id | None, Query(description="Only evaluations of this model version")] = None,
    ranking_id: Annotated[Id | None, Query(description="Only evaluations of this ranking")] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
) -> schemas.EvaluationPage | SelectedFields:
    """List evaluations of models and of rankings with their means, newest first by default."""
    with services.store.read() as tx:
        page = tx.evaluations.page(
            **listing.paging,
            dataset_id=dataset_id,
            model_id=model_id,
            ranking_id=ranking_id,
            project=project,
            prefix=prefix,
        )
        names = tx.datasets.names(row.dataset_id for row in page.items)
    items = [schemas.EvaluationEntry.of(row, names.get(row.dataset_id)) for row in page.items]
    return listing.page(schemas.EvaluationPage, items, page.next_cursor)


# Declared before the route of one evaluation, which would match `metrics` as an id.
@router.get("/metrics", summary="Show metrics of several evaluations", responses=etag_responses(422))
def get_evaluation_metrics(
    services: UseServices,
    evaluation: Annotated[
        list[Id],
        Query(
            min_length=1,
            max_length=MAX_BATCH_JOBS,
            description="Ids of evaluations, such as those of trainings on their test data",
            examples=[["evl_01k9x3b1d5f8g2h4j6k9", "evl_01k9x3b1d5f8g2h4j6ka"]],
        ),
    ],
) -> schemas.EvaluationMetricsList:
    """Show the means of several evaluations with their 95 % intervals, such as those of a metric by cutoff.

    Overlapping intervals are no test of a difference; a comparison tests two systems query by query.
    """
    ids = list(dict.fromkeys(evaluation))
    with services.store.read() as tx:
        evaluations = {row.id: row for row in tx.evaluations.get_many(ids)}
    items = [
        schemas.EvaluationMetrics(
            id=row.id, system=row.system, dataset_id=row.dataset_id, metrics=row.summaries
        )
        for row in (evaluations[each] for each in ids if each in evaluations)
    ]
    return schemas.EvaluationMetricsList(
        items=items, missing=[each for each in ids if each not in evaluations]
    )


@router.get("/{evaluation_id}", summary="Show an evaluation", responses=etag_responses(404))
def get_evaluation(evaluation_id: str, services: UseServices) -> schemas.Evaluation:
    """Show each metric's mean over the queries, its 95 % interval, and the metric contract.

    Includes baselines without training, and the same metrics of segments of the queries.
    """
    with services.store.read() as tx:
        evaluation = tx.evaluations.get(evaluation_id)
    return schemas.Evaluation.model_validate(evaluation)


@router.get(
    "/{evaluation_id}/queries",
    summary="List the values of single queries",
    responses=etag_responses(404, 422),
)
def list_evaluation_queries(
    evaluation_id: str,
    services: UseServices,
    sort: Annotated[
        MetricName | None,
        Query(description="Metric of the evaluation to sort by; by default the dataset's order"),
    ] = None,
    order: query_selection.Order = "asc",
    minimum: query_selection.Minimum = None,
    maximum: query_selection.Maximum = None,
    segment: query_selection.InSegment = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> schemas.QueryValuesPage:
    """List each query's metrics, sorted and filtered by one of them.

    `min`, `max` and the histogram refer to `sort`, by default to the first metric.
    """
    with services.store.read() as tx:
        evaluation = tx.evaluations.get(evaluation_id)
    selection = query_selection.Selection(sort is not None, order, minimum, maximum, segment)
    metric = query_selection.requested_metric(sort, evaluation.summaries, "/sort")
    artifacts = services.store.verified
    with artifacts.open(evaluation_key(evaluation.id)) as file:
        segments = query_selection.read_segments(artifacts, evaluation_segments_key(evaluation.id))
        selected = query_selection.select_rows(
            file, segments, selection, query_selection.QueryMeasure(metric, metric), cursor, limit
        )
    query_ids = [row.pop("query_id") for row in selected.rows]
    texts = DatasetTexts(services.store, evaluation.dataset_id).of_queries(query_ids)
    items = [
        schemas.QueryValues(query_id=query_id, query_text=texts.get(query_id), values=row)
        for query_id, row in zip(query_ids, selected.rows, strict=True)
    ]
    return schemas.QueryValuesPage(items=items, next_cursor=selected.next_cursor, summary=selected.summary)
