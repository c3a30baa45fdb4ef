"""Compute metrics of scores on judged documents, query by query."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.texts import Texts
from core.evaluation.summary import Summary, summarise_all
from core.metrics import (
    DEFAULT,
    Conventions,
    Metric,
    ideal_labels,
    measure_all,
    order_by_score,
    parse_metric,
)
from core.types import Float64Array, FloatArray, Int64Array


class Judgments(Protocol):
    """Judged documents: a dataset, or a dataset joined with the documents of a run."""

    @property
    def labels(self) -> FloatArray:
        """(n_documents,) graded relevance; NaN where a document was not judged."""
        ...

    @property
    def query_boundaries(self) -> Int64Array:
        """(n_queries + 1,) offsets."""
        ...

    @property
    def query_ids(self) -> Sequence[str]:
        """(n_queries,) ids of queries."""
        ...

    @property
    def document_ids(self) -> Sequence[str]:
        """(n_documents,) ids of documents."""
        ...


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Quality of one ranking of judged documents.

    Attributes:
        per_query: (n_queries,) values of each metric, by spelling; NaN where undefined.
        summaries: Mean, interval and quantiles of each metric.
    """

    metrics: Mapping[str, Metric]
    per_query: dict[str, Float64Array]
    summaries: dict[str, Summary]

    @property
    def means(self) -> dict[str, float | None]:
        """Mean over queries of each metric."""
        return {name: summary.mean for name, summary in self.summaries.items()}

    def to_parquet(self, file: BinaryIO, query_ids: Sequence[str]) -> None:
        """Write the values as Parquet: `query_id` and a column for each metric, null where undefined."""
        write_query_values(file, query_ids, self.per_query)

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Return each metric's summary together with its direction and its contract."""
        return {
            name: {
                **asdict(self.summaries[name]),
                "higher_is_better": metric.higher_is_better,
                "contract": metric.contract(),
            }
            for name, metric in self.metrics.items()
        }


def write_query_values(
    file: BinaryIO, query_ids: Sequence[str], per_query: Mapping[str, Float64Array]
) -> None:
    """Write values as Parquet: `query_id` and a column for each metric, null where undefined."""
    columns = {name: pa.array(values, from_pandas=True) for name, values in per_query.items()}
    pq.write_table(pa.table({"query_id": list(query_ids), **columns}), file)


def measure(
    scores: FloatArray, judgments: Judgments, metrics: Sequence[str], conventions: Conventions = DEFAULT
) -> dict[str, Float64Array]:
    """Compute metrics of scores for each query.

    Args:
        scores: (n_documents,) scores; NaN where a document was not retrieved.
        metrics: Spellings of the metrics, such as `ndcg@10`.

    Returns:
        (n_queries,) values of each metric, NaN where undefined.

    Raises:
        InvalidInput: For an unknown spelling, or labels without a gain in a metric.
    """
    return _measured(scores, judgments, _parsed(metrics, conventions))


def evaluate(
    scores: FloatArray,
    judgments: Judgments,
    metrics: Sequence[str],
    conventions: Conventions = DEFAULT,
    *,
    seed: int = 0,
    threads: int = 1,
) -> Evaluation:
    """Compute metrics of scores and their summaries; see `measure` for arguments and errors."""
    parsed = _parsed(metrics, conventions)
    per_query = _measured(scores, judgments, parsed)
    summaries = summarise_all(per_query, seed=seed, threads=threads, metrics=parsed)
    return Evaluation(parsed, per_query, summaries)


def rank_documents(scores: Float64Array, judgments: Judgments) -> pa.Table:
    """Rank each query's documents by score, ties in input order.

    Args:
        scores: (n_documents,) scores; a document whose score is NaN was not retrieved and is left out.

    Returns:
        A table of query_id, document_id, rank (int32, from 1), score (float64) and label (float32,
        null where not judged), sorted by query and rank.
    """
    retrieved = np.flatnonzero(~np.isnan(scores))
    queries = np.repeat(np.arange(len(judgments.query_ids)), np.diff(judgments.query_boundaries))[retrieved]
    boundaries = np.searchsorted(queries, np.arange(len(judgments.query_ids) + 1))
    order = retrieved[order_by_score(scores[retrieved], boundaries)]
    ranks = np.arange(len(order)) - boundaries[queries] + 1
    return pa.table(
        {
            "query_id": pa.array(judgments.query_ids, pa.string()).take(pa.array(queries, pa.int64())),
            "document_id": Texts.of(judgments.document_ids).take(order).array,
            "rank": pa.array(ranks, pa.int32()),
            "score": pa.array(scores[order], pa.float64()),
            "label": pa.array(np.asarray(judgments.labels)[order], pa.float32(), from_pandas=True),
        }
    )


def _parsed(metrics: Sequence[str], conventions: Conventions) -> dict[str, Metric]:
    return {spelling: parse_metric(spelling, conventions) for spelling in metrics}


def _measured(
    scores: FloatArray, judgments: Judgments, metrics: Mapping[str, Metric]
) -> dict[str, Float64Array]:
    ideal = ideal_labels(judgments.labels, judgments.query_boundaries)
    return measure_all(metrics, scores, ideal, judgments.document_ids)
