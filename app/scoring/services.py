"""The services of scoring requests."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from fastapi import Request

from app.http.services import injected, registered
from app.models.model_cache import MAX_MODELS, ModelCache
from app.scoring.interleaved import InterleavedLists, InterleavingCache
from app.scoring.samples import SampleLog
from app.scoring.served_models import ServedModels
from app.served.rankings import RankingLog
from app.settings import ApiSettings
from core.scorers.explainability import Explainer, explainer_of


class Explanations:
    """LRU cache of explainers by model id. Thread-safe."""

    def __init__(self, models: ModelCache) -> None:
        self._models = models
        self.of = lru_cache(maxsize=MAX_MODELS)(self._read)

    def _read(self, model_id: str) -> Explainer:
        return explainer_of(self._models.of(model_id))


@dataclass(frozen=True)
class ScoringServices:
    """The services that every scoring request uses.

    Attributes:
        rankings: Log of a share of the rankings that users see.
    """

    settings: ApiSettings
    models: ServedModels
    explanations: Explanations
    samples: SampleLog
    rankings: RankingLog
    interleavings: InterleavingCache
    lists: InterleavedLists


def scoring_services_of(request: Request) -> ScoringServices:
    """Return the scoring services of the application that handles a request."""
    return registered(request.app, ScoringServices)


UseScoringServices = Annotated[ScoringServices, injected(ScoringServices)]
