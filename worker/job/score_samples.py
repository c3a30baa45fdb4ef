"""Sample queries of stored scoring requests and datasets, for drift jobs."""

import gzip
import hashlib
import heapq
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np

from core.data import RankingDataset
from core.data.features import select_rows
from core.drift import QuerySample
from core.errors import NotFound
from core.store import Store
from core.store.artifacts.keys import samples_key
from core.types import Float32Array, Float64Array, FloatArray, Int64Array
from worker.job.systems import LoadedModel, load_model

# Limits of a sample, independent of the number of stored requests. The limit for each query is the same in
# all samples, since the permutation test exchanges their queries.
MAX_SAMPLED_QUERIES = 2_000
MAX_SAMPLED_DOCUMENTS = 100_000
MAX_DOCUMENTS_OF_QUERY = 500


@dataclass(frozen=True)
class Window:
    """Time window of requests to the versions of a model.

    Attributes:
        until: End of the window, exclusive.
    """

    name: str
    since: datetime
    until: datetime


@dataclass(frozen=True, eq=False)
class RequestSample:
    """Queries of stored requests.

    Attributes:
        sample: Sample of the queries, with features and a last column of scores.
        queries: Number of distinct queries in the requests.
    """

    sample: QuerySample
    requests: int
    queries: int


def read_samples(
    store: Store,
    model: LoadedModel,
    window: Window,
    queries_by: Literal["id", "request"],
    seed: int,
    threads: int,
) -> RequestSample:
    """Read stored requests, and score a random sample of their queries with a model.

    Each query counts once, by random documents of its latest request. Queries without an id, as in requests
    with tensors, are always distinct. To compare a new version with earlier requests, the requests to all
    versions of the name count, if they have all features of the model.

    Args:
        model: Model that computes the scores again.
        queries_by: `id`: equal ids name one query; `request`: all queries are different.

    Raises:
        ArtifactDamaged: The checksum of stored requests does not match.
    """
    drawn: list[tuple[int, int, FloatArray]] = []  # a heap with the greatest number on top
    seen: set[int] = set()
    requests = documents = 0
    for features, request in _requests(store, model, window):
        requests += 1
        for position, query in enumerate(request["queries"]):
            is_named = queries_by == "id" and query["id"] is not None
            key = query["id"] if is_named else f"\0{requests} {position}"
            number = _number(key, seed)
            if number in seen or not query["documents"]:
                continue
            seen.add(number)
            is_full = len(drawn) == MAX_SAMPLED_QUERIES or documents >= MAX_SAMPLED_DOCUMENTS
            if is_full and number > -drawn[0][0]:
                continue
            rows = _draw_documents(len(query["documents"]), np.random.default_rng(number))
            matrix = features.of([query["documents"][row] for row in rows])
            heapq.heappush(drawn, (-number, len(seen), matrix))
            documents += len(rows)
            while len(drawn) > MAX_SAMPLED_QUERIES or documents - len(drawn[0][2]) >= MAX_SAMPLED_DOCUMENTS:
                documents -= len(heapq.heappop(drawn)[2])
    matrices = [features for _, _, features in sorted(drawn, reverse=True, key=lambda each: each[:2])]
    return RequestSample(_score_sample(model, matrices, threads), requests, len(seen))


