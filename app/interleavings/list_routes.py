"""Route that makes an interleaved list."""

from typing import Annotated, Any

from fastapi import Body, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.responses import Response

from app.http.bodies import JsonRequest, parse_json
from app.http.openapi import body_problems
from app.http.pointers import body_errors
from app.http.route import Handle, JsonRoute, Router
from app.http.services import services_of
from app.interleavings.schemas import LIST_EXAMPLES, ListRequest, ShownList
from app.scoring.interleaved import InterleavedList
from app.scoring.json_reader import JsonReader
from app.scoring.limits import max_containers, scoring_request
from app.scoring.services import ScoringServices, scoring_services_of
from app.scoring.several_models import score_by_models
from app.served.rankings import Viewer
from app.settings import ApiSettings
from core.errors import InputProblem, InvalidInput, pointer_of
from core.store.tables import Interleaving


class ListRoute(JsonRoute):
    """A route for candidates or rankings of one query."""

    def bounded(self, request: Request, settings: ApiSettings) -> JsonRequest:
        """Return the request with the limits of scoring."""
        return scoring_request(request, settings)

    async def answer(self, request: JsonRequest, _: Handle) -> Response:
        """Return the list; the reader of the candidates validates them instead of FastAPI.

        Raises:
            InvalidInput: The request is wrong or too large.
            NotFound: The interleaving or a model does not exist.
        """
        request.require_json()
        body, documents = await _read_body(request)
        scoring = scoring_services_of(request)
        row = await scoring.interleavings.get(request.path_params["interleaving_id"])
        user = Viewer(body.user).user
        if row.model_ids is None:
            if documents is not None:
                raise InvalidInput.at(
                    "/query/documents",
                    "must be absent: the rankers have no models; send their rankings instead",
                )
            shown = await list_of_rankings(row, body.rankings, body.query.id, user, scoring)
        else:
            if body.rankings is not None or not documents:
                raise InvalidInput.at(
                    "/query/documents",
                    "required: the models rank candidate documents; send documents without rankings",
                )
            if not isinstance(documents, list):
                raise InvalidInput.at("/query/documents", "must be an array of documents")
            query = {"id": body.query.id, "documents": documents}
            shown = await list_of_models(row, row.model_ids, query, user, scoring)
        answer = ShownList(
            ranking_id=shown.ranking_id, query=body.query.id, documents=shown.documents, kept=shown.kept
        )
        return Response(answer.model_dump_json(), media_type="application/json")


async def _read_body(request: JsonRequest) -> tuple[ListRequest, Any]:
    """Return the validated request without its candidate documents, and the documents unvalidated."""
    settings = services_of(request).settings
    content = await request.body()
    try:
        body = parse_json(content, max_containers(settings))
    except ValueError as error:
        problem = {"type": "json_invalid", "loc": ("body",), "ctx": {"error": str(error)}}
        raise RequestValidationError([problem]) from error
    documents = None
    if isinstance(body, dict) and isinstance(query := body.get("query"), dict):
        documents = query.pop("documents", None)
    try:
        return ListRequest.model_validate(body), documents
    except ValidationError as error:
        raise RequestValidationError(body_errors(error), body=body) from error


router = Router(prefix="/v1/interleavings", tags=["interleavings"], route_class=ListRoute)


@router.post(
    "/{interleaving_id}/lists",
    summary="Create an interleaved list",
    response_model=ShownList,
    responses=body_problems(404),
)
async def make_list(
    interleaving_id: str, body: Annotated[ListRequest, Body(openapi_examples=LIST_EXAMPLES)]
) -> Response:
    """Rank a query's documents by all rankers and return one interleaved list.

    The same user and query keep their list. Show the list unchanged: a reordered or truncated list biases the
    comparison.
    """
    raise NotImplementedError  # declared for OpenAPI; `ListRoute` handles the requests


async def list_of_models(
    row: Interleaving, models: list[str], query: Any, user: str | None, services: ScoringServices
) -> InterleavedList:
    """Return the interleaved list of models, or the list that the user already has for the query.

    Args:
        models: Ids of the interleaving's models.
        query: The query with its documents, as in a scoring request.

    Raises:
        InvalidInput: The candidates are wrong or too many.
        NotFound: A model does not exist.
        ScoreNotFinite: A score is NaN or infinite.
        StoreUnavailable: The lists cannot be read or written.
    """
    stored_lists = services.lists.look_up(row, [query["id"]], user)
    reader = JsonReader(to_json({"queries": [query]}))
    try:
        ranked = await score_by_models(reader, models, services.models, services.settings)
    except InvalidInput as invalid:
        raise InvalidInput(*map(_at_query, invalid.problems)) from invalid
    except RequestValidationError as invalid:
        faults = [{**fault, "loc": ("body", "query", *fault["loc"][3:])} for fault in invalid.errors()]
        raise RequestValidationError(faults) from invalid
    (documents,), (query_id,) = ranked.candidates.document_ids, ranked.candidates.query_ids
    stored = (await stored_lists.all()).get(query_id)
    return stored or await services.lists.new(row, ranked.rankings(models, 0), documents, query_id, user)


def _at_query(problem: InputProblem) -> InputProblem:
    """Return a problem of a scoring request with the pointer in the request for a list."""
    return InputProblem(problem.pointer.replace("/queries/0", "/query", 1), problem.detail)


async def list_of_rankings(
    row: Interleaving,
    rankings: dict[str, list[str]] | None,
    query: str,
    user: str | None,
    services: ScoringServices,
) -> InterleavedList:
    """Return the interleaved list of rankings that the caller sent.

    Raises:
        InvalidInput: A ranking is missing, unknown, or holds a document twice, or all are empty.
        StoreUnavailable: The lists cannot be read or written.
    """
    rankings = rankings or {}
    if set(rankings) != set(row.rankers):
        raise InvalidInput.at(
            "/rankings", f"must have exactly one ranking for each of {', '.join(row.rankers)}"
        )
    numbers: dict[str, int] = {}
    for name, ids in rankings.items():
        if len(set(ids)) < len(ids):
            raise InvalidInput.at(pointer_of("rankings", name), "has a document twice")
        for document in ids:
            numbers.setdefault(document, len(numbers))
    if not numbers:
        raise InvalidInput.at("/rankings", "must have at least one document")
    orders = [[numbers[document] for document in rankings[name]] for name in row.rankers]
    return await services.lists.of(row, orders, list(numbers), query, user)
