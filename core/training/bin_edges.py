"""LightGBM's bin edges, computed from a sample of documents for a few columns at a time.

LightGBM itself needs the whole matrix, or the sample of all columns as float64. The bins of a column depend
only on its values, so they are computed for one block of columns at a time and then merged.
"""

import ctypes
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import lightgbm
import numpy as np
from lightgbm import basic

from core.data.features import Features
from core.types import Float32Array, Float64Array, Int32Array, OnProgress

_SAMPLED_VALUES = 2**20  # nonzero values in a block of columns: 12 MB
_BATCH_COLUMNS = 8
_ZERO = 1e-35  # LightGBM treats values up to this magnitude as 0; samples omit zeros
_BATCH_CELLS = 2**21  # 8 MB of features binned at a time
_BASIC: Any = basic

CATEGORICAL = "categorical_column"  # parameter of LightGBM, as written by its Python package


def progress_from(on_progress: OnProgress, first: int, total: int) -> OnProgress:
    """Return a callback for one of several datasets, which adds `first` to the documents binned."""
    return lambda done, _: on_progress(first + done, total)


class FeatureBlocks(lightgbm.Sequence):
    """Features as a sequence that LightGBM reads and bins in blocks of documents.

    Args:
        features: (n_documents, n_features).
        on_progress: Called with the documents read and the total; may raise to stop.
    """

    def __init__(self, features: Features, on_progress: OnProgress | None = None) -> None:
        self._features = features
        self._on_progress = on_progress
        self.batch_size = max(1, _BATCH_CELLS // max(features.shape[1], 1))

    def __len__(self) -> int:
        return len(self._features)

    def __getitem__(self, rows: Any) -> Float32Array:
        if self._on_progress is not None and isinstance(rows, slice):
            self._on_progress(rows.stop, len(self))
        return self._features[rows]


class SampledRows:
    """A sample of documents of a larger dataset, for the computation of bin edges.

    Args:
        n_documents: Documents of the whole dataset.
        rows: (n_sampled,) documents of the sample, ascending.
        values: (n_sampled, n_features).
    """

    def __init__(self, n_documents: int, rows: Int32Array, values: Float32Array) -> None:
        self._rows = rows
        self._values = values
        self.shape = n_documents, values.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: tuple[Int32Array, Any]) -> Float32Array:
        rows, columns = key
        if not np.array_equal(rows, self._rows):
            raise IndexError("only the sampled documents are available")
        values: Float32Array = self._values[:, columns]
        return values


def bin_edges(
    features: Features | SampledRows,
    binning: Mapping[str, Any],
    parameters: Mapping[str, Any],
    categorical: Collection[int] = (),
) -> lightgbm.Dataset:
    """Compute the bin edges of all features as a dataset, the `reference` for binning other datasets.

    The bins equal those that LightGBM computes from the same matrix.

    Args:
        features: (n_documents, n_features).
        parameters: All parameters of the training, for the returned dataset.
    """
    sample = sampled_documents(len(features), binning)
    edges = lightgbm.Dataset(None, params=dict(parameters))
    first = 0
    for columns in _column_blocks(features, sample):
        last = first + len(columns)
        block_categorical = [column - first for column in categorical if first <= column < last]
        category_columns = {CATEGORICAL: block_categorical} if block_categorical else {}
        handle = _bins_of(
            columns, len(sample), len(features), {"verbosity": -1, **binning, **category_columns}
        )
        first = last
        if edges._handle is None:
            edges._handle = handle
            continue
        _BASIC._safe_call(_BASIC._LIB.LGBM_DatasetAddFeaturesFrom(edges._handle, handle))
        _BASIC._safe_call(_BASIC._LIB.LGBM_DatasetFree(handle))
    return edges


_Column = tuple[Float64Array, Int32Array]


