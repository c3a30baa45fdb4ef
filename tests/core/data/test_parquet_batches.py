"""Rows of Parquet files in batches."""

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data.parquet import row_batches

_GROUPS, _GROUP_ROWS = 20, 10_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of many row groups that cannot be compressed."""
    path = tmp_path / "rows.parquet"
    values = np.random.default_rng(4).random(_GROUPS * _GROUP_ROWS)
    table = pa.table({"row": np.arange(len(values)), "value": values})
    pq.write_table(table, path, row_group_size=_GROUP_ROWS, use_dictionary=False)
    return path


def test_one_row_group_is_in_memory_at_a_time(path: Path) -> None:
    """Memory of earlier row groups of an opened file is returned."""
    group_bytes = path.stat().st_size / _GROUPS
    seen = 0
    with path.open("rb") as file, pq.ParquetFile(file) as parquet:
        tracemalloc.start()  # Arrow reads from an opened file into Python's bytes
        try:
            for batch in row_batches(parquet, 1_000):
                seen += batch.num_rows
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert seen == _GROUPS * _GROUP_ROWS
    assert peak_bytes < 3 * group_bytes


def test_columns_and_row_groups_can_be_chosen(path: Path) -> None:
    """Batches end with their row group."""
    with pq.ParquetFile(path) as parquet:
        batches = list(row_batches(parquet, 6_000, ["row"], groups=[3, 5]))
    assert [batch.num_rows for batch in batches] == [6_000, 4_000, 6_000, 4_000]
    assert batches[0].schema.names == ["row"]
    rows = np.concatenate([batch.column("row").to_numpy() for batch in batches])
    assert rows.tolist() == [*range(30_000, 40_000), *range(50_000, 60_000)]
