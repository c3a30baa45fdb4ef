"""Spell the ids of queries and documents alike, whatever they come as."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# As pandas writes a column of whole numbers of which one is missing.
_WHOLE_FLOAT = r"^[+-]?[0-9]+\.0$"


@dataclass(frozen=True, eq=False)
class Spelling:
    """The ids of a column.

    Attributes:
        texts: Arrow's large_string (n,), null where an id is missing.
        unfit: int64 positions of numbers that are no ids: infinite, or too large for their type to hold every
            whole number of that size, so that two ids may have become one.
    """

    texts: Any
    unfit: "NDArray[np.int64]"


def is_missing(value: Any) -> bool:
    """Tell None, NaN and the missing values of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def inexact_ids(values: "NDArray[np.floating[Any]]") -> "NDArray[np.bool_]":
    """Tell the numbers of a size at which their type does not hold every whole number, infinity included."""
    import numpy as np

    found: NDArray[np.bool_] = np.abs(values) >= 2.0 ** (np.finfo(values.dtype).nmant + 1)
    return found


def spell(value: Any) -> str:
    """Return one id as a text: bytes as UTF-8, whole floating-point numbers as whole numbers.

    Example:
        >>> spell(4006381333931.0), spell(b"a"), spell(1.5)
        ('4006381333931', 'a', '1.5')
    """
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def spell_column(column: Any) -> Spelling:
    """Spell a column of Arrow.

    Args:
        column: An array or chunked array (n,) of numbers, texts, dates, or a dictionary of them.

    Raises:
        pyarrow.ArrowInvalid: Bytes are not UTF-8.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    types: Any = pa.types
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if types.is_dictionary(column.type):
        distinct = spell_column(column.dictionary)
        unfit = np.isin(pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False), distinct.unfit)
        return Spelling(distinct.texts.take(column.indices), np.flatnonzero(unfit))
    if types.is_floating(column.type):
        return _spell_floats(column)
    texts: Any = pc.cast(column, pa.large_string())
    if types.is_decimal(column.type):
        texts = pc.replace_substring_regex(texts, r"\.0+$", "")
    texts.validate(full=True)
    return Spelling(texts, np.empty(0, np.int64))


def without_point(texts: Any) -> Any:
    """Spell as whole numbers the texts of a column all of which are floating-point numbers that are whole.

    Args:
        texts: Arrow's large_string; nulls and empty texts decide nothing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths: Any = pc.binary_length(texts)
    filled = texts.filter(pc.greater(lengths, pa.scalar(0, lengths.type)))
    if not len(filled) or not pc.all(pc.match_substring_regex(filled, _WHOLE_FLOAT)).as_py():
        return texts
    return pc.replace_substring(texts, ".0", "")


def _spell_floats(column: Any) -> Spelling:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.fill_null(column, math.nan).to_numpy(zero_copy_only=False)
    is_known = ~np.isnan(values)
    is_whole = np.isfinite(values) & (values == np.floor(values))
    unfit = is_known & inexact_ids(values)
    whole = pc.cast(
        pa.array(np.where(is_whole & ~unfit, values, 0).astype(np.int64), mask=~is_known), pa.large_string()
    )
    others = np.flatnonzero(is_known & ~is_whole)
    if len(others):
        replaced = whole.to_pylist()
        for place in others.tolist():
            replaced[place] = str(values[place])
        whole = pa.array(replaced, pa.large_string())
    return Spelling(whole, np.flatnonzero(unfit))
