"""Feature matrices: in memory, memory-mapped, or a lazy selection of rows and columns of one of these."""

import mmap
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.temporary_files import reporting_full_disk
from core.types import Float32Array, Int64Array

IN_MEMORY_BYTES = 2**28  # larger matrices are allocated in a memory-mapped file
_BLOCK_CELLS = 2**22  # 16 MB of features
ABSENT = -1  # column of a selection that the matrix lacks


class SelectedShape:
    """The shape of selected rows, (n_documents,), and columns, (n_features,), of a matrix."""

    rows: Int64Array
    columns: Int64Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n_documents, n_features)."""
        return len(self.rows), len(self.columns)

    @property
    def nbytes(self) -> int:
        """Size of a copy, in bytes."""
        return 4 * len(self.rows) * len(self.columns)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class SelectedFeatures(SelectedShape):
    """Lazy selection of rows and columns of a matrix, copied only where they are read.

    Indexing works as for an array, by rows or by rows and columns, and returns float32 arrays.

    Attributes:
        matrix: float32 (m, k), the source matrix.
        rows: (n_documents,) rows of the matrix.
        columns: (n_features,) columns of the matrix, -1 for absent columns.
    """

    matrix: Float32Array
    rows: Int64Array
    columns: Int64Array
    absent: float = np.nan

    def __getitem__(self, key: Any) -> Float32Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        chosen, wanted = self.rows[rows], self.columns[columns]
        if _are_all(wanted, self.matrix.shape[1]):
            selected: Float32Array = self.matrix[chosen]
            return selected
        if 2 * wanted.size > self.matrix.shape[1]:  # whole rows are read faster
            return self._filled(np.take(self.matrix[chosen], wanted, axis=-1), wanted)
        pairs = chosen[..., None] if chosen.ndim and wanted.ndim else chosen
        return self._filled(self.matrix[pairs, wanted], wanted)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)

    def _filled(self, values: Float32Array, columns: npt.NDArray[Any]) -> Float32Array:
        values[..., columns == ABSENT] = self.absent
        return values


Features = Float32Array | SelectedFeatures


def select_rows(features: Features, rows: Int64Array) -> SelectedFeatures:
    """Select rows of features, in the order given."""
    if isinstance(features, SelectedFeatures):
        return SelectedFeatures(features.matrix, features.rows[rows], features.columns, features.absent)
    return SelectedFeatures(features, rows, np.arange(features.shape[1]))


def select_columns(features: Features, columns: Int64Array, absent: float) -> SelectedFeatures:
    """Select columns of features; column -1 has the value `absent` in every document.

    Raises:
        ValueError: The features already have absent columns with another value.
    """
    if not isinstance(features, SelectedFeatures):
        return SelectedFeatures(features, np.arange(len(features)), columns, absent)
    was_absent = np.any(features.columns == ABSENT)
    if was_absent and not np.array_equal(features.absent, absent, equal_nan=True):
        raise ValueError(f"absent columns are {features.absent}, not {absent}")
    chosen = np.where(columns == ABSENT, ABSENT, features.columns[columns])
    return SelectedFeatures(features.matrix, features.rows, chosen, absent)


def new_matrix(n_rows: int, n_columns: int) -> Float32Array:
    """Allocate a matrix of zeros; a large one maps an unlinked temporary file.

    The file is in the folder of temporary files (`TMPDIR`), so its pages do not count as process memory.

    Raises:
        StoreFull: The disk has no room for the matrix.
    """
    size_bytes = 4 * n_rows * n_columns
    if size_bytes <= IN_MEMORY_BYTES:
        return np.zeros((n_rows, n_columns), np.float32)
    with tempfile.TemporaryFile() as file:
        _reserve(file.fileno(), size_bytes)
        mapped = mmap.mmap(file.fileno(), size_bytes)
    return np.frombuffer(mapped, np.float32).reshape(n_rows, n_columns)


def _reserve(file: int, size_bytes: int) -> None:
    with reporting_full_disk(f"the {size_bytes:,} bytes of the features"):
        if hasattr(os, "posix_fallocate"):
            # Else a full disk would kill the process (SIGBUS) on a write to the matrix.
            os.posix_fallocate(file, 0, size_bytes)
        else:
            os.ftruncate(file, size_bytes)


def copy_features(features: Features) -> Float32Array:
    """Copy features into a new matrix, a block of rows at a time."""
    matrix = new_matrix(*features.shape)
    for rows, block in row_blocks(features):
        matrix[rows] = block
    return matrix


def row_blocks(features: Features) -> Iterator[tuple[slice, Float32Array]]:
    """Yield blocks of rows as (rows, features); only one block is copied at a time."""
    n_rows, n_columns = features.shape
    step = max(1, _BLOCK_CELLS // max(n_columns, 1))
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        yield rows, features[rows]


def _are_all(columns: npt.NDArray[Any], n_columns: int) -> bool:
    return columns.size == n_columns and bool(np.array_equal(columns, np.arange(n_columns)))
