"""Read the features of selected documents in batches from a stored dataset, local or remote."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.features import ABSENT, SelectedShape
from core.data.parquet import stack_columns
from core.data.parquet_layout import Layout
from core.errors import DatasetError, ExtraMissing
from core.types import Float32Array, Int64Array

_BATCH_CELLS = 2**20  # 4 MB of features beside those of the row group
_AHEAD_BYTES = 2**22  # minimum size of a request to remote storage
_PAUSES_SECONDS = (0.5, 2.0, 5.0)  # before retries of requests to remote storage
_LOCAL = "file"
_SIGNATURE = re.compile(r"\?\S+")
_SAME_PATH = (
    "; mount the artifact folder at the same path on this machine, or store artifacts in object storage"
)


class StoredFeatures(SelectedShape):
    """Lazy rows and columns of a stored dataset's features, with one of its row groups in memory at a time.

    Indexing works as for an array, by rows or by rows and columns, and returns float32 arrays. Access in
    ascending order of rows reads each row group once. The file is open as long as the object lives.

    Args:
        url: URL of the Parquet file: `file:///…`, or a presigned `https://…`; messages omit the signature.
        rows: (n_documents,) rows of the file.
        columns: (n_features,) columns of the file's features, -1 for absent columns.

    Raises:
        DatasetError: The file cannot be read, now or on later access, or was not written by Rankery.
        ExtraMissing: The optional packages for reading over HTTP are not installed.
    """

    def __init__(self, url: str, rows: Int64Array, columns: Int64Array, absent: float = np.nan) -> None:
        self._is_local = urlsplit(url).scheme == _LOCAL
        self._url_without_signature = url.partition("?")[0]
        self.rows = rows
        self.columns = columns
        self._absent = absent
        with self._reporting():
            self._parquet = _opened(url)
            names = Layout.in_schema(self._parquet.schema_arrow).feature_columns
        self._names = [names[column] for column in columns.tolist() if column != ABSENT]
        self._sizes = [
            self._parquet.metadata.row_group(group).num_rows for group in range(self._parquet.num_row_groups)
        ]
        self._starts = np.concatenate(([0], np.cumsum(self._sizes, dtype=np.int64)))
        self._loaded_group: tuple[int, Float32Array] | None = None

    def __getitem__(self, key: Any) -> Float32Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        chosen = self.rows[rows]
        if not chosen.ndim:
            only: Float32Array = self._read(chosen[None])[0][columns]
            return only
        features: Float32Array = self._read(chosen)[:, columns]
        return features

    def _read(self, rows: Int64Array) -> Float32Array:
        """Return the features of some rows of the file."""
        values = np.full((len(rows), len(self.columns)), self._absent, np.float32)
        present = np.flatnonzero(self.columns != ABSENT)
        groups = np.searchsorted(self._starts, rows, side="right") - 1
        for group in np.unique(groups).tolist():
            of_group = np.flatnonzero(groups == group)
            rows_in_group = rows[of_group] - self._starts[group]
            first, last = int(of_group[0]), int(of_group[-1]) + 1
            if last - first == len(of_group) and len(present) == len(self.columns):  # no temporary copy
                np.take(self._group(group), rows_in_group, axis=0, out=values[first:last], mode="clip")
            else:
                values[np.ix_(of_group, present)] = self._group(group)[rows_in_group]
        if len(rows) and rows[-1] == self.rows[-1]:
            self._loaded_group = None  # the last row has been read
        return values

    def _group(self, group: int) -> Float32Array:
        if self._loaded_group is None or self._loaded_group[0] != group:
            # Released before the next group is read, so that memory holds one group.
            self._loaded_group = None
            with self._reporting():
                self._loaded_group = group, self._matrix(group)
        return self._loaded_group[1]

    def _matrix(self, group: int) -> Float32Array:
        """Read a row group, some columns at a time, so that there is no second full copy in memory."""
        n_rows, step = self._sizes[group], max(1, _BATCH_CELLS // max(self._sizes[group], 1))
        matrix = np.empty((n_rows, len(self._names)), np.float32)
        for first in range(0, len(self._names), step):
            names = self._names[first : first + step]
            table = self._table(group, names)
            stack_columns([table[name].to_numpy() for name in names], matrix[:, first : first + step])
        return matrix

    def _table(self, group: int, names: list[str]) -> pa.Table:
        for pause in () if self._is_local else _PAUSES_SECONDS:
            try:
                return self._parquet.read_row_group(group, columns=names, use_threads=False)
            except Exception:  # noqa: BLE001 - each file system has its own errors
                time.sleep(pause)
        return self._parquet.read_row_group(group, columns=names, use_threads=False)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Convert errors of reading to `DatasetError`, without the signature of the URL."""
        try:
            yield
        except DatasetError as error:
            raise DatasetError.at(error.problems[0].detail, file=self._url_without_signature) from error
        except ExtraMissing:
            raise
        except Exception as error:  # noqa: BLE001 - each file system has its own errors
            reason = _SIGNATURE.sub("", f"{type(error).__name__}: {error}")
            is_elsewhere = self._is_local and isinstance(error, FileNotFoundError)
            raise DatasetError.at(
                f"expected the stored features, but they cannot be read here ({reason})"
                f"{_SAME_PATH if is_elsewhere else ''}",
                file=self._url_without_signature,
            ) from None  # its message and traceback contain the signature


def _opened(url: str) -> pq.ParquetFile:
    parts = urlsplit(url)
    if parts.scheme == _LOCAL:
        return pq.ParquetFile(url2pathname(parts.path))
    try:
        # encoded=True: the signature is valid only for the unchanged text of the URL.
        file = fsspec.open(url, "rb", encoded=True, block_size=_AHEAD_BYTES).open()
    except ImportError as error:
        raise ExtraMissing("an artifact storage on S3", "s3") from error
    return pq.ParquetFile(file)
