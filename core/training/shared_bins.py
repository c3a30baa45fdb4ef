"""Bin edges as bytes: found once from a sample of all documents, and taken over by every rank."""

import ctypes
from collections.abc import Mapping
from typing import Any

import lightgbm
import numpy as np
from lightgbm import basic

from core.types import Float32Array, Int32Array

_LIBRARY: Any = basic


class SampledRows:
    """Features of which only a sample of the documents is at hand, in the form in which edges are found.

    Args:
        n_documents: Documents of the whole.
        rows: (n_sampled,) documents of the sample, rising.
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
            raise IndexError("only the documents of the sample are at hand")
        found: Float32Array = self._values[:, columns]
        return found


def edges_to_bytes(edges: lightgbm.Dataset) -> bytes:
    """Return the bins of `bin_edges` for another process."""
    buffer, size = ctypes.c_void_p(), ctypes.c_int32()
    library = _LIBRARY._LIB
    code = library.LGBM_DatasetSerializeReferenceToBinary(
        edges._handle, ctypes.byref(buffer), ctypes.byref(size)
    )
    _LIBRARY._safe_call(code)
    try:
        content = bytearray(size.value)
        byte = ctypes.c_uint8()
        for place in range(size.value):  # LightGBM gives out no more than a byte at a time
            _LIBRARY._safe_call(library.LGBM_ByteBufferGetAt(buffer, ctypes.c_int32(place), ctypes.byref(byte)))
            content[place] = byte.value
        return bytes(content)
    finally:
        _LIBRARY._safe_call(library.LGBM_ByteBufferFree(buffer))


def edges_from_bytes(content: bytes, parameters: Mapping[str, Any]) -> lightgbm.Dataset:
    """Return a dataset of these bins, to be given as `reference` to others.

    Args:
        content: What `edges_to_bytes` returned.
        parameters: All parameters of the training.
    """
    edges = lightgbm.Dataset(None, params=dict(parameters))
    handle = ctypes.c_void_p()
    code = _LIBRARY._LIB.LGBM_DatasetCreateFromSerializedReference(
        content,
        ctypes.c_int32(len(content)),
        ctypes.c_int64(1),
        ctypes.c_int32(1),
        _LIBRARY._c_str(_LIBRARY._param_dict_to_str(dict(parameters))),
        ctypes.byref(handle),
    )
    _LIBRARY._safe_call(code)
    edges._handle = handle
    return edges