def draw_queries(dataset: RankingDataset, seed: int) -> RankingDataset:
    """Return random queries of a dataset with random documents, within the limits of a sample of requests."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(dataset.n_queries)[:MAX_SAMPLED_QUERIES]
    sizes = np.cumsum(np.minimum(np.diff(dataset.query_boundaries)[order], MAX_DOCUMENTS_OF_QUERY))
    drawn = dataset.select_queries(np.sort(order[sizes <= MAX_SAMPLED_DOCUMENTS]))
    boundaries = drawn.query_boundaries
    rows_of_queries = [
        start + _draw_documents(stop - start, generator) for start, stop in itertools.pairwise(boundaries)
    ]
    rows = np.concatenate(rows_of_queries)
    return RankingDataset(
        features=select_rows(drawn.features, rows),
        labels=drawn.labels[rows],
        query_boundaries=np.cumsum([0, *map(len, rows_of_queries)], dtype=np.int64),
        query_ids=drawn.query_ids,
        document_ids=drawn.document_ids.take(rows),
        feature_names=drawn.feature_names,
        categories=drawn.categories,
    )


def _draw_documents(n_documents: int, generator: np.random.Generator) -> Int64Array:
    """Return the rows of at most `MAX_DOCUMENTS_OF_QUERY` random documents of a query, in order."""
    if n_documents <= MAX_DOCUMENTS_OF_QUERY:
        return np.arange(n_documents)
    return np.sort(generator.choice(n_documents, MAX_DOCUMENTS_OF_QUERY, replace=False))


def with_scores(features: FloatArray, scores: Float64Array) -> Float32Array:
    """Return features with the scores as a last column, in float32."""
    return np.column_stack([features, scores]).astype(np.float32)


@dataclass(frozen=True)
class _LoggedFeatures:
    """Features of requests to one version of a model.

    Attributes:
        columns: Position of each feature of the model in the documents.
    """

    columns: Sequence[int]
    model: LoadedModel

    def of(self, documents: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Return the features of a query's documents, (n_documents, n_features), in the model's order."""
        rows = [document["features"] for document in documents]
        if not self.model.categories:
            used = [[row[column] for column in self.columns] for row in rows]
            return np.array(used, self.model.scorer.precision)
        features = np.empty((len(rows), len(self.columns)), self.model.scorer.precision)
        for position, (name, column) in enumerate(zip(self.model.feature_names, self.columns, strict=True)):
            values = [row[column] for row in rows]
            categories = self.model.categories.get(name)
            if categories is not None:
                values = [categories.code(each) if isinstance(each, str) else each for each in values]
            features[:, position] = np.array(values, features.dtype)
        return features


def _requests(
    store: Store, model: LoadedModel, window: Window
) -> Iterator[tuple[_LoggedFeatures, dict[str, Any]]]:
    """Yield the requests of a window that have all features of the model, the latest first."""
    with store.read() as tx:
        rows = tx.drift.samples_between(window.since, window.until, window.name)
    by_version: dict[str, _LoggedFeatures | None] = {}
    for row in rows:
        try:
            with store.verified.open(samples_key(row.id)) as file:
                lines = gzip.decompress(file.read()).splitlines()
        except NotFound:
            continue  # deleted meanwhile to free space
        for line in reversed(lines):
            request = json.loads(line)
            version = request["model"]
            if version["name"] != window.name:
                continue
            if not window.since <= datetime.fromisoformat(request["at"]) < window.until:
                continue
            if version["id"] not in by_version:
                by_version[version["id"]] = _logged_features(store, model, version["id"])
            features = by_version[version["id"]]
            if features is not None:
                yield features, request


def _logged_features(store: Store, model: LoadedModel, model_id: str) -> _LoggedFeatures | None:
    """Return the positions of a model's features in a version's requests.

    None if the version has not all of them, or has categories where the model has numbers, or vice versa.
    """
    try:
        served = load_model(store, model_id)
    except NotFound:
        return None
    columns = {name: column for column, name in enumerate(served.feature_names)}
    categorical = set(model.categories)
    if any(name not in columns for name in model.feature_names):
        return None
    if categorical != set(served.categories) & set(model.feature_names):
        return None
    return _LoggedFeatures([columns[name] for name in model.feature_names], model)


def _number(key: str, seed: int) -> int:
    """Return a seeded hash of a key as a pseudo-random number."""
    digest = hashlib.blake2b(key.encode(), key=seed.to_bytes(8, "little"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _score_sample(model: LoadedModel, matrices: Sequence[FloatArray], threads: int) -> QuerySample:
    sizes = np.cumsum([0, *map(len, matrices)])
    n_queries = max(0, int(np.sum(sizes <= MAX_SAMPLED_DOCUMENTS)) - 1)
    boundaries = sizes[: n_queries + 1].astype(np.int64)
    n_features = len(model.feature_names)
    features = np.concatenate([np.empty((0, n_features), model.scorer.precision), *matrices[:n_queries]])
    scores = model.scorer.score(features, threads) if len(features) else np.empty(0)
    return QuerySample(with_scores(features, scores), boundaries)
