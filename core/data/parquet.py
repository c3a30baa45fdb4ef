"""Read and write stored datasets: one Parquet row per document, with columns as in `parquet_layout`."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.dataset import RankingDataset
from core.data.features import new_matrix
from core.data.parquet_layout import Layout
from core.data.texts import Texts
from core.errors import DatasetError, InvalidInput
from core.types import Float32Array, Float64Array, FloatArray, OnProgress

_ROW_GROUP_CELLS = 4_000_000  # 16 MB of features in memory while writing or reading
_ROW_GROUP_ROWS = (1_024, 65_536)  # minimum and maximum; the minimum limits the per-column cost of wide data
_TEXT_ROWS = 16_384  # rows whose texts are in memory at a time
_BLOCK_ROWS = 256  # rows transposed at a time; a block fits in the CPU cache


def write_parquet(dataset: RankingDataset, file: BinaryIO, on_progress: OnProgress | None = None) -> None:
    """Write a dataset so that `read_parquet` returns bit-identical values.

    Args:
        on_progress: Called with the documents written and the number of all documents; may raise to stop.
    """
    layout = Layout.of(dataset)
    writer = _Writer(dataset, layout)
    min_rows, max_rows = _ROW_GROUP_ROWS
    step = min(max(_ROW_GROUP_CELLS // max(dataset.n_features, 1), min_rows), max_rows)
    with pq.ParquetWriter(file, layout.schema(), **layout.encoding()) as parquet:
        for first in range(0, dataset.n_documents, step):
            last = min(first + step, dataset.n_documents)
            parquet.write_table(writer.rows(first, last), row_group_size=step)
            if on_progress is not None:
                on_progress(last, dataset.n_documents)


def read_parquet(file: BinaryIO | str | PathLike[str]) -> RankingDataset:
    """Read a dataset that `write_parquet` wrote, in this version or an earlier one.

    Raises:
        DatasetError: The file is damaged, of another layout, or breaks a rule of `RankingDataset`.
        OSError: The file cannot be opened.
    """
    with opened_parquet(file) as parquet:
        return _read(parquet, 0, parquet.metadata.num_rows)


def read_rows(file: BinaryIO | str | PathLike[str], first: int, last: int) -> RankingDataset:
    """Read rows `first` to `last` (exclusive) as a dataset; only the row groups that hold them are read.

    Raises:
        DatasetError: See `read_parquet`.
        OSError: The file cannot be opened.
        IndexError: There are no such rows.
    """
    with opened_parquet(file) as parquet:
        if not 0 <= first < last <= parquet.metadata.num_rows:
            raise IndexError(f"rows {first} to {last} of {parquet.metadata.num_rows}")
        return _read(parquet, first, last)


def read_row_groups(file: BinaryIO) -> Iterator[RankingDataset]:
    """Read a dataset one row group at a time, each as a separate dataset.

    Raises:
        DatasetError: See `read_parquet`.
    """
    with opened_parquet(file) as parquet:
        layout = Layout.in_schema(parquet.schema_arrow)
        for group in range(parquet.num_row_groups):
            table = parquet.read_row_group(group)
            reader = _Reader(layout, table.num_rows)
            reader.take(table)
            yield reader.dataset()


def read_texts(file: BinaryIO) -> Iterator[pa.RecordBatch]:
    """Read the ids and the document columns of all rows in batches; columns have their original names.

    Raises:
        DatasetError: The file is damaged.
    """
    with opened_parquet(file) as parquet:
        names = Layout.in_schema(parquet.schema_arrow).document_text_columns
        columns = ["query_id", "document_id", *names]
        for batch in row_batches(parquet, _TEXT_ROWS, columns):
            yield batch.rename_columns([names.get(column, column) for column in batch.schema.names])


def read_judgments(file: BinaryIO | str | PathLike[str]) -> Iterator[pa.RecordBatch]:
    """Read only query_id, document_id and label of all rows, in batches.

    Raises:
        DatasetError: The file is damaged.
        OSError: The file cannot be opened.
    """
    with opened_parquet(file) as parquet:
        yield from row_batches(parquet, _TEXT_ROWS, ["query_id", "document_id", "label"])


def read_document_texts(
    file: BinaryIO | str | PathLike[str], spans: Sequence[tuple[int, int]], names: Collection[str]
) -> list[pa.Table]:
    """Read the ids and some document columns of ranges of rows; other row groups are not read.

    Args:
        file: File that `write_parquet` wrote.
        spans: First row and the row after the last row of each range.
        names: Document columns; those that the file lacks are left out.

    Returns:
        A table for each span, with `document_id` and a column for each name that the file has.

    Raises:
        DatasetError: The file is damaged.
        OSError: The file cannot be opened.
    """
    with opened_parquet(file) as parquet:
        columns = Layout.in_schema(parquet.schema_arrow).document_text_columns
        selected_columns = {column: name for column, name in columns.items() if name in names}
        parts: list[list[pa.Table]] = [[] for _ in spans]
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            overlapping = [i for i, (first, last) in enumerate(spans) if first < stop and last > start]
            if overlapping:
                table = parquet.read_row_group(group, columns=["document_id", *selected_columns])
                table = table.rename_columns(
                    [selected_columns.get(name, name) for name in table.column_names]
                )
            for i in overlapping:
                first, last = spans[i]
                parts[i].append(table.slice(max(first - start, 0), min(last, stop) - max(first, start)))
            start = stop
        return [pa.concat_tables(tables) for tables in parts]


def row_batches(
    parquet: pq.ParquetFile,
    batch_rows: int,
    columns: Sequence[str] | None = None,
    groups: Iterable[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of a Parquet file.

    `ParquetFile.iter_batches` buffers the bytes of all its row groups until it ends. Therefore it is called
    for one row group at a time.

    Args:
        batch_rows: Rows of a batch at most; a batch ends with its row group.
        columns: Names of the columns, None for all.
        groups: Numbers of the row groups in order, None for all.
    """
    names = None if columns is None else list(columns)
    for group in range(parquet.num_row_groups) if groups is None else groups:
        yield from parquet.iter_batches(batch_rows, row_groups=[group], columns=names)


