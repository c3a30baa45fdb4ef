"""Identifiability of examination by rank: connected components of documents and ranks in a log."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.clicks.models.layout import QueryBlocks
from core.clicks.models.specification import ClickModelSpec
from core.jit import nonallocating
from core.types import Float64Array, Int32Array, Int64Array

_MAX_LISTED = 4  # maximum number of components in a sentence


@dataclass(frozen=True)
class Movement:
    """The movement of documents between ranks.

    A graph joins each pair with the ranks at which it was shown. Examination and attractiveness are
    identified up to a factor within each component of this graph.

    Attributes:
        components: Ranks of each component, largest component first.
        moved_pairs: Pairs that were shown at two ranks or more.
        shown_pairs: Pairs that were shown.
        moved_impression_share: Share of the impressions that belong to pairs shown at two ranks or more.
    """

    components: tuple[tuple[int, ...], ...]
    moved_pairs: int
    shown_pairs: int
    moved_impression_share: float

    @property
    def is_connected(self) -> bool:
        """Return whether examination is comparable between all ranks."""
        return len(self.components) <= 1


def rank_movement(lists: QueryBlocks, weights: Float64Array) -> Movement:
    """Return the movement of documents between the ranks of a log, with its connected components.

    Args:
        weights: (n_lists,) weights in the order of the blocks; lists of weight 0 are ignored.
    """
    n_pairs, n_ranks = lists.log.n_pairs, lists.max_rank
    # (n_pairs,) first rank of each pair from 0, −1 if never shown
    first_ranks = np.full(n_pairs, -1, np.int32)
    moved = np.zeros(n_pairs, np.bool_)
    impressions = np.zeros(n_pairs)
    edges = np.zeros((lists.n_blocks, n_ranks, n_ranks), np.bool_)
    lists.run(_record_ranks, weights, first_ranks, moved, impressions, edges)
    shown_ranks = np.unique(first_ranks[first_ranks >= 0])
    joined = np.logical_or.reduce(edges)
    components = _components(joined | joined.T, np.union1d(shown_ranks, np.flatnonzero(joined.any(axis=0))))
    total = impressions.sum()
    return Movement(
        components=tuple(tuple(int(rank) + 1 for rank in ranks) for ranks in components),
        moved_pairs=int(moved.sum()),
        shown_pairs=int((first_ranks >= 0).sum()),
        moved_impression_share=float(impressions[moved].sum() / total) if total else 0.0,
    )


def movement_findings(spec: ClickModelSpec, lists: QueryBlocks, weights: Float64Array) -> list[str]:
    """Return sentences on parameters that a log does not identify.

    Args:
        weights: (n_lists,) weights in the order of the blocks; lists of weight 0 are ignored.
    """
    if not spec.kind.needs_movement:
        return []
    movement = rank_movement(lists, weights)
    if movement.is_connected:
        return []
    if not movement.moved_pairs:
        return [
            (
                "No document was shown at more than one rank: examination and attractiveness cannot be"
                " distinguished. Show some documents at several ranks, or use `cascade`, `dcm`, `sdbn` or"
                " `dbn`."
            )
        ]
    named = [_ranges(ranks) for ranks in movement.components[:_MAX_LISTED]]
    more = len(movement.components) - len(named)
    groups = "; ".join(named) + (f"; and {more} more" if more else "")
    return [
        f"No document connects these groups of ranks: {groups}. "
        "Examinations can be compared only within a group."
    ]


def _components(joined: npt.NDArray[np.bool_], nodes: npt.NDArray[np.integer]) -> list[list[int]]:
    from scipy.sparse import csgraph  # its import takes a tenth of a second

    _, labels = csgraph.connected_components(joined, directed=False)
    groups: dict[int, list[int]] = {}
    for node in nodes.tolist():
        groups.setdefault(int(labels[node]), []).append(node)
    return sorted(groups.values(), key=lambda group: (-len(group), group))


def _ranges(ranks: tuple[int, ...]) -> str:
    starts = [rank for rank in ranks if rank - 1 not in ranks]
    stops = [rank for rank in ranks if rank + 1 not in ranks]
    return ", ".join(
        f"{start}" if start == stop else f"{start}–{stop}" for start, stop in zip(starts, stops, strict=True)
    )


@nonallocating
def _record_ranks(
    first: int,
    last: int,
    blocks: Int64Array,
    boundaries: Int64Array,
    pairs: Int32Array,
    ranks: npt.NDArray[np.int16],
    clicks: npt.NDArray[np.bool_],  # noqa: ARG001 - as all kernels over lists
    weights: Float64Array,
    first_ranks: Int32Array,
    moved: npt.NDArray[np.bool_],
    impressions: Float64Array,
    edges: npt.NDArray[np.bool_],
) -> None:
    for block in range(first, last):
        for entry in range(blocks[block], blocks[block + 1]):
            if weights[entry] == 0.0:
                continue
            start, stop = boundaries[entry], boundaries[entry + 1]
            for i in range(start, stop):
                pair, rank_index = pairs[i], np.int32(ranks[i]) - 1
                impressions[pair] += 1.0
                if first_ranks[pair] < 0:
                    first_ranks[pair] = rank_index
                elif first_ranks[pair] != rank_index:
                    moved[pair] = True
                    edges[block, first_ranks[pair], rank_index] = True
