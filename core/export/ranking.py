"""Comparison of an engine's rankings of judged documents with the model's, by pairs and NDCG@10."""

from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.types import Float32Array, Float64Array, Int64Array

_CUTOFF = 10
_LARGEST_LABEL = 1000.0  # `core.metrics` refuses larger labels; 2^1024 overflows float64


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
    """Count adjacent pairs in the model's rankings, and those that are swapped or tied in the engine."""
    queries = np.repeat(np.arange(len(boundaries) - 1), np.diff(boundaries))
    order = np.lexsort((-scores, queries))
    upper, lower = order[:-1], order[1:]
    is_ranked_pair = (queries[upper] == queries[lower]) & (scores[upper] > scores[lower])
    gaps = (engine_scores[upper] - engine_scores[lower])[is_ranked_pair]
    return (
        int(np.count_nonzero(is_ranked_pair)),
        int(np.count_nonzero(gaps < 0)),
        int(np.count_nonzero(gaps == 0)),
    )


def ndcg_at_10(scores: Float64Array, labels: Float32Array, query_boundaries: Int64Array) -> Float64Array:
    """Return NDCG@10 of each query with a relevant document, equal to `ndcg@10` with default conventions.

    Uses NumPy only: `core.metrics` starts threads, which the API process must not do.

    Args:
        scores: (n_documents,); ties rank in the order of the documents.
        labels: (n_documents,); unjudged documents, and labels below 0, are not relevant.
        query_boundaries: (n_queries + 1,).
    """
    starts = query_boundaries[:-1]
    queries = np.repeat(np.arange(len(starts)), np.diff(query_boundaries))
    ranks = np.arange(len(labels)) - starts[queries]
    weights = np.where(ranks < _CUTOFF, 1.0 / np.log2(ranks + 2.0), 0.0)
    relevances = np.where(labels > 0.0, labels, 0.0).astype(np.float64)
    gains = np.exp2(np.minimum(relevances, _LARGEST_LABEL)) - 1.0

    def dcg(ranked_by: Float64Array) -> Float64Array:
        return np.asarray(np.add.reduceat(gains[np.lexsort((-ranked_by, queries))] * weights, starts))

    ideal = dcg(gains)
    has_relevant = ideal > 0.0
    return np.asarray(dcg(scores)[has_relevant] / ideal[has_relevant])
