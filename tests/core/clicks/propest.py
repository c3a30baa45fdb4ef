"""The log of two rankers that PropEst was run on; each query is shown equally often by both."""

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.users import PRESETS
from core.data.texts import Texts

QUERIES, DOCUMENTS, SWEEPS = 60, 12, 20


def log_of_two_rankers() -> ClickLog:
    """Return 2,400 lists, sweep after sweep over the queries of each ranker."""
    stream = np.random.default_rng(7)
    relevant = stream.random((QUERIES, DOCUMENTS)) < 0.4
    users = PRESETS["propest"]
    examination, attraction = users.examinations(DOCUMENTS), users.attractions(relevant.ravel().astype(float))
    pairs, clicks = [], []
    for _ in range(2):
        order = np.argsort(-(relevant + stream.normal(size=relevant.shape)), axis=1, kind="stable")
        shown = order + DOCUMENTS * np.arange(QUERIES)[:, np.newaxis]
        for _ in range(SWEEPS):
            pairs.append(shown)
            clicks.append(stream.random(shown.shape) < examination * attraction[shown])
    n_lists = 2 * SWEEPS * QUERIES
    every_pair = np.arange(QUERIES * DOCUMENTS, dtype=np.int32)
    return ClickLog(
        list_boundaries=np.arange(n_lists + 1, dtype=np.int64) * DOCUMENTS,
        list_queries=np.tile(np.arange(QUERIES, dtype=np.int32), 2 * SWEEPS),
        pairs=np.concatenate(pairs).ravel().astype(np.int32),
        ranks=np.tile(np.arange(1, DOCUMENTS + 1, dtype=np.int16), n_lists),
        clicks=np.concatenate(clicks).ravel(),
        pair_queries=every_pair // DOCUMENTS,
        pair_documents=every_pair,
        query_ids=Texts.of([str(query) for query in range(QUERIES)]),
        document_ids=Texts.of([str(pair) for pair in every_pair]),
        list_versions=np.repeat(np.arange(2, dtype=np.int32), n_lists // 2),
        versions=Texts.of(["one", "two"]),
    )
