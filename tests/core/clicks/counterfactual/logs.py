"""Click logs with known propensities, and rankings of their documents."""

import numpy as np
import numpy.typing as npt

from core.clicks import ClickLog
from core.clicks.counterfactual import NewRanking
from core.data.texts import Texts

IntArray = npt.NDArray[np.integer]


def log_of(
    queries: IntArray,
    documents: IntArray,
    clicks: npt.NDArray[np.floating] | npt.NDArray[np.bool_],
    propensities: npt.NDArray[np.float64] | None,
    *,
    n_documents: int,
    users: IntArray | None = None,
) -> ClickLog:
    """Return a log of complete lists.

    Args:
        queries: (n_lists,) queries from 0.
        documents: (n_lists, length) documents of the lists, best first.
        clicks: (n_lists, length) clicks.
        propensities: (n_lists, length) logged probabilities.
        n_documents: Documents of each query.
        users: (n_lists,) users.
    """
    n, length = documents.shape
    n_queries = int(queries.max()) + 1
    return ClickLog(
        list_boundaries=np.arange(n + 1) * length,
        list_queries=queries.astype(np.int32),
        pairs=(queries[:, None] * n_documents + documents).ravel().astype(np.int32),
        ranks=np.tile(np.arange(1, length + 1, dtype=np.int16), n),
        clicks=clicks.ravel() > 0,
        propensities=None if propensities is None else propensities.ravel().astype(np.float32),
        pair_queries=np.repeat(np.arange(n_queries, dtype=np.int32), n_documents),
        pair_documents=np.tile(np.arange(n_documents, dtype=np.int32), n_queries),
        query_ids=Texts.of([f"q{query}" for query in range(n_queries)]),
        document_ids=Texts.of([f"d{document}" for document in range(n_documents)]),
        list_users=None if users is None else users.astype(np.int32),
    )


def ranking_of(name: str, order: IntArray) -> NewRanking:
    """Return the ranking that shows `order[query]`, all documents of a query."""
    n_queries, n_documents = order.shape
    ranks = np.empty(order.shape, np.int32)
    np.put_along_axis(ranks, order, np.arange(1, n_documents + 1, dtype=np.int32)[None, :], axis=1)
    return NewRanking(name, ranks.ravel(), np.full(n_queries, n_documents, np.int32))
