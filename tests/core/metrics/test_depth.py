"""A metric with a cutoff has the same value on the documents up to the cutoff as on the whole ranking."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from core.metrics import METRICS, Metric, ideal_labels, measure_all, parse_metric, rank_labels
from core.types import Float64Array, Int64Array

SPELLINGS = [spelling for metric in METRICS.values() for spelling in metric.examples()]
CONTRACTS: list[str | dict[str, Any]] = [
    "default",
    "lightgbm",
    "sklearn",
    "trec_eval",
    "letor",
    {"max_documents": 7},
    {"preset": "letor", "max_documents": 40},
]


def queries(share_missing: float) -> tuple[Float64Array, Float64Array, Int64Array, list[str]]:
    """Draw tied scores and labels, some of them missing, of short and long queries."""
    generator = np.random.default_rng(5)
    lengths = np.concatenate((generator.integers(1, 40, 60), generator.integers(60, 400, 20)))
    boundaries = np.concatenate(([0], np.cumsum(lengths)))
    n = int(boundaries[-1])
    labels = generator.choice(5, n, p=[0.6, 0.2, 0.1, 0.07, 0.03]).astype(np.float64)
    scores = np.round(4 * (labels + 2 * generator.standard_normal(n))) / 4
    labels[generator.random(n) < share_missing] = np.nan
    scores[generator.random(n) < share_missing] = np.nan
    return scores, labels, boundaries, [f"d{number}" for number in generator.permutation(n)]


def of_whole_rankings(
    metrics: Mapping[str, Metric],
    scores: Float64Array,
    labels: Float64Array,
    boundaries: Int64Array,
    document_ids: list[str] | None,
) -> dict[str, Float64Array]:
    """Measure as `measure_all` does, each metric on a ranking of all documents."""
    ideal = ideal_labels(labels, boundaries)
    return {
        name: metric.of_ranked(
            rank_labels(scores, ideal, ties=metric.conventions.ties, document_ids=document_ids)
        )
        for name, metric in metrics.items()
    }


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_values_are_those_of_the_whole_ranking(contract: str | dict[str, Any], share_missing: float) -> None:
    """Bits are equal for each metric alone, for those with a cutoff together, and for all together."""
    scores, labels, boundaries, document_ids = queries(share_missing)
    ideal = ideal_labels(labels, boundaries)
    metrics = {spelling: parse_metric(spelling, contract) for spelling in SPELLINGS}
    for names in (None, document_ids):
        expected = of_whole_rankings(metrics, scores, labels, boundaries, names)
        cut = {spelling: metric for spelling, metric in metrics.items() if metric.cutoff is not None}
        alone = [{spelling: metric} for spelling, metric in metrics.items()]
        for together in (*alone, cut, metrics):
            for spelling, values in measure_all(together, scores, ideal, names).items():
                np.testing.assert_array_equal(values, expected[spelling], err_msg=spelling)


def test_the_depth_is_the_cutoff_where_one_suffices() -> None:
    """A metric without a cutoff, or with averages over ties, needs the whole ranking."""
    scores, labels, boundaries, _ = queries(0.0)
    ranked = rank_labels(scores, ideal_labels(labels, boundaries), depth=10)
    lengths = np.diff(boundaries)
    np.testing.assert_array_equal(np.diff(ranked.ranking.boundaries), np.minimum(lengths, 10))
    assert parse_metric("ndcg@10").depth == 10
    assert parse_metric("ndcg@10", {"max_documents": 5}).depth == 5
    assert parse_metric("ndcg").depth is None
    assert parse_metric("ndcg@10", "sklearn").depth is None
