"""Downloads of datasets."""

import contextlib
import io
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI

from app import ApiSettings
from app.http.admission.expensive_reads import ExpensiveReads
from app.http.services import registered
from core.data import RankingDataset, read_dataset, write_parquet
from core.data.named_parquet import NamedFile
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
    features=("bm25", "brand", "weight"),
    categorical_features=("brand",),
    query_weight="query_weight",
    document_weight="document_weight",
)
LETOR = (
    "2 qid:1 1:0.5 3:1e-7 #docid = a inc = 1\n1 qid:1 2:0.25 #docid = b inc = 2\n"
    "0 qid:2 3:inf #docid = c inc = x\n"
)


def parquet_bytes(dataset: RankingDataset) -> bytes:
    """Return the stored bytes of a dataset."""
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
    """A dataset with everything that a table can contain."""
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return read_dataset(path, columns=COLUMNS)


@pytest.fixture
def letor(tmp_path: Path) -> RankingDataset:
    """A dataset of LETOR text with comments."""
    path = tmp_path / "letor.txt"
    path.write_text(LETOR)
    return read_dataset(path)


@pytest.fixture
def qrels(tmp_path: Path) -> RankingDataset:
    """Judgments without features."""
    path = tmp_path / "judged.qrels"
    path.write_text("q1 0 d1 2\nq1 0 d2 -1\nq2 0 d1 0\n")
    return read_dataset(path)


@pytest.mark.parametrize("kind", ["table", "letor", "qrels"])
def test_parquet_is_the_same_dataset_again(
    client: TestClient, store: Store, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """The downloaded file is read to the same bytes, with weights, categories, texts and document columns."""
    dataset: RankingDataset = request.getfixturevalue(kind)
    response = client.get(f"/v1/datasets/{add(store, dataset)}/download")
    assert response.status_code == 200
    assert response.headers["content-disposition"].endswith('.parquet"')
    path = tmp_path / "downloaded.parquet"
    path.write_bytes(response.content)
    assert parquet_bytes(read_dataset(path)) == parquet_bytes(dataset)


def test_parquet_has_names_and_texts(client: TestClient, store: Store, table: RankingDataset) -> None:
    """Parquet has feature names, category names and texts."""
    content = client.get(f"/v1/datasets/{add(store, table)}/download?format=parquet").content
    downloaded = pq.read_table(io.BytesIO(content))
    assert downloaded.column_names == [
        *("query_id", "document_id", "label", "query_weight", "document_weight"),
        *("bm25", "brand", "weight", "market", "query_text", "document_title"),
    ]
    assert downloaded["brand"].to_pylist()[:3] == ["neo", "acme", "neo"]
    assert downloaded["query_text"][0].as_py() == "red shoes 0"
    assert downloaded["label"].to_pylist()[:3] == [0, 1, 2]


def test_a_changed_file_is_read_like_any_other_table(
    client: TestClient, store: Store, table: RankingDataset, tmp_path: Path
) -> None:
    """The metadata of a file apply only while its columns are unchanged."""
    content = client.get(f"/v1/datasets/{add(store, table)}/download").content
    changed = pq.read_table(io.BytesIO(content)).drop_columns(["weight", "brand"])
    path = tmp_path / "changed.parquet"
    pq.write_table(changed.append_column("price", pa.array(np.arange(60.0))), path)
    assert read_dataset(path).feature_names == ("bm25", "price")


@pytest.mark.parametrize(
    ("feature_names", "exported"),
    [
        (("label", "f1", "bm25"), ["label (f1)", "f1 (f2)", "bm25"]),
        (("label (f2)", "label", "bm25"), ["label (f2)", "label (f2) (f2)", "bm25"]),
    ],
)
def test_duplicate_column_names_are_changed(
    client: TestClient,
    store: Store,
    letor: RankingDataset,
    feature_names: tuple[str, ...],
    exported: list[str],
) -> None:
    """A feature may have the name of a column that every file has, or of a changed name."""
    named = RankingDataset(
        letor.features,
        letor.labels,
        letor.query_boundaries,
        query_ids=letor.query_ids,
        document_ids=letor.document_ids,
        feature_names=feature_names,
    )
    content = client.get(f"/v1/datasets/{add(store, named)}/download").content
    names = pq.read_table(io.BytesIO(content)).column_names
    assert names == ["query_id", "document_id", "label", *exported]


def test_letor_is_the_same_dataset_again(
    client: TestClient, store: Store, letor: RankingDataset, tmp_path: Path
) -> None:
    """Features, labels, ids and comments are preserved."""
    response = client.get(f"/v1/datasets/{add(store, letor)}/download?format=letor")
    assert response.headers["content-disposition"].endswith('.letor"')
    assert response.headers["content-type"].startswith("text/plain")
    path = tmp_path / "downloaded.txt"
    path.write_bytes(response.content)
    assert parquet_bytes(read_dataset(path)) == parquet_bytes(letor)


def test_letor_leaves_titles_out(client: TestClient, store: Store, table: RankingDataset) -> None:
    """Titles contain blanks and are left out; document ids are kept."""
    lines = client.get(f"/v1/datasets/{add(store, table)}/download?format=letor").text.splitlines()
    assert lines[1] == "1 qid:q0 1:0.14285715 2:1 3:7 #docid = d1"


@pytest.mark.parametrize(
    ("query_id", "features", "detail"),
    [
        ("red shoes", 1, "cannot be letor, because a query_id is empty or contains a blank: 'red shoes'"),
        ("1", 0, "cannot be letor, because the dataset has no features"),
    ],
)
def test_datasets_that_letor_cannot_represent_are_refused(
    client: TestClient, store: Store, query_id: str, features: int, detail: str
) -> None:
    """The answer is 422 with the reason, before any part of the file is sent."""
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
    assert client.head(f"/v1/datasets/{dataset_id}/download?format=letor").status_code == 422
    assert client.get(f"/v1/datasets/{dataset_id}/download").status_code == 200


def test_a_dataset_that_is_not_ready_has_no_download(client: TestClient, store: Store) -> None:
    """A pending dataset is 409, and an unknown dataset is 404."""
    with store.begin() as tx:
        pending = tx.datasets.add("x", {"kind": "upload"}).id
    assert client.get(f"/v1/datasets/{pending}/download").status_code == 409
    assert client.get("/v1/datasets/ds_none/download").status_code == 404
    assert client.get(f"/v1/datasets/{pending}/download?format=csv").status_code == 422


def test_downloads_are_expensive(
    client: TestClient, store: Store, table: RankingDataset, application: FastAPI, settings: ApiSettings
) -> None:
    """A caller at the limit of concurrent expensive reads is refused."""
    path = f"/v1/datasets/{add(store, table)}/download"
    reads = registered(application, ExpensiveReads)
    with contextlib.ExitStack() as stack:
        for _ in range(settings.expensive_reads_per_caller):
            stack.enter_context(reads.slot("testclient"))
        assert client.get(path).status_code == 429
    assert client.get(path).status_code == 200


@pytest.fixture
def ranged(client: TestClient, store: Store, letor: RankingDataset) -> tuple[str, bytes, str]:
    """The path of a download, its bytes and its ETag."""
    path = f"/v1/datasets/{add(store, letor)}/download"
    whole = client.get(path)
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-length"] == str(len(whole.content))
    assert not whole.headers["etag"].startswith("W/")
    return path, whole.content, whole.headers["etag"]


RANGES = [
    ("bytes=0-0", slice(0, 1)),
    ("bytes=5-9", slice(5, 10)),
    ("bytes=7-", slice(7, None)),
    ("Bytes = 7-", slice(7, None)),
    ("bytes=-4", slice(-4, None)),
    ("bytes=-999999", slice(0, None)),
    ("bytes=3-999999", slice(3, None)),
]


@pytest.mark.parametrize(("byte_range", "part"), RANGES)
def test_ranges_are_sent(
    client: TestClient, ranged: tuple[str, bytes, str], byte_range: str, part: slice
) -> None:
    """By RFC 9110, the answer has the position of the bytes and the ETag of the whole file."""
    path, content, etag = ranged
    answer = client.get(path, headers={"Range": byte_range, "If-Range": etag})
    start, stop, _ = part.indices(len(content))
    assert (answer.status_code, answer.content) == (206, content[part])
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(content)}"
    assert answer.headers["content-length"] == str(stop - start)
    assert answer.headers["etag"] == etag


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=5-9", "If-Range": '"another"'},
        {"Range": "bytes=5-9", "If-Range": "Wed, 21 Oct 2015 07:28:00 GMT"},
        {"Range": "bytes=5-9", "If-Range": "W/{etag}"},
        {"Range": "bytes=9-5"},
        {"Range": "bytes=0-1,5-9"},
        {"Range": "pages=1-2"},
        {"Range": "bytes=-"},
    ],
)
def test_unusable_ranges_are_answered_with_the_whole_file(
    client: TestClient, ranged: tuple[str, bytes, str], headers: dict[str, str]
) -> None:
    """The whole file is sent if the validator differs, or the range is malformed or multiple."""
    path, content, etag = ranged
    sent = {name: value.replace("{etag}", etag) for name, value in headers.items()}
    answer = client.get(path, headers=sent)
    assert (answer.status_code, answer.content) == (200, content)


