"""Texts of queries and documents beside the ids of results."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, dataset_statistics, write_parquet
from core.data.query_index import write_query_index
from core.evaluation import compare_systems, rank_documents
from core.jobs import System
from core.metrics import Conventions
from core.store import Model, Store
from core.store.artifacts.keys import comparison_key, evaluation_key, queries_key, ranking_key
from tests.app.conftest import TestClient

DATASET = RankingDataset.from_arrays(
    np.zeros((5, 1), np.float32),
    [1, 0, 2, 0, 0],
    [0, 2, 5],
    query_ids=["q1", "q2"],
    document_ids=["a", "b", "a", "b", "c"],
    query_columns={"market": ["de", "fr"], "query_text": ["red shoes", ""]},
    document_columns={
        "document_title": ["Shoe", "", "Shoe in blue", "Boot", ""],
        "document_url": ["https://x/a", "", "javascript:alert(1)", "", ""],
        "inc": ["1", "", "", "", ""],
    },
)
KEY = "data/texts/data.parquet"
SCORES = np.array([1.0, 2.0, 3.0, 2.0, 1.0])


@pytest.fixture
def dataset_id(store: Store) -> str:
    """A stored dataset with texts; the second query and some documents have none."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "upload", "filename": "x", "format": "csv"})
        statistics = dataset_statistics(DATASET)
        tx.datasets.mark_ready(dataset.id, statistics=statistics, digest="t", data_key=KEY)
    with store.artifacts.writing(KEY) as file:
        write_parquet(DATASET, file)
    with store.artifacts.writing(queries_key(KEY)) as file:
        write_query_index(DATASET, file)
    return dataset.id


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@pytest.fixture
def ranking_id(store: Store, dataset_id: str, add_model: Callable[[str], Model]) -> str:
    """A ranking of the dataset."""
    job_id = add_model("web").job_id
    with store.begin() as tx:
        ranking = tx.rankings.add(
            job_id=job_id,
            system=System("bm25"),
            dataset_id=dataset_id,
            queries=2,
            documents=5,
        )
    store.artifacts.write_bytes(ranking_key(ranking.id), _parquet(rank_documents(SCORES, DATASET)))
    return ranking.id


def _texts(documents: list[dict[str, Any]]) -> list[tuple[str, str | None, str | None]]:
    return [
        (document["document_id"], document.get("document_title"), document.get("document_url"))
        for document in documents
    ]


def test_a_dataset_shows_its_texts(client: TestClient, dataset_id: str) -> None:
    """Texts are in separate fields, apart from the other columns; a missing text has no field."""
    path = f"/v1/datasets/{dataset_id}/queries"
    listed = client.get(path).json()["items"]
    assert [(one.get("query_text"), one["columns"]) for one in listed] == [
        ("red shoes", {"market": "de"}),
        (None, {"market": "fr"}),
    ]
    shown = client.get(f"{path}/q1").json()
    assert (shown["query_text"], shown["columns"]) == ("red shoes", {"market": "de"})
    assert _texts(shown["documents"]) == [("a", "Shoe", "https://x/a"), ("b", None, None)]
    assert [document["columns"] for document in shown["documents"]] == [{"inc": "1"}, {}]
    assert client.get(f"/v1/datasets/{dataset_id}").json()["statistics"]["texts"] == [
        "query_text",
        "document_title",
        "document_url",
    ]


def test_a_ranking_shows_texts_by_query_and_document(
    client: TestClient, store: Store, dataset_id: str, ranking_id: str
) -> None:
    """A document may have another title for another query; without the dataset only ids are left."""
    path = f"/v1/rankings/{ranking_id}"
    first, second = client.get(path).json()["items"]
    assert (first["query_text"], second.get("query_text")) == ("red shoes", None)
    assert _texts(first["documents"]) == [("b", None, None), ("a", "Shoe", "https://x/a")]
    assert _texts(second["documents"]) == [
        ("a", "Shoe in blue", "javascript:alert(1)"),
        ("b", "Boot", None),
        ("c", None, None),
    ]
    (only,) = client.get(path, params={"query_id": "q2"}).json()["items"]
    assert only == second
    assert client.delete(f"/v1/datasets/{dataset_id}").status_code == 204
    items = client.get(path).json()["items"]
    assert [item.get("query_text") for item in items] == [None, None]
    assert _texts(items[0]["documents"]) == [("b", None, None), ("a", None, None)]


def test_damaged_texts_leave_the_result_readable(
    client: TestClient, store: Store, dataset_id: str, ranking_id: str
) -> None:
    """A ranking is shown by ids where the dataset's file is damaged."""
    store.artifacts.write_bytes(KEY, b"PAR1 but not whole PAR1")
    first, _ = client.get(f"/v1/rankings/{ranking_id}").json()["items"]
    assert _texts(first["documents"]) == [("b", None, None), ("a", None, None)]


def test_results_of_queries_have_their_texts(
    client: TestClient, store: Store, dataset_id: str, ranking_id: str, add_model: Callable[[str], Model]
) -> None:
    """Lists of queries, the most changed queries and rankings side by side have texts."""
    job_id = add_model("web").job_id
    values = {"ndcg@5": np.array([[0.1, 0.9], [0.5, 0.2]])}
    result = compare_systems(["first", "second"], values, {"ndcg@5": True})
    summary = {"mean": 0.5, "lower": 0.4, "upper": 0.6, "queries": 2, "skipped": 0, "contract": {}}
    with store.begin() as tx:
        evaluation = tx.evaluations.add(
            job_id=job_id,
            system=System("first", None, ranking_id),
            dataset_id=dataset_id,
            summaries={"ndcg@5": summary},
            contract=Conventions().to_json(),
            baselines=[],
            slices=[],
        )
        comparison = tx.comparisons.add(
            job_id=job_id,
            dataset_id=dataset_id,
            sentence=result.sentence,
            systems=[
                {"name": name, "model_id": None, "ranking_id": ranking_id, "metrics": {"ndcg@5": summary}}
                for name in ("first", "second")
            ],
            metrics=["ndcg@5"],
            contract=Conventions().to_json(),
            permutations=1000,
            seed=42,
            pairs=[pair.to_json(["q1", "q2"]) for pair in result.pairs],
        )
    table = pa.table({"query_id": ["q1", "q2"], "ndcg@5": [0.1, 0.5]})
    store.artifacts.write_bytes(evaluation_key(evaluation.id), _parquet(table))
    table = pa.table({"query_id": ["q1", "q2"], "ndcg@5": pa.array(values["ndcg@5"].tolist())})
    store.artifacts.write_bytes(comparison_key(comparison.id), _parquet(table))
    for path in (f"evaluations/{evaluation.id}", f"comparisons/{comparison.id}"):
        items = client.get(f"/v1/{path}/queries").json()["items"]
        assert [(item["query_id"], item.get("query_text")) for item in items] == [
            ("q1", "red shoes"),
            ("q2", None),
        ]
    (pair,) = client.get(f"/v1/comparisons/{comparison.id}").json()["pairs"]
    assert [query.get("query_text") for query in pair["most_improved"]] == ["red shoes"]
    assert [query.get("query_text") for query in pair["most_harmed"]] == [None]
    path = f"/v1/comparisons/{comparison.id}/rankings"
    beside = client.get(path, params={"query_id": "q1"}).json()
    assert beside["query_text"] == "red shoes"
    for system in beside["systems"]:
        assert _texts(system["ranking"]) == [("b", None, None), ("a", "Shoe", "https://x/a")]
