"""Read stored results page by page from Parquet files."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.data.parquet import row_batches
from core.errors import InvalidInput

BATCH_ROWS = 16_384
MAX_ROWS = 100_000  # of a page of several queries: about 20 MB of JSON


def row_cursor(cursor: str | None, n_rows: int) -> int:
    """Parse a cursor, which is the number of rows before the page.

    Raises:
        InvalidInput: The cursor is not from a page of this result.
    """
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 16 and int(cursor) < n_rows):
        raise InvalidInput.at("/cursor", "must be the next_cursor of the previous page")
    return int(cursor)


def read_rows(file: BinaryIO, cursor: str | None, limit: int) -> tuple[list[dict[str, Any]], str | None]:
    """Return `limit` rows from the cursor on, and the next cursor.

    Raises:
        InvalidInput: The cursor is not of this file.
    """
    parquet = pq.ParquetFile(file)
    n_rows = parquet.metadata.num_rows
    first = row_cursor(cursor, n_rows)
    rows: list[dict[str, Any]] = []
    for batch in _batches_from(parquet, first):
        rows += batch.slice(0, limit - len(rows)).to_pylist()
        if len(rows) == limit:
            break
    stop = first + len(rows)
    return rows, str(stop) if stop < n_rows else None


def read_queries(
    file: BinaryIO, cursor: str | None, limit: int
) -> tuple[list[list[dict[str, Any]]], str | None]:
    """Return the rows of up to `limit` whole queries from the cursor on, by query, and the next cursor.

    The rows of a query are contiguous in the file. Only the row groups that the page touches are read. A page
    has fewer queries if their rows exceed `MAX_ROWS` together.

    Raises:
        InvalidInput: The cursor is not of this file.
    """
    parquet = pq.ParquetFile(file)
    first = row_cursor(cursor, parquet.metadata.num_rows)
    batches: list[pa.RecordBatch] = []
    for batch in _batches_from(parquet, first):
        batches.append(batch)
        table = pa.Table.from_batches(batches)
        ends = _query_ends(table)
        complete = ends[:-1][:limit]  # the last query may continue in the next batch
        if len(complete) == limit or (complete and len(table) > MAX_ROWS):
            return _by_query(table, complete), str(first + complete[-1])
    if not batches:
        return [], None
    return _by_query(table, ends), None


def read_query(file: BinaryIO, query_id: str) -> list[dict[str, Any]]:
    """Return the rows of one query, in order; only the row groups that may hold it are read."""
    rows: list[dict[str, Any]] = pq.read_table(file, filters=[("query_id", "=", query_id)]).to_pylist()
    return rows


def ranking_batches(file: BinaryIO) -> Iterator[pa.RecordBatch]:
    """Yield a whole ranking in batches of rows."""
    yield from row_batches(pq.ParquetFile(file), BATCH_ROWS, ["query_id", "document_id", "rank", "score"])


def _batches_from(parquet: pq.ParquetFile, first: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of the rows from `first` on, skipping the row groups before it."""
    skipped, groups = 0, list(range(parquet.num_row_groups))
    while groups and skipped + parquet.metadata.row_group(groups[0]).num_rows <= first:
        skipped += parquet.metadata.row_group(groups.pop(0)).num_rows
    for batch in row_batches(parquet, BATCH_ROWS, groups=groups):
        if skipped + batch.num_rows > first:
            yield batch.slice(max(0, first - skipped))
        skipped += batch.num_rows


def _query_ends(table: pa.Table) -> list[int]:
    query_ids = table.column("query_id").combine_chunks()
    changes = pc.not_equal(query_ids[1:], query_ids[:-1]).to_numpy(zero_copy_only=False)
    return [*(np.flatnonzero(changes) + 1).tolist(), len(query_ids)]


def _by_query(table: pa.Table, ends: list[int]) -> list[list[dict[str, Any]]]:
    starts = [0, *ends[:-1]]
    return [table.slice(start, end - start).to_pylist() for start, end in zip(starts, ends, strict=True)]
