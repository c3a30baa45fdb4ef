"""Make an interleaved list: rank the candidates by each ranker, interleave, and store what is shown."""

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json

from app.http.thread_pools import LOOKUPS
from app.scoring.json_candidates import JsonCandidates
from app.scoring.json_reader import JsonReader
from app.scoring.served_models import ServedModel
from app.scoring.services import ScoringServices
from app.scoring.threads import run_inline_or_threaded, scores_inline
from app.settings import ApiSettings
from core.errors import InputProblem, InvalidInput, ScoreNotFinite
from core.interleaving import interleave, seeded_draw
from core.store import Store
from core.store.tables import Interleaving
from core.store.visibility import projects

_SECONDS = 1.0  # a deleted interleaving is found out after this time
_MOST = 1_000
_HASH_LENGTH = 32


@dataclass(frozen=True)
class Shown:
    """A list to show.

    Attributes:
        ranking_id: Its id.
        documents: Ids of its documents, best first.
        kept: Whether the user has seen it before.
    """

    ranking_id: str
    documents: list[str]
    kept: bool


class InterleavingCache:
    """Interleavings in memory for a second, since each list needs one; they never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: OrderedDict[Any, tuple[float, Interleaving]] = OrderedDict()

    async def get(self, id: str) -> Interleaving:
        """Return an interleaving.

        Raises:
            NotFound: It does not exist.
        """
        key, now = (id, projects()), time.monotonic()
        at, row = self._found.get(key, (0.0, None))
        if row is None or now - at > _SECONDS:
            row = await LOOKUPS.run(lambda: self._read(id))
            self._found[key] = (now, row)
            self._found.move_to_end(key)
            if len(self._found) > _MOST:
                self._found.popitem(last=False)
        return row

    def _read(self, id: str) -> Interleaving:
        with self._store.read() as tx:
            return tx.interleavings.get(id)


async def list_of_models(
    row: Interleaving,
    models: Sequence[str],
    query: Any,
    user: str | None,
    services: ScoringServices,
    store: Store,
) -> Shown:
    """Return the interleaved list of models, or the one that the user keeps for the query.

    Args:
        row: The interleaving.
        models: Ids of its models.
        query: The query with its documents, as of a scoring request.
        user: The user, or None.
        services: Models in memory.
        store: Rows.

    Raises:
        InvalidInput: The candidates are wrong or too many.
        NotFound: A model does not exist.
        ScoreNotFinite: A score is NaN or infinite.
    """
    reader = JsonReader(to_json({"queries": [query]}))
    rankings, documents = [], []
    for model_id in models:
        model = await services.models.get(model_id)
        candidates = await _read(reader, model, services.settings)
        features, documents = candidates.features, list(candidates.document_ids[0])

        def work(model: Any = model, features: Any = features, documents: Any = documents) -> list[int]:
            try:
                scores = model.score(features)
            except ScoreNotFinite as error:
                named = f"document {documents[error.row]!r}" if error.row < len(documents) else None
                raise error.of(f"{model.name}:{model.version}", named) from error
            order: list[int] = np.argsort(-scores, kind="stable").tolist()
            return order

        inline = scores_inline(model, len(features))
        rankings.append(await run_inline_or_threaded(work, fits_event_loop=inline))
    query_id = str(candidates.query_ids[0])
    return await LOOKUPS.run(lambda: _kept_or_new(store, row, rankings, documents, query_id, user))


async def _read(reader: JsonReader, model: ServedModel, settings: ApiSettings) -> JsonCandidates:
    try:
        return await reader.read(model, settings)
    except InvalidInput as invalid:
        places = ((each.pointer.replace("/queries/0", "/query", 1), each.detail) for each in invalid.problems)
        raise InvalidInput(*(InputProblem(pointer, detail) for pointer, detail in places)) from invalid
    except RequestValidationError as invalid:
        faults = [{**fault, "loc": ("body", "query", *fault["loc"][3:])} for fault in invalid.errors()]
        raise RequestValidationError(faults) from invalid


async def list_of_rankings(
    row: Interleaving, rankings: dict[str, list[str]] | None, query: str, user: str | None, store: Store
) -> Shown:
    """Return the interleaved list of rankings that the caller sent.

    Raises:
        InvalidInput: A ranking is missing, unknown, empty, or holds a document twice.
    """
    given = rankings or {}
    if set(given) != set(row.rankers):
        raise InvalidInput.at("/rankings", f"must give a ranking for each of {', '.join(row.rankers)}")
    numbers: dict[str, int] = {}
    for name, ids in given.items():
        if not ids or len(set(ids)) < len(ids):
            problem = "holds a document twice" if ids else "must hold a document"
            raise InvalidInput.at(f"/rankings/{name}", problem)
        for document in ids:
            numbers.setdefault(document, len(numbers))
    orders = [[numbers[document] for document in given[name]] for name in row.rankers]
    return await LOOKUPS.run(lambda: _kept_or_new(store, row, orders, list(numbers), query, user))


def _kept_or_new(
    store: Store,
    row: Interleaving,
    rankings: Sequence[Sequence[int]],
    documents: Sequence[str],
    query: str,
    user: str | None,
) -> Shown:
    hashed = None if user is None else _hash(row.id, user)
    assignment = None if user is None else _hash(row.id, user, query)
    if assignment is not None:
        with store.read() as tx:
            kept = tx.interleavings.assigned(row.id, assignment)
            if kept is not None:
                return Shown(kept.id, kept.content["documents"], True)
    draw = seeded_draw(row.seed, *((secrets.token_hex(),) if user is None else (user, query)))
    shown = interleave(row.method, rankings, row.length, draw)  # type: ignore[arg-type]
    ids = [documents[document] for document in shown.documents]
    content = {"query": query, "documents": ids, **shown.to_json()}
    with store.begin() as tx:
        tx.announced = False
        added = tx.interleavings.add_list(row.id, content, assignment=assignment, user=hashed)
        return Shown(added.id, added.content["documents"], False)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:_HASH_LENGTH]
