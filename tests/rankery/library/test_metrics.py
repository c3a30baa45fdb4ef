"""Metrics of scores in memory."""

from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import rankery
from core.evaluation import evaluate
from core.metrics import conventions
from rankery.errors import InvalidArgument
from tests.rankery.library.conftest import Judged

METRICS = ["ndcg@5", "map", "ndcg_cut_5", "arp", "gm-map"]


@pytest.mark.parametrize("contract", ["default", "trec_eval"])
def test_numbers_are_those_of_an_evaluation_job(contract: Any, judged: Judged) -> None:
    """Means, intervals, quantiles and values by query are equal for equal seeds."""
    scores = judged.X[:, 0].astype(np.float64)
    theirs = evaluate(scores, judged.dataset, METRICS, conventions(contract), seed=42)
    ours = rankery.metrics.evaluate(scores, judged.y, judged.groups, metrics=METRICS, contract=contract)
    assert {name: one.model_dump() for name, one in ours.metrics.items()} == theirs.to_json()
    assert ours.means == theirs.means
    for name in METRICS:
        np.testing.assert_array_equal(ours.values[name], theirs.per_query[name])


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "arrow", "lists"])
@pytest.mark.parametrize("ids", ["numbers", "texts"])
def test_columns_and_arrays_are_taken_in_any_order(library: str, ids: str, judged: Judged) -> None:
    """Rows of a query need not be contiguous, and query ids can be numbers or texts."""
    generator = np.random.default_rng(3)
    order = generator.permutation(len(judged.y))
    scores = generator.permutation(len(judged.y)).astype(np.float64)  # no ties, whose order would count
    queries = judged.groups if ids == "numbers" else judged.groups.astype(str)
    columns = [one[order] for one in (scores, judged.y, queries)]
    make: dict[str, Any] = {
        "numpy": np.asarray,
        "pandas": lambda one: pandas.Series(one, index=order),
        "polars": polars.Series,
        "arrow": pa.array,
        "lists": np.ndarray.tolist,
    }
    evaluation = rankery.metrics.evaluate(*map(make[library], columns), metrics=["nDCG@5", "RR"])
    expected = rankery.metrics.evaluate(scores, judged.y, judged.groups, metrics=["ndcg@5", "mrr"])
    assert list(evaluation.metrics) == ["ndcg@5", "mrr"]
    for name in evaluation.values:
        by_query = dict(zip(evaluation.query_ids, evaluation.values[name], strict=True))
        assert [by_query[query] for query in expected.query_ids] == list(expected.values[name])


def test_an_index_in_another_order_is_refused() -> None:
    """Rows are matched by position, which would be wrong for a sorted column; other indexes do not count."""
    labels = pandas.Series([0.0, 1.0, 2.0], index=[7, 8, 9])
    scores = pandas.Series([0.3, 0.2, 0.1], index=[7, 8, 9])
    queries = ["q"] * 3
    sentence = (
        r"^labels: the index has the labels of the index of scores in another order, but rows are matched"
    )
    with pytest.raises(InvalidArgument, match=sentence):
        rankery.metrics.evaluate(scores.sort_values(), labels, queries)
    expected = rankery.metrics.evaluate([0.3, 0.2, 0.1], [0.0, 1.0, 2.0], queries).means
    for same in (scores, scores.reset_index(drop=True), scores.to_numpy()):
        assert rankery.metrics.evaluate(same, labels, queries).means == expected


def test_documents_not_retrieved_and_not_judged_count_as_in_trec_eval() -> None:
    """A judged document without a score lowers recall to 1/2; a document without a label is not relevant."""
    evaluation = rankery.metrics.evaluate(
        [2.0, 1.0, np.nan], [np.nan, 1.0, 1.0], ["q", "q", "q"], metrics=["R@5", "RR"]
    )
    assert evaluation.means == {"recall@5": 1 / 2, "mrr": 1 / 2}


def test_masked_values_are_missing() -> None:
    """Masked scores and labels count like NaN, and a masked id is missing."""
    scores, labels, ids = [3.0, 2.0, 1.0], [0, 1, 1], np.ma.masked_equal([7, 7, 8], 8)
    masked = {"scores": np.ma.masked_equal(scores, 3.0), "labels": np.ma.masked_equal(labels, 1)}
    missing = {"scores": [np.nan, 2.0, 1.0], "labels": [0.0, np.nan, np.nan]}
    for name in masked:
        arguments: dict[str, Any] = {
            "scores": scores,
            "labels": labels,
            "query_ids": ["q"] * 3,
            "metrics": ["mrr"],
        }
        expected = rankery.metrics.evaluate(**arguments | {name: missing[name]}).means
        assert rankery.metrics.evaluate(**arguments | {name: masked[name]}).means == expected
    with pytest.raises(InvalidArgument, match="has no query for document 2"):
        rankery.metrics.evaluate(scores, labels, ids)


