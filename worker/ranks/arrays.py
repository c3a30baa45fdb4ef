"""Serialize arrays for messages between the processes of a training."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.data.texts import Texts


def packed(array: npt.NDArray[Any] | None) -> dict[str, Any] | None:
    """Return an array of one or two dimensions as part of a message; return None for None."""
    if array is None:
        return None
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "data": np.ascontiguousarray(array).tobytes(),
    }


def unpacked(message: Mapping[str, Any] | None) -> Any:
    """Return the array of a message that `packed` returned, None for None."""
    if message is None:
        return None
    # A copy, which is writable and does not keep the message alive.
    return np.frombuffer(message["data"], message["dtype"]).reshape(message["shape"]).copy()


def packed_texts(texts: Texts) -> dict[str, Any]:
    """Return texts as part of a message."""
    offsets, data = texts.buffers()
    return {"offsets": packed(offsets), "data": packed(data)}


def unpacked_texts(message: Mapping[str, Any]) -> Texts:
    """Return the texts of a message that `packed_texts` returned."""
    return Texts.of_buffers(unpacked(message["offsets"]), unpacked(message["data"]))
