"""Downloads of datasets."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI

from app import ApiSettings
from core.data import RankingDataset, read_dataset, write_parquet
from core.data.options import Columns
from core.store import Store
from tests.app.conftest import TestClient

ROWS = "".join(
    f"q{row // 3},d{row},{row % 3},{row / 7 if row % 4 else ''},7,{('neo', 'acme')[row % 2]},"
    f"m{row // 3 % 2},red shoes {row // 3},Shoe {row},{1 + row},{1 + row // 3}\n"
    for row in range(60)
)
TABLE = (
    "query_id,document_id,label,bm25,weight,brand,market,query_text,title,document_weight,query_weight\n"
    + ROWS
)
COLUMNS = Columns(
    features=("bm25", "weight"),
    categorical_features=("brand",),
    query_weight="query_weight",
    document_weight="document_weight",
)
LETOR = (
    "2 qid:1 1:0.5 3:1e-7 #docid = a inc = 1\n1 qid:1 2:0.25 #docid = b inc = 2\n"
    "0 qid:2 3:inf #docid = c inc = x\n"
)


def stored(dataset: RankingDataset) -> bytes:
    """Return the bytes that are stored of a dataset."""
    file = io.BytesIO()
    write_parquet(dataset, file)
    return file.getvalue()


def add(store: Store, dataset: RankingDataset) -> str:
    """Record a dataset that is ready."""
    with store.artifacts.writing("data/x/data.parquet") as file:
        write_parquet(dataset, file)
    with store.begin() as tx:
        row = tx.datasets.add("x", {"kind": "upload"})
        tx.datasets.mark_ready(row.id, statistics={}, digest="x", data_key="data/x/data.parquet")
    return row.id


@pytest.fixture
def table(tmp_path: Path) -> RankingDataset:
    """A dataset with everything that a table can hold."""
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return read_dataset(path, columns=COLUMNS)


@pytest.fixture
def letor(tmp_path: Path) -> RankingDataset:
    """A dataset of LETOR text with comments."""
    path = tmp_path / "letor.txt"
    path.write_text(LETOR)
    return read_dataset(path)


@pytest.mark.parametrize("kind", ["table", "letor"])
def test_parquet_is_the_same_dataset_again(
    client: TestClient, store: Store, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """To the byte, without any option: weights, categories, texts and columns of documents included."""
    dataset: RankingDataset = request.getfixturevalue(kind)
    response = client.get(f"/v1/datasets/{add(store, dataset)}/download")
    assert response.status_code == 200
    assert response.headers["content-disposition"].endswith('.parquet"')
    path = tmp_path / "downloaded.parquet"
    path.write_bytes(response.content)
    assert stored(read_dataset(path)) == stored(dataset)


def test_parquet_has_names_and_texts(client: TestClient, store: Store, table: RankingDataset) -> None:
    """As a data frame shows them."""
    content = client.get(f"/v1/datasets/{add(store, table)}/download?format=parquet").content
    found = pq.read_table(io.BytesIO(content))
    assert found.column_names == [
        *("query_id", "document_id", "label", "query_weight", "document_weight"),
        *("bm25", "weight", "brand", "market", "query_text", "document_title"),
    ]
    assert found["brand"].to_pylist()[:3] == ["neo", "acme", "neo"]
    assert found["query_text"][0].as_py() == "red shoes 0"
    assert found["label"].to_pylist()[:3] == [0, 1, 2]


def test_a_changed_file_is_any_table(
    client: TestClient, store: Store, table: RankingDataset, tmp_path: Path
) -> None:
    """What its metadata say holds only as long as its columns are the same."""
    content = client.get(f"/v1/datasets/{add(store, table)}/download").content
    changed = pq.read_table(io.BytesIO(content)).drop_columns(["weight", "brand"])
    path = tmp_path / "changed.parquet"
    pq.write_table(changed.append_column("price", pa.array(np.arange(60.0))), path)
    assert read_dataset(path).feature_names == ("bm25", "price")


def test_names_that_are_taken_are_told_apart(client: TestClient, store: Store, letor: RankingDataset) -> None:
    """A feature may be called as a column that every file has."""
    named = RankingDataset(
        letor.features,
        letor.labels,
        letor.query_boundaries,
        query_ids=letor.query_ids,
        document_ids=letor.document_ids,
        feature_names=("label", "f1", "bm25"),
    )
    content = client.get(f"/v1/datasets/{add(store, named)}/download").content
    names = pq.read_table(io.BytesIO(content)).column_names
    assert names == ["query_id", "document_id", "label", "label (f1)", "f1 (f2)", "bm25"]


def test_letor_is_the_same_dataset_again(
    client: TestClient, store: Store, letor: RankingDataset, tmp_path: Path
) -> None:
    """Features, labels, ids and comments."""
    response = client.get(f"/v1/datasets/{add(store, letor)}/download?format=letor")
    assert response.headers["content-disposition"].endswith('.letor"')
    assert response.headers["content-type"].startswith("text/plain")
    path = tmp_path / "downloaded.txt"
    path.write_bytes(response.content)
    assert stored(read_dataset(path)) == stored(letor)


def test_letor_leaves_titles_out(client: TestClient, store: Store, table: RankingDataset) -> None:
    """They hold blanks; ids that do cannot be left out."""
    lines = client.get(f"/v1/datasets/{add(store, table)}/download?format=letor").text.splitlines()
    assert lines[1] == "1 qid:q0 1:0.14285715 2:7 3:1 #docid = d1"


@pytest.mark.parametrize(
    ("query_id", "features", "detail"),
    [
        ("red shoes", 1, "cannot be letor: a query_id is empty or holds a blank: 'red shoes'"),
        ("1", 0, "cannot be letor: the dataset has no features"),
    ],
)
def test_what_letor_cannot_hold_is_told(
    client: TestClient, store: Store, query_id: str, features: int, detail: str
) -> None:
    """Before anything is sent."""
    dataset = RankingDataset.from_arrays(
        np.zeros((1, features), np.float32),
        np.ones(1, np.float32),
        np.array([0, 1]),
        query_ids=(query_id,),
        feature_names=("x",)[:features],
    )
    dataset_id = add(store, dataset)
    response = client.get(f"/v1/datasets/{dataset_id}/download?format=letor")
    assert response.status_code == 422
    assert response.json()["errors"] == [{"pointer": "/format", "detail": detail}]
    assert client.get(f"/v1/datasets/{dataset_id}/download").status_code == 200


def test_a_dataset_that_is_not_ready_has_none(client: TestClient, store: Store) -> None:
    """Nor has one that is not there."""
    with store.begin() as tx:
        pending = tx.datasets.add("x", {"kind": "upload"}).id
    assert client.get(f"/v1/datasets/{pending}/download").status_code == 409
    assert client.get("/v1/datasets/ds_none/download").status_code == 404
    assert client.get(f"/v1/datasets/{pending}/download?format=csv").status_code == 422


def test_downloads_are_expensive(
    client: TestClient, store: Store, table: RankingDataset, application: FastAPI, settings: ApiSettings
) -> None:
    """While as many as a caller may have are sent, another one is refused."""
    path = f"/v1/datasets/{add(store, table)}/download"
    reads = application.state.services.expensive
    with contextlib.ExitStack() as stack:
        for _ in range(settings.expensive_reads_per_caller):
            stack.enter_context(reads.slot("testclient"))
        assert client.get(path).status_code == 429
    assert client.get(path).status_code == 200
