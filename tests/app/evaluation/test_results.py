"""Stored evaluations and rankings."""

import io
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import hypothesis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.http import parquet_pages
from app.http.parquet_pages import BATCH_ROWS, ranking_batches, read_queries, read_rows
from core.data.trec import write_run
from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from tests.app.conftest import TestClient

# Scores of each query, best first, as a ranking job stores them.
Scores = dict[str, list[float]]
_INTERVAL = {"mean": 0.3, "lower": 0.2, "upper": 0.4}
RANKED: Scores = {"q2": [3.5, 1.25, 1.25, -2.0], "q1": [0.1], "q 10": [7.0, 7.0]}


def _parquet(scores: Scores, row_group_size: int = 1000) -> bytes:
    rows = [
        {
            "query_id": query_id,
            "document_id": f"d{rank}",
            "rank": rank,
            "score": score,
            "label": float(rank % 3),
        }
        for query_id, values in scores.items()
        for rank, score in enumerate(values, start=1)
    ]
    columns: list[tuple[str, pa.DataType]] = [
        ("query_id", pa.string()),
        ("document_id", pa.string()),
        ("rank", pa.int32()),
        ("score", pa.float64()),
        ("label", pa.float32()),
    ]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(columns)), sink, row_group_size=row_group_size)
    return sink.getvalue()


@pytest.fixture
def ranking_id(store: Store, add_model: Callable[[str], Model]) -> str:
    """A stored ranking of three queries."""
    model = add_model("web")
    with store.begin() as tx:
        ranking = tx.rankings.add(
            job_id=model.job_id,
            system=System("web:1", model.id),
            dataset_id=str(model.dataset_id),
            queries=3,
            documents=7,
        )
    store.artifacts.write_bytes(f"rankings/{ranking.id}/ranking.parquet", _parquet(RANKED))
    return ranking.id


def test_a_ranking_is_paged_by_queries(client: TestClient, ranking_id: str) -> None:
    """Pages have whole queries in dataset order, with documents by rank, until the last cursor is null."""
    first = client.get(f"/v1/rankings/{ranking_id}?limit=2").json()
    assert first["id"] == ranking_id
    assert [item["query_id"] for item in first["items"]] == ["q2", "q1"]
    assert first["items"][0]["documents"][1] == {
        "document_id": "d2",
        "rank": 2,
        "score": 1.25,
        "label": 2.0,
    }
    second = client.get(f"/v1/rankings/{ranking_id}?limit=2&cursor={first['next_cursor']}").json()
    assert [item["query_id"] for item in second["items"]] == ["q 10"]
    assert second["next_cursor"] is None


def test_one_query_of_a_ranking_is_shown(client: TestClient, ranking_id: str) -> None:
    """A query is selected by any id; an id that the ranking does not have is 404."""
    shown = client.get(f"/v1/rankings/{ranking_id}", params={"query_id": "q 10"}).json()
    assert [(item["query_id"], len(item["documents"])) for item in shown["items"]] == [("q 10", 2)]
    assert shown["next_cursor"] is None
    missing = client.get(f"/v1/rankings/{ranking_id}?query_id=q9")
    assert (missing.status_code, "q9" in missing.json()["detail"]) == (404, True)


def test_rankings_are_listed_newest_first(
    client: TestClient, store: Store, ranking_id: str, add_model: Callable[[str], Model]
) -> None:
    """The list has rankings of models and uploaded runs; `dataset_id` selects those of a dataset."""
    job_id = add_model("other").job_id
    with store.begin() as tx:
        run = tx.rankings.add(
            job_id=job_id, system=System("bm25"), dataset_id="ds_other", queries=1, documents=2
        )
    items = client.get("/v1/rankings").json()["items"]
    assert [(item["id"], item["system"]) for item in items] == [(run.id, "bm25"), (ranking_id, "web:1")]
    assert items[0]["model_id"] is None
    (ranking,) = client.get("/v1/rankings?dataset_id=ds_other").json()["items"]
    assert (ranking["id"], ranking["queries"], ranking["documents"]) == (run.id, 1, 2)
    for uploaded, expected in (("true", run.id), ("false", ranking_id)):
        (ranking,) = client.get(f"/v1/rankings?uploaded={uploaded}").json()["items"]
        assert ranking["id"] == expected
    first = client.get("/v1/rankings?limit=1").json()
    (second,) = client.get(f"/v1/rankings?limit=1&cursor={first['next_cursor']}").json()["items"]
    assert second["id"] == ranking_id


@pytest.mark.parametrize("cursor", ["-1", "7", "x", "1e3", "²", "9" * 30])
def test_a_made_up_cursor_is_refused(client: TestClient, ranking_id: str, cursor: str) -> None:
    """Only the cursor of a page is valid."""
    response = client.get(f"/v1/rankings/{ranking_id}", params={"cursor": cursor})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/cursor"


