"""Lists of a log in blocks of queries, so that one thread alone adds to the sums of a pair."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.clicks.log import ClickLog
from core.jit import bare
from core.ranges import over_ranges, read_only
from core.types import Float64Array, Int32Array, Int64Array

_BLOCKS = 64  # more than threads, so that a popular query does not hold up the others


@dataclass(frozen=True)
class QueryBlocks:
    """The lists of a log, copied in the order of their queries and cut into blocks between queries.

    A pair belongs to one query, and a query to one block. Kernels take blocks in any order: the sums of a
    pair have one order of addition, and what is summed over pairs is kept by block and added up afterwards.
    So results are the same on any number of threads, to the bit. The copy takes 7 bytes an impression;
    without it, each pass would read lists all over memory.

    Attributes:
        log: The log.
        order: (n_lists,) positions of the lists in the log, by query.
        blocks: (n_blocks + 1,) offsets of the blocks in `order`.
        boundaries: (n_lists + 1,) offsets of the lists in the copied impressions, in their order.
        pairs: (n_impressions,) pairs of the impressions down to the greatest used rank.
        ranks: (n_impressions,) their ranks.
        clicks: (n_impressions,) whether they were clicked.
        max_rank: Greatest rank that is used.
    """

    log: ClickLog
    order: Int64Array
    blocks: Int64Array
    boundaries: Int64Array
    pairs: Int32Array
    ranks: npt.NDArray[np.int16]
    clicks: npt.NDArray[np.bool_]
    max_rank: int

    @classmethod
    def of(cls, log: ClickLog, max_rank: int) -> "QueryBlocks":
        """Copy the lists of a log.

        Args:
            log: The log.
            max_rank: Greatest rank to use; impressions below are left out.
        """
        max_rank = min(max_rank, log.max_rank)
        order = np.argsort(log.list_queries, kind="stable").astype(np.int64)
        lengths = np.diff(log.list_boundaries)[order]
        if log.max_rank > max_rank:
            used = np.concatenate([[0], np.cumsum(log.ranks <= max_rank)])[log.list_boundaries]
            lengths = np.diff(used)[order]
        boundaries = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        pairs, ranks = np.empty(boundaries[-1], np.int32), np.empty(boundaries[-1], np.int16)
        clicks = np.empty(boundaries[-1], np.bool_)
        logged = (read_only(log.pairs), read_only(log.ranks), read_only(log.clicks))
        lists = (order, boundaries, read_only(log.list_boundaries))
        over_ranges(_copy, log.n_lists, *lists, *logged, pairs, ranks, clicks, work=log.n_impressions)
        blocks = _blocks(log.list_queries[order], boundaries)
        return cls(log, order, blocks, boundaries, pairs, ranks, clicks, max_rank)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.blocks) - 1

    def in_order(self, weights: Float64Array | None) -> Float64Array:
        """Return the weights of lists of the log, or 1 for each, in `order`."""
        return np.ones(len(self.order)) if weights is None else weights[self.order]

    def run(self, kernel: Callable[..., Any], weights: Float64Array, *arguments: Any) -> None:
        """Call a kernel with a range of blocks, the lists, the arguments for ranges that make up all blocks.

        Args:
            kernel: Compiled to release the GIL.
            weights: (n_lists,) how often each list counts, in `order`.
            arguments: What else it needs, and the arrays that it adds to.
        """
        lists = (self.blocks, self.boundaries, self.pairs, self.ranks, self.clicks, weights)
        over_ranges(kernel, self.n_blocks, *lists, *arguments, work=len(self.pairs))


def _blocks(queries: Int32Array, boundaries: Int64Array) -> Int64Array:
    """Return offsets of blocks with about as many impressions each, that cut no query."""
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    shares = np.arange(_BLOCKS) * (boundaries[-1] / _BLOCKS)
    cuts = np.searchsorted(boundaries[starts], shares)
    kept = starts[cuts[cuts < len(starts)]]
    return np.unique(np.concatenate([[0], kept, [len(queries)]])).astype(np.int64)


@bare
def _copy(
    first: int,
    last: int,
    order: Int64Array,
    boundaries: Int64Array,
    of_log: Int64Array,
    from_pairs: Int32Array,
    from_ranks: npt.NDArray[np.int16],
    from_clicks: npt.NDArray[np.bool_],
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],
) -> None:
    for entry in range(first, last):
        shift = of_log[order[entry]] - boundaries[entry]
        for i in range(boundaries[entry], boundaries[entry + 1]):
            pairs[i] = from_pairs[i + shift]
            ranks[i] = from_ranks[i + shift]
            clicks[i] = from_clicks[i + shift]
