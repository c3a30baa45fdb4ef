"""Values of JSON arrays and objects: numbers and `null`."""

import numpy as np

from core.jit import exact_inlined
from core.text.decimal_kernel import ROUNDED, read_decimal
from core.types import UInt8Array

UNSUPPORTED = -1  # returned instead of a position: only a general parser can read the text

_NULL = b"null"


@exact_inlined
def read_value(text: UInt8Array, at: int) -> tuple[int, float]:
    """Read a number or `null` at a position.

    Args:
        text: JSON, padded with at least eight zero bytes.

    Returns:
        The position after the value, and the float64 value, NaN for `null`. The position is `UNSUPPORTED` if
        the value is neither a number nor `null`, is beyond float64 or has more than 19 digits.
    """
    if text[at] == _NULL[0]:
        return _null_end(text, at), np.nan
    kind, stop, value = read_decimal(text, np.uint64(at), np.uint64(len(text)), True)
    if kind != ROUNDED or np.isinf(value):
        return UNSUPPORTED, np.nan
    return int(np.int64(stop)), value


@exact_inlined
def _null_end(text: UInt8Array, at: int) -> int:
    for offset in range(1, len(_NULL)):
        if text[at + offset] != _NULL[offset]:
            return UNSUPPORTED
    return at + len(_NULL)
