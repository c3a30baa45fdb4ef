"""Queries, documents and features of a stored dataset."""

import json
from dataclasses import asdict
from urllib.parse import quote

import numpy as np
import pytest

from core.data import RankingDataset, dataset_statistics, write_parquet
from core.data.query_index import write_query_index
from core.doctor import examine
from core.store import Store
from core.store.artifacts.keys import features_key, queries_key
from rankery.client.references import escaped_path_segment
from tests.app.conftest import TestClient

QUERY_IDS = ("a", "shoes/red", "ärmel & co?", "..", " ")
DATASET = RankingDataset.from_arrays(
    np.arange(20, dtype=np.float32).reshape(10, 2) / np.float32(10),
    [2, 0, 1, 0, np.nan, 3, -1, 0, 0, 1],
    [0, 2, 4, 7, 8, 10],
    query_ids=QUERY_IDS,
    document_ids=[f"d{i}" for i in range(10)],
    feature_names=["bm25", "age"],
    query_weights=[1, 2, 3, 4, 5],
    document_weights=np.arange(10) / 4,
    query_columns={"market": ["de", "de", "fr", "fr", "it"]},
    document_columns={"inc": ["1", *[""] * 9], "prob": [f"0.{row}" for row in range(10)]},
)
DATASET.matrix[1] = (np.nan, np.inf)
DATASET.matrix[0, 1] = -np.inf


