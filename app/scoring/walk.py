"""The walk of every scoring request: read the candidates, score them, answer."""

from typing import TypeVar

from starlette.responses import Response

from app.scoring.candidates import CandidateReader, Candidates
from app.scoring.samples import Samples
from app.scoring.served_models import ServedModel
from app.scoring.threads import run_brief_or_threaded, scores_briefly
from app.settings import ApiSettings
from core.errors import ScoreNotFinite
from core.types import Float64Array, FloatArray

Form = TypeVar("Form", bound=Candidates | None)


async def read(reader: CandidateReader[Form], model: ServedModel, settings: ApiSettings) -> Form:
    """Return the candidates of a request.

    Raises:
        InvalidInput: The request is wrong, or holds more than is scored in one request.
    """
    return await run_brief_or_threaded(lambda: reader.read(model, settings), is_brief=reader.is_brief)


async def score(model: ServedModel, candidates: Candidates, samples: Samples) -> Response:
    """Score the candidates and return the response.

    Raises:
        InvalidInput: The features of the candidates are wrong.
        ScoreNotFinite: A score is NaN or infinite.
    """

    def work() -> Response:
        features = candidates.matrix(model)
        scores = scores_of(model, candidates, features)
        samples.take(model, candidates, features, scores)
        return candidates.answer(model, scores)

    return await run_brief_or_threaded(work, is_brief=scores_briefly(model, candidates.n_documents))


def scores_of(model: ServedModel, candidates: Candidates, features: FloatArray) -> Float64Array:
    """Return the scores, (n_documents,), of the features of candidates.

    Raises:
        ScoreNotFinite: One is NaN or infinite; the error names the model and the document.
    """
    try:
        return model.score(features)
    except ScoreNotFinite as error:
        raise error.of(f"{model.name}:{model.version}", _named(candidates, error.row)) from error


def _named(candidates: Candidates, row: int) -> str | None:
    """Return the ids of a document, None where the request has none."""
    ids = candidates.ids()
    for query, documents in zip(ids.queries, ids.documents, strict=True):
        if row < len(documents):
            document = documents[row]
            of_query = "" if query is None else f" of query {query!r}"
            return None if document is None else f"document {document!r}{of_query}"
        row -= len(documents)
    return None