class _Writer:
    """Converts ranges of rows of a dataset to Arrow tables."""

    def __init__(self, dataset: RankingDataset, layout: Layout) -> None:
        self._dataset = dataset
        self._schema = layout.schema()

    def rows(self, first: int, last: int) -> pa.Table:
        dataset = self._dataset
        queries = np.searchsorted(dataset.query_boundaries, np.arange(first, last), side="right") - 1
        lowest, highest = int(queries[0]), int(queries[-1]) + 1

        def texts(values: Sequence[str]) -> Any:
            encoded: Any = pa.array(values[lowest:highest], pa.string()).dictionary_encode()
            return pa.DictionaryArray.from_arrays(
                encoded.indices.take(pa.array(queries - lowest)), encoded.dictionary
            )

        columns: list[Any] = [
            texts(dataset.query_ids),
            dataset.document_ids[first:last].array,
            pa.array(dataset.labels[first:last]),
        ]
        if dataset.query_weights is not None:
            columns.append(pa.array(dataset.query_weights[queries]))
        if dataset.document_weights is not None:
            columns.append(pa.array(dataset.document_weights[first:last]))
        columns += map(pa.array, _columns_of(dataset.features[first:last]))
        columns += map(texts, dataset.query_columns.values())
        columns += (column[first:last].array for column in dataset.document_columns.values())
        return pa.Table.from_arrays(columns, schema=self._schema)