def test_a_run_file_has_the_format_of_trec_eval(client: TestClient, ranking_id: str) -> None:
    """A line has six columns; blanks within an identifier do not add a seventh."""
    response = client.get(f"/v1/rankings/{ranking_id}?format=trec")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    lines = [line.split() for line in response.text.splitlines()]
    assert all(len(line) == 6 for line in lines)
    assert lines[0] == ["q2", "Q0", "d1", "1", "3.5", "rankery-web-1"]
    assert [line[0] for line in lines] == ["q2"] * 4 + ["q1"] + ["q%2010"] * 2


def test_a_run_file_distinguishes_all_ids(client: TestClient, store: Store, ranking_id: str) -> None:
    """Two queries with one spelling would be one query of the file; the download is refused instead."""
    key = f"rankings/{ranking_id}/ranking.parquet"
    store.artifacts.delete(key)
    store.artifacts.write_bytes(key, _parquet({"q 10": [1.0], "q%2010": [2.0]}))
    refused = client.get(f"/v1/rankings/{ranking_id}?format=trec")
    assert (refused.status_code, "for both 'q 10' and 'q%2010'" in refused.json()["detail"]) == (422, True)
    assert client.get(f"/v1/rankings/{ranking_id}?format=parquet").status_code == 200


def test_a_ranking_downloads_as_parquet(client: TestClient, ranking_id: str) -> None:
    """The download is the stored file."""
    response = client.get(f"/v1/rankings/{ranking_id}?format=parquet")
    assert response.content == _parquet(RANKED)
    assert f'filename="{ranking_id}.parquet"' in response.headers["content-disposition"]


def test_an_unknown_result_is_not_found(client: TestClient) -> None:
    """404 for rankings, evaluations and their queries."""
    for path in ("rankings/rnk_none", "evaluations/evl_none", "evaluations/evl_none/queries"):
        assert client.get(f"/v1/{path}").status_code == 404


@pytest.mark.long
@hypothesis.settings(deadline=None)  # the machine may be busy, and the test measures no time
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    limit=st.integers(1, 5),
    row_group_size=st.integers(1, 20),
)
def test_pages_visit_every_query_once(sizes: list[int], limit: int, row_group_size: int) -> None:
    """For any row groups and page size, no query is cut, skipped or repeated."""
    scores = {f"q{i}": [float(-r) for r in range(size)] for i, size in enumerate(sizes)}
    content = _parquet(scores, row_group_size)
    queries, cursor, first = [], None, True
    while first or cursor is not None:
        page, cursor = read_queries(io.BytesIO(content), cursor, limit)
        assert len(page) == limit or cursor is None
        queries += page
        first = False
    assert [[row["score"] for row in query] for query in queries] == list(scores.values())


