"""Datasets in Parquet."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, read_parquet, synthetic_dataset, write_parquet
from core.errors import DatasetError
from tests.core.data.strategies import assert_same, datasets


def _written(dataset: RankingDataset) -> bytes:
    file = io.BytesIO()
    write_parquet(dataset, file)
    return file.getvalue()


@given(st.one_of(datasets(), datasets(weighted=True)))
def test_a_dataset_reads_back_to_the_same_bits(dataset: RankingDataset) -> None:
    """Every field survives: NaN and its payload, -0.0, ids and names in any script, weights."""
    found = read_parquet(io.BytesIO(_written(dataset)))
    assert_same(found, dataset)
    np.testing.assert_array_equal(found.features.view(np.uint32), dataset.features.view(np.uint32))


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
        [[1.0, 2.0]], [3], [0, 1], feature_names=["bm25", "label"], query_weights=[0.5]
    )
    table = pq.read_table(io.BytesIO(_written(dataset)))
    assert table.to_pylist() == [
        {"query_id": "1", "document_id": "1", "label": 3.0, "query_weight": 0.5, "f1": 1.0, "f2": 2.0}
    ]
    assert table.schema.field("f1").type == pa.float32()
    assert json.loads(table.schema.metadata[b"rankery"]) == {"layout": 1, "feature_names": ["bm25", "label"]}


def _rewritten(**changes: Any) -> bytes:
    table = pq.read_table(io.BytesIO(_written(synthetic_dataset(2, seed=0, documents_per_query=2))))
    metadata = changes.get("metadata", table.schema.metadata)
    table = changes.get("change", lambda same: same)(table)
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), file)
    return file.getvalue()


def _infinite(table: pa.Table) -> pa.Table:
    return table.set_column(3, table.schema.field("f1"), pa.array([np.inf] * 4, pa.float32()))


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"", "whole Parquet file"),
        (b"PAR1", "whole Parquet file"),
        (_rewritten()[:-100], "whole Parquet file"),
        (_rewritten(metadata=None), "no layout"),
        (_rewritten(metadata={"rankery": "?"}), "no layout"),
        (_rewritten(metadata={"rankery": '{"layout": 2, "feature_names": []}'}), "found 2"),
        (_rewritten(change=lambda table: table.drop_columns(["f3"])), "columns of the layout"),
        (_rewritten(change=lambda table: table.set_column(2, "label", [["a"] * 4])), "columns of the layout"),
        (_rewritten(change=lambda table: table.slice(0, 0)), "do not fit"),
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
    assert caught.value.file == str(path)


def test_damaged_pages_are_refused() -> None:
    """A file whose footer is whole but whose pages are not is a dataset error."""
    content = bytearray(_rewritten())
    content[4:200] = b"\xff" * 196
    with pytest.raises(DatasetError, match="whole Parquet file"):
        read_parquet(io.BytesIO(bytes(content)))


def test_a_missing_file_is_the_system_s_own_error(tmp_path: Path) -> None:
    """Absence is not damage."""
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "absent")
