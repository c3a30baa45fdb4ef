"""Read cells that are lists of numbers, such as embeddings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.data.tables.cells import numbers
from core.types import Float64Array, Int64Array

_NULL = -1


@dataclass(frozen=True, eq=False)
class NumberLists:
    """The lists of a block of rows.

    Attributes:
        values: (n_rows, width), NaN where a list or number is null, and where a list has the wrong length.
        lengths: (n_rows,) length of each list, -1 where the list is null.
        wrong_length: Positions of the lists of the wrong length.
    """

    values: Float64Array
    lengths: Int64Array
    wrong_length: Int64Array


def read_lists(column: Any, width: int) -> NumberLists:
    """Read a column of lists of numbers as a matrix.

    Args:
        column: Lists of any kind; see `cells.kind_of`.
        width: Expected length of each list.
    """
    lengths = list_lengths(column)
    has_width = lengths == width
    wrong_length = np.flatnonzero(~has_width & (lengths != _NULL))
    whole = column.filter(pa.array(has_width)) if len(wrong_length) else column
    values, _ = numbers(pc.list_flatten(whole))  # leaves null lists out
    rows = values.reshape(-1, width)
    if not has_width.all():
        rows = np.full((len(column), width), np.nan)
        rows[has_width] = values.reshape(-1, width)
    return NumberLists(rows, lengths, wrong_length)


def list_lengths(column: Any) -> Int64Array:
    """Return the length of each list, -1 where the list is null."""
    lengths: Any = pc.fill_null(pc.list_value_length(column), _NULL)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)
