"""The pipeline of every scoring request: get the model, read the candidates, score them, answer."""

from starlette.responses import Response

from app.http.thread_pools import EXPLANATIONS
from app.scoring.candidates import CandidateReader, Candidates
from app.scoring.json_candidates import JsonCandidates
from app.scoring.limits import check_explained, check_explanation_steps
from app.scoring.served_models import ServedModel
from app.scoring.services import ScoringServices
from app.scoring.threads import run_inline_or_threaded, scores_inline
from core.errors import NotFound, ScoreNotFinite
from core.types import Float64Array, FloatArray


async def answer(reader: CandidateReader, reference: str, services: ScoringServices) -> Response:
    """Return the response to a scoring request.

    Args:
        reader: Reader of the request.
        reference: Reference of the model.
        services: Models, settings and the log of samples.

    Raises:
        NotFound: The model does not exist.
        InvalidInput: The request is wrong or too large.
        ScoreNotFinite: A score is NaN or infinite.
    """
    try:
        model = await services.models.get(reference)
    except NotFound:
        await reader.check(services.settings)
        raise
    candidates = await reader.read(model, services.settings)
    if isinstance(candidates, JsonCandidates) and candidates.explain:
        return await _explained(services, model, candidates)
    return await _scored(services, model, candidates)


async def _scored(services: ScoringServices, model: ServedModel, candidates: Candidates) -> Response:
    def work() -> Response:
        features = candidates.matrix(model)
        scores = _scores_of(model, candidates, features)
        services.samples.take(model, candidates, features, scores)
        return candidates.answer(model, scores)

    return await run_inline_or_threaded(work, fits_event_loop=scores_inline(model, candidates.n_documents))


async def _explained(services: ScoringServices, model: ServedModel, candidates: JsonCandidates) -> Response:
    n_explained = candidates.n_ranked
    check_explained(n_explained, services.settings)

    def work() -> Response:
        explainer = services.explanations.of(model.id)
        check_explanation_steps(n_explained, explainer.steps, services.settings)
        scores = _scores_of(model, candidates, candidates.features)
        services.samples.take(model, candidates, candidates.features, scores)
        return candidates.answer(model, scores, explainer)

    return await EXPLANATIONS.run(work)


def _scores_of(model: ServedModel, candidates: Candidates, features: FloatArray) -> Float64Array:
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
