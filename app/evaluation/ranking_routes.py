"""Routes of rankings, made by jobs or uploaded: as pages, as a TREC run, as Parquet."""

import re
from functools import partial
from typing import Annotated, Any, BinaryIO, Literal

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from app.datasets.browsing import DatasetTexts
from app.datasets.download import PARQUET
from app.evaluation.compared_queries import ranked_documents
from app.evaluation.ranking_schemas import Ranking, RankingEntry, RankingItem, RankingPage
from app.evaluation.run_uploads import MAX_RUN_FIELD_BYTES, RUN_BODY, RunUpload, register_run
from app.http.admission.expensive_reads import Download
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotencyKey
from app.http.labels import ProjectFilter
from app.http.lists import ListQuery, Prefix, SelectedFields, list_query
from app.http.openapi import UPLOAD_PROBLEMS, etag_responses, problems
from app.http.parquet_pages import ranking_batches, read_queries, read_query
from app.http.route import ACCEPTED, JsonRoute, Router
from app.http.schemas import Cursor, Id, Limit
from app.http.services import UseServices
from app.jobs.schemas import Job
from app.uploads.form import UploadKeys, receive_form
from core.data.trec import refuse_equal_spellings, write_run
from core.errors import NotFound
from core.jobs.folders import run_folder
from core.store import Ranking as RankingRow
from core.store import Store, new_id
from core.store.artifacts.keys import ranking_key, run_key
from core.store.repositories.results import Rankings

router = Router(prefix="/v1/rankings", tags=["results"], route_class=JsonRoute)

BLOCK_BYTES = 2**20
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A page of queries, or the whole ranking as a file",
        "content": {
            "text/plain": {
                "schema": {"type": "string"},
                "example": "10032 Q0 GX029-35-5894638 1 2.31 rankery-web-3\n",
            },
            PARQUET: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post(
    "",
    summary="Upload a run",
    status_code=ACCEPTED,
    response_model=Job,
    responses=problems(404, *UPLOAD_PROBLEMS),
    openapi_extra={"requestBody": RUN_BODY},
)
async def upload_run(
    request: Request, services: UseServices, caller: UseCaller, idempotency: UseIdempotencyKey
) -> Response:
    """Upload a TREC run of any system; a job reads it.

    Ids in the run are those of the dataset. The ranking can be evaluated and compared like a model.
    """
    upload_id = new_id("run_")
    keys = UploadKeys.single(run_key(upload_id), run_folder(upload_id))
    limit = services.settings.max_upload_bytes
    upload = await receive_form(
        request, services, keys, MAX_RUN_FIELD_BYTES, limit, lambda form: RunUpload.of(form, upload_id)
    )
    return await run_in_threadpool(register_run, services, caller.key_id, idempotency, upload)


_Listing = Annotated[ListQuery, list_query(RankingEntry, Rankings.columns)]


@router.get("", summary="List rankings", responses=etag_responses(422))
def list_rankings(
    services: UseServices,
    listing: _Listing,
    dataset_id: Annotated[Id | None, Query(description="Only rankings of this dataset")] = None,
    uploaded: Annotated[
        bool | None, Query(description="Whether to list only uploaded runs, or only rankings of models")
    ] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
) -> RankingPage | SelectedFields:
    """List the rankings of models and of uploaded runs, newest first by default."""
    with services.store.read() as tx:
        page = tx.rankings.page(
            **listing.paging,
            dataset_id=dataset_id,
            uploaded=uploaded,
            project=project,
            prefix=prefix,
        )
        names = tx.datasets.names(row.dataset_id for row in page.items)
    items = [RankingEntry.of(row, names.get(row.dataset_id)) for row in page.items]
    return listing.page(RankingPage, items, page.next_cursor)


@router.get(
    "/{ranking_id}",
    summary="Show a ranking",
    response_model=Ranking,
    responses={**_RESPONSES, **etag_responses(404, 422)},
)
def get_ranking(
    ranking_id: str,
    services: UseServices,
    format: Annotated[
        Literal["json", "trec", "parquet"],
        Query(
            description="`json` returns a page of queries; `trec` and `parquet` download the whole ranking"
        ),
    ] = "json",
    query_id: Annotated[
        str | None, Query(max_length=1024, description="Only this query, as `json`", examples=["10032"])
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Ranking | Response:
    """Show a dataset's documents in the order of a model or an uploaded run.

    In the run file tied scores are lowered minimally, so that sorting by score keeps the order.
    """
    with services.store.read() as tx:
        ranking = tx.rankings.get(ranking_id)
    key = ranking_key(ranking.id)
    if format == "json":
        with services.store.verified.open(key) as file:
            queries, next_cursor = (
                read_queries(file, cursor, limit) if query_id is None else (_one_query(file, query_id), None)
            )
        return _ranking_page(ranking, queries, next_cursor, DatasetTexts(services.store, ranking.dataset_id))
    services.store.verified.check(key)
    file = services.store.artifacts.open(key)
    if format == "trec":
        lines = write_run(ranking_batches(file), _tag(ranking))
        check = partial(_refuse_equal_spellings, services.store, key)
        return Download(lines, file, "text/plain; charset=utf-8", f"{ranking.id}.run", check=check)
    blocks = iter(lambda: file.read(BLOCK_BYTES), b"")
    return Download(blocks, file, PARQUET, f"{ranking.id}.parquet")


def _refuse_equal_spellings(store: Store, key: str) -> None:
    with store.artifacts.open(key) as file:
        refuse_equal_spellings(ranking_batches(file))


def _tag(ranking: RankingRow) -> str:
    """Return the tag of a run file, its sixth column, which must not contain blanks."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", ranking.system)
    return f"rankery-{name}" if ranking.model_id else name


def _one_query(file: BinaryIO, query_id: str) -> list[list[dict[str, Any]]]:
    documents = read_query(file, query_id)
    if not documents:
        raise NotFound("query", query_id)
    return [documents]


def _ranking_page(
    ranking: RankingRow, queries: list[list[dict[str, Any]]], next_cursor: str | None, texts: DatasetTexts
) -> Ranking:
    query_ids = [rows[0]["query_id"] for rows in queries]
    texts_of_queries, texts_of_documents = texts.of_queries(query_ids), texts.of_documents(query_ids)
    items = [
        RankingItem(
            query_id=query_id,
            query_text=texts_of_queries.get(query_id),
            documents=ranked_documents(rows, texts_of_documents.get(query_id, {})),
        )
        for query_id, rows in zip(query_ids, queries, strict=True)
    ]
    return Ranking.model_validate({**ranking.column_values(), "items": items, "next_cursor": next_cursor})