def test_equal_scores_are_ordered_by_document_ids() -> None:
    """With trec_eval's conventions, the larger id comes first."""
    judged = ([1.0, 1.0], [1, 0], ["q", "q"])
    for ids, rank in ((["b", "a"], 1), (["a", "b"], 2)):
        evaluation = rankery.metrics.evaluate(*judged, metrics=["RR"], contract="trec_eval", document_ids=ids)
        assert evaluation.means == {"mrr": 1 / rank}


def test_values_become_frames() -> None:
    """The frame has a row per query, and null where a metric is undefined."""
    evaluation = rankery.metrics.evaluate([2.0, 1.0, 1.0], [0, 1, 0], ["a", "a", "b"], metrics=["RR", "ndcg"])
    assert evaluation.to_arrow().to_pylist()[1] == {"query_id": "b", "mrr": None, "ndcg": None}
    assert evaluation.to_pandas()["mrr"].tolist()[0] == evaluation.to_polars()["mrr"][0] == 1 / 2
    assert "0.5000" in repr(evaluation)
    assert "<td class='number'>0.5000</td>" in evaluation._repr_html_()


def test_one_metric_may_be_a_text() -> None:
    """A single name is one metric, not a sequence of characters."""
    found = rankery.metrics.evaluate([2.0, 1.0], [1.0, 0.0], ["a", "a"], metrics="RR")
    assert found.means == {"mrr": 1.0}


@pytest.mark.parametrize(
    ("scores", "labels", "queries", "more", "message"),
    [
        ([1.0, 2.0], [1.0], ["a", "a"], {}, "labels: must be one number per document, 2"),
        ([1.0, 2.0], [1.0, 0.0], ["a"], {}, "query_ids: is of shape"),
        ([1.0, 2.0], [1.0, 0.0], ["a", None], {}, "query_ids: has no query for document 1"),
        ([1.0, 2.0], [1.0, 0.0], [1.0, np.nan], {}, "query_ids: has no query for document 1"),
        (["x", "y"], [1.0, 0.0], ["a", "a"], {}, "scores: must be numbers"),
        ([], [], [], {}, "scores: must be one number per document"),
        ({"a": {"x": 1.0}}, {"a": {"x": 1}}, None, {}, "scores: must be one number per document, not a dict"),
        ([1.0], [1.0], ["a"], {"metrics": ["ndgc"]}, "did you mean ndcg"),
        ([1.0], [1.0], ["a"], {"contract": "trec"}, "unknown preset"),
        ([1.0], [1.0], ["a"], {"document_ids": ["x", "y"]}, "document_ids: is of shape"),
    ],
)
def test_invalid_arguments_are_refused_by_name(
    scores: Any, labels: Any, queries: Any, more: dict[str, Any], message: str
) -> None:
    """The error names the argument."""
    with pytest.raises(InvalidArgument, match=message):
        rankery.metrics.evaluate(scores, labels, queries, **more)


def test_scores_without_a_judged_document_are_refused() -> None:
    """Scores without any judged document are refused; different spellings of ids would give only zeros."""
    scores, labels = [0.5, 0.4, np.nan, np.nan], [np.nan, np.nan, 1.0, 0.0]
    with pytest.raises(InvalidArgument, match="0 of 2 retrieved documents are judged"):
        rankery.metrics.evaluate(scores, labels, ["q"] * 4)
    evaluation = rankery.metrics.evaluate([*scores, 0.1], [*labels, 1.0], ["q"] * 5, metrics=["mrr"])
    assert evaluation.means["mrr"] == 1 / 3


def test_scores_that_a_run_may_not_have_are_refused() -> None:
    """Duplicate documents of a query and infinite scores are refused."""
    labels, queries = [0, 1, 1], ["a", "a", "b"]
    documents = ["x", "x", "x"]
    with pytest.raises(InvalidArgument, match="document_ids: has 'x' twice in query 'a'"):
        rankery.metrics.evaluate([3.0, 2.0, 1.0], labels, queries, document_ids=documents)
    with pytest.raises(InvalidArgument, match="scores: is infinite for document 1, counted from 0"):
        rankery.metrics.evaluate([3.0, np.inf, 1.0], labels, queries)
