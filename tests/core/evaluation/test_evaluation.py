"""Evaluations: per-query values, intervals, rankings."""

import io

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset
from core.evaluation import evaluate, rank_documents, summarise_all
from core.metrics import parse_metric


@pytest.fixture
def dataset() -> RankingDataset:
    """Two queries, the second without a relevant document."""
    return RankingDataset.from_arrays(
        features=np.zeros((5, 1), np.float32),
        labels=np.array([0, 2, 1, 0, 0], np.float32),
        query_boundaries=np.array([0, 3, 5]),
        query_ids=("q1", "q2"),
        document_ids=("a", "b", "c", "d", "e"),
    )


def test_documents_are_ranked_within_their_query(dataset: RankingDataset) -> None:
    """Documents are sorted by descending score, with ties in input order and ranks from 1."""
    rows = rank_documents(np.array([0.1, 0.3, 0.2, 0.5, 0.5]), dataset).to_pylist()
    assert [(r["query_id"], r["document_id"], r["rank"], r["label"]) for r in rows] == [
        ("q1", "b", 1, 2.0),
        ("q1", "c", 2, 1.0),
        ("q1", "a", 3, 0.0),
        ("q2", "d", 1, 0.0),
        ("q2", "e", 2, 0.0),
    ]


def test_an_undefined_query_is_null_in_the_file_and_skipped_in_the_mean(dataset: RankingDataset) -> None:
    """Neither the file nor the summary has NaN."""
    evaluation = evaluate(np.array([0.1, 0.3, 0.2, 0.5, 0.4]), dataset, ["ndcg@2", "mrr"])
    file = io.BytesIO()
    evaluation.to_parquet(file, dataset.query_ids)
    assert pq.read_table(file).to_pylist() == [
        {"query_id": "q1", "ndcg@2": 1.0, "mrr": 1.0},
        {"query_id": "q2", "ndcg@2": None, "mrr": None},
    ]
    summary = evaluation.to_json()["ndcg@2"]
    assert (summary["mean"], summary["queries"], summary["skipped"]) == (1.0, 1, 1)
    assert summary["contract"]["gain"] == "exp2"


@pytest.mark.long
def test_the_interval_covers_the_true_mean_about_19_times_in_20() -> None:
    """The coverage of 95% bootstrap intervals in 400 simulations is 95%, within the simulation error."""
    generator = np.random.default_rng(1)
    covered = 0
    for trial in range(400):
        summary = summarise_all({"": generator.beta(2, 1, size=200)}, seed=trial)[""]
        assert summary.lower is not None
        assert summary.upper is not None
        covered += summary.lower <= 2 / 3 <= summary.upper
    assert 0.915 <= covered / 400 <= 0.985


def test_one_query_of_a_metric_without_bounds_has_no_interval() -> None:
    """An interval of width 0 would look certain; a bounded metric has the interval of its bounds."""
    metrics = {name: parse_metric(name) for name in ("dcg", "ndcg")}
    found = summarise_all({name: np.array([0.5]) for name in metrics}, metrics=metrics)
    assert (found["dcg"].lower, found["dcg"].upper) == (None, None)
    assert found["ndcg"].lower is not None


def test_a_metric_that_is_undefined_for_all_queries_has_no_mean() -> None:
    """A mean of nothing is null, not zero and not NaN."""
    summary = summarise_all({"": np.array([np.nan])})[""]
    assert (summary.mean, summary.lower, summary.queries, summary.skipped) == (None, None, 0, 1)
