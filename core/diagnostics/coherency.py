"""Gradient coherency: documents that rank too low must be pushed up at least as hard as others above."""

import numpy as np
import numpy.typing as npt

from core.jit import nonallocating
from core.metrics import order_by_score
from core.ranges import over_ranges
from core.types import Float64Array, FloatArray, Int64Array

Mask = npt.NDArray[np.bool_]


def incoherent_queries(
    gradient: FloatArray, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array
) -> Mask:
    """Find the queries with an incoherent gradient.

    A query is incoherent if a document is pushed up harder than a document with a larger label that ranks
    below it. The push is the negative gradient.

    Source: Marcuzzi et al. 2023, Definition 3.1.

    Args:
        gradient: (n_documents,) gradient of a loss at `scores`.
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance.
        query_boundaries: (n_queries + 1,) offsets.

    Returns:
        (n_queries,) whether each query is incoherent.
    """
    push, ranked, boundaries = _ranked(gradient, scores, labels, query_boundaries)
    all_documents = np.ones(len(push), np.bool_)
    return _any_incoherent(push, ranked, all_documents, all_documents, boundaries)


def strictly_incoherent_queries(
    gradient: FloatArray, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array, cutoff: int
) -> Mask:
    """Find the queries in which a false top-k document is pushed harder than a missed one below rank k.

    A document of the top k is false if its label is more frequent there than in the ideal top k. A document
    below rank k is missed if its label is less frequent in the top k than in the ideal top k. Only pairs in
    which the missed document has the larger label count.

    Source: Marcuzzi et al. 2023, section 5.3 (counted in figure 3); see `incoherent_queries`.

    Args:
        gradient: (n_documents,) gradient of a loss at `scores`.
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance.
        query_boundaries: (n_queries + 1,) offsets.
        cutoff: k.

    Returns:
        (n_queries,) whether each query is incoherent in this sense.
    """
    push, ranked, boundaries = _ranked(gradient, scores, labels, query_boundaries)
    ideal = ranked[order_by_score(ranked, boundaries)]
    false, missed = np.zeros((2, len(push)), np.bool_)
    n = len(boundaries) - 1
    over_ranges(_mark_documents, n, ranked, ideal, boundaries, cutoff, false, missed, work=len(push))
    return _any_incoherent(push, ranked, false, missed, boundaries)


def _ranked(
    gradient: FloatArray, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array
) -> tuple[Float64Array, Float64Array, Int64Array]:
    boundaries = np.ascontiguousarray(query_boundaries, np.int64)
    order = order_by_score(scores, boundaries)
    return -np.asarray(gradient, np.float64)[order], np.asarray(labels, np.float64)[order], boundaries


def _any_incoherent(
    push: Float64Array, labels: Float64Array, above: Mask, below: Mask, query_boundaries: Int64Array
) -> Mask:
    is_incoherent = np.zeros(len(query_boundaries) - 1, np.bool_)
    n = len(is_incoherent)
    over_ranges(
        _find_incoherent, n, push, labels, above, below, query_boundaries, is_incoherent, work=len(push)
    )
    return is_incoherent


@nonallocating
def _find_incoherent(
    first: int,
    last: int,
    push: Float64Array,
    labels: Float64Array,
    above: Mask,
    below: Mask,
    query_boundaries: Int64Array,
    is_incoherent: Mask,
) -> None:
    for query in range(first, last):
        is_incoherent[query] = _is_incoherent(
            push, labels, above, below, query_boundaries[query], query_boundaries[query + 1]
        )


@nonallocating
def _is_incoherent(
    push: Float64Array, labels: Float64Array, above: Mask, below: Mask, start: int, stop: int
) -> bool:
    # Smallest label so far; rows without a larger label cannot be misranked and are skipped.
    smallest_label = np.inf
    for lower in range(start, stop):
        if below[lower] and labels[lower] > smallest_label:
            pushed_harder = 0
            for upper in range(start, lower):  # no early exit, so that the loop is vectorised
                pushed_harder |= (
                    int(above[upper]) & int(labels[upper] < labels[lower]) & int(push[upper] > push[lower])
                )
            if pushed_harder:
                return True
        smallest_label = min(smallest_label, labels[lower])
    return False


@nonallocating
def _mark_documents(
    first: int,
    last: int,
    ranked: Float64Array,
    ideal: Float64Array,
    query_boundaries: Int64Array,
    cutoff: int,
    false: Mask,
    missed: Mask,
) -> None:
    for query in range(first, last):
        _mark_query(
            ranked, ideal, query_boundaries[query], query_boundaries[query + 1], cutoff, false, missed
        )


@nonallocating
def _mark_query(
    ranked: Float64Array,
    ideal: Float64Array,
    start: int,
    stop: int,
    cutoff: int,
    false: Mask,
    missed: Mask,
) -> None:
    top = min(start + cutoff, stop)
    for row in range(start, stop):
        deficit = 0
        for top_row in range(start, top):
            deficit += int(ideal[top_row] == ranked[row]) - int(ranked[top_row] == ranked[row])
        if row < top:
            false[row] = deficit < 0
        else:
            missed[row] = deficit > 0
