"""The walk of every scoring request: read the candidates, score them, answer."""

from typing import TypeVar

from starlette.responses import Response

from app.scoring.candidates import CandidateReader, Candidates
from app.scoring.samples import Samples
from app.scoring.served_models import ServedModel
from app.scoring.threads import run_brief_or_threaded, scores_briefly
from app.settings import ApiSettings

Form = TypeVar("Form", bound=Candidates | None)


async def read(reader: CandidateReader[Form], model: ServedModel, settings: ApiSettings) -> Form:
    """Return the candidates of a request.

    Raises:
        InvalidInput: The request is wrong, or holds more than is scored at once.
    """
    return await run_brief_or_threaded(lambda: reader.read(model, settings), is_brief=reader.is_brief)


async def score(model: ServedModel, candidates: Candidates, samples: Samples) -> Response:
    """Score the candidates and return the response.

    Raises:
        InvalidInput: The features of the candidates are wrong.
    """

    def work() -> Response:
        features = candidates.matrix(model)
        scores = model.score(features)
        samples.take(model, candidates, features, scores)
        return candidates.answer(model, scores)

    return await run_brief_or_threaded(work, is_brief=scores_briefly(model, candidates.n_documents))
