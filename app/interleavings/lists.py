"""Make interleaved lists: of models that rank the candidates, or of the caller's rankings."""

from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json

from app.scoring.interleaved import Shown
from app.scoring.json_reader import JsonReader
from app.scoring.services import ScoringServices
from app.scoring.several_models import score_by_models
from core.errors import InputProblem, InvalidInput
from core.store.tables import Interleaving


async def list_of_models(
    row: Interleaving, models: list[str], query: Any, user: str | None, services: ScoringServices
) -> Shown:
    """Return the interleaved list of models, or the list that the user already has for the query.

    Args:
        row: The interleaving.
        models: Ids of the interleaving's models.
        query: The query with its documents, as in a scoring request.
        user: The user, or None.
        services: Models and lists in memory.

    Raises:
        InvalidInput: The candidates are wrong or too many.
        NotFound: A model does not exist.
        ScoreNotFinite: A score is NaN or infinite.
        StoreUnavailable: The lists cannot be read or written.
    """
    kept = services.lists.look_up(row, [query["id"]], user)
    reader = JsonReader(to_json({"queries": [query]}))
    try:
        ranked = await score_by_models(reader, models, services.models, services.settings)
    except InvalidInput as invalid:
        located = (
            (each.pointer.replace("/queries/0", "/query", 1), each.detail) for each in invalid.problems
        )
        raise InvalidInput(*(InputProblem(pointer, detail) for pointer, detail in located)) from invalid
    except RequestValidationError as invalid:
        faults = [{**fault, "loc": ("body", "query", *fault["loc"][3:])} for fault in invalid.errors()]
        raise RequestValidationError(faults) from invalid
    (documents,), (query_id,) = ranked.candidates.document_ids, ranked.candidates.query_ids
    shown = (await kept.all()).get(query_id)
    return shown or await services.lists.new(row, ranked.rankings(models, 0), documents, query_id, user)


async def list_of_rankings(
    row: Interleaving,
    rankings: dict[str, list[str]] | None,
    query: str,
    user: str | None,
    services: ScoringServices,
) -> Shown:
    """Return the interleaved list of rankings that the caller sent.

    Raises:
        InvalidInput: A ranking is missing, unknown, empty, or holds a document twice.
        StoreUnavailable: The lists cannot be read or written.
    """
    given = rankings or {}
    if set(given) != set(row.rankers):
        raise InvalidInput.at(
            "/rankings", f"must have exactly one ranking for each of {', '.join(row.rankers)}"
        )
    numbers: dict[str, int] = {}
    for name, ids in given.items():
        if not ids or len(set(ids)) < len(ids):
            problem = "has a document twice" if ids else "must have at least one document"
            raise InvalidInput.at(f"/rankings/{name}", problem)
        for document in ids:
            numbers.setdefault(document, len(numbers))
    orders = [[numbers[document] for document in given[name]] for name in row.rankers]
    return await services.lists.of(row, orders, list(numbers), query, user)
