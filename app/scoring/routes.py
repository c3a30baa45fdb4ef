"""Route that ranks candidate documents with a model."""

from typing import Annotated, Any

from fastapi import Body, Request
from starlette.responses import Response

from app.http.bodies import JsonRequest, media_type_of
from app.http.openapi import body_problems
from app.http.route import Handle, JsonRoute, Router
from app.models.routes import Reference
from app.scoring import tables
from app.scoring.candidates import CandidateReader
from app.scoring.json_reader import JsonReader
from app.scoring.limits import scoring_request
from app.scoring.pipeline import answer
from app.scoring.schemas import MAX_TOP_K, RankRequest, RankResponse
from app.scoring.services import scoring_services_of
from app.scoring.tables import ArrowReader
from app.settings import ApiSettings
from core.errors import InvalidInput


class ScoringRoute(JsonRoute):
    """A scoring route for JSON or Arrow candidates."""

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Return the request with the limits of scoring."""
        return scoring_request(request, settings)

    async def answer(self, request: JsonRequest, _: Handle) -> Response:
        """Return the response; bypass FastAPI's dispatch, which takes as long as scoring ten documents.

        Raises:
            InvalidInput: The request is wrong or too large.
            HTTPException: The body is neither JSON nor an Arrow table.
        """
        reader = await choose_reader(request)
        return await answer(reader, request.path_params["ref"], scoring_services_of(request))


async def choose_reader(request: JsonRequest) -> CandidateReader:
    """Return the reader of the request's media type.

    Raises:
        InvalidInput: A JSON request has `top_k` in the query string, which is only for tables.
        HTTPException: The body is neither JSON nor an Arrow table.
    """
    if media_type_of(request.headers) == tables.MEDIA_TYPE:
        return ArrowReader(request)
    request.require_json(or_else=tables.MEDIA_TYPE)
    if _TOP_K["name"] in request.query_params:
        raise InvalidInput.at("/top_k", 'must be in the JSON body, as "top_k": 10 next to "queries"')
    return JsonReader(await request.body())


router = Router(prefix="/v1/models", tags=["models"], route_class=ScoringRoute)

_RANK_EXAMPLES: Any = {
    "by-name": {
        "summary": "Features by name; omitted features are missing",
        "value": {
            "queries": [
                {
                    "id": "q1",
                    "documents": [
                        {"id": "d1", "features": {"bm25": 12.5, "pagerank": 0.3}},
                        {"id": "d2", "features": {"bm25": 9.1}},
                    ],
                }
            ],
            "top_k": 10,
        },
    },
    "by-text": {
        "summary": "A category by its text",
        "value": {
            "queries": [
                {"id": "q1", "documents": [{"id": "d1", "features": {"bm25": 12.5, "brand": "acme"}}]}
            ]
        },
    },
    "embedding": {
        "summary": "All features of an embedding column as a list",
        "value": {
            "queries": [
                {"id": "q1", "documents": [{"id": "d1", "features": {"bm25": 12.5, "emb": [0.1, -0.2, 0.4]}}]}
            ]
        },
    },
    "by-position": {
        "summary": "Features in the model's order; null is missing",
        "value": {"queries": [{"id": "q1", "documents": [{"id": "d1", "features": [12.5, None]}]}]},
    },
}
_TABLES: dict[str, Any] = {
    tables.MEDIA_TYPE: {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "One row per document: `query_id` if there are several queries, `document_id` if"
            " the response should have it, and a column of numbers for each feature, of texts for a category,"
            " of lists of a fixed size for an embedding column, or one, `features`, of such lists in the"
            " model's order. Nulls and omitted features are missing values.",
        }
    }
}
_RANKED_TABLES: dict[str, Any] = {
    tables.MEDIA_TYPE: {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "For a table: `query_id` and `document_id` of the request, `row` of the request"
            " from 0, `rank`, `score` and, if the rankings are stored, `ranking_id`, by query and rank.",
        }
    }
}
_TOP_K: dict[str, Any] = {
    "name": "top_k",
    "in": "query",
    "description": "Number of documents to return per query; only for a table, as JSON has `top_k` in its"
    " body",
    "schema": {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K},
}


@router.post(
    "/{ref}/rank",
    summary="Rank documents",
    response_model=RankResponse,
    responses={200: {"content": _RANKED_TABLES}, **body_problems(404)},
    openapi_extra={"requestBody": {"content": _TABLES}, "parameters": [_TOP_K]},
)
async def rank_candidates(
    ref: Reference, body: Annotated[RankRequest, Body(openapi_examples=_RANK_EXAMPLES)]
) -> Response:
    """Score candidate documents and return each query's in descending order of score.

    Documents with equal scores keep their order. For many documents an Arrow table is fastest.
    """
    raise NotImplementedError  # declared for OpenAPI; `ScoringRoute` handles the requests
