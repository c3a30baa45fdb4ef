"""Datasets in Parquet."""

import functools
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.data import RankingDataset, read_parquet, synthetic_dataset, write_parquet
from core.data.parquet import read_judgments, read_rows
from core.errors import DatasetError
from tests.core.data.strategies import assert_same, datasets

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


def _written(dataset: RankingDataset) -> bytes:
    file = io.BytesIO()
    write_parquet(dataset, file)
    return file.getvalue()


@st.composite
def _full_datasets(draw: Any) -> RankingDataset:
    """Draw datasets with everything that a file may hold: any labels, infinities, weights, query columns."""
    dataset: RankingDataset = draw(st.one_of(datasets(), datasets(weighted=True)))
    features, labels = dataset.matrix.copy(), dataset.labels.copy()
    features[0, 0] = draw(st.sampled_from([np.inf, -np.inf, np.nan, -0.0]))
    labels[0] = draw(st.sampled_from([-1.0, -0.0, np.nan, 2.0]))
    return replace(
        dataset,
        features=features,
        labels=labels,
        document_weights=draw(
            st.none() | hnp.arrays(np.float64, dataset.n_documents, elements=st.floats(0, 1e300))
        ),
        query_columns={
            name: tuple(draw(st.lists(_TEXT, min_size=dataset.n_queries, max_size=dataset.n_queries)))
            for name in draw(st.lists(_TEXT, max_size=2, unique=True))
        },
    )


@pytest.mark.long
@given(_full_datasets())
def test_a_dataset_reads_back_to_the_same_bits(dataset: RankingDataset) -> None:
    """Every field survives: NaN and its payload, -0.0, ids and names in any script, weights, columns."""
    found = read_parquet(io.BytesIO(_written(dataset)))
    assert_same(found, dataset)
    np.testing.assert_array_equal(found.matrix.view(np.uint32), dataset.matrix.view(np.uint32))


def test_a_file_of_layout_1_is_read(tmp_path: Path) -> None:
    """A file that was stored before documents had weights and queries had columns stays readable."""
    path = tmp_path / "data.parquet"
    columns: dict[str, Any] = {
        "query_id": pa.array(["a", "a", "é"]).dictionary_encode(),
        "document_id": pa.array(["x", "", "y"], pa.string()),
        "label": pa.array([2, 0, 1], pa.float32()),
        "query_weight": pa.array([0.5, 0.5, 2.0], pa.float64()),
        "f1": pa.array([0.5, np.nan, 3.0], pa.float32()),
        "f2": pa.array([-0.0, 1e-40, 4.0], pa.float32()),
    }
    fields = [pa.field(name, values.type, nullable=False) for name, values in columns.items()]
    names: dict[bytes | str, bytes | str] = {"rankery": '{"layout": 1, "feature_names": ["bm25", "label"]}'}
    pq.write_table(pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields, names)), path)
    expected = RankingDataset.from_arrays(
        [[0.5, -0.0], [np.nan, 1e-40], [3.0, 4.0]],
        [2, 0, 1],
        [0, 2, 3],
        query_ids=["a", "é"],
        document_ids=["x", "", "y"],
        feature_names=["bm25", "label"],
        query_weights=[0.5, 2.0],
    )
    assert_same(read_parquet(path), expected)


def test_a_span_of_queries_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A span equals these queries of the whole dataset, wherever row groups end; others are refused."""
    monkeypatch.setattr("core.data.parquet._ROW_GROUP_ROWS", (1, 7))
    dataset = synthetic_dataset(5, seed=1, documents_per_query=10, n_features=3)
    path = tmp_path / "data.parquet"
    with path.open("wb") as file:
        write_parquet(dataset, file)
    for first in range(5):
        for last in range(first + 1, 6):
            span = read_rows(path, int(dataset.query_boundaries[first]), int(dataset.query_boundaries[last]))
            assert_same(span, dataset.select_queries(range(first, last)))
    for first, last in ((0, 51), (-1, 3), (4, 4)):
        with pytest.raises(IndexError):
            read_rows(path, first, last)


def test_only_pages_of_the_requested_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage in other pages does not prevent the reading of a query."""
    monkeypatch.setattr("core.data.parquet._ROW_GROUP_ROWS", (1, 10))
    dataset = synthetic_dataset(5, seed=1, documents_per_query=10, n_features=3)
    content = bytearray(_written(dataset))
    second_group = pq.ParquetFile(io.BytesIO(bytes(content))).metadata.row_group(1)
    start = min(
        second_group.column(i).dictionary_page_offset or second_group.column(i).data_page_offset
        for i in range(second_group.num_columns)
    )
    content[4:start] = b"\xff" * (start - 4)
    assert_same(read_rows(io.BytesIO(bytes(content)), 10, 20), dataset.select_queries([1]))
    with pytest.raises(DatasetError):
        read_rows(io.BytesIO(bytes(content)), 0, 10)


