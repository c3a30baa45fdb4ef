"""Number the different pairs of a query and a document without holding all impressions."""

from pathlib import Path
from typing import Any

import numpy as np

from core.clicks.files import LogWriter
from core.types import Int32Array, Int64Array

_BLOCK = 2**22  # keys
_DOCUMENT_BITS = 32


class PairKeys:
    """The pairs of all impressions in their order, on the disk.

    Memory holds the different pairs only, 8 bytes each.

    Args:
        path: The file of the keys.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._distinct: Int64Array = np.empty(0, np.int64)
        self._pending: list[Int64Array] = []

    def add(self, queries: Int32Array, documents: Any) -> None:
        """Add the pairs of impressions, (n,) each."""
        keys = (queries.astype(np.int64) << _DOCUMENT_BITS) | documents.astype(np.int64)
        self._file.write(keys.data)
        self._pending.append(np.unique(keys))
        # Merged once they are as many as the pairs before, so that each is merged a few times in all.
        if sum(map(len, self._pending)) > max(_BLOCK, len(self._distinct)):
            self._merge()

    def write(self, writer: LogWriter) -> None:
        """Write the columns of pairs, by query and document, and the pair of each impression."""
        self._merge()
        self._file.close()
        writer.append("pair_queries", (self._distinct >> _DOCUMENT_BITS).astype(np.int32))
        writer.append("pair_documents", (self._distinct & (2**_DOCUMENT_BITS - 1)).astype(np.int32))
        with self._path.open("rb") as file:
            while len(keys := np.fromfile(file, np.int64, _BLOCK)):
                found, places = np.unique(keys, return_inverse=True)
                writer.append("pairs", np.searchsorted(self._distinct, found).astype(np.int32)[places])
        self._path.unlink()

    def _merge(self) -> None:
        self._distinct = np.unique(np.concatenate([self._distinct, *self._pending]))
        self._pending.clear()
