"""Judged data that is in order, to be damaged by each test in one way."""

from typing import Any

import numpy as np

from core.data import RankingDataset

QUERIES, DOCUMENTS, FEATURES = 20, 10, 4


def sound(**parts: Any) -> RankingDataset:
    """20 queries of 10 documents, labels 0 to 3 and weak features, some parts replaced by others."""
    generator = np.random.default_rng(5)
    rows = QUERIES * DOCUMENTS
    labels = np.tile([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0], QUERIES)
    features = generator.normal(size=(rows, FEATURES)) + 0.2 * labels[:, None]
    return RankingDataset.from_arrays(
        **{
            "features": features,
            "labels": labels,
            "query_boundaries": np.arange(0, rows + 1, DOCUMENTS),
            "query_ids": [f"q{number}" for number in range(QUERIES)],
            "document_ids": [f"d{number}" for number in range(rows)],
            "feature_names": ["bm25", "pagerank", "freshness", "clicks"],
            **parts,
        }
    )


def features(**columns: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The features of `sound`, some columns replaced by name."""
    dataset = sound()
    changed = dataset.matrix.copy()
    for name, values in columns.items():
        changed[:, dataset.feature_names.index(name)] = values
    return changed


def labels(changes: dict[int, float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The labels of `sound`, some replaced by row."""
    changed = sound().labels.copy()
    changed[list(changes)] = list(changes.values())
    return changed
