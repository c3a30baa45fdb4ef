"""A small simulator of clicks that returns the true parameters."""

from dataclasses import dataclass, field

import numpy as np

from core.clicks import ClickLog
from core.clicks.models.browsing import examination_indices
from core.data.texts import Texts
from core.types import BoolArray, Float64Array, Int32Array, Int64Array

QUERIES, DOCUMENTS, LENGTH, PERSISTENCE = 5, 9, 6, 0.85


@dataclass(frozen=True)
class Simulated:
    """A log with the parameters that drew it.

    Attributes:
        log: The log.
        relevance: (n_pairs,) relevances, as models define them.
        shared: Other parameters by name.
    """

    log: ClickLog
    relevance: Float64Array
    shared: dict[str, Float64Array] = field(default_factory=dict)


def simulated(name: str, n_lists: int, seed: int) -> Simulated:
    """Draw lists with documents at changing ranks, and clicks by the click model `name`."""
    draws, truths = np.random.default_rng(seed), np.random.default_rng(12)
    attractiveness = truths.uniform(0.05, 0.6, QUERIES * DOCUMENTS)
    satisfaction = truths.uniform(0.2, 0.8, QUERIES * DOCUMENTS)
    queries = draws.integers(0, QUERIES, n_lists)
    sort_keys = draws.random((n_lists, DOCUMENTS)) + 0.05 * np.arange(DOCUMENTS)
    pairs = queries[:, np.newaxis] * DOCUMENTS + np.argsort(sort_keys, axis=1)[:, :LENGTH]
    attracted = draws.random(pairs.shape) < attractiveness[pairs]
    shared: dict[str, Float64Array] = {}
    relevance = attractiveness
    if name in ("pbm", "ubm"):
        indices = examination_indices(name, LENGTH)
        examination = np.linspace(1.0, 0.3, indices.max() + 1) ** 1.5
        clicks = _clicks_by_examination(attracted, draws.random(pairs.shape), indices, examination)
        shared["relative_examination"] = examination
    else:
        stops = 1.0 if name == "cascade" else satisfaction[pairs]
        goes_on = 1.0 if name == "cascade" else PERSISTENCE
        clicks = _clicks_by_continuation(
            attracted, draws.random(pairs.shape) < stops, draws.random(pairs.shape) < goes_on
        )
        if name == "dbn":
            shared["persistence"], relevance = np.array([PERSISTENCE]), attractiveness * satisfaction
    return Simulated(_log(queries, pairs, clicks), relevance, shared)


def _clicks_by_examination(
    attracted: BoolArray, draws: Float64Array, indices: Int32Array, examination: Float64Array
) -> BoolArray:
    clicks, last = np.zeros(attracted.shape, np.bool_), np.zeros(len(attracted), np.int64)
    for index in range(LENGTH):
        clicks[:, index] = attracted[:, index] & (draws[:, index] < examination[indices[index + 1, last]])
        last = np.where(clicks[:, index], index + 1, last)
    return clicks


def _clicks_by_continuation(attracted: BoolArray, satisfied: BoolArray, goes_on: BoolArray) -> BoolArray:
    clicks, examines = np.zeros(attracted.shape, np.bool_), np.ones(len(attracted), np.bool_)
    for index in range(LENGTH):
        clicks[:, index] = examines & attracted[:, index]
        examines = examines & ~(clicks[:, index] & satisfied[:, index]) & goes_on[:, index]
    return clicks


def _log(queries: Int64Array, pairs: Int64Array, clicks: BoolArray) -> ClickLog:
    n_lists = len(queries)
    return ClickLog(
        list_boundaries=LENGTH * np.arange(n_lists + 1, dtype=np.int64),
        list_queries=queries.astype(np.int32),
        pairs=pairs.ravel().astype(np.int32),
        ranks=np.tile(np.arange(1, LENGTH + 1, dtype=np.int16), n_lists),
        clicks=clicks.ravel(),
        pair_queries=np.repeat(np.arange(QUERIES, dtype=np.int32), DOCUMENTS),
        pair_documents=np.tile(np.arange(DOCUMENTS, dtype=np.int32), QUERIES),
        query_ids=Texts.of([f"q{query}" for query in range(QUERIES)]),
        document_ids=Texts.of([f"d{document}" for document in range(DOCUMENTS)]),
    )