def sampled_documents(n_documents: int, binning: Mapping[str, Any]) -> Int32Array:
    """Return the sample, (n,) ascending, from which LightGBM computes the bins of `n_documents`."""
    capacity, size = ctypes.c_int(), ctypes.c_int32()
    library, parameters = _BASIC._LIB, _text(binning)
    n = ctypes.c_int32(n_documents)
    _BASIC._safe_call(library.LGBM_GetSampleCount(n, parameters, ctypes.byref(capacity)))
    rows = np.empty(capacity.value, np.int32)
    pointer = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
    _BASIC._safe_call(library.LGBM_SampleIndices(n, parameters, pointer, ctypes.byref(size)))
    return rows[: size.value]


def _column_blocks(features: Features | SampledRows, sample: Int32Array) -> Iterator[list[_Column]]:
    """Yield the nonzero sampled values and their positions in the sample, for blocks of columns."""
    block: list[_Column] = []
    n_values = 0
    for first in range(0, features.shape[1], _BATCH_COLUMNS):
        for column in features[sample, first : first + _BATCH_COLUMNS].T:
            nonzero = np.flatnonzero(~(np.abs(column) <= _ZERO)).astype(np.int32)
            block.append((column[nonzero].astype(np.float64), nonzero))
            n_values += len(nonzero)
            if n_values >= _SAMPLED_VALUES:
                yield block
                block, n_values = [], 0
    if block:
        yield block


def _bins_of(
    columns: list[_Column], n_sampled: int, n_documents: int, binning: Mapping[str, Any]
) -> ctypes.c_void_p:
    """Return the handle of a LightGBM dataset with the bins of these columns and space for one document."""
    double_pointer, int32_pointer = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int32)
    counts = np.array([len(rows) for _, rows in columns], np.int32)
    handle = ctypes.c_void_p()
    code = _BASIC._LIB.LGBM_DatasetCreateFromSampledColumn(
        (double_pointer * len(columns))(*(values.ctypes.data_as(double_pointer) for values, _ in columns)),
        (int32_pointer * len(columns))(*(rows.ctypes.data_as(int32_pointer) for _, rows in columns)),
        ctypes.c_int32(len(columns)),
        counts.ctypes.data_as(int32_pointer),
        ctypes.c_int32(n_sampled),
        ctypes.c_int32(1),
        ctypes.c_int64(n_documents),
        _text(binning),
        ctypes.byref(handle),
    )
    _BASIC._safe_call(code)
    return handle


def _text(parameters: Mapping[str, Any]) -> Any:
    return _BASIC._c_str(_BASIC._param_dict_to_str(dict(parameters)))


def edges_to_bytes(edges: lightgbm.Dataset) -> bytes:
    """Serialize the dataset that `bin_edges` returned."""
    buffer, size = ctypes.c_void_p(), ctypes.c_int32()
    library = _BASIC._LIB
    code = library.LGBM_DatasetSerializeReferenceToBinary(
        edges._handle, ctypes.byref(buffer), ctypes.byref(size)
    )
    _BASIC._safe_call(code)
    try:
        content = bytearray(size.value)
        byte = ctypes.c_uint8()
        for index in range(size.value):  # the C API returns one byte per call
            _BASIC._safe_call(library.LGBM_ByteBufferGetAt(buffer, ctypes.c_int32(index), ctypes.byref(byte)))
            content[index] = byte.value
        return bytes(content)
    finally:
        _BASIC._safe_call(library.LGBM_ByteBufferFree(buffer))


def edges_from_bytes(content: bytes, parameters: Mapping[str, Any]) -> lightgbm.Dataset:
    """Return a dataset with serialized bin edges, the `reference` for binning other datasets.

    Args:
        content: Content that `edges_to_bytes` returned.
    """
    edges = lightgbm.Dataset(None, params=dict(parameters))
    handle = ctypes.c_void_p()
    code = _BASIC._LIB.LGBM_DatasetCreateFromSerializedReference(
        content,
        ctypes.c_int32(len(content)),
        ctypes.c_int64(1),
        ctypes.c_int32(1),
        _text(parameters),
        ctypes.byref(handle),
    )
    _BASIC._safe_call(code)
    edges._handle = handle
    return edges
