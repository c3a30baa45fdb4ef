"""Rows of a Parquet file in batches, with one row group in memory at a time."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq


def row_batches(
    parquet: pq.ParquetFile,
    batch_rows: int,
    columns: Sequence[str] | None = None,
    groups: Iterable[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of a Parquet file.

    `ParquetFile.iter_batches` buffers the bytes of all row groups that it is asked for until it ends. Here it
    is asked for one after the other.

    Args:
        parquet: The opened file.
        batch_rows: Rows of a batch at most; a batch ends with its row group.
        columns: Their names, None for all.
        groups: Numbers of the row groups in order, None for all.
    """
    names = None if columns is None else list(columns)
    for group in range(parquet.num_row_groups) if groups is None else groups:
        yield from parquet.iter_batches(batch_rows, row_groups=[group], columns=names)
