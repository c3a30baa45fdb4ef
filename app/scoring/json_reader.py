"""Read candidates from a JSON body: compiled kernels for the common form, a slow path for any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from app.http.bodies import parse_json
from app.http.pointers import body_errors
from app.http.thread_pools import SCORING
from app.scoring.candidates import CandidateReader
from app.scoring.json_candidates import JsonCandidates
from app.scoring.limits import check_candidates, check_documents, max_containers, max_documents
from app.scoring.schemas import MAX_TOP_K, RankRequest
from app.scoring.served_models import FEATURES_MEMBER, ServedModel
from app.scoring.slow_json import slow_candidates
from app.scoring.threads import MAX_INLINE_JSON_BYTES, inline_documents
from app.served.rankings import Viewer
from app.served.routes import MAX_ID_LENGTH
from app.settings import ApiSettings

_BOOLEAN_MEMBERS, _ID_MEMBERS = ("explain", "keep"), ("user", "session", "interleaving")
_MEMBERS = frozenset({"queries", "top_k", *_BOOLEAN_MEMBERS, *_ID_MEMBERS})


def fast_candidates(
    content: bytes, model: ServedModel, settings: ApiSettings, max_rows: int | None = None
) -> JsonCandidates | None:
    """Read candidates without building intermediate objects.

    Args:
        max_rows: Documents to allocate memory for, at most the limit of a request.

    Returns:
        The candidates; None if the body is invalid or unusual (`slow_candidates` reads it), or has more
        documents than `max_rows` or the limit of a request. Also None if categories of the model are
        whole numbers that float64 does not represent.

    Raises:
        InvalidInput: `check_candidates` finds too many queries or documents.
    """
    if model.has_long_numbers:
        return None  # the kernels read numbers as float64
    limit = max_documents(len(model.feature_names), settings)
    values = model.reader.read(content, limit if max_rows is None else min(max_rows, limit))
    if values is None:
        return None
    try:
        body = parse_json(values.rest, max_containers(settings))
    except JSONDecodeError:
        return None
    check_candidates(body, settings)
    queries = _plain_queries(body)
    if queries is None:
        return None
    query_ids = [query["id"] for query in queries]
    document_ids = [[document["id"] for document in query["documents"]] for query in queries]
    if sum(map(len, document_ids)) != len(values.rows):
        return None  # a repeated member hides some documents
    if not all(map(_are_ids, (query_ids, *document_ids))) or any(map(_has_repeats, document_ids)):
        return None
    features = model.rounded(model.coded(values.rows))
    if features is None:
        return None
    return JsonCandidates(
        query_ids,
        document_ids,
        features,
        body.get("top_k"),
        body.get("explain", False),
        body.get("keep", False),
        Viewer(body.get("user"), body.get("session")),
        body.get("interleaving"),
    )


def _plain_queries(body: Any) -> list[dict[str, Any]] | None:
    """Return the queries of a body, None where a member is missing, unknown or of the wrong type."""
    if type(body) is not dict or not {"queries"} <= body.keys() <= _MEMBERS:
        return None
    queries, top_k = body["queries"], body.get("top_k")
    if not (top_k is None or (type(top_k) is int and 1 <= top_k <= MAX_TOP_K)):
        return None
    if not all(type(body.get(name, False)) is bool for name in _BOOLEAN_MEMBERS):
        return None
    if not _are_ids([body[name] for name in _ID_MEMBERS if body.get(name) is not None]):
        return None
    if type(queries) is not list or not queries or not all(map(_is_query, queries)):
        return None
    return list(queries)


def _is_query(query: Any) -> bool:
    if type(query) is not dict or query.keys() != {"id", "documents"}:
        return False
    documents = query["documents"]
    return type(documents) is list and all(
        type(document) is dict and document.keys() == {"id", FEATURES_MEMBER} for document in documents
    )


def _are_ids(ids: Sequence[Any]) -> bool:
    return all(type(text) is str and len(text) <= MAX_ID_LENGTH for text in ids)


def _has_repeats(ids: Sequence[str]) -> bool:
    return len(set(ids)) < len(ids)


@dataclass(frozen=True)
class JsonReader(CandidateReader):
    """A JSON body.

    Attributes:
        accepted_features: Features of all models of the request; each model ignores those of the others.
    """

    content: bytes
    accepted_features: frozenset[str] = frozenset()

    async def read(self, model: ServedModel, settings: ApiSettings) -> JsonCandidates:
        """Read the candidates, on the event loop for a short body in the common form, else in a thread."""
        if len(self.content) <= MAX_INLINE_JSON_BYTES:
            candidates = fast_candidates(self.content, model, settings, inline_documents(model))
            if candidates is not None:
                return candidates
        return await SCORING.run(lambda: self._read(model, settings))

    async def check(self, settings: ApiSettings) -> None:
        """Refuse a body that is invalid for every model; its errors take precedence over `NotFound`."""
        await SCORING.run(lambda: self._validated(settings))

    def _read(self, model: ServedModel, settings: ApiSettings) -> JsonCandidates:
        candidates = fast_candidates(self.content, model, settings)
        if candidates is not None:
            return candidates
        request = self._validated(settings)
        for name in self.accepted_features - model.columns.keys():
            _leave_out(name, request)
        n_documents = sum(len(query.documents) for query in request.queries)
        check_documents(n_documents, len(model.feature_names), settings, "/queries")
        return slow_candidates(request, model.feature_names, model.categories, model.scorer.precision)

    def _validated(self, settings: ApiSettings) -> RankRequest:
        """Validate the body as FastAPI does, with the same errors, but in a thread."""
        if not self.content:
            raise RequestValidationError([{"type": "missing", "loc": ("body",)}])
        try:
            body = parse_json(self.content, max_containers(settings))
        except JSONDecodeError as error:
            problem = {"type": "json_invalid", "loc": ("body",), "ctx": {"error": error.msg}}
            raise RequestValidationError([problem]) from error
        check_candidates(body, settings)
        try:
            return RankRequest.model_validate(body, from_attributes=True)
        except ValidationError as error:
            raise RequestValidationError(body_errors(error), body=body) from error


def _leave_out(feature: str, request: RankRequest) -> None:
    for query in request.queries:
        for document in query.documents:
            if isinstance(document.features, dict):
                document.features.pop(feature, None)
