"""Routes to browse a dataset: features, queries, documents, corpus."""

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from app.datasets.browsing import DatasetFiles, corpus_of
from app.datasets.browsing_schemas import Corpus, FeatureProfiles, JudgedQuery, QueryPage
from app.http.admission.expensive_reads import Download
from app.http.openapi import etag_responses, problems
from app.http.route import QUERY_ID, JsonRoute, Router, any_text
from app.http.schemas import Cursor, Limit
from app.http.services import UseServices

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_QRELS_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One line per judgment",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "10032 0 GX029-35-5894638 2\n"}},
    }
}


@router.get("/{dataset_id}/features", summary="Show the features", responses=etag_responses(404, 409))
def get_features(dataset_id: str, services: UseServices) -> FeatureProfiles:
    """Show each feature's range, missing values, and how well it ranks alone."""
    return DatasetFiles(services.store, dataset_id).features()


@router.get("/{dataset_id}/corpus", summary="Recognise a public corpus", responses=etag_responses(404, 409))
def get_corpus(dataset_id: str, services: UseServices) -> Corpus:
    """Compare the counts of a dataset with the published counts of public corpora.

    Once all parts of its upload or folder are ready, they are compared together.
    """
    with services.store.read() as tx:
        return corpus_of(tx, dataset_id)


@router.get("/{dataset_id}/queries", summary="List the queries", responses=etag_responses(404, 409, 422))
def list_queries(
    dataset_id: str,
    services: UseServices,
    prefix: Annotated[
        str | None, Query(max_length=200, description="Only queries whose id starts with this text")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> QueryPage:
    """List the queries in the dataset's order, each with its number of documents and range of labels."""
    return DatasetFiles(services.store, dataset_id).queries(prefix, cursor, limit)


@router.get(
    "/{dataset_id}/queries/" + any_text(QUERY_ID),
    summary="Show a query's documents",
    responses=etag_responses(404, 409, 422),
)
def get_query(
    dataset_id: str,
    query_id: str,
    services: UseServices,
    offset: Annotated[int, Query(ge=0, le=2**40, description="Documents to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="Documents to show")] = 100,
) -> JudgedQuery:
    """Show documents of one query with their stored labels and features.

    The query id in the path is percent-encoded.
    """
    return DatasetFiles(services.store, dataset_id).query(query_id, offset, limit)


@router.get(
    "/{dataset_id}/qrels",
    summary="Download the judgments",
    response_class=Response,
    responses={**_QRELS_RESPONSE, **problems(404, 409, 422)},
)
def download_qrels(dataset_id: str, services: UseServices) -> Response:
    """Download the judgments as TREC qrels, `qid 0 docno relevance`, for any tool that reads them.

    Documents without a label are left out.
    """
    lines = DatasetFiles(services.store, dataset_id).qrels()
    return Download(lines, None, "text/plain; charset=utf-8", f"{dataset_id}.qrels")
