"""Serialize the bin edges of a distributed training, which are computed once and shared by all ranks."""

import ctypes
from collections.abc import Mapping
from typing import Any

import lightgbm
from lightgbm import basic

_BASIC: Any = basic


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
        parameters: All parameters of the training.
    """
    edges = lightgbm.Dataset(None, params=dict(parameters))
    handle = ctypes.c_void_p()
    code = _BASIC._LIB.LGBM_DatasetCreateFromSerializedReference(
        content,
        ctypes.c_int32(len(content)),
        ctypes.c_int64(1),
        ctypes.c_int32(1),
        _BASIC._c_str(_BASIC._param_dict_to_str(dict(parameters))),
        ctypes.byref(handle),
    )
    _BASIC._safe_call(code)
    edges._handle = handle
    return edges
