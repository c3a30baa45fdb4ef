"""Spool of a click log's rows on disk, in parts of consecutive lists that fit in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

IMPRESSION = 0
HIT = -1  # search hit, an impression if its list has no impression events; its rank counts from 0
NO_RANK = -(2**31)
NO_TEAM = -1
TEAM_BOUND = 2**15  # of the absolute value of a team, which is stored in 16 bits
ROW = np.dtype(
    [
        ("list", "<i4"),
        ("document", "<i4"),
        ("rank", "<i4"),
        ("propensity", "<f4"),
        ("team", "<i2"),
        ("action", "<i2"),  # HIT, IMPRESSION, or the number of an action from 1
    ]
)
Rows = npt.NDArray[Any]  # of the type ROW
LISTS_PER_PART = 2**16


class Spool:
    """Rows on disk, partitioned by the number of their list.

    Args:
        folder: An empty folder for its files.

    Attributes:
        lowest_rank: The lowest rank of an impression from 0, None without any.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: set[int] = set()
        self.n_rows = 0
        self.lowest_rank: int | None = None

    def add(self, rows: Rows) -> None:
        """Add rows; the rows of a list keep their order."""
        self.n_rows += len(rows)
        ranks = rows["rank"][(rows["action"] == IMPRESSION) & (rows["rank"] >= 0)]
        if len(ranks):
            lowest = int(ranks.min())
            self.lowest_rank = lowest if self.lowest_rank is None else min(self.lowest_rank, lowest)
        parts = rows["list"] // LISTS_PER_PART
        if len(rows) and (parts[0] == parts).all():
            self._write(int(parts[0]), rows)
            return
        order = np.argsort(parts, kind="stable")
        ordered = parts[order]
        for piece in np.split(order, np.flatnonzero(np.diff(ordered)) + 1):
            if len(piece):
                self._write(int(parts[piece[0]]), rows[piece])

    def parts(self) -> Iterator[tuple[int, Rows]]:
        """Yield the index of the first list and the rows of each part; delete its file afterwards."""
        for part in sorted(self._parts):
            path = self._path(part)
            yield part * LISTS_PER_PART, np.fromfile(path, ROW)
            path.unlink()

    def _write(self, part: int, rows: Rows) -> None:
        with self._path(part).open("ab") as file:
            file.write(np.ascontiguousarray(rows).data)
        self._parts.add(part)

    def _path(self, part: int) -> Path:
        return self._folder / f"rows-{part}.bin"


def rows_of(
    lists: Any,
    documents: Any,
    ranks: Any,
    actions: Any = IMPRESSION,
    propensities: Any = np.nan,
    teams: Any = NO_TEAM,
) -> Rows:
    """Build rows from arrays of equal length, or from single values for all rows."""
    rows = np.empty(len(lists), ROW)
    for name, values in (
        ("list", lists),
        ("document", documents),
        ("rank", ranks),
        ("action", actions),
        ("propensity", propensities),
        ("team", teams),
    ):
        rows[name] = values
    return rows
