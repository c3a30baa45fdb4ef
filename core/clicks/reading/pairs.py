"""Numbering of the distinct pairs of a query and a document, without all impressions in memory."""

from pathlib import Path
from typing import Any

import numpy as np

from core.clicks.files import LogWriter
from core.types import Int32Array, Int64Array

_BLOCK = 2**22  # keys
_DOCUMENT_BITS = 32


def pair_keys(queries: Int32Array, documents: Any) -> Int64Array:
    """Return a sort key for each pair, which orders pairs by query and document."""
    keys: Int64Array = (queries.astype(np.int64) << _DOCUMENT_BITS) | documents.astype(np.int64)
    return keys


class DistinctKeys:
    """The distinct values of many keys, 8 bytes each."""

    def __init__(self) -> None:
        self._distinct: Int64Array = np.empty(0, np.int64)
        self._pending: list[Int64Array] = []

    def add(self, keys: Int64Array) -> None:
        """Add keys, (n,)."""
        self._pending.append(np.unique(keys))
        # Merge when pending keys outnumber merged ones, so that each key is merged only a few times.
        if sum(map(len, self._pending)) > max(_BLOCK, len(self._distinct)):
            self.sorted()

    def sorted(self) -> Int64Array:
        """Return the distinct keys, ascending."""
        self._distinct = np.unique(np.concatenate([self._distinct, *self._pending]))
        self._pending.clear()
        return self._distinct


class PairKeys:
    """The pairs of all impressions in their order, on disk; distinct pairs are in memory.

    Args:
        path: File to write the keys to.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._keys = DistinctKeys()

    def __enter__(self) -> "PairKeys":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, keys: Int64Array) -> None:
        """Add the keys of the pairs of impressions, (n,)."""
        self._file.write(keys.data)
        self._keys.add(keys)

    def write(self, writer: LogWriter) -> None:
        """Write the distinct pairs, sorted by query and document, and the index of each impression's pair."""
        self._file.flush()
        distinct = self._keys.sorted()
        writer.append("pair_queries", (distinct >> _DOCUMENT_BITS).astype(np.int32))
        writer.append("pair_documents", (distinct & (2**_DOCUMENT_BITS - 1)).astype(np.int32))
        with self._path.open("rb") as file:
            while len(keys := np.fromfile(file, np.int64, _BLOCK)):
                distinct_keys, inverse = np.unique(keys, return_inverse=True)
                writer.append("pairs", np.searchsorted(distinct, distinct_keys).astype(np.int32)[inverse])
