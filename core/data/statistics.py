"""What a dataset holds, in numbers."""

from typing import Any

import numpy as np

from core.data.dataset import RankingDataset

_MOST_LABELS = 100


def dataset_statistics(dataset: RankingDataset) -> dict[str, Any]:
    """Count a dataset's queries, documents and labels.

    Returns:
        Plain values for JSON: `queries`, `documents`, `features`; `labels`, the documents of each label in
        rising order (of the 100 commonest labels where there are more); `documents_per_query` with its `min`,
        `median`, `mean` and `max`; `queries_without_relevant`, whose labels are all 0; and
        `queries_with_one_label`, which teach a ranker nothing.
    """
    lengths = np.diff(dataset.query_boundaries)
    starts = dataset.query_boundaries[:-1]
    highest = np.maximum.reduceat(dataset.labels, starts)
    lowest = np.minimum.reduceat(dataset.labels, starts)
    return {
        "queries": dataset.n_queries,
        "documents": dataset.n_documents,
        "features": dataset.n_features,
        "labels": _label_counts(dataset),
        "documents_per_query": {
            "min": int(lengths.min()),
            "median": float(np.median(lengths)),
            "mean": float(lengths.mean()),
            "max": int(lengths.max()),
        },
        "queries_without_relevant": int(np.count_nonzero(highest == 0)),
        "queries_with_one_label": int(np.count_nonzero(highest == lowest)),
    }


def _label_counts(dataset: RankingDataset) -> list[dict[str, float | int]]:
    labels, counts = np.unique(dataset.labels, return_counts=True)
    commonest = np.sort(np.argsort(-counts, kind="stable")[:_MOST_LABELS])
    # By way of text, so that 0.1 stays 0.1 instead of float32's 0.10000000149011612.
    return [{"label": float(str(labels[i])), "documents": int(counts[i])} for i in commonest]
