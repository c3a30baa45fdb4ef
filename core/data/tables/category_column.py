"""Encode a column of categories, block by block."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from core.data.categories import MAX_CATEGORIES, MAX_CHARACTERS, Categories
from core.data.tables.cells import category_texts
from core.types import Float32Array, Int64Array


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """Category codes of a block of cells.

    Attributes:
        codes: float32 (n,), NaN where a cell is empty or invalid, infinite where a text is too long.
        invalid: Positions of cells that are neither a text nor a whole number.
        too_long: Positions of cells whose text is too long.
    """

    codes: Float32Array
    invalid: Int64Array
    too_long: Int64Array


class CategoryColumn:
    """Assigns codes to values in the order of first appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        """Return whether there are more values than a feature may have."""
        return len(self._codes) > MAX_CATEGORIES

    @property
    def categories(self) -> Categories:
        """Values of all blocks so far."""
        return Categories(tuple(self._codes))

    def take(self, column: Any) -> CategoryCodes:
        """Return the codes of a block's cells."""
        values, invalid = category_texts(column)
        encoded: Any = pc.dictionary_encode(values)
        distinct = np.array([self._code(value) for value in encoded.dictionary.to_pylist()], np.float32)
        codes = distinct[encoded.indices.to_numpy()]
        return CategoryCodes(codes, invalid, np.flatnonzero(np.isinf(codes)))

    def _code(self, value: str) -> float:
        if not value:
            return np.nan
        if len(value) > MAX_CHARACTERS:
            return np.inf  # refused by the reader of the column
        return self._codes.setdefault(value, len(self._codes))
