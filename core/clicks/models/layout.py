"""Lists of a log in blocks of queries, so that only one thread adds to the sums of a pair; these sums."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.clicks.log import ClickLog
from core.jit import nonallocating
from core.ranges import over_ranges, read_only
from core.types import Float64Array, Int32Array, Int64Array

_BLOCKS = 64  # more blocks than threads, so that a popular query does not delay the others


@dataclass(frozen=True)
class QueryBlocks:
    """The lists of a log, copied in query order and divided into blocks at query boundaries.

    A pair belongs to one query, and a query to one block. Kernels process blocks in any order. The sums of a
    pair have a fixed order of addition. Sums over pairs are kept by block and added afterwards. Results
    are therefore bit for bit the same on any number of threads. The copy takes 7 bytes per impression;
    without it, each pass would read lists in random order.

    Attributes:
        order: (n_lists,) positions of the lists in the log, by query.
        blocks: (n_blocks + 1,) offsets of the blocks in `order`.
        boundaries: (n_lists + 1,) offsets of the lists in the copied impressions, in their order.
        pairs: (n_impressions,) pairs of the impressions down to the greatest used rank.
        ranks: (n_impressions,) ranks of the impressions.
        clicks: (n_impressions,) whether the impressions were clicked.
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
            max_rank: Greatest rank to use; impressions at greater ranks are ignored.
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
        """Return the number of blocks."""
        return len(self.blocks) - 1

    @property
    def has_impressions(self) -> npt.NDArray[np.bool_]:
        """Return whether each list of the log has an impression down to `max_rank`, (n_lists,)."""
        has_impressions = np.empty(len(self.order), np.bool_)
        has_impressions[self.order] = np.diff(self.boundaries) > 0
        return has_impressions

    def in_order(self, weights: Float64Array | None) -> Float64Array:
        """Return the (n_lists,) weights of the log's lists, 1 by default, in the order of `order`."""
        return np.ones(len(self.order)) if weights is None else weights[self.order]

    def run(self, kernel: Callable[..., Any], weights: Float64Array, *arguments: Any) -> None:
        """Call a kernel, possibly on several threads, with ranges of blocks that cover all blocks.

        Args:
            kernel: Function of a range, the lists and the arguments, compiled to release the GIL.
            weights: (n_lists,) weight of each list, in `order`.
            arguments: Further inputs and output arrays of the kernel.
        """
        lists = (self.blocks, self.boundaries, self.pairs, self.ranks, self.clicks, weights)
        over_ranges(kernel, self.n_blocks, *lists, *arguments, work=len(self.pairs))


def _blocks(queries: Int32Array, boundaries: Int64Array) -> Int64Array:
    """Return offsets of blocks with about equal numbers of impressions, at query boundaries."""
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    shares = np.arange(_BLOCKS) * (boundaries[-1] / _BLOCKS)
    cuts = np.searchsorted(boundaries[starts], shares)
    kept = starts[cuts[cuts < len(starts)]]
    return np.unique(np.concatenate([[0], kept, [len(queries)]])).astype(np.int64)


@nonallocating
def _copy(
    first: int,
    last: int,
    order: Int64Array,
    boundaries: Int64Array,
    log_boundaries: Int64Array,
    from_pairs: Int32Array,
    from_ranks: npt.NDArray[np.int16],
    from_clicks: npt.NDArray[np.bool_],
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],
) -> None:
    for entry in range(first, last):
        shift = log_boundaries[order[entry]] - boundaries[entry]
        for i in range(boundaries[entry], boundaries[entry + 1]):
            pairs[i] = from_pairs[i + shift]
            ranks[i] = from_ranks[i + shift]
            clicks[i] = from_clicks[i + shift]


# Columns: (expected) successes and trials of attractiveness; (expected) examinations; successes and trials of
# satisfaction, the trials being clicks.
SUCCESSES, TRIALS, EXAMINED, SATISFIED, CLICKED = range(5)
CAP = 1.0 - 1e-6  # upper bound of probabilities, so that no probability of a skip is 0


@dataclass(frozen=True)
class PairSums:
    """Sums by pair of a query and a document.

    Attributes:
        values: (n_pairs, 5) sums; a row per pair, because kernels update all sums of a pair together.
    """

    values: Float64Array

    @classmethod
    def zeros(cls, n_pairs: int) -> "PairSums":
        """Return sums of 0."""
        return cls(np.zeros((n_pairs, 5)))

    def attractiveness(self, prior: tuple[float, float], cap: float = 1.0) -> Float64Array:
        """Return (successes + a) / (trials + a + b) with the prior (a, b), at most `cap`, (n_pairs,)."""
        return ratio(self.values[:, SUCCESSES], self.values[:, TRIALS], prior, cap)

    def satisfaction(self, prior: tuple[float, float], cap: float = 1.0) -> Float64Array:
        """Return (satisfied clicks + a) / (clicks + a + b) with prior (a, b), at most `cap`, (n_pairs,)."""
        return ratio(self.values[:, SATISFIED], self.values[:, CLICKED], prior, cap)


def ratio(
    successes: Float64Array, trials: Float64Array, prior: tuple[float, float], cap: float = 1.0
) -> Float64Array:
    """Return (successes + a) / (trials + a + b) with the prior (a, b), at most `cap`; 0 for 0 / 0."""
    divisors = trials + (prior[0] + prior[1])
    quotients = (successes + prior[0]) / np.where(divisors > 0.0, divisors, 1.0)
    return np.minimum(quotients, cap, out=quotients)
