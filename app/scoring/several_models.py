"""Rank the candidates of one request by several models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate

import numpy as np

from app.scoring.candidates import scores_of
from app.scoring.json_candidates import JsonCandidates
from app.scoring.json_reader import JsonReader
from app.scoring.served_models import ServedModel, ServedModels
from app.scoring.threads import run_side_by_side, scoring_work
from app.settings import ApiSettings
from core.types import Float64Array


@dataclass(frozen=True)
class RankedCandidates:
    """Candidates of a request with the scores of several models.

    Attributes:
        scores: (n_documents,) scores by id of the model.
    """

    candidates: JsonCandidates
    scores: dict[str, Float64Array]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(map(len, self.candidates.document_ids)))

    def of_query(self, model: str, query: int) -> Float64Array:
        """Return the scores of a query's documents by a model."""
        end = self._ends[query]
        return self.scores[model][end - len(self.candidates.document_ids[query]) : end]

    def rankings(self, models: Sequence[str], query: int) -> list[list[int]]:
        """Return the positions of a query's documents by model, best first; ties keep the input order."""
        return [np.argsort(-self.of_query(model, query), kind="stable").tolist() for model in models]


async def score_by_models(
    reader: JsonReader,
    models: Sequence[str],
    served: ServedModels,
    settings: ApiSettings,
    already_read: tuple[ServedModel, JsonCandidates] | None = None,
) -> RankedCandidates:
    """Score the candidates of a request by one or more models at the same time.

    Each model takes its features; a feature that no model has is refused.

    Args:
        already_read: A model with its candidates, None if no candidates are read yet.

    Raises:
        InvalidInput: The candidates are wrong or too many.
        NotFound: A model does not exist.
        ScoreNotFinite: A score is NaN or infinite.
    """
    works = []
    loaded = [await served.get(model_id) for model_id in models]
    names = frozenset[str]().union(*(model.columns for model in loaded))
    reader = replace(reader, accepted_features=names)
    for model in loaded:
        if already_read is None or not _read_alike(already_read[0], model):
            already_read = model, await reader.read(model, settings)
        candidates = already_read[1]
        score = partial(scores_of, model, candidates, candidates.features)
        works.append(scoring_work(score, model, candidates.n_documents))
    scores = await run_side_by_side(works)
    return RankedCandidates(candidates, dict(zip(models, scores, strict=True)))


def _read_alike(one: ServedModel, other: ServedModel) -> bool:
    """Return whether two models read the same features from a request."""
    return one is other or (
        one.feature_names == other.feature_names
        and one.scorer.precision == other.scorer.precision
        and not one.categories
        and not other.categories
    )
