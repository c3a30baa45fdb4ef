"""Join of document scores with the pairs of a click log by query id and document id."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.clicks.counterfactual.rows import NewRanking
from core.clicks.log import ClickLog
from core.data.texts import Texts
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
    log_queries = _positions(query_ids, log.query_ids)
    lengths_in_log = np.zeros(len(log.query_ids), np.int32)
    known = log_queries >= 0
    lengths_in_log[log_queries[known]] = np.bincount(queries[ranked], minlength=len(query_ids))[known]
    documents = _positions(document_ids, log.document_ids)
    joined = ranked & (documents >= 0) & known[queries]
    keys = log_queries[queries[joined]] * len(log.document_ids) + documents[joined]
    return NewRanking(name, _ranks_of_pairs(log, keys, ranks[joined]), lengths_in_log)


def _ranks_of_pairs(
    log: ClickLog, keys: Int64Array, ranks: Int64Array
) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the rank of each pair of the log, (n_pairs,), 0 for pairs whose key is not among `keys`."""
    pairs = log.pair_queries.astype(np.int64) * len(log.document_ids) + log.pair_documents
    by_key = np.argsort(pairs, kind="stable")
    places = np.searchsorted(pairs[by_key], keys)
    places = np.minimum(places, max(len(pairs) - 1, 0))
    rows = by_key[places] if len(pairs) else places
    hit = pairs[rows] == keys if len(pairs) else np.zeros(len(keys), bool)
    found = np.zeros(len(pairs), np.int32)
    # Of copies of a document, the best rank is written last and remains.
    worst_first = np.flatnonzero(hit)[np.argsort(-ranks[hit])]
    found[rows[worst_first]] = ranks[worst_first]
    return found


def _positions(ids: Sequence[str], known_ids: Texts) -> Int64Array:
    """Return the position of each id in `known_ids`, -1 where absent."""
    positions = pc.index_in(Texts.of(ids).array, value_set=known_ids.array)
    return np.asarray(pc.fill_null(positions, pa.scalar(-1, pa.int32())), np.int64)
