"""Judged data without findings, of which each test changes one property."""

from typing import Any

import numpy as np

from core.data import RankingDataset

QUERIES, DOCUMENTS, FEATURES = 20, 10, 4


def sound(**parts: Any) -> RankingDataset:
    """Return 20 queries of 10 documents, with labels 0 to 3 and weak features; arguments replace parts."""
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
    """Return the features of `sound`, with columns replaced by name."""
    dataset = sound()
    changed = dataset.matrix.copy()
    for name, values in columns.items():
        changed[:, dataset.feature_names.index(name)] = values
    return changed


def labels(changes: dict[int, float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the labels of `sound`, with labels replaced by row."""
    changed = sound().labels.copy()
    changed[list(changes)] = list(changes.values())
    return changed
