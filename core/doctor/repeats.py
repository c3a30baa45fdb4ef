"""Count duplicate documents within queries."""

from dataclasses import dataclass

import numpy as np

from core.doctor.hashing import Hashes
from core.jit import compiled
from core.ranges import over_ranges
from core.sorting import merge_sort
from core.types import Float32Array, Int64Array


@dataclass(frozen=True, eq=False)
class Repeats:
    """Equal documents, query by query.

    Attributes:
        surplus: (n_queries,) number of documents that equal an earlier document.
        contradicting: (n_queries,) number of documents that equal a document with another label; documents
            without a label are ignored.
    """

    surplus: Int64Array
    contradicting: Int64Array


@compiled
def _count(
    first_query: int,
    last_query: int,
    hashes: Hashes,
    labels: Float32Array,
    query_boundaries: Int64Array,
    surplus: Int64Array,
    contradicting: Int64Array,
) -> None:
    for query in range(first_query, last_query):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        n = stop - start
        order = np.empty(n, np.int64)
        merge_sort(hashes, start, n, order, np.empty(n, np.int64))
        first = 0
        while first < n:
            same = hashes[start + order[first]]
            lowest, highest = np.float32(np.inf), np.float32(-np.inf)
            last, judged = first, 0
            while last < n and hashes[start + order[last]] == same:
                label = labels[start + order[last]]
                lowest = label if label < lowest else lowest
                highest = label if label > highest else highest
                judged += not np.isnan(label)
                last += 1
            surplus[query] += last - first - 1
            if lowest < highest:
                contradicting[query] += judged
            first = last


def count_repeats(hashes: Hashes, labels: Float32Array, query_boundaries: Int64Array) -> Repeats:
    """Count documents with equal hashes within each query.

    Args:
        hashes: (n_documents,) hash of each document.
        labels: (n_documents,) labels.
        query_boundaries: (n_queries + 1,) offsets.
    """
    n_queries = len(query_boundaries) - 1
    surplus, contradicting = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    counts = surplus, contradicting
    over_ranges(_count, n_queries, hashes, labels, query_boundaries, *counts, work=len(labels))
    return Repeats(surplus, contradicting)
