"""Statistics of a dataset: queries, documents, labels and query columns."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, dataset_statistics
from core.data.statistics import QueryLabels

NAN = np.nan


def _documents_per_query(lengths: list[int]) -> dict[str, Any]:
    rows = sum(lengths)
    dataset = RankingDataset.from_arrays(np.zeros((rows, 1)), np.zeros(rows), np.cumsum([0, *lengths]))
    found: dict[str, Any] = dataset_statistics(dataset)["documents_per_query"]
    return found


def test_statistics_count_queries_documents_and_labels() -> None:
    """Four queries of 3, 2, 1 and 4 documents have the statistics written out below."""
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
        "label_range": {"minimum": 0.0, "maximum": 4.0, "missing": 0, "whole": False},
        "documents_per_query": {
            "min": 1,
            "median": 2.5,
            "mean": 2.5,
            "max": 4,
            "quantiles": {"5%": 1, "25%": 1, "75%": 3, "95%": 4, "99%": 4},
            "histogram": [{"from": n, "to": n, "queries": 1} for n in (1, 2, 3, 4)],
        },
        "queries_without_relevant": 1,
        "queries_with_one_label": 3,
        "texts": [],
        "query_columns": {},
        "categorical_features": [],
    }


def test_statistics_are_small_json_whatever_the_labels() -> None:
    """If there are more than 100 different labels, the most frequent are listed in ascending order."""
    labels = np.append(np.arange(300.0), 250.0)
    dataset = RankingDataset.from_arrays(np.zeros((301, 1)), labels, [0, 301])
    listed = json.loads(json.dumps(dataset_statistics(dataset)))["labels"]
    assert len(listed) == 100
    assert listed[-1] == {"label": 250.0, "documents": 2}
    assert [entry["label"] for entry in listed] == sorted(entry["label"] for entry in listed)


@pytest.mark.parametrize(
    ("labels", "listed", "label_range"),
    [
        ([NAN, -1, NAN], [{"label": -1.0, "documents": 1}], (-1.0, -1.0, 2, True)),
        ([NAN, NAN, NAN], [], (None, None, 3, True)),
        (
            [-0.0, 0.0, 0.25],
            [{"label": 0.0, "documents": 2}, {"label": 0.25, "documents": 1}],
            (0.0, 0.25, 0, False),
        ),
    ],
)
def test_labels_of_any_kind_are_json(
    labels: list[float], listed: list[Any], label_range: tuple[Any, ...]
) -> None:
    """Documents without a label are counted only in the label range; -0 is 0."""
    dataset = RankingDataset.from_arrays(np.zeros((3, 1)), labels, [0, 3])
    statistics = json.loads(json.dumps(dataset_statistics(dataset), allow_nan=False))
    assert str(statistics["labels"]) == str(listed)
    assert tuple(statistics["label_range"].values()) == label_range


def test_a_missing_label_counts_as_a_different_label() -> None:
    """A query with a missing and another label has two labels, since a label map may replace missing ones."""
    labels = [NAN, NAN, NAN, 1, -1, -1, -1, 0, 0, 2]
    dataset = RankingDataset.from_arrays(np.zeros((10, 1)), labels, np.arange(0, 11, 2))
    found = QueryLabels.of(dataset)
    np.testing.assert_array_equal(found.minimum, np.array([NAN, 1, -1, -1, 0], np.float32))
    np.testing.assert_array_equal(found.maximum, np.array([NAN, 1, -1, 0, 2], np.float32))
    assert found.relevant.tolist() == [0, 1, 0, 0, 1]
    assert found.missing.tolist() == [2, 1, 0, 0, 0]
    assert found.single.tolist() == [True, False, True, False, False]
    statistics = dataset_statistics(dataset)
    assert (statistics["queries_without_relevant"], statistics["queries_with_one_label"]) == (3, 2)


def test_query_columns_are_counted_by_value() -> None:
    """At most the 20 most frequent values are listed, in descending order of their counts."""
    columns = {"market": ["de", "us", "us"], "session": ["a", "b", "c"]}
    dataset = RankingDataset.from_arrays(np.zeros((3, 1)), np.zeros(3), [0, 1, 2, 3], query_columns=columns)
    found = dataset_statistics(dataset)["query_columns"]
    assert found["market"] == [{"value": "us", "queries": 2}, {"value": "de", "queries": 1}]
    texts = {**columns, "query_text": ["red", "red", "blue"]}
    dataset = RankingDataset.from_arrays(
        np.zeros((3, 1)),
        np.zeros(3),
        [0, 1, 2, 3],
        query_columns=texts,
        document_columns={"document_url": "abc"},
    )
    statistics = dataset_statistics(dataset)
    assert (statistics["query_columns"], statistics["texts"]) == (found, ["query_text", "document_url"])
    many = {"split": [str(number // 2) for number in range(60)]}
    dataset = RankingDataset.from_arrays(np.zeros((60, 1)), np.zeros(60), np.arange(61), query_columns=many)
    assert len(dataset_statistics(dataset)["query_columns"]["split"]) == 20


@pytest.mark.parametrize(
    ("lengths", "ranges"),
    [
        ([50, 50], [(50, 50)]),
        ([96, 100, 131], [(low, low + 1) for low in range(95, 132, 2)]),
        ([1, 95, 110, 1251], [(low, low + 99) for low in range(1, 1300, 100)]),
        ([7, 7, 7, 180], [(6, 10), (11, 20), (21, 50), (51, 100), (101, 180)]),
    ],
    ids=["all alike", "close together", "wide", "one far off"],
)
def test_lengths_are_counted_in_round_ranges(lengths: list[int], ranges: list[tuple[int, int]]) -> None:
    """Ranges have equal widths, or bounds of 1, 2, 5, 10, … if a few queries are much longer than others."""
    assert [(bar["from"], bar["to"]) for bar in _documents_per_query(lengths)["histogram"]] == ranges


@pytest.mark.long
@given(st.lists(st.one_of(st.integers(1, 30), st.integers(1, 3000)), min_size=1, max_size=40))
def test_the_histogram_counts_every_query_once(lengths: list[int]) -> None:
    """A small number of ranges covers all lengths from the shortest to the longest without gaps."""
    bars = _documents_per_query(lengths)["histogram"]
    assert len(bars) <= 20
    assert bars[0]["from"] <= min(lengths) <= bars[0]["to"]
    assert bars[-1]["from"] <= max(lengths) <= bars[-1]["to"]
    assert all(left["to"] + 1 == right["from"] for left, right in pairwise(bars))
    for bar in bars:
        assert bar["queries"] == sum(bar["from"] <= length <= bar["to"] for length in lengths)
