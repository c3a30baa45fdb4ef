"""Selection of a log's impressions for propensity estimates, such as documents shown at several ranks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.clicks.log import ClickLog
from core.errors import InvalidInput
from core.types import BoolArray, Float64Array, Int32Array, Int64Array

_MAX_CELLS = 2**26  # cells (pairs times ranks) counted at a time, half a gigabyte


@dataclass(frozen=True, eq=False)
class Impressions:
    """Selected impressions at the first ranks, as cells of a table of counts by pair and rank.

    Attributes:
        pairs: (n_pairs,) positions of the pairs in the log, ascending; rows of the table.
        cells: (n_impressions,) twice the flat index of the pair and rank into a (n_pairs, n_ranks) table,
            plus 1 where the impression was clicked.
        units: (n_impressions,) index of the resampling unit, a user or a list.
        n_units: See `ClickLog.n_units`.
    """

    n_ranks: int
    pairs: Int64Array
    cells: Int64Array
    units: Int64Array
    n_units: int

    def counts(self, multiplicities: Float64Array | None = None) -> tuple[Float64Array, Float64Array]:
        """Return the impressions and clicks of each pair at each rank, (n_pairs, n_ranks) each.

        Args:
            multiplicities: (n_units,) number of times that each unit counts, 1 by default.
        """
        weights = None if multiplicities is None else multiplicities[self.units]
        size = 2 * len(self.pairs) * self.n_ranks
        table = np.bincount(self.cells, weights, size).astype(np.float64)
        by_cell = table.reshape(len(self.pairs), self.n_ranks, 2)
        return by_cell.sum(axis=2), np.ascontiguousarray(by_cell[:, :, 1])

    def repeated(self) -> "Impressions":
        """Return the impressions of the pairs that were shown at least twice."""
        rows = self.cells // (2 * self.n_ranks)
        is_repeated = np.bincount(rows, minlength=len(self.pairs)) > 1
        removed_before = np.cumsum(~is_repeated)
        kept = is_repeated[rows]
        cells = self.cells[kept] - 2 * self.n_ranks * removed_before[rows[kept]]
        return replace(self, pairs=self.pairs[is_repeated], cells=cells, units=self.units[kept])

    def merged(self) -> "Impressions":
        """Return all impressions as those of the first pair, for estimates that need no counts by pair."""
        return replace(self, pairs=self.pairs[:1], cells=self.cells % (2 * self.n_ranks))


def impressions_of(
    log: ClickLog,
    n_ranks: int,
    *,
    moved_only: bool,
    complete_only: bool = False,
    versions: Sequence[str] = (),
    allowed: BoolArray | None = None,
) -> Impressions:
    """Select the impressions that an estimate uses.

    Args:
        n_ranks: Number of ranks; impressions at greater ranks are ignored.
        moved_only: Whether to ignore pairs that these lists show at only one of these ranks.
        complete_only: Whether to ignore lists that end before rank `n_ranks`.
        versions: Names of the versions whose lists count; all by default.
        allowed: (n_pairs,) whether each pair may be used; all by default.

    Raises:
        InvalidInput: At `/versions/…` for a version that the log does not have.
    """
    list_of_impression = log.list_of_impression
    lists = _lists_of(log, versions)
    if complete_only:
        ends = log.list_boundaries[1:]
        lists &= (np.diff(log.list_boundaries) > 0) & (log.ranks[np.maximum(ends - 1, 0)] >= n_ranks)
    rows = np.flatnonzero((log.ranks <= n_ranks) & lists[list_of_impression])
    pairs, ranks = log.pairs[rows], log.ranks[rows].astype(np.int64)
    is_selected = _ranks_per_pair(pairs, ranks, log.n_pairs, n_ranks) >= (2 if moved_only else 1)
    if allowed is not None:
        is_selected &= allowed
    is_used = is_selected[pairs]
    rows, pairs, ranks = rows[is_used], pairs[is_used], ranks[is_used]
    numbers = np.cumsum(is_selected) - 1
    units = list_of_impression
    if log.list_users is not None:
        units = np.asarray(log.list_users, np.int64)[list_of_impression]
    return Impressions(
        n_ranks,
        np.flatnonzero(is_selected),
        2 * (numbers[pairs] * n_ranks + ranks - 1) + log.clicks[rows],
        units[rows],
        log.n_units,
    )


def _ranks_per_pair(pairs: Int32Array, ranks: Int64Array, n_pairs: int, n_ranks: int) -> Int64Array:
    """Return the number of different ranks of each pair, (n_pairs,)."""
    n_distinct = np.zeros(n_pairs, np.int64)
    step = max(1, _MAX_CELLS // n_ranks)
    for first in range(0, n_pairs, step):
        last = min(first + step, n_pairs)
        inside = (pairs >= first) & (pairs < last) if step < n_pairs else slice(None)
        cells = (pairs[inside].astype(np.int64) - first) * n_ranks + ranks[inside] - 1
        table = np.bincount(cells, minlength=(last - first) * n_ranks)
        n_distinct[first:last] = np.count_nonzero(table.reshape(-1, n_ranks), axis=1)
    return n_distinct


def _lists_of(log: ClickLog, versions: Sequence[str]) -> BoolArray:
    """Return whether each list is of one of the versions, (n_lists,)."""
    if not versions:
        return np.ones(log.n_lists, np.bool_)
    names: list[str] = []
    numbers = np.full(log.n_lists, -1, np.int32)
    if log.versions is not None and log.list_versions is not None:
        names, numbers = list(log.versions), log.list_versions
    for index, name in enumerate(versions):
        if name not in names:
            listed = ", ".join(names[:10]) or "none"
            raise InvalidInput.at(
                f"/versions/{index}", f"{name!r} is not a version in the log; versions: {listed}"
            )
    is_of_versions: BoolArray = np.isin(numbers, [names.index(name) for name in versions])
    return is_of_versions
