"""Features of chosen documents, read from a stored dataset a few at a time, wherever it lies."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.parquet_layout import Layout
from core.errors import DatasetError
from core.types import Float32Array, Int64Array

_ABSENT = -1
_BLOCK_ROWS = 256  # rows turned from columns at a time: they stay in a core's cache


class StoredFeatures:
    """Rows and columns of the features of a stored dataset, of which one row group is in memory at a time.

    It is read as an array is, by rows or by rows and columns, and every part of it is a float32 array. Rows
    that rise are read once.

    Args:
        url: Of the Parquet, as fsspec knows it: `file:///…`, or `https://…` with a signature.
        rows: (n_documents,) rows of the file.
        columns: (n_features,) columns of the file's features, -1 for one that it does not have.
        absent: The value of those.

    Raises:
        DatasetError: When the file cannot be read, or is not one of Rankery's.
    """

    def __init__(self, url: str, rows: Int64Array, columns: Int64Array, absent: float = np.nan) -> None:
        self._url = url
        self._rows = rows
        self._columns = columns
        self._absent = absent
        self._metadata: pq.FileMetaData | None = None
        with self._opened() as parquet:
            self._metadata = parquet.metadata
            names = Layout.in_schema(parquet.schema_arrow).feature_columns
            groups = range(parquet.num_row_groups)
            sizes = [parquet.metadata.row_group(group).num_rows for group in groups]
        self._names = [names[column] for column in columns.tolist() if column != _ABSENT]
        self._starts = np.concatenate(([0], np.cumsum(sizes)))
        self._held: tuple[int, Float32Array] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n_documents, n_features)."""
        return len(self._rows), len(self._columns)

    @property
    def nbytes(self) -> int:
        """The bytes that a copy would take."""
        return 4 * len(self._rows) * len(self._columns)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Float32Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        chosen = self._rows[rows]
        if not chosen.ndim:
            only: Float32Array = self._read(chosen[None])[0][columns]
            return only
        found: Float32Array = self._read(chosen)[:, columns]
        return found

    def _read(self, rows: Int64Array) -> Float32Array:
        """Return the features of some rows of the file."""
        values = np.full((len(rows), len(self._columns)), self._absent, np.float32)
        present = np.flatnonzero(self._columns != _ABSENT)
        groups = np.searchsorted(self._starts, rows, side="right") - 1
        for group in np.unique(groups).tolist():
            wanted = np.flatnonzero(groups == group)
            found = self._group(group)[rows[wanted] - self._starts[group]]
            values[np.ix_(wanted, present)] = found
        return values

    def _group(self, group: int) -> Float32Array:
        if self._held is None or self._held[0] != group:
            self._held = None  # before the next one is read, so that there are never two
            with self._opened() as parquet:
                table = parquet.read_row_group(group, columns=self._names, use_threads=False)
            self._held = group, _matrix(table, self._names)
        return self._held[1]

    @contextmanager
    def _opened(self) -> Iterator[pq.ParquetFile]:
        try:
            with (
                fsspec.open(self._url, "rb") as file,
                pq.ParquetFile(file, metadata=self._metadata) as parquet,
            ):
                yield parquet
        except (OSError, pa.ArrowException, ValueError) as error:
            place = self._url.partition("?")[0]  # the rest is a signature
            raise DatasetError.at(
                f"expected the stored features, but they cannot be read here: {error}; give this machine the"
                " folder of the artifacts at the same path, or keep artifacts in object storage",
                file=place,
            ) from error


def _matrix(table: pa.Table, names: list[str]) -> Float32Array:
    columns = [table[name].to_numpy() for name in names]
    matrix = np.empty((table.num_rows, len(names)), np.float32)
    for start in range(0, table.num_rows if columns else 0, _BLOCK_ROWS):
        rows = slice(start, min(start + _BLOCK_ROWS, table.num_rows))
        np.stack([column[rows] for column in columns], axis=1, out=matrix[rows])
    return matrix
