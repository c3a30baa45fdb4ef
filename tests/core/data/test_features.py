"""Feature matrices in files, and selections of them."""

import mmap
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import features as matrices
from core.data import synthetic_dataset
from core.data.feature_alignment import align_features
from core.data.features import (
    SelectedFeatures,
    new_matrix,
    row_blocks,
    select_columns,
    select_rows,
)
from core.errors import StoreFull
from core.types import Float32Array
from tests.core.data.mapped import is_mapped

N_ROWS, N_COLUMNS = 7, 5
MATRIX = np.arange(N_ROWS * N_COLUMNS, dtype=np.float32).reshape(N_ROWS, N_COLUMNS)
ROWS = st.lists(st.integers(0, N_ROWS - 1), min_size=1, max_size=9)
COLUMNS = st.lists(st.integers(-1, N_COLUMNS - 1), min_size=1, max_size=8)


def copied(matrix: Float32Array, rows: list[int], columns: list[int], absent: float) -> Float32Array:
    """Select by copying, a value at a time."""
    cells = [[matrix[row, column] if column >= 0 else absent for column in columns] for row in rows]
    return np.array(cells, np.float32)


@given(ROWS, COLUMNS, st.data())
def test_a_selection_reads_as_a_copy_does(rows: list[int], columns: list[int], data: st.DataObject) -> None:
    """A row, rows, a slice, or rows and columns are read, also from selections of selections."""
    found = select_columns(select_rows(MATRIX, np.array(rows)), np.array(columns), 0.0)
    expected = copied(MATRIX, rows, columns, 0.0)
    some_rows = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    first, last = sorted((data.draw(st.integers(0, len(columns))), data.draw(st.integers(0, len(columns)))))
    column = data.draw(st.integers(0, len(columns) - 1))
    for key in (
        some_rows[0],
        slice(1, None),
        np.array(some_rows),
        (slice(None), column),
        (slice(None), slice(first, last)),
        (np.array(some_rows), slice(first, last)),
    ):
        np.testing.assert_array_equal(found[key], expected[key], strict=True)
    again = select_rows(found, np.array(some_rows))
    np.testing.assert_array_equal(np.asarray(again), expected[some_rows], strict=True)
    assert (found.shape, len(found), found.nbytes) == (expected.shape, len(expected), expected.nbytes)


def test_absent_columns_have_one_value() -> None:
    """A selection keeps one value for all absent columns."""
    once = select_columns(MATRIX, np.array([0, -1]), 0.0)
    assert select_columns(once, np.array([1, -1]), 0.0)[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"absent columns are 0\.0, not nan"):
        select_columns(once, np.array([1, -1]), np.nan)


def test_blocks_hold_all_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a limited number of cells have the rows of the matrix, in order."""
    monkeypatch.setattr(matrices, "_BLOCK_CELLS", 2 * N_COLUMNS)
    blocks = list(row_blocks(MATRIX))
    assert [len(block) for _, block in blocks] == [2, 2, 2, 1]
    np.testing.assert_array_equal(np.concatenate([MATRIX[rows] for rows, _ in blocks]), MATRIX)


def test_a_large_matrix_is_in_a_file_without_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The matrix is not memory of the process, and no file is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(matrices, "IN_MEMORY_BYTES", 4 * MATRIX.size - 1)
    matrix = new_matrix(*MATRIX.shape)
    assert not matrix.any()
    matrix[:] = MATRIX
    np.testing.assert_array_equal(matrix, MATRIX)
    assert is_mapped(select_rows(matrix, np.arange(3)))
    assert is_mapped(matrix)
    assert not is_mapped(MATRIX.copy())
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(matrices, "IN_MEMORY_BYTES", 4 * MATRIX.size)
    assert not is_mapped(new_matrix(*MATRIX.shape))


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="Linux only: disk space is reserved")
def test_a_matrix_beyond_the_disk_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The matrix is refused before a write to it, which would end the process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(StoreFull, match=r"TMPDIR.*has no room for the 1,125,899,906,842,624 bytes"):
        new_matrix(2**28, 2**20)


def test_parts_and_fitted_datasets_share_the_matrix() -> None:
    """Held-out parts, and datasets that are aligned to a model, are selected and not copied."""
    dataset = synthetic_dataset(12, seed=1, n_features=4)
    part = dataset.select_queries([7, 2, 4])
    aligned = align_features(part, (dataset.feature_names[3], "unknown", dataset.feature_names[0]))
    for selected in (part.features, aligned.features):
        assert isinstance(selected, SelectedFeatures)
        assert np.shares_memory(selected.matrix, dataset.matrix)
    rows = np.concatenate([np.arange(*dataset.query_boundaries[query : query + 2]) for query in (7, 2, 4)])
    np.testing.assert_array_equal(part.matrix, dataset.matrix[rows])
    np.testing.assert_array_equal(aligned.matrix[:, [0, 2]], part.matrix[:, [3, 0]])
    assert np.isnan(aligned.matrix[:, 1]).all()


def test_a_file_that_numpy_maps_is_recognised(tmp_path: Path) -> None:
    """`is_mapped` follows a view to the map of the file."""
    np.save(tmp_path / "x.npy", MATRIX)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="c").view(np.ndarray)
    assert isinstance(mapped.base.base, mmap.mmap)
    assert is_mapped(mapped)
