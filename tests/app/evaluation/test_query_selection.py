"""Sorting and filtering the queries of a result."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.evaluation.query_selection import histogram_of
from core.evaluation import Slice, write_segments
from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from core.store.artifacts.keys import (
    comparison_key,
    comparison_segments_key,
    evaluation_key,
    evaluation_segments_key,
)
from tests.app.conftest import TestClient

NAN = float("nan")
QUERIES = list("abcdefgh")
FIRST = [0.5, 0.1, NAN, 0.9, 0.1, 1.0, 0.0, 0.3]
SECOND = [0.5, 0.6, 0.2, 0.8, 0.1, 0.2, NAN, 0.4]
PARTS = [Slice("market", "de", np.array([0, 1, 2, 3, 4])), Slice("market", "fr", np.array([5, 6, 7]))]
_SUMMARY = {"mean": 0.4, "lower": 0.3, "upper": 0.5, "queries": 7, "skipped": 1, "contract": {}}


def _write(store: Store, key: str, table: pa.Table) -> None:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    store.artifacts.write_bytes(key, sink.getvalue())


@pytest.fixture
def evaluation(store: Store, add_model: Callable[[str], Model]) -> str:
    """The path of an evaluation of eight queries, five of them in Germany."""
    model = add_model("web")
    with store.begin() as tx:
        row = tx.evaluations.add(
            job_id=model.job_id,
            system=System("web:1", model.id),
            dataset_id="ds_gone",
            summaries={"ndcg@5": _SUMMARY, "map": _SUMMARY},
            contract=Conventions().to_json(),
            baselines=[],
            slices=[],
        )
    values = {"ndcg@5": pa.array(FIRST, from_pandas=True), "map": pa.array(SECOND, from_pandas=True)}
    _write(store, evaluation_key(row.id), pa.table({"query_id": QUERIES, **values}))
    with store.artifacts.writing(evaluation_segments_key(row.id)) as file:
        write_segments(PARTS, len(QUERIES), file)
    return f"/v1/evaluations/{row.id}/queries"


@pytest.fixture
def comparison(store: Store, add_model: Callable[[str], Model]) -> str:
    """The path of a comparison of two systems on the same queries."""
    job_id = add_model("web").job_id
    with store.begin() as tx:
        row = tx.comparisons.add(
            job_id=job_id,
            dataset_id="ds_gone",
            sentence="",
            systems=[
                {"name": name, "model_id": None, "ranking_id": "rnk_1", "metrics": {"ndcg@5": _SUMMARY}}
                for name in ("old", "new")
            ],
            metrics=["ndcg@5"],
            contract=Conventions().to_json(),
            permutations=1000,
            seed=42,
            pairs=[],
        )
    pairs = pa.array(np.array([FIRST, SECOND]).T.ravel(), from_pandas=True)
    column = pa.FixedSizeListArray.from_arrays(pairs, 2)
    _write(store, comparison_key(row.id), pa.table({"query_id": QUERIES, "ndcg@5": column}))
    with store.artifacts.writing(comparison_segments_key(row.id)) as file:
        write_segments(PARTS, len(QUERIES), file)
    return f"/v1/comparisons/{row.id}/queries"


def _queries_of_all_pages(client: TestClient, path: str, parameters: dict[str, Any], limit: int) -> str:
    """Return the queries of all pages in their order."""
    queries, cursor = "", None
    while True:
        at: dict[str, str] = {} if cursor is None else {"cursor": cursor}
        page = client.get(path, params={**parameters, "limit": limit, **at}).json()
        assert (page["summary"] is None) == (cursor is not None)
        queries += "".join(item["query_id"] for item in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            return queries


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "abcdefgh"),
        ({"order": "desc"}, "hgfedcba"),
        ({"sort": "ndcg@5"}, "gbehadfc"),
        ({"sort": "nDCG@5", "order": "desc"}, "fdahbegc"),
        ({"sort": "map"}, "ecfhabdg"),
        ({"max": 0.1}, "beg"),
        ({"sort": "ndcg@5", "min": 0.1, "max": 0.5}, "beha"),
        ({"sort": "map", "min": 0.5}, "abd"),
        ({"segment": "market: de"}, "abcde"),
        ({"segment": "market: de", "sort": "ndcg@5", "order": "desc", "min": 0.2}, "da"),
        ({"min": 2}, ""),
    ],
)
@pytest.mark.parametrize("limit", [2, 100])
def test_queries_are_sorted_and_filtered(
    client: TestClient, evaluation: str, parameters: dict[str, Any], expected: str, limit: int
) -> None:
    """Queries are sorted by one metric, with ties in dataset order and undefined values last."""
    assert _queries_of_all_pages(client, evaluation, parameters, limit) == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "abcdefgh"),
        ({"sort": "difference"}, "fdaehbcg"),
        ({"sort": "difference", "order": "desc"}, "bhaedfcg"),
        ({"sort": "difference", "a": 1, "b": 0}, "bhaedfcg"),
        ({"sort": "a"}, "gbehadfc"),
        ({"sort": "b", "order": "desc"}, "dbahcfeg"),
        ({"max": -0.05}, "df"),
        ({"sort": "a", "max": 0.1, "segment": "market: de"}, "be"),
    ],
)
@pytest.mark.parametrize("limit", [3, 100])
def test_compared_queries_are_sorted_by_a_pair(
    client: TestClient, comparison: str, parameters: dict[str, Any], expected: str, limit: int
) -> None:
    """Queries are sorted by the difference B − A or by the value of one system."""
    assert _queries_of_all_pages(client, comparison, parameters, limit) == expected


def test_the_first_page_counts_all_queries(client: TestClient, evaluation: str, comparison: str) -> None:
    """The histogram covers the segment, whatever `min` and `max` are; a segment has 5 queries or more."""
    parameters: dict[str, str | float] = {"sort": "ndcg@5", "segment": "market: de", "min": 0.2, "limit": 1}
    summary = client.get(evaluation, params=parameters).json()["summary"]
    assert summary["total"] == 2
    histogram = summary["histogram"]
    assert histogram["of"] == "ndcg@5"
    assert histogram["edges"] == pytest.approx(np.linspace(0, 1, 21))
    assert {index: count for index, count in enumerate(histogram["counts"]) if count} == {2: 2, 10: 1, 18: 1}
    assert histogram["undefined"] == 1
    assert summary["segments"] == [{"name": "market: de", "by": "market", "value": "de", "queries": 5}]
    histogram = client.get(comparison).json()["summary"]["histogram"]
    assert histogram["of"] == "ndcg@5 new − old"
    assert histogram["edges"] == pytest.approx(np.linspace(-0.8, 0.8, 21))
    assert (sum(histogram["counts"]), histogram["undefined"]) == (6, 2)
    assert client.get(comparison, params={"sort": "b"}).json()["summary"]["histogram"]["of"] == "ndcg@5 new"


@pytest.mark.parametrize(
    "values", [[3.0, np.nextafter(3.0, 4.0)], [2.0**60], [2.0**60, 2.0**60 + 2.0**8], [3.0, NAN]]
)
def test_bins_are_around_values_that_are_equal_except_for_rounding(values: list[float]) -> None:
    """Between them no 20 bins have a width, such as of a DCG that is the same for all queries."""
    histogram = histogram_of("dcg@10", np.array(values))
    assert sum(histogram.counts) == np.count_nonzero(~np.isnan(values))
    assert np.all(np.diff(histogram.edges) > 0)
    assert histogram.edges[0] < values[0] < histogram.edges[-1]


@pytest.mark.parametrize(
    ("parameters", "pointer", "valid_values"),
    [
        ({"sort": "mrr"}, "/sort", "ndcg@5, map"),
        ({"segment": "market: fr"}, "/segment", "market: de"),
        ({"min": 0.5, "max": 0.4}, "/max", "0.5"),
        ({"min": "nan"}, "/min", "finite"),
        ({"order": "best"}, "/order", "asc"),
        ({"max": 0.1, "cursor": "3"}, "/cursor", "next_cursor"),
    ],
)
def test_an_invalid_selection_is_refused_with_the_valid_values(
    client: TestClient, evaluation: str, parameters: dict[str, Any], pointer: str, valid_values: str
) -> None:
    """The error names the valid values; a cursor of another selection is refused where possible."""
    response = client.get(evaluation, params=parameters)
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == pointer
    assert valid_values in error["detail"]


def test_older_results_have_no_segments(client: TestClient, store: Store, evaluation: str) -> None:
    """Older results can be sorted, but not filtered by segment."""
    store.artifacts.delete(evaluation_segments_key(evaluation.split("/")[3]))
    assert client.get(evaluation, params={"sort": "map"}).json()["summary"]["segments"] == []
    response = client.get(evaluation, params={"segment": "market: de"})
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/segment")
