"""Candidates as tables of Arrow."""

import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.scoring.arrow_headers import Flatbuffer, validated_stream
from app.scoring.tables import MEDIA_TYPE, read_table
from core.errors import InvalidInput
from core.store import Model
from tests.app.conftest import FEATURE_NAMES, TestClient
from tests.app.scoring.conftest import arrow_stream, rank_stream

COLUMNS: dict[str, Any] = {
    "query_id": ["a", "a", "a", "b", "b"],
    "document_id": ["1", "2", "3", "1", "2"],
    "bm25": [0.1, 0.9, None, 0.3, 0.7],
    "age/days": [1, 2, 3, 4, 5],
}


def _table_of(response: Any) -> pa.Table:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == MEDIA_TYPE
    return pa.ipc.open_stream(response.content).read_all()


def test_a_table_is_ranked_as_json_is(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Scores and order equal those of JSON, for columns of features or of lists, in several batches."""
    model = add_model("web")
    ranked = _table_of(rank_stream(client, arrow_stream(pa.table(COLUMNS))))
    queries = [
        {
            "id": query,
            "documents": [
                {
                    "id": COLUMNS["document_id"][row],
                    "features": {name: COLUMNS[name][row] for name in ("bm25", "age/days")},
                }
                for row in range(5)
                if COLUMNS["query_id"][row] == query
            ],
        }
        for query in ("a", "b")
    ]
    answer = client.post("/v1/models/web/rank", json={"queries": queries}).json()
    assert ranked.to_pylist() == [
        {
            "query_id": query["id"],
            "document_id": document["id"],
            "row": int(document["id"]) - 1 + 3 * (query["id"] == "b"),
            "rank": document["rank"],
            "score": document["score"],
        }
        for query in answer["queries"]
        for document in query["ranking"]
    ]
    assert ranked.schema.metadata == {
        b"model_id": model.id.encode(),
        b"model_name": b"web",
        b"model_version": b"1",
    }
    matrix = np.array(
        [[COLUMNS["bm25"][row] or np.nan, np.nan, COLUMNS["age/days"][row]] for row in range(5)]
    )
    lists = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel().astype(np.float32)), len(FEATURE_NAMES))
    by_lists = pa.table({"query_id": COLUMNS["query_id"], "features": lists})
    same = _table_of(rank_stream(client, arrow_stream(by_lists)))
    assert same.column("score").equals(ranked.column("score"))
    assert same.column_names == ["query_id", "row", "rank", "score"]
    best = _table_of(rank_stream(client, arrow_stream(by_lists), "?top_k=1"))
    assert best.to_pylist() == [row for row in same.to_pylist() if row["rank"] == 1]
    alone = _table_of(rank_stream(client, arrow_stream(by_lists.drop_columns("query_id").slice(0, 0))))
    assert alone.to_pylist() == []


def _bad(**columns: Any) -> bytes:
    return arrow_stream(pa.table({**COLUMNS, **columns}))


def test_a_bad_table_is_refused(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """The error has the column and the reason; damaged and compressed streams are refused whole."""
    add_model("web")
    good = arrow_stream(pa.table(COLUMNS))
    zeros = pa.table({"bm25": np.zeros(100)})
    cases = [
        (b"", "/", "must be a stream"),
        (b"PAR1", "/", "must be a stream"),
        (good[: len(good) // 2], "/", "must be a stream"),
        (good.replace(b"aaa", b"a\xff\xfe"), "/", "must be a stream"),
        (arrow_stream(zeros, compression="zstd"), "/", "without compression"),
        (arrow_stream(zeros, compression="lz4"), "/", "without compression"),
        (
            _bad(query_id=pa.array(list("aabba"))),
            "/query_id",
            "row 4: documents of query 'a' are not contiguous",
        ),
        (_bad(document_id=pa.array(list("12212"))), "/document_id", "row 2: '2' is in this query twice"),
        (_bad(document_id=pa.array(["1", None, "3", "1", "2"])), "/document_id", "has a null"),
        (_bad(query_id=pa.array([0.5] * 5)), "/query_id", "texts or whole numbers"),
        (_bad(pagerank=pa.array(["x"] * 5)), "/pagerank", "a column of numbers, not of texts; convert"),
        (_bad(pagerank=pa.array([True] * 5)), "/pagerank", "columns of bool are not accepted"),
        (_bad(pagerank=pa.array(["x"] * 5).dictionary_encode()), "/pagerank", "not accepted"),
        (_bad(pagerank=pa.nulls(5)), "/pagerank", "not accepted"),
        (
            _bad(pagerank=pa.array([1.0, 2.0, 1e39, 3.0, 4.0])),
            "/pagerank",
            "row 2: has a value beyond the range of float32",
        ),
        (
            arrow_stream(pa.table([[0.5], [0.7]], names=["bm25", "bm25"])),
            "/bm25",
            "two columns have this name",
        ),
        (
            arrow_stream(pa.table([["a"], ["b"]], names=["query_id"] * 2)),
            "/query_id",
            "two columns have this name",
        ),
        (_bad(speed=pa.array([1] * 5)), "/speed", "not a feature of this model"),
        (_bad(**{"km/h": pa.array([1] * 5)}), "/km~1h", "not a feature of this model"),
        (
            arrow_stream(pa.table({"features": pa.FixedSizeListArray.from_arrays(pa.array([1.0] * 4), 2)})),
            "/features",
            "3",
        ),
    ]
    for content, pointer, reason in cases:
        response = rank_stream(client, content)
        assert response.status_code == 422, (content[:40], response.text)
        (error,) = response.json()["errors"]
        assert error["pointer"] == pointer
        assert reason in error["detail"]
    for top_k in ("0", "x", "-1", "99999999999999", "1.5", f"{10:011}{0:04300}"):
        assert rank_stream(client, good, f"?top_k={top_k}").json()["errors"][0]["pointer"] == "/top_k"
    other = client.post("/v1/models/web/rank", content=good, headers={"Content-Type": "text/csv"})
    assert (other.status_code, MEDIA_TYPE in other.json()["detail"]) == (415, True)


def test_rows_are_counted_before_columns_are_read(
    client: TestClient, add_model: Callable[[str], Model]
) -> None:
    """The declared number of rows is checked, because a few bytes may declare any number."""
    add_model("web")
    table_without_columns = pa.table({"bm25": np.zeros(7777)}).select([])
    without_columns = arrow_stream(table_without_columns, batch_rows=7777)
    assert without_columns.count(struct.pack("<q", 7777)) == 1
    cases = [
        (without_columns, "has no columns"),
        (without_columns.replace(struct.pack("<q", 7777), struct.pack("<q", 5_000_000)), "has no columns"),
        (arrow_stream(pa.table({"bm25": np.zeros(10_001, np.int8)})), "at most 10000 documents"),
        (_declaring(2**40), "at most 10000 documents"),
        (_declaring(2**63 - 1), "at most 10000 documents"),
        (_declaring(-1), "negative number of rows"),
        (arrow_stream(pa.table({f"f{number}": [0.5] for number in range(6)})), "has 6 columns; at most 5"),
    ]
    for content, reason in cases:
        response = rank_stream(client, content)
        assert response.status_code == 422, reason
        (error,) = response.json()["errors"]
        assert error["pointer"] == "/"
        assert reason in error["detail"]
    assert rank_stream(client, arrow_stream(pa.table({"bm25": np.zeros(10_000, np.int8)}))).status_code == 200


def _declaring(rows: int) -> bytes:
    """Write a stream whose headers declare this number of rows instead of the real one."""
    stream = arrow_stream(pa.table({"bm25": np.zeros(7777, np.int8)}), batch_rows=7777)
    assert stream.count(struct.pack("<q", 7777)) == 3  # of the batch, of its column, and bytes of a buffer
    return stream.replace(struct.pack("<q", 7777), struct.pack("<q", rows))


def test_a_header_with_shared_texts_is_refused(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """One text that a thousand entries of metadata refer to would be copied a thousand times."""
    add_model("web")
    entries = {"first": "x" * 30_000} | {f"k{number}": "" for number in range(1_000)}
    stream = bytearray(arrow_stream(pa.table({"bm25": [0.5]}).replace_schema_metadata(entries)))
    assert rank_stream(client, bytes(stream)).status_code == 200
    header = Flatbuffer(bytes(stream[8 : 8 + struct.unpack_from("<i", stream, 4)[0]]))
    items = header.items(header.targets(header.targets(header.root(), 2), 2))
    text = stream.index(b"x" * 30_000) - 4
    for place in header.field_offsets(items, 1) + 8:
        struct.pack_into("<I", stream, place, text - place)
    response = rank_stream(client, bytes(stream))
    assert response.status_code == 422
    assert "refers to data beyond its end" in response.text


def test_a_header_with_shared_names_of_lists_is_refused() -> None:
    """One name that the children of many columns of lists refer to would be copied for each column."""
    fields = [pa.field("x" * 30_000, pa.float64()), pa.field("y", pa.float64())]
    lists = [pa.array([[0.5, 1.5]], pa.list_(field, 2)) for field in fields]
    stream = bytearray(arrow_stream(pa.table(lists, names=["a", "b"])))
    assert validated_stream(bytes(stream), "/", 2, 1).rows == 1
    header = Flatbuffer(bytes(stream[8 : 8 + struct.unpack_from("<i", stream, 4)[0]]))
    columns = header.items(header.targets(header.targets(header.root(), 2), 1))
    names = header.field_offsets(header.items(header.targets(columns, 5)), 0) + 8
    text = stream.index(b"x" * 30_000) - 4
    for place in names:
        struct.pack_into("<I", stream, place, text - place)
    with pytest.raises(InvalidInput, match="refers to data beyond its end"):
        validated_stream(bytes(stream), "/", 2, 1)


def test_nested_columns_are_refused_unread(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Nested columns could refer to shared children, whose number doubles on each level."""
    add_model("web")
    within = pa.struct([("x", pa.float32())])
    for kind in (within, pa.list_(pa.float32()), pa.list_(pa.list_(pa.float32(), 3), 1), pa.list_(within, 3)):
        response = rank_stream(client, arrow_stream(pa.table({"features": pa.array([], kind)})))
        assert response.status_code == 422
        assert "are not accepted" in response.json()["errors"][0]["detail"]


@pytest.mark.parametrize("at", range(0, 600, 7))
def test_a_damaged_stream_does_not_end_the_process(at: int) -> None:
    """A stream with one inverted byte is either read or refused as invalid input."""
    damaged = bytearray(arrow_stream(pa.table(COLUMNS)))
    if at < len(damaged):
        damaged[at] ^= 0xFF
    with suppress(InvalidInput):
        assert len(read_table(validated_stream(bytes(damaged), "/", 10, 1000), "/")) <= 1000
