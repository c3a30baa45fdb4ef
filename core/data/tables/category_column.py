"""A column of categories, read block by block."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from core.data.categories import MAX_CATEGORIES, MAX_CHARACTERS, Categories
from core.data.tables.cells import category_texts
from core.types import Float32Array, Int64Array


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """The cells of a block.

    Attributes:
        codes: float32 (n,), NaN where a cell is empty or unfit, infinite where its text is too long.
        unfit: Positions of cells that are neither a text nor a whole number.
        too_long: Positions of cells that hold too long a text.
    """

    codes: Float32Array
    unfit: Int64Array
    too_long: Int64Array


class CategoryColumn:
    """Assigns codes to values in the order of first appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether there are more values than a feature may have."""
        return len(self._codes) > MAX_CATEGORIES

    @property
    def categories(self) -> Categories:
        """The values so far."""
        return Categories(tuple(self._codes))

    def take(self, column: Any) -> CategoryCodes:
        """Return the codes of a block's cells."""
        values, unfit = category_texts(column)
        encoded: Any = pc.dictionary_encode(values)
        known = [self._code(value) for value in encoded.dictionary.to_pylist()]
        codes = np.array(known, np.float32)[encoded.indices.to_numpy()]
        return CategoryCodes(codes, unfit, np.flatnonzero(np.isinf(codes)))

    def _code(self, value: str) -> float:
        if not value:
            return np.nan
        if len(value) > MAX_CHARACTERS:
            return np.inf  # refused by the reader of the column
        return self._codes.setdefault(value, len(self._codes))