@pytest.fixture
def dataset_id(store: Store) -> str:
    """The dataset above, stored as a worker stores it."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "upload", "filename": "x", "format": "letor"})
        tx.datasets.mark_ready(
            dataset.id,
            statistics=dataset_statistics(DATASET),
            digest="d" * 64,
            data_key="data/x/data.parquet",
        )
    with store.artifacts.writing("data/x/data.parquet") as file:
        write_parquet(DATASET, file)
    with store.artifacts.writing(queries_key("data/x/data.parquet")) as file:
        write_query_index(DATASET, file)
    profiles = json.dumps([asdict(profile) for profile in examine(DATASET).features])
    store.artifacts.write_bytes(features_key("data/x/data.parquet"), profiles.encode())
    return dataset.id


def test_queries_are_listed_in_pages(client: TestClient, dataset_id: str) -> None:
    """Queries are in the order of the dataset, with documents, labels and columns."""
    page = client.get(f"/v1/datasets/{dataset_id}/queries?limit=2").json()
    assert page["items"][0] == {
        "query_id": "a",
        "documents": 2,
        "relevant": 1,
        "min_label": 0.0,
        "max_label": 2.0,
        "columns": {"market": "de"},
    }
    seen = [entry["query_id"] for entry in page["items"]]
    while cursor := page["next_cursor"]:
        page = client.get(f"/v1/datasets/{dataset_id}/queries?limit=2&cursor={cursor}").json()
        seen += [entry["query_id"] for entry in page["items"]]
    assert seen == list(QUERY_IDS)
    page = client.get(f"/v1/datasets/{dataset_id}/queries", params={"prefix": "sho"}).json()
    assert [entry["query_id"] for entry in page["items"]] == ["shoes/red"]
    assert client.get(f"/v1/datasets/{dataset_id}/queries", params={"prefix": "zz"}).json()["items"] == []


@pytest.mark.parametrize("query", range(3))
def test_a_query_is_shown_as_it_was_read(client: TestClient, dataset_id: str, query: int) -> None:
    """A query has documents, labels, weights and features; missing values are null, infinities are text."""
    name = QUERY_IDS[query]
    shown = client.get(f"/v1/datasets/{dataset_id}/queries/{quote(name, safe='')}").json()
    rows = range(*DATASET.query_boundaries[query : query + 2].tolist())
    assert (shown["query_id"], shown["total"], shown["weight"]) == (name, len(rows), query + 1.0)
    assert shown["feature_names"] == ["bm25", "age"]
    assert [document["document_id"] for document in shown["documents"]] == [f"d{row}" for row in rows]
    assert [document["weight"] for document in shown["documents"]] == [row / 4 for row in rows]
    expected = (
        [{"inc": "1", "prob": "0.0"}, {"prob": "0.1"}]
        if query == 0
        else [{"prob": f"0.{row}"} for row in rows]
    )
    assert [document["columns"] for document in shown["documents"]] == expected
    if query == 0:
        assert [document["features"] for document in shown["documents"]] == [
            [0.0, "-Infinity"],
            [None, "Infinity"],
        ]
    if query == 2:
        assert [document["label"] for document in shown["documents"]] == [None, 3.0, -1.0]
        assert shown["documents"][1]["features"] == [1.0, 1.1]


def test_any_query_id_has_a_url(client: TestClient, store: Store) -> None:
    """Any id that a file may contain has a URL in the API and in the dashboard."""
    ids = ["a\nb", "\n", "q\n", "a\r\n/b", "/a", "a//b/", ".", "...", "a?b#c", "\x00", "\u202e", " ", "\\"]
    dataset = RankingDataset.from_arrays(
        np.zeros((len(ids), 1), np.float32), np.zeros(len(ids)), np.arange(len(ids) + 1), query_ids=ids
    )
    key = "data/odd/data.parquet"
    with store.begin() as tx:
        row = tx.datasets.add("odd", {"kind": "upload", "filename": "x", "format": "parquet"})
        tx.datasets.mark_ready(row.id, statistics={"features": 1}, digest="o", data_key=key)
    with store.artifacts.writing(key) as file:
        write_parquet(dataset, file)
    with store.artifacts.writing(queries_key(key)) as file:
        write_query_index(dataset, file)
    listed = client.get(f"/v1/datasets/{row.id}/queries").json()["items"]
    assert [query["query_id"] for query in listed] == ids
    for query_id in ids:
        path = f"datasets/{row.id}/queries/{escaped_path_segment(query_id)}"
        shown = client.get(f"/v1/{path}")
        assert (shown.status_code, shown.json().get("query_id")) == (200, query_id)
        assert client.get(f"/{path}").status_code == 200


def test_a_long_query_is_shown_in_parts(client: TestClient, dataset_id: str) -> None:
    """Offset and limit select documents; an offset past the end selects none."""
    path = f"/v1/datasets/{dataset_id}/queries/{quote(QUERY_IDS[2], safe='')}"
    shown = client.get(f"{path}?offset=1&limit=1").json()
    assert (shown["offset"], shown["total"]) == (1, 3)
    assert [document["document_id"] for document in shown["documents"]] == ["d5"]
    assert client.get(f"{path}?offset=7").json()["documents"] == []


def test_features_are_described(client: TestClient, dataset_id: str) -> None:
    """There is one profile per feature, in the order of the dataset."""
    items = client.get(f"/v1/datasets/{dataset_id}/features").json()["items"]
    assert [item["name"] for item in items] == ["bm25", "age"]
    assert (items[0]["missing"], items[1]["infinite"]) == (1, 2)


@pytest.mark.parametrize("path", ["queries", "queries/a", "features"])
def test_a_dataset_that_is_not_ready_cannot_be_browsed(client: TestClient, path: str) -> None:
    """A pending dataset is 409, and an unknown dataset is 404."""
    pending = client.post("/v1/datasets/synthetic", json={"queries": 1}).json()["id"]
    assert client.get(f"/v1/datasets/{pending}/{path}").status_code == 409
    assert client.get(f"/v1/datasets/ds_none/{path}").status_code == 404


def test_an_unknown_query_is_not_found(client: TestClient, dataset_id: str) -> None:
    """404 names the unknown query, and an invalid cursor is 422."""
    response = client.get(f"/v1/datasets/{dataset_id}/queries/nope")
    assert (response.status_code, "nope" in response.json()["detail"]) == (404, True)
    assert client.get(f"/v1/datasets/{dataset_id}/queries?cursor=99").status_code == 422


def test_categories_have_their_texts(client: TestClient, store: Store) -> None:
    """Codes are positions in the dataset's list, so each response has the texts of its codes."""
    dataset = RankingDataset.from_arrays(
        [[2.0, 0.5], [0.0, 0.1], [np.nan, 0.2], [1.0, 0.3]],
        [1, 0, 0, 1],
        [0, 3, 4],
        query_ids=["a", "b"],
        feature_names=["brand", "bm25"],
        categories={"brand": ["acme", "neo", "zenith"]},
    )
    with store.begin() as tx:
        row = tx.datasets.add("judged", {"kind": "upload"})
        tx.datasets.mark_ready(
            row.id, statistics=dataset_statistics(dataset), digest="c" * 64, data_key="data/y/data.parquet"
        )
    with store.artifacts.writing("data/y/data.parquet") as file:
        write_parquet(dataset, file)
    with store.artifacts.writing(queries_key("data/y/data.parquet")) as file:
        write_query_index(dataset, file)
    query = client.get(f"/v1/datasets/{row.id}/queries/a").json()
    assert query["categories"] == {"brand": {"0": "acme", "2": "zenith"}}
    assert [document["features"][0] for document in query["documents"]] == [2.0, 0.0, None]


def test_qrels_distinguish_all_ids(client: TestClient, dataset_id: str, store: Store) -> None:
    """Two documents of a query with one spelling would be one document; the download is refused instead."""
    assert client.get(f"/v1/datasets/{dataset_id}/qrels").status_code == 200
    alike = RankingDataset.from_arrays(
        np.zeros((2, 1), np.float32), [0, 1], [0, 2], query_ids=["q"], document_ids=["a b", "a%20b"]
    )
    with store.artifacts.writing("data/y/data.parquet") as file:
        write_parquet(alike, file)
    with store.begin() as tx:
        tx.datasets.get(dataset_id).data_key = "data/y/data.parquet"
    refused = client.get(f"/v1/datasets/{dataset_id}/qrels")
    assert (refused.status_code, "for both 'a b' and 'a%20b'" in refused.json()["detail"]) == (422, True)
