"""Join of document scores with the pairs of a click log by query id and document id."""

from collections.abc import Sequence

import numpy as np

from core.clicks.counterfactual.rows import NewRanking
from core.clicks.log import ClickLog
from core.types import FloatArray, Int64Array


def join_scores(
    name: str,
    log: ClickLog,
    query_ids: Sequence[str],
    document_ids: Sequence[str],
    query_boundaries: Int64Array,
    scores: FloatArray,
) -> NewRanking:
    """Return the ranking of a log's pairs by descending score; ties keep their order.

    A document that occurs several times in a query has its best rank.

    Args:
        name: Name of the ranking.
        log: Click log.
        query_ids: (n_queries,) ids of queries.
        document_ids: (n_documents,) ids of documents.
        query_boundaries: (n_queries + 1,) offsets.
        scores: (n_documents,) scores; NaN for documents that are not ranked.
    """
    lengths = np.diff(query_boundaries)
    queries = np.repeat(np.arange(len(query_ids)), lengths)
    ranked = ~np.isnan(scores)
    # Documents that are not ranked come last and are dropped below.
    order = np.lexsort((-np.where(ranked, scores, -np.inf), ~ranked, queries))
    ranks = np.empty(len(scores), np.int64)
    ranks[order] = np.arange(len(scores)) - np.repeat(query_boundaries[:-1], lengths) + 1
    pairs = log.pairs_of(query_ids, document_ids, query_boundaries)
    joined = np.flatnonzero(ranked & (pairs >= 0))
    # Of copies of a document, the best rank is written last and remains.
    worst_first = joined[np.argsort(-ranks[joined])]
    ranks_of_pairs = np.zeros(log.n_pairs, np.int32)
    ranks_of_pairs[pairs[worst_first]] = ranks[worst_first]
    counts = dict(
        zip(query_ids, np.bincount(queries[ranked], minlength=len(query_ids)).tolist(), strict=True)
    )
    lengths_in_log = np.array([counts.get(query, 0) for query in log.query_ids], np.int32)
    return NewRanking(name, ranks_of_pairs, lengths_in_log)
