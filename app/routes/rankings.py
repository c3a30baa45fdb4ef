"""Rankings that jobs made: as pages, as a TREC run file, as Parquet."""

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from app.documentation import NOT_MODIFIED, problems
from app.result_files import read_queries, run_file_lines
from app.routes.route import JsonRoute
from app.schemas.base import Cursor, Limit
from app.schemas.rankings import RankedDocument, Ranking, RankingItem
from app.services import UseServices
from core.store import Ranking as RankingRow

router = APIRouter(prefix="/rankings", tags=["results"], route_class=JsonRoute)

PARQUET = "application/vnd.apache.parquet"
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


@router.get(
    "/{ranking_id}",
    summary="Show a ranking",
    response_model=Ranking,
    responses={**_RESPONSES, **NOT_MODIFIED, **problems(404, 422)},
)
def get_ranking(
    ranking_id: str,
    services: UseServices,
    format: Annotated[
        Literal["json", "trec", "parquet"],
        Query(description="`json` pages by queries; `trec` and `parquet` download everything"),
    ] = "json",
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Ranking | Response:
    """Show a dataset's documents in the order that a model gives them.

    In the run file scores fall strictly within a query, lowered by the least amount where they would tie,
    so that tools which sort by score keep the order.
    """
    with services.store.read() as tx:
        ranking = tx.rankings.get(ranking_id)
        model = tx.models.get(ranking.model_id)
    file = services.store.artifacts.open(f"rankings/{ranking.id}/ranking.parquet")
    if format == "json":
        with file:
            return _page(ranking, file, cursor, limit)
    if format == "trec":
        lines = run_file_lines(file, f"rankery-{model.name}-{model.version}")
        return _download(file, lines, "text/plain; charset=utf-8", f"{ranking.id}.run")
    return _download(file, iter(lambda: file.read(BLOCK_BYTES), b""), PARQUET, f"{ranking.id}.parquet")


def _page(ranking: RankingRow, file: BinaryIO, cursor: str | None, limit: int) -> Ranking:
    queries, next_cursor = read_queries(file, cursor, limit)
    return Ranking(
        id=ranking.id,
        model_id=ranking.model_id,
        dataset_id=ranking.dataset_id,
        items=[
            RankingItem(
                query_id=rows[0]["query_id"], documents=[RankedDocument.model_validate(row) for row in rows]
            )
            for rows in queries
        ],
        next_cursor=next_cursor,
    )


def _download(
    file: BinaryIO, blocks: Iterator[str] | Iterator[bytes], media_type: str, filename: str
) -> StreamingResponse:
    def stream() -> Iterator[str | bytes]:
        with contextlib.closing(file):
            yield from blocks

    return StreamingResponse(
        stream(), media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{filename}"'}
    )
