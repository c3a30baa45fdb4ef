"""An engine's scores of judged documents beside the model's: rankings and NDCG@10."""

from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.export.ndcg import ndcg_at_10
from core.types import Float64Array, Int64Array


@dataclass(frozen=True)
class RankingParity:
    """Differences between the rankings of the model and of the engine; see `DataParity`."""

    largest_score_difference: float
    adjacent_pairs: int
    swapped_pairs: int
    tied_pairs: int
    ndcg_at_10: float | None
    ndcg_at_10_difference: float | None
    largest_ndcg_at_10_difference: float | None


def compare_rankings(
    dataset: RankingDataset, scores: Float64Array, engine_scores: Float64Array
) -> RankingParity:
    """Compare the scores of the model and of the engine, (n_documents,) each."""
    boundaries = dataset.query_boundaries
    adjacent, swapped, tied = _adjacent_pairs(scores, engine_scores, boundaries)
    ndcg, engine_ndcg = (
        ndcg_at_10(ranked_by, dataset.labels, boundaries) for ranked_by in (scores, engine_scores)
    )
    differences = engine_ndcg - ndcg
    return RankingParity(
        float(np.abs(engine_scores - scores).max(initial=0.0)),
        adjacent,
        swapped,
        tied,
        float(ndcg.mean()) if len(ndcg) else None,
        float(differences.mean()) if len(ndcg) else None,
        float(np.abs(differences).max()) if len(ndcg) else None,
    )


def _adjacent_pairs(
    scores: Float64Array, engine_scores: Float64Array, boundaries: Int64Array
) -> tuple[int, int, int]:
    """Count the neighbours in the model's rankings, those that are swapped, and those that become equal."""
    queries = np.repeat(np.arange(len(boundaries) - 1), np.diff(boundaries))
    order = np.lexsort((-scores, queries))
    upper, lower = order[:-1], order[1:]
    apart = (queries[upper] == queries[lower]) & (scores[upper] > scores[lower])
    gaps = (engine_scores[upper] - engine_scores[lower])[apart]
    return int(np.count_nonzero(apart)), int(np.count_nonzero(gaps < 0)), int(np.count_nonzero(gaps == 0))
