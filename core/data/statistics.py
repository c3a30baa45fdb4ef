"""Statistics of a dataset."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.data.labels import LabelRange, label_text
from core.data.options import TEXT_ROLES
from core.types import Float32Array, Int64Array

MAX_LABELS = 100
_MAX_VALUES = 20
_MAX_BARS = 20
_LONG_TAIL = 20  # times the median; longer tails get bins of increasing width
_QUANTILES = (0.05, 0.25, 0.75, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class QueryLabels:
    """Summary of the labels of each query.

    Attributes:
        minimum: (n_queries,) smallest label, NaN where no document has a label.
        maximum: (n_queries,) largest label, NaN where no document has a label.
        relevant: (n_queries,) number of documents with a label above 0.
        missing: (n_queries,) number of documents whose label is NaN.
        single: (n_queries,) whether all documents have the same label, or all have none (NaN).
    """

    minimum: Float32Array
    maximum: Float32Array
    relevant: Int64Array
    missing: Int64Array
    single: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, dataset: RankingDataset) -> "QueryLabels":
        """Summarise the labels of each query."""
        labels, starts = dataset.labels, dataset.query_boundaries[:-1]
        minimum, maximum = np.fmin.reduceat(labels, starts), np.fmax.reduceat(labels, starts)
        missing = np.add.reduceat(np.isnan(labels), starts, dtype=np.int64)
        return cls(
            minimum=minimum,
            maximum=maximum,
            relevant=np.add.reduceat(labels > 0, starts, dtype=np.int64),
            missing=missing,
            single=((missing == 0) & (minimum == maximum)) | (missing == np.diff(dataset.query_boundaries)),
        )


def dataset_statistics(dataset: RankingDataset) -> dict[str, Any]:
    """Compute statistics of a dataset's queries, documents and labels.

    Returns:
        Plain values for JSON:

        - `queries`, `documents`, `features`;
        - `labels`, the number of documents of each label in ascending order, for at most the 100 commonest
          labels (documents without a label, NaN, are counted in `label_range.missing` only);
        - `label_range`, the fields of `LabelRange`;
        - `documents_per_query` with its `min`, `median`, `mean` and `max`, its `quantiles`, and a `histogram`
          of neighbouring ranges, ends included;
        - `queries_without_relevant`, the number of queries without a label above 0;
        - `queries_with_one_label`, the number of queries whose labels are all equal or all missing, which a
          ranker cannot learn from;
        - `texts`, the display texts of the dataset: `query_text`, `document_title` and `document_url`;
        - `query_columns`, the number of queries of each value of each column other than the query text, for
          at most the 20 commonest values;
        - `categorical_features`, the names of the categorical features.
    """
    lengths = np.diff(dataset.query_boundaries)
    labels = QueryLabels.of(dataset)
    return {
        "queries": dataset.n_queries,
        "documents": dataset.n_documents,
        "features": dataset.n_features,
        "labels": _label_counts(dataset.labels),
        "label_range": asdict(LabelRange.of(dataset.labels)),
        "documents_per_query": {
            "min": int(lengths.min()),
            "median": float(np.median(lengths)),
            "mean": float(lengths.mean()),
            "max": int(lengths.max()),
            "quantiles": {
                f"{share:.0%}": int(np.quantile(lengths, share, method="inverted_cdf"))
                for share in _QUANTILES
            },
            "histogram": _histogram(lengths),
        },
        "queries_without_relevant": int(np.count_nonzero(labels.relevant == 0)),
        "queries_with_one_label": int(np.count_nonzero(labels.single)),
        "texts": [role for role in TEXT_ROLES if role in (*dataset.query_columns, *dataset.document_columns)],
        "query_columns": {name: _value_counts(values) for name, values in dataset.segment_columns.items()},
        "categorical_features": list(dataset.categories),
    }


def _label_counts(labels: Float32Array) -> list[dict[str, float | int]]:
    distinct, counts = np.unique(labels[~np.isnan(labels)], return_counts=True)
    commonest = np.sort(np.argsort(-counts, kind="stable")[:MAX_LABELS])
    return [{"label": float(label_text(distinct[i])), "documents": int(counts[i])} for i in commonest]


def _value_counts(values: Sequence[str]) -> list[dict[str, str | int]]:
    return [{"value": value, "queries": count} for value, count in Counter(values).most_common(_MAX_VALUES)]


def _histogram(lengths: Int64Array) -> list[dict[str, int]]:
    """Count lengths in at most 20 bins of equal round width, or in 1-2-5 steps where the tail is long."""
    shortest, longest = int(lengths.min()), int(lengths.max())
    steps = (factor * 10**power for power in range(19) for factor in (1, 2, 5))
    if longest <= _LONG_TAIL * np.median(lengths):
        width = next(step for step in steps if (longest - 1) // step - (shortest - 1) // step < _MAX_BARS)
        first = (shortest - 1) // width * width
        edges = np.arange(first, longest + width, width)
    else:
        edges = np.array([0, *(step for step in steps if step < longest), longest])
        edges = edges[np.searchsorted(edges, shortest) - 1 :]
    counts = np.diff(np.searchsorted(np.sort(lengths), edges, side="right"))
    return [
        {"from": int(low) + 1, "to": int(high), "queries": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
