"""The pipeline of every scoring request: get the model, read the candidates, score them, answer."""

from starlette.responses import Response

from app.http.thread_pools import EXPLANATIONS
from app.scoring.candidates import CandidateReader, Candidates, scores_of
from app.scoring.json_candidates import JsonCandidates, response_of
from app.scoring.json_reader import JsonReader
from app.scoring.limits import check_explained, check_explanation_steps
from app.scoring.served_models import ServedModel
from app.scoring.services import ScoringServices
from app.scoring.several_models import score_by_models
from app.scoring.tables import TableCandidates
from app.scoring.threads import run_inline_or_threaded, scores_inline
from core.errors import InvalidInput, NotFound
from core.store.tables import Interleaving
from core.types import Float64Array


async def answer(reader: CandidateReader, reference: str, services: ScoringServices) -> Response:
    """Return the response to a scoring request.

    Args:
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
    if isinstance(reader, JsonReader) and isinstance(candidates, JsonCandidates):
        if candidates.interleaving is not None:
            return await _interleaved(services, model, candidates, reader)
        if candidates.explain:
            return await _explained(services, model, candidates)
    return await _scored(services, model, candidates)


async def _scored(services: ScoringServices, model: ServedModel, candidates: Candidates) -> Response:
    def work() -> Response:
        features = candidates.matrix(model)
        scores = scores_of(model, candidates, features)
        services.samples.log_if_sampled(model, candidates, features, scores)
        if isinstance(candidates, JsonCandidates | TableCandidates):
            return candidates.answer(model, scores, _keep_rankings(services, model, candidates, scores))
        return candidates.answer(model, scores)

    return await run_inline_or_threaded(work, fits_event_loop=scores_inline(model, candidates.n_documents))


async def _explained(services: ScoringServices, model: ServedModel, candidates: JsonCandidates) -> Response:
    n_explained = candidates.n_ranked
    check_explained(n_explained, services.settings)

    def work() -> Response:
        explainer = services.explanations.of(model.id)
        check_explanation_steps(n_explained, explainer.steps, services.settings)
        scores = scores_of(model, candidates, candidates.features)
        services.samples.log_if_sampled(model, candidates, candidates.features, scores)
        kept = _keep_rankings(services, model, candidates, scores)
        return candidates.answer(model, scores, kept, explainer)

    return await EXPLANATIONS.run(work)


def _keep_rankings(
    services: ScoringServices,
    model: ServedModel,
    candidates: JsonCandidates | TableCandidates,
    scores: Float64Array,
) -> list[str] | None:
    """Keep the rankings that users see; return their ids, None if they are not kept."""
    if not candidates.keep:
        return None
    rankings = candidates.rankings(scores)
    return services.rankings.keep(model.name, model.version, candidates.viewer, rankings)


async def _interleaved(
    services: ScoringServices, model: ServedModel, candidates: JsonCandidates, reader: JsonReader
) -> Response:
    """Return the interleaved list of each query, with the scores of the model."""
    row = await services.interleavings.get(str(candidates.interleaving))
    models = _interleaved_models(row, candidates)
    user = candidates.viewer.user
    lookup = services.lists.look_up(row, candidates.query_ids, user)
    all_in_memory = lookup.in_memory.keys() >= set(candidates.query_ids)
    model_ids = [model.id] if all_in_memory else list(dict.fromkeys([*models, model.id]))
    ranked = await score_by_models(reader, model_ids, services.models, services.settings, (model, candidates))
    existing = await lookup.all()
    queries = []
    for index, (query, ids) in enumerate(zip(candidates.query_ids, candidates.document_ids, strict=True)):
        rankings = [] if query in existing else ranked.rankings(models, index)
        shown = existing.get(query) or await services.lists.new(row, rankings, ids, query, user)
        scores = dict(zip(ids, ranked.of_query(model.id, index).tolist(), strict=True))
        ranking = [
            {"id": document, "rank": rank, "score": scores.get(document)}
            for rank, document in enumerate(shown.documents, 1)
        ]
        queries.append({"id": query, "ranking": ranking, "ranking_id": shown.ranking_id})
    return response_of(model, queries)


def _interleaved_models(row: Interleaving, candidates: JsonCandidates) -> list[str]:
    """Return the ids of the models of an interleaving."""
    if row.model_ids is None:
        raise InvalidInput.at(
            "/interleaving",
            f"must be an interleaving of models; for your rankings, POST /v1/interleavings/{row.id}/lists",
        )
    if candidates.top_k is not None and candidates.top_k < row.length:
        raise InvalidInput.at(
            "/top_k",
            f"must be at least {row.length}, the length of the interleaved list, which must not be truncated",
        )
    if candidates.explain:
        raise InvalidInput.at("/explain", "cannot be combined with interleaving")
    return row.model_ids
