"""Rows gathered by query, in the order in which queries first appear."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from core.data.texts import Texts
from core.types import Int64Array


@dataclass(frozen=True, eq=False)
class Queries:
    """Assignment of rows to queries.

    Attributes:
        query_ids: In the order in which they first appear.
        query_boundaries: int64 (n_queries + 1,) once the rows are in order.
        of_row: (n_rows,) the number of each row's query.
        order: The rows by query, or None where they already are.
    """

    query_ids: tuple[str, ...]
    query_boundaries: Int64Array
    of_row: Int64Array
    order: Int64Array | None


def group_queries(query_ids: Texts) -> Queries:
    """Gather rows by the ids of their queries, (n_rows,); the order within a query stays."""
    encoded: Any = pc.dictionary_encode(query_ids.array)
    of_row = encoded.indices.to_numpy().astype(np.int64)
    counts = np.bincount(of_row, minlength=len(encoded.dictionary))
    boundaries: Int64Array = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    order = np.argsort(of_row, kind="stable") if (np.diff(of_row) < 0).any() else None
    return Queries(tuple(encoded.dictionary.to_pylist()), boundaries, of_row, order)
