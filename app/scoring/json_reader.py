"""Read candidates from a JSON body: fast path for the common form, slow path for any other."""

from dataclasses import dataclass
from json import JSONDecodeError

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from app.http.bodies import parse_json
from app.http.pointers import body_errors
from app.http.thread_pools import SCORING
from app.scoring.candidates import CandidateReader
from app.scoring.fast_json import fast_candidates
from app.scoring.json_candidates import JsonCandidates
from app.scoring.limits import check_candidates, check_documents, max_containers
from app.scoring.schemas import RankRequest
from app.scoring.served_models import ServedModel
from app.scoring.slow_json import slow_candidates
from app.scoring.threads import MAX_INLINE_JSON_BYTES, inline_documents
from app.settings import ApiSettings


@dataclass(frozen=True)
class JsonReader(CandidateReader):
    """A JSON body.

    Attributes:
        content: The bytes.
        accepted_features: Features that a model without them leaves out, as another model of the request has
            them.
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