def stack_columns(columns: Sequence[FloatArray], matrix: Float32Array) -> None:
    """Fill a matrix from its columns."""
    for start in range(0, len(matrix) if columns else 0, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        np.stack([column[rows] for column in columns], axis=1, out=matrix[rows])


def _columns_of(features: Float32Array) -> Float32Array:
    columns = np.empty(features.shape[::-1], np.float32)
    for first in range(0, len(features), _BLOCK_ROWS):
        columns[:, first : first + _BLOCK_ROWS] = features[first : first + _BLOCK_ROWS].T
    return columns


class _Reader:
    """Joins Arrow tables of rows to a dataset."""

    def __init__(self, layout: Layout, n_rows: int) -> None:
        self._layout = layout
        self._features = new_matrix(n_rows, len(layout.feature_names))
        self._labels = np.empty(n_rows, np.float32)
        self._weights: dict[str, Float64Array] = {name: np.empty(n_rows) for name in layout.weights}
        self._document_ids: list[pa.Array[Any]] = []
        self._document_texts: dict[str, list[pa.Array[Any]]] = {
            column: [] for column in layout.document_text_columns
        }
        self._query_ids: list[str] = []
        self._starts: list[int] = []
        self._texts: dict[str, list[str]] = {column: [] for column in layout.text_columns}
        self._filled = 0

    def take(self, table: pa.Table) -> None:
        first, last = self._filled, self._filled + table.num_rows
        starts = self._take_query_ids(table["query_id"], first)
        for column, values in self._texts.items():
            values += table[column].take(pa.array(starts, pa.int64())).to_pylist()  # type: ignore[arg-type]
        self._document_ids += table["document_id"].cast(pa.large_string()).chunks
        for column, chunks in self._document_texts.items():
            chunks += table[column].chunks
        self._labels[first:last] = table["label"].to_numpy()
        for name, weights in self._weights.items():
            weights[first:last] = table[name].to_numpy()
        stack_columns(
            [table[name].to_numpy() for name in self._layout.feature_columns], self._features[first:last]
        )
        self._filled = last

    def dataset(self) -> RankingDataset:
        boundaries = np.array([*self._starts, self._filled], np.int64)
        query_weights = self._weights.get("query_weight")
        return RankingDataset.from_arrays(
            self._features,
            self._labels,
            boundaries,
            query_ids=self._query_ids,
            document_ids=Texts.of_chunks(self._document_ids),
            feature_names=self._layout.feature_names,
            query_weights=None if query_weights is None else query_weights[boundaries[:-1]],
            document_weights=self._weights.get("document_weight"),
            query_columns={name: self._texts[column] for column, name in self._layout.text_columns.items()},
            document_columns={
                name: Texts.of_chunks(self._document_texts[column])
                for column, name in self._layout.document_text_columns.items()
            },
            categories=self._layout.categories,
        )

    def _take_query_ids(self, ids: Any, first: int) -> list[int]:
        """Record the queries that begin in a table; return their first rows in the table."""
        starts: list[int] = []
        offset = 0
        for chunk in ids.chunks:
            indices = chunk.indices.to_numpy()
            names = chunk.dictionary.to_pylist()
            for row in np.flatnonzero(np.diff(indices, prepend=-1)).tolist():
                name = names[indices[row]]
                if not self._query_ids or self._query_ids[-1] != name:
                    self._query_ids.append(name)
                    starts.append(offset + row)
            offset += len(chunk)
        self._starts += [first + start for start in starts]
        return starts


def _read(parquet: pq.ParquetFile, first: int, last: int) -> RankingDataset:
    reader = _Reader(Layout.in_schema(parquet.schema_arrow), last - first)
    for table in _tables(parquet, first, last):
        reader.take(table)
    return reader.dataset()


def _tables(parquet: pq.ParquetFile, first: int, last: int) -> Iterator[pa.Table]:
    start = 0
    for group in range(parquet.num_row_groups):
        rows = parquet.metadata.row_group(group).num_rows
        if start < last and start + rows > first:
            table = parquet.read_row_group(group)
            yield table.slice(max(first - start, 0), min(last, start + rows) - max(first, start))
        start += rows


@contextmanager
def opened_parquet(file: BinaryIO | str | PathLike[str]) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file and report its damage as a `DatasetError`."""
    name = str(getattr(file, "name", "")) if hasattr(file, "read") else str(file)
    source = file if hasattr(file, "read") else os.fspath(file)
    try:
        with pq.ParquetFile(cast("BinaryIO | str", source)) as parquet:
            yield parquet
    except DatasetError as error:
        raise DatasetError.at(error.problems[0].detail, file=name or None) from error
    except InvalidInput as error:
        raise DatasetError.at(f"the columns are inconsistent: {error}", file=name or None) from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DatasetError.at(f"expected a valid Parquet file: {error}", file=name or None) from error
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow reports damaged pages as an OSError without an errno.
        raise DatasetError.at(f"expected a valid Parquet file: {error}", file=name or None) from error
