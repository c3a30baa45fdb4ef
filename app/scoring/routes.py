"""Route that ranks candidate documents with a model."""

from contextlib import suppress
from json import JSONDecodeError
from typing import Annotated, Any

from fastapi import Body, Request
from starlette.responses import Response

from app.http.bodies import JsonRequest
from app.http.openapi import BODY_PROBLEMS, problems
from app.http.route import Handle, JsonRoute, Router
from app.http.thread_pools import EXPLANATIONS
from app.models.routes import Reference
from app.scoring import tables
from app.scoring.general_candidates import GeneralJson
from app.scoring.json_candidates import JsonCandidates
from app.scoring.limits import check_candidates, check_explained, check_explanation_steps, scoring_request
from app.scoring.quick_candidates import quick_readers
from app.scoring.schemas import MOST_RANKED, RankRequest, RankResponse
from app.scoring.served_models import ServedModel
from app.scoring.services import ScoringServices, UseScoringServices, scoring_services_of
from app.scoring.tables import ArrowTable
from app.scoring.walk import read, score, scores_of
from app.settings import ApiSettings
from core.errors import InvalidInput, NotFound


class ScoringRoute(JsonRoute):
    """A scoring route for JSON or Arrow candidates, with a fast path for common JSON."""

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Limit the body by its number of documents."""
        return scoring_request(request, settings)

    async def answer(self, request: JsonRequest, handle: Handle) -> Response:
        """Return the response to a request.

        Raises:
            InvalidInput: There are more queries or documents than are scored in one request, or the number to
                return is given where only a table has it.
            HTTPException: The body is neither JSON nor a table of Arrow.
        """
        services = scoring_services_of(request)
        if request.media_type == tables.MEDIA_TYPE:
            return await _rank_table(request, services)
        request.require_json(or_else=tables.MEDIA_TYPE)
        if _TOP_K["name"] in request.query_params:
            raise InvalidInput.at("/top_k", 'belongs in the body of JSON, as "top_k": 10 beside "queries"')
        answered = await _ranked_quickly(request, services)
        if answered is not None:
            return answered
        with suppress(JSONDecodeError):  # FastAPI tells it
            check_candidates(await request.json(), services.settings)
        return await handle(request)


router = Router(prefix="/v1/models", tags=["models"], route_class=ScoringRoute)

_RANK_EXAMPLES: Any = {
    "by-name": {
        "summary": "Features by name; those left out are missing",
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
            "description": "A row a document: `query_id` where there are several queries, `document_id` where"
            " the answer is to have it, and a column of numbers for each feature, of texts for a category, of"
            " lists of a fixed size for an embedding column, or one, `features`, of such lists in the model's"
            " order. Nulls, and features left out, are missing values.",
        }
    }
}
_RANKED_TABLES: dict[str, Any] = {
    tables.MEDIA_TYPE: {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "For a table: `query_id` and `document_id` as they came, `row` of the request"
            " from 0, `rank` and `score`, by query and rank.",
        }
    }
}
_TOP_K: dict[str, Any] = {
    "name": "top_k",
    "in": "query",
    "description": "Of a table alone: documents returned a query; JSON has it in its body",
    "schema": {"type": "integer", "minimum": 1, "maximum": MOST_RANKED},
}


@router.post(
    "/{ref}/rank",
    summary="Rank documents",
    response_model=RankResponse,
    responses={200: {"content": _RANKED_TABLES}, **problems(404, *BODY_PROBLEMS)},
    openapi_extra={"requestBody": {"content": _TABLES}, "parameters": [_TOP_K]},
)
async def rank_candidates(
    ref: Reference,
    body: Annotated[RankRequest, Body(openapi_examples=_RANK_EXAMPLES)],
    services: UseScoringServices,
) -> Response:
    """Score candidate documents and return each query's in descending order of score.

    Documents with equal scores keep the order in which they came. For many documents a table of Arrow is the
    quickest form.
    """
    model = await services.models.get(ref)
    candidates = await read(GeneralJson(body), model, services.settings)
    return await _ranked(services, model, candidates)


async def _ranked_quickly(request: JsonRequest, services: ScoringServices) -> Response | None:
    """Answer a request in the common form; None for any other."""
    content = await request.body()
    try:
        model = await services.models.get(request.path_params["ref"])
    except NotFound:
        return None  # what is wrong with the body is told before
    for reader in quick_readers(content):
        candidates = await read(reader, model, services.settings)
        if candidates is not None:
            return await _ranked(services, model, candidates)
    return None


async def _ranked(services: ScoringServices, model: ServedModel, candidates: JsonCandidates) -> Response:
    if candidates.explain:
        return await _explained(services, model, candidates)
    return await score(model, candidates, services.samples)


async def _explained(services: ScoringServices, model: ServedModel, candidates: JsonCandidates) -> Response:
    n_explained = candidates.n_ranked
    check_explained(n_explained, services.settings)

    def work() -> Response:
        explainer = services.explanations.of(model.id)
        check_explanation_steps(n_explained, explainer.steps, services.settings)
        scores = scores_of(model, candidates, candidates.features)
        services.samples.take(model, candidates, candidates.features, scores)
        return candidates.answer(model, scores, explainer)

    return await EXPLANATIONS.run(work)


async def _rank_table(request: JsonRequest, services: ScoringServices) -> Response:
    model = await services.models.get(request.path_params["ref"])
    table = ArrowTable(await request.body(), _top_k(request.query_params.get("top_k")))
    candidates = await read(table, model, services.settings)
    return await score(model, candidates, services.samples)


def _top_k(given: str | None) -> int | None:
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given[:11]) <= MOST_RANKED:
        raise InvalidInput.at("/top_k", f"must be a whole number from 1 to {MOST_RANKED}")
    return int(given)