def test_a_page_of_long_queries_has_fewer_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are bounded, except those of a single query, however many queries are requested."""
    monkeypatch.setattr(parquet_pages, "MAX_ROWS", 8)
    scores = {f"q{i}": [0.0] * size for i, size in enumerate((20, 4, 4, 4, 1))}
    content, cursor = _parquet(scores, row_group_size=3), None
    lengths: list[list[int]] = []
    while not lengths or cursor is not None:
        page, cursor = read_queries(io.BytesIO(content), cursor, 5)
        lengths.append([len(rows) for rows in page])
    assert lengths == [[20], [4, 4], [4, 1]]


def test_a_page_may_span_many_batches() -> None:
    """A query larger than one read is still one query."""
    scores = {"long": [0.0] * (2 * BATCH_ROWS + 5), "short": [1.0]}
    page, cursor = read_queries(io.BytesIO(_parquet(scores, row_group_size=BATCH_ROWS // 3)), None, 1)
    assert ([len(query) for query in page], cursor) == ([2 * BATCH_ROWS + 5], str(2 * BATCH_ROWS + 5))


@hypothesis.settings(deadline=None)  # the machine may be busy, and the test measures no time
@given(
    st.lists(
        st.lists(st.floats(-1e30, 1e30) | st.sampled_from([0.0, 1.0, 1.0 + 1e-12]), min_size=1, max_size=8),
        min_size=1,
        max_size=4,
    )
)
def test_a_run_file_keeps_the_order_of_documents(scores: list[list[float]]) -> None:
    """As float32, which trec_eval reads, scores decrease strictly within each query and change little."""
    ranked = {f"q{i}": sorted(values, reverse=True) for i, values in enumerate(scores)}
    text = "".join(write_run(ranking_batches(io.BytesIO(_parquet(ranked))), "tag"))
    lines = [line.split() for line in text.splitlines()]
    for query_id, rows in itertools.groupby(lines, key=lambda line: line[0]):
        written = np.array([row[4] for row in rows]).astype(np.float32)
        assert (np.diff(written.astype(np.float64)) < 0).all()
        np.testing.assert_allclose(written, ranked[query_id], rtol=1e-5, atol=1e-30)


@pytest.fixture
def evaluation_id(store: Store, add_model: Callable[[str], Model]) -> str:
    """A stored evaluation of five queries, one of them without relevant documents."""
    model = add_model("web")
    summary = {
        "mean": 0.5,
        "lower": 0.4,
        "upper": 0.6,
        "queries": 4,
        "skipped": 1,
        "quantiles": {"p50": 0.4},
        "higher_is_better": True,
        "contract": {"gain": "exp2"},
    }
    with store.begin() as tx:
        evaluation = tx.evaluations.add(
            job_id=model.job_id,
            system=System("web:1", model.id),
            dataset_id=str(model.dataset_id),
            summaries={"ndcg@5": summary},
            contract=Conventions().to_json(),
            baselines=[{"name": "random", "detail": "seed 42", "metrics": {"ndcg@5": _INTERVAL}}],
            slices=[
                {"by": "market", "value": "de", "queries": 5, "metrics": {"ndcg@5": _INTERVAL}},
                {"by": "market", "value": "fr", "queries": 4, "metrics": {"ndcg@5": _INTERVAL}},
            ],
        )
    sink = io.BytesIO()
    table = pa.table({"query_id": list("abcde"), "ndcg@5": [0.1, 0.9, float("nan"), 0.6, 0.4]})
    pq.write_table(table, sink)
    store.artifacts.write_bytes(f"evaluations/{evaluation.id}/queries.parquet", sink.getvalue())
    return evaluation.id


def test_an_evaluation_shows_its_intervals_and_contract(client: TestClient, evaluation_id: str) -> None:
    """Each metric has its interval, its conventions and the number of its queries."""
    evaluation = client.get(f"/v1/evaluations/{evaluation_id}").json()
    assert evaluation["metrics"] == {
        "ndcg@5": {
            "mean": 0.5,
            "lower": 0.4,
            "upper": 0.6,
            "quantiles": {"p50": 0.4},
            "queries": 4,
            "skipped": 1,
            "higher_is_better": True,
            "contract": {"gain": "exp2"},
        }
    }
    assert evaluation["contract"]["preset"] == "default"
    assert (evaluation["system"], evaluation["ranking_id"]) == ("web:1", None)
    assert evaluation["baselines"] == [
        {"name": "random", "detail": "seed 42", "metrics": {"ndcg@5": _INTERVAL}}
    ]
    assert evaluation["slices"] == [
        {"by": "market", "value": "de", "queries": 5, "metrics": {"ndcg@5": _INTERVAL}}
    ]


def test_evaluations_are_listed_newest_first(
    client: TestClient, store: Store, evaluation_id: str, add_model: Callable[[str], Model]
) -> None:
    """The list has the means of models and rankings; each filter selects the matching evaluations."""
    other = add_model("other")
    with store.begin() as tx:
        of_run = tx.evaluations.add(
            job_id=other.job_id,
            system=System("bm25", None, "rnk_1"),
            dataset_id="ds_other",
            summaries={"map": _INTERVAL},
            contract={},
            baselines=[],
            slices=[],
        )
    items = client.get("/v1/evaluations").json()["items"]
    assert [(item["id"], item["system"]) for item in items] == [(of_run.id, "bm25"), (evaluation_id, "web:1")]
    assert items[0]["metrics"] == {"map": _INTERVAL}
    parameters = {"evaluation": [of_run.id, "evl_none", evaluation_id, of_run.id]}
    several = client.get("/v1/evaluations/metrics", params=parameters).json()
    assert [(item["id"], item["system"]) for item in several["items"]] == [
        (of_run.id, "bm25"),
        (evaluation_id, "web:1"),
    ]
    assert (several["items"][0]["metrics"], several["missing"]) == ({"map": _INTERVAL}, ["evl_none"])
    for query, expected in (
        ("dataset_id=ds_other", of_run.id),
        ("ranking_id=rnk_1", of_run.id),
        (f"model_id={items[1]['model_id']}", evaluation_id),
        (f"cursor={of_run.id}", evaluation_id),
    ):
        (listed,) = client.get(f"/v1/evaluations?{query}").json()["items"]
        assert listed["id"] == expected


def test_query_values_are_paged(client: TestClient, evaluation_id: str) -> None:
    """There is one entry per query, null where the metric is undefined."""
    path = f"/v1/evaluations/{evaluation_id}/queries?limit=3"
    first = client.get(path).json()
    assert first["items"] == _values([("a", 0.1), ("b", 0.9), ("c", None)])
    second = client.get(f"{path}&cursor={first['next_cursor']}").json()
    assert (second["items"], second["next_cursor"]) == (_values([("d", 0.6), ("e", 0.4)]), None)


def _values(pairs: Sequence[tuple[str, float | None]]) -> list[dict[str, Any]]:
    return [{"query_id": query_id, "values": {"ndcg@5": value}} for query_id, value in pairs]


def test_a_full_last_page_has_no_cursor() -> None:
    """No empty page follows a full last page."""
    rows, cursor = read_rows(io.BytesIO(_parquet({"q": [2.0, 1.0]})), None, 2)
    assert (len(rows), cursor) == (2, None)
