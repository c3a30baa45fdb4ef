"""Scoring candidate documents with models kept in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.pointers import pointer_of
from app.schemas.rankings import CandidateDocument, CandidateQuery, RankedQuery, ScoredDocument
from core.errors import InputProblem, InvalidInput
from core.scoring import Forest
from core.store.artifacts import Artifacts
from core.types import Float32Array, Float64Array

# Enough to see the pattern; a request may hold thousands of documents with the same mistake.
MAX_PROBLEMS = 50
_LARGEST = float(np.finfo(np.float32).max)


def model_key(model_id: str) -> str:
    """Name the artifact that holds a model's text."""
    return f"models/{model_id}/model.txt"


@dataclass(frozen=True)
class CacheUsage:
    """How often what a cache was asked for was there.

    Attributes:
        hits: Times that it was.
        misses: Times that it was not.
        models: How many are there now.
    """

    hits: int
    misses: int
    models: int


class ForestCache:
    """Parsed models by id, the least recently used given up first; safe between threads."""

    def __init__(self, artifacts: Artifacts, size: int) -> None:
        self._artifacts = artifacts
        self._load = lru_cache(maxsize=size)(self._parse)

    def get(self, model_id: str) -> Forest:
        """Return a model, parsing its text when it is not in memory.

        Raises:
            NotFound: Its text is not in the artifact store.
        """
        return self._load(model_id)

    def usage(self) -> CacheUsage:
        """Tell how often a model was at hand."""
        hits, misses, _, models = self._load.cache_info()
        return CacheUsage(hits, misses, models)

    def _parse(self, model_id: str) -> Forest:
        return Forest.parse(self._artifacts.read_bytes(model_key(model_id)))


def rank_queries(
    forest: Forest, feature_names: Sequence[str], queries: Sequence[CandidateQuery], top_k: int | None
) -> list[RankedQuery]:
    """Score all documents in one pass and order each query's by descending score, ties as they came.

    Args:
        forest: The model.
        feature_names: Its features in its order, by the names that its dataset gave them.
        queries: The candidates.
        top_k: Documents to return a query, or None for all.

    Raises:
        InvalidInput: For feature names the model does not know, arrays of another length, values beyond
            float32, and document ids given twice in a query.
    """
    scores = forest.score(_feature_matrix(feature_names, queries))
    ranked, start = [], 0
    for query in queries:
        stop = start + len(query.documents)
        ranked.append(RankedQuery(id=query.id, ranking=_ordered(query.documents, scores[start:stop], top_k)))
        start = stop
    return ranked


def _ordered(
    documents: Sequence[CandidateDocument], scores: Float64Array, top_k: int | None
) -> list[ScoredDocument]:
    order = np.argsort(-scores, kind="stable")[:top_k]
    return [
        ScoredDocument(id=documents[index].id, rank=rank, score=float(scores[index]))
        for rank, index in enumerate(order.tolist(), start=1)
    ]


def _feature_matrix(feature_names: Sequence[str], queries: Sequence[CandidateQuery]) -> Float32Array:
    columns = {name: column for column, name in enumerate(feature_names)}
    n_documents = sum(len(query.documents) for query in queries)
    # float32 values, as in training, so that a document falls into the leaf it would have fallen into there.
    features = np.full((n_documents, len(columns)), np.nan, np.float32)
    problems: list[InputProblem] = []
    row = 0
    for q, query in enumerate(queries):
        seen: set[str] = set()
        for d, document in enumerate(query.documents):
            place = pointer_of("queries", q, "documents", d)
            if document.id in seen:
                problems.append(InputProblem(f"{place}/id", f"{document.id!r} is in this query twice"))
            seen.add(document.id)
            problems += _fill(features[row], document.features, columns, f"{place}/features")
            row += 1
            if len(problems) >= MAX_PROBLEMS:
                raise InvalidInput(*problems[:MAX_PROBLEMS])
    if problems:
        raise InvalidInput(*problems)
    return features


def _fill(
    row: np.ndarray[tuple[int], np.dtype[np.float32]],
    values: dict[str, float | None] | list[float | None],
    columns: dict[str, int],
    place: str,
) -> list[InputProblem]:
    """Write a document's features into its row and say what does not fit."""
    if isinstance(values, list):
        if len(values) != len(columns):
            return [InputProblem(place, f"has {len(values)} values; the model has {len(columns)} features")]
        items: list[tuple[str | int, int, float | None]] = [
            (index, index, value) for index, value in enumerate(values)
        ]
    else:
        unknown = [name for name in values if name not in columns]
        if unknown:
            shown = unknown[:MAX_PROBLEMS]
            return [InputProblem(place + pointer_of(name), "not a feature of this model") for name in shown]
        items = [(name, columns[name], value) for name, value in values.items()]
    problems = []
    for part, column, value in items:
        if value is None:
            continue
        if not -_LARGEST <= value <= _LARGEST:
            problems.append(InputProblem(place + pointer_of(part), "is beyond the range of float32"))
        else:
            row[column] = value
    return problems