def test_progress_is_reported_and_may_end_the_writing() -> None:
    """Progress has the number of documents written so far and of all documents, up to the last one."""
    seen: list[tuple[int, int]] = []
    write_parquet(
        synthetic_dataset(2, seed=1, documents_per_query=5, n_features=4),
        io.BytesIO(),
        lambda *done: seen.append(done),
    )
    assert seen == [(10, 10)]

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parquet(synthetic_dataset(1, seed=1, n_features=4), io.BytesIO(), stop)


def test_a_query_may_cross_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries are put together again where a row group ends within one."""
    monkeypatch.setattr("core.data.parquet._ROW_GROUP_ROWS", (1, 7))
    dataset = synthetic_dataset(5, seed=1, documents_per_query=10, n_features=3)
    path = tmp_path / "data.parquet"
    with path.open("wb") as file:
        write_parquet(dataset, file)
    assert pq.ParquetFile(path).num_row_groups == 8  # 50 rows by 7
    assert_same(read_parquet(path), dataset)
    assert_same(read_parquet(str(path)), dataset)


def test_the_columns_are_plain() -> None:
    """Other tools find query_id, document_id, label and float32 features, and the names in the metadata."""
    dataset = RankingDataset.from_arrays(
        [[1.0, 2.0]],
        [3],
        [0, 1],
        feature_names=["bm25", "label"],
        query_weights=[0.5],
        document_weights=[2.0],
        query_columns={"market": ["de"]},
    )
    table = pq.read_table(io.BytesIO(_written(dataset)))
    assert table.to_pylist() == [
        {
            "query_id": "1",
            "document_id": "1",
            "label": 3.0,
            "query_weight": 0.5,
            "document_weight": 2.0,
            "f1": 1.0,
            "f2": 2.0,
            "q1": "de",
        }
    ]
    assert table.schema.field("f1").type == pa.float32()
    assert json.loads(table.schema.metadata[b"rankery"]) == {
        "layout": 2,
        "feature_names": ["bm25", "label"],
        "query_columns": ["market"],
    }


@functools.cache
def _small_table() -> pa.Table:
    return pq.read_table(
        io.BytesIO(_written(synthetic_dataset(2, seed=0, documents_per_query=2, n_features=4)))
    )


def _rewritten(**changes: Any) -> bytes:
    table = _small_table()
    metadata = changes.get("metadata", table.schema.metadata)
    table = changes.get("change", lambda same: same)(table)
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), file)
    return file.getvalue()


def _infinite(table: pa.Table) -> pa.Table:
    return table.set_column(2, table.schema.field("label"), pa.array([np.inf] * 4, pa.float32()))


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"", "valid Parquet file"),
        (b"PAR1", "valid Parquet file"),
        (_rewritten()[:-100], "valid Parquet file"),
        (_rewritten(metadata=None), "no layout"),
        (_rewritten(metadata={"rankery": "?"}), "no layout"),
        (_rewritten(metadata={"rankery": '{"layout": 5, "feature_names": []}'}), "found 5"),
        (
            _rewritten(metadata={"rankery": '{"layout": 4, "feature_names": [], "categories": [1]}'}),
            "no layout",
        ),
        (_rewritten(change=lambda table: table.drop_columns(["f3"])), "columns of the layout"),
        (_rewritten(change=lambda table: table.set_column(2, "label", [["a"] * 4])), "columns of the layout"),
        (_rewritten(change=lambda table: table.slice(0, 0)), "are inconsistent"),
        (_rewritten(change=lambda table: table.take([0, 2, 1, 3])), "must all be different"),
        (_rewritten(change=_infinite), "must not be infinite"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, detail: str) -> None:
    """Damage, other layouts and broken rules are dataset errors that name the file."""
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=detail) as caught:
        read_parquet(path)
    assert caught.value.problems[0].file == str(path)


def test_damaged_pages_are_refused() -> None:
    """A file with damaged pages and an intact footer is a dataset error."""
    content = bytearray(_rewritten())
    content[4:200] = b"\xff" * 196
    with pytest.raises(DatasetError, match="valid Parquet file"):
        read_parquet(io.BytesIO(bytes(content)))


def test_a_missing_file_raises_file_not_found(tmp_path: Path) -> None:
    """Absence is not reported as damage."""
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "absent")


def test_bare_judgments_read_back() -> None:
    """A dataset without features keeps its labels, queries and documents; and so do the judgments alone."""
    dataset = RankingDataset.from_arrays(
        np.empty((3, 0)), [2, 0, 1], [0, 2, 3], query_ids=["a", "b"], document_ids=["x", "y", "z"]
    )
    file = io.BytesIO()
    write_parquet(dataset, file)
    read = read_parquet(file)
    assert read.features.shape == (3, 0)
    assert (read.query_ids, list(read.document_ids)) == (("a", "b"), ["x", "y", "z"])
    rows = [row for batch in read_judgments(file) for row in batch.to_pylist()]
    assert [(row["query_id"], row["document_id"], row["label"]) for row in rows] == [
        ("a", "x", 2.0),
        ("a", "y", 0.0),
        ("b", "z", 1.0),
    ]
