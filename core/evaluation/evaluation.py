"""Metrics of scores on a judged dataset, query by query."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data import RankingDataset
from core.evaluation.summary import Summary, summarise
from core.metrics import order_by_score, parse_metric, rank_labels
from core.types import Float64Array


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The quality of one ranking of a dataset.

    Attributes:
        per_query: (n_queries,) values of each metric, by spelling; NaN where undefined.
        summaries: Mean and interval of each metric.
        contracts: The conventions behind each metric.
    """

    per_query: dict[str, Float64Array]
    summaries: dict[str, Summary]
    contracts: dict[str, dict[str, Any]]

    def to_parquet(self, file: BinaryIO, dataset: RankingDataset) -> None:
        """Write the values as Parquet: `query_id` and a column a metric, null where undefined."""
        columns = {name: pa.array(values, from_pandas=True) for name, values in self.per_query.items()}
        pq.write_table(pa.table({"query_id": list(dataset.query_ids), **columns}), file)

    def as_json(self) -> dict[str, dict[str, Any]]:
        """Return each metric's summary together with its contract."""
        return {
            name: {**asdict(summary), "contract": self.contracts[name]}
            for name, summary in self.summaries.items()
        }


def evaluate(scores: Float64Array, dataset: RankingDataset, metrics: Sequence[str]) -> Evaluation:
    """Evaluate scores on a dataset.

    Args:
        scores: (n_documents,) scores.
        dataset: The judged documents.
        metrics: Spellings, `ndcg@10`.

    Raises:
        InvalidInput: For an unknown spelling.
    """
    parsed = {spelling: parse_metric(spelling) for spelling in metrics}
    ranked = rank_labels(scores, dataset.labels, dataset.query_boundaries)
    per_query = {spelling: metric.of_ranked(ranked) for spelling, metric in parsed.items()}
    return Evaluation(
        per_query,
        {spelling: summarise(values) for spelling, values in per_query.items()},
        {spelling: metric.contract() for spelling, metric in parsed.items()},
    )


def rank_documents(scores: Float64Array, dataset: RankingDataset) -> pa.Table:
    """Rank each query's documents by score, ties in input order.

    Returns:
        A table of query_id, document_id, rank (int32, from 1), score (float64) and label (float32), by
        query and rank.
    """
    order = order_by_score(scores, dataset.query_boundaries)
    sizes = np.diff(dataset.query_boundaries)
    queries = np.repeat(np.arange(dataset.n_queries), sizes)
    ranks = np.arange(dataset.n_documents) - np.repeat(dataset.query_boundaries[:-1], sizes) + 1
    return pa.table(
        {
            "query_id": pa.array(dataset.query_ids, pa.string()).take(pa.array(queries, pa.int64())),
            "document_id": pa.array(dataset.document_ids, pa.string()).take(pa.array(order, pa.int64())),
            "rank": pa.array(ranks, pa.int32()),
            "score": pa.array(scores[order], pa.float64()),
            "label": pa.array(dataset.labels[order], pa.float32()),
        }
    )