@pytest.mark.parametrize("byte_range", ["bytes={size}-", "bytes=999999999-", "bytes=-0"])
def test_a_range_past_the_end_is_refused(
    client: TestClient, ranged: tuple[str, bytes, str], byte_range: str
) -> None:
    """416 has the size of the file."""
    path, content, _ = ranged
    answer = client.get(path, headers={"Range": byte_range.format(size=len(content))})
    assert (answer.status_code, answer.json()["type"]) == (416, "/problems/no-such-range")
    assert answer.headers["content-range"] == f"bytes */{len(content)}"


def test_head_requests_and_matching_etags_get_no_bytes(
    client: TestClient, ranged: tuple[str, bytes, str]
) -> None:
    """HEAD returns the headers of the whole file, without reading it; a matching ETag is 304."""
    path, content, etag = ranged
    unreadable = map(pytest.fail, ["a byte was read"])
    with patch.object(NamedFile, "blocks", return_value=unreadable):
        answer = client.head(path, headers={"Range": "bytes=5-9"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert (answer.headers["content-length"], answer.headers["etag"]) == (str(len(content)), etag)
    unchanged = client.get(path, headers={"If-None-Match": etag, "Range": "bytes=5-9"})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_generated_downloads_have_no_ranges(client: TestClient, store: Store, table: RankingDataset) -> None:
    """Generated LETOR text and converted Parquet have neither ranges nor an ETag."""
    path = f"/v1/datasets/{add(store, table)}/download"
    for form in ("parquet", "letor"):
        whole = client.get(f"{path}?format={form}", headers={"Range": "bytes=5-9"})
        assert (whole.status_code, whole.headers["accept-ranges"]) == (200, "none")
        assert not {"content-length", "etag"} & set(whole.headers)
        assert client.head(f"{path}?format={form}").headers["accept-ranges"] == "none"
