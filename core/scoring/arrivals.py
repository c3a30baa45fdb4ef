"""Count the documents at each leaf of a forest."""

import numpy as np

from core.jit import exact, exact_bare
from core.ranges import over_ranges
from core.scoring.descent import BLOCK, LANES, FlatForest, encode_block, leaves
from core.types import FloatArray, Int64Array, UInt16Array, UInt64Array


def count_arrivals(features: FloatArray, forest: FlatForest, arrivals: Int64Array) -> None:
    """Count the documents that reach each leaf, on up to one thread per row of `arrivals`.

    Args:
        features: (n_documents, n_features).
        forest: Forest to walk; its values are not read.
        arrivals: (n_parts, n_nodes) counts to increase, one row per part of the documents; nodes that are not
            leaves stay unchanged.
    """
    over_ranges(_count_parts, len(arrivals), features, forest, arrivals, work=features.size)


@exact
def _count_parts(
    first_part: int, last_part: int, features: FloatArray, forest: FlatForest, arrivals: Int64Array
) -> None:
    n_blocks, n_parts = (len(features) + BLOCK - 1) // BLOCK, len(arrivals)
    codes = np.empty(BLOCK * (len(forest.columns) + len(forest.sets)), np.uint16)
    for part in range(first_part, last_part):
        for block in range(part * n_blocks // n_parts, (part + 1) * n_blocks // n_parts):
            block_features = features[block * BLOCK : (block + 1) * BLOCK]
            width = encode_block(block_features, forest, codes)
            _count(codes, len(block_features), width, forest.nodes, forest.roots, arrivals[part])


@exact_bare
def _count(
    codes: UInt16Array, n: int, width: int, nodes: UInt64Array, roots: UInt64Array, arrivals: Int64Array
) -> None:
    step = np.uint64(width)
    n_whole = n // LANES * LANES
    for tree in range(len(roots)):
        root = roots[tree]
        for first in range(0, n_whole, LANES):
            row = np.uint64(first) * step
            rows = (row, row + step, row + step * np.uint64(2), row + step * np.uint64(3),
                    row + step * np.uint64(4), row + step * np.uint64(5), row + step * np.uint64(6),
                    row + step * np.uint64(7))  # fmt: skip
            for end in leaves(nodes, (root, root, root, root, root, root, root, root), codes, rows):
                arrivals[end] += 1
    for document in range(n_whole, n):
        row = np.uint64(document) * step
        for tree in range(0, len(roots), LANES):
            trees = (roots[tree], roots[tree + 1], roots[tree + 2], roots[tree + 3], roots[tree + 4],
                     roots[tree + 5], roots[tree + 6], roots[tree + 7])  # fmt: skip
            for end in leaves(nodes, trees, codes, (row, row, row, row, row, row, row, row)):
                arrivals[end] += 1
