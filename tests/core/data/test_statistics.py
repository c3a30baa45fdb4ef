"""Counting what a dataset holds."""

import json

import numpy as np

from core.data import RankingDataset, dataset_statistics


def test_statistics_count_queries_documents_and_labels() -> None:
    """Counted by hand, on queries of 3, 2, 1 and 4 documents."""
    dataset = RankingDataset.from_arrays(
        np.zeros((10, 2)), [0, 1, 2, 0, 0, 0.1, 4, 4, 4, 4], np.cumsum([0, 3, 2, 1, 4])
    )
    assert dataset_statistics(dataset) == {
        "queries": 4,
        "documents": 10,
        "features": 2,
        "labels": [
            {"label": 0.0, "documents": 3},
            {"label": 0.1, "documents": 1},
            {"label": 1.0, "documents": 1},
            {"label": 2.0, "documents": 1},
            {"label": 4.0, "documents": 4},
        ],
        "documents_per_query": {"min": 1, "median": 2.5, "mean": 2.5, "max": 4},
        "queries_without_relevant": 1,
        "queries_with_one_label": 3,
    }


def test_statistics_are_small_json_whatever_the_labels() -> None:
    """Of more than 100 different labels the commonest are listed, in rising order."""
    labels = np.append(np.arange(300.0), 250.0)
    dataset = RankingDataset.from_arrays(np.zeros((301, 1)), labels, [0, 301])
    listed = json.loads(json.dumps(dataset_statistics(dataset)))["labels"]
    assert len(listed) == 100
    assert listed[-1] == {"label": 250.0, "documents": 2}
    assert [entry["label"] for entry in listed] == sorted(entry["label"] for entry in listed)
