"""Routes to list, show, label and browse datasets."""

from typing import Annotated, Any

from fastapi import Body, Query
from starlette.responses import Response

from app.datasets.browsing import DatasetFiles, corpus_of
from app.datasets.browsing_schemas import Corpus, FeatureProfiles, JudgedQuery, QueryPage
from app.datasets.fits import DatasetFits
from app.datasets.schemas import (
    Dataset,
    DatasetChanges,
    DatasetPage,
    SelectedDatasets,
)
from app.http.admission.expensive_reads import Download
from app.http.labels import ProjectFilter
from app.http.lists import ListQuery, Prefix, list_query, selected
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import QUERY_ID, JsonRoute, Router, any_text
from app.http.schemas import Cursor, DisplayName, Limit, ModelReference
from app.http.services import UseServices
from core.store.repositories.datasets import Datasets, DataStatus

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

_CHANGE_EXAMPLES: Any = {
    "rename": {"summary": "Rename a dataset", "value": {"name": "web30k fold 1"}},
    "move": {"summary": "Move a dataset to a project", "value": {"project": "web"}},
}
_QRELS_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One line per judgment",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "10032 0 GX029-35-5894638 2\n"}},
    }
}
_Listing = Annotated[ListQuery, list_query(Dataset, Datasets.columns)]


@router.get("", summary="List datasets", responses=etag_responses(404, 422))
def list_datasets(
    services: UseServices,
    listing: _Listing,
    status: Annotated[DataStatus | None, Query(description="Only datasets with this status")] = None,
    name: Annotated[DisplayName | None, Query(description="Only datasets of this name")] = None,
    sha256: Annotated[
        str | None,
        Query(
            pattern="^[0-9a-f]{64}$",
            description="Only datasets whose uploaded bytes have this SHA-256 checksum",
        ),
    ] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
    measured: Annotated[
        list[ModelReference],
        Query(
            alias="for",
            max_length=20,
            description="References of models and ids of rankings; `fit` of each dataset shows whether they"
            " can be evaluated on it",
        ),
    ] = [],  # noqa: B006 - FastAPI copies it
) -> DatasetPage | SelectedDatasets:
    """List datasets, newest first by default.

    With `for`, `fit` shows whether these models and rankings can be evaluated on a dataset. `default_id`
    proposes a dataset on which all of them can be evaluated.
    """
    with services.store.read() as tx:
        page = tx.datasets.page(
            status=status, name=name, sha256=sha256, project=project, prefix=prefix, **listing.paging
        )
        shown = DatasetPage.model_validate(page)
        if measured:
            fits = DatasetFits(services.store, tx, measured)
            names = tx.datasets.feature_names_of([dataset.id for dataset in page.items])
            for item, dataset in zip(shown.items, page.items, strict=True):
                item.fit = fits.of(dataset, names[dataset.id])
            shown.default_id = fits.default_id(tx)
    if listing.fields is None:
        return shown
    chosen = selected(shown.items, page.next_cursor, listing.fields)
    return SelectedDatasets(**dict(chosen), default_id=shown.default_id)


@router.get("/{dataset_id}", summary="Show a dataset", responses=etag_responses(404))
def get_dataset(dataset_id: str, services: UseServices) -> Dataset:
    """Show a dataset with its statistics, or with its problem."""
    with services.store.read() as tx:
        dataset = tx.datasets.get(dataset_id)
    return Dataset.model_validate(dataset)


@router.patch("/{dataset_id}", summary="Label a dataset", responses=body_problems(404))
def change_dataset(
    dataset_id: str,
    body: Annotated[DatasetChanges, Body(openapi_examples=_CHANGE_EXAMPLES)],
    services: UseServices,
) -> Dataset:
    """Change a dataset's name and project; the job that read it moves with it."""
    with services.store.begin() as tx:
        dataset = tx.datasets.get(dataset_id)
        body.apply(tx, dataset)
    return Dataset.model_validate(dataset)


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
    files = DatasetFiles(services.store, dataset_id)
    check = files.refuse_equal_spellings
    return Download(files.qrels(), None, "text/plain; charset=utf-8", f"{dataset_id}.qrels", check=check)
