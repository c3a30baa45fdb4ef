"""Masks of numpy and indexes of pandas, which `numpy.asarray` drops silently."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np


def check_same_order(columns: Mapping[str, Any]) -> None:
    """Check that pandas columns and frames with the same index labels have them in the same order.

    Args:
        columns: Values with one row per document, by the name of the argument; without an index, any order.

    Raises:
        InvalidArgument: Two indexes have the same labels in different orders.

    Example:
        >>> check_same_order({"scores": [0.9, 0.1], "labels": [0, 1]})
    """
    indexes = {name: index for name, column in columns.items() if (index := _index(column)) is not None}
    for (first, a), (second, b) in combinations(indexes.items(), 2):
        if len(a) == len(b) and not a.equals(b) and Counter(a) == Counter(b):
            raise InvalidArgument(
                f"{second}: the index has the labels of the index of {first} in another order, but rows are"
                " matched by position; reorder it with .loc, or pass .to_numpy() if its order is right"
            )


def is_reordered(rows: Any, queries: "np.ndarray[Any, Any] | None" = None) -> bool:
    """Return whether the index of pandas rows has the numbers from 0, but in another order.

    Args:
        rows: A column or frame with one row per document.
        queries: (n_documents,) query of each row if only the order within queries counts.
    """
    import numpy as np

    index = _index(rows)
    if index is None or index.dtype.kind not in "iu":
        return False
    numbers = np.asarray(index)
    if not np.array_equal(np.sort(numbers), np.arange(len(numbers))):
        return False
    codes = np.zeros(len(numbers)) if queries is None else np.unique(queries, return_inverse=True)[1]
    by_query = np.argsort(codes, kind="stable")
    falls = (np.diff(numbers[by_query]) < 0) & (np.diff(codes[by_query]) == 0)
    return bool(falls.any())


def _index(column: Any) -> Any:
    """Return the index of a Series or frame of pandas, None for anything else."""
    return getattr(column, "index", None) if type(column).__module__.startswith("pandas") else None


def with_nan(values: Any) -> Any:
    """Return a masked array of numbers with NaN where it is masked; any other value unchanged.

    Example:
        >>> import numpy as np
        >>> with_nan(np.ma.masked_equal([1, 2], 2))
        array([ 1., nan])
    """
    import numpy as np

    if not isinstance(values, np.ma.MaskedArray):
        return values
    numbers: Any = values if values.dtype.kind == "f" else values.astype(np.float64)
    return numbers.filled(np.nan)
