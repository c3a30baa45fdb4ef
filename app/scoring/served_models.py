"""Resolve model references and keep models in memory for scoring."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import structlog

from app.http.thread_pools import LOOKUPS, MODELS, retrieve_exception
from app.lifecycle.caches import ModelReferences
from app.scoring.kernels import ScoringKernels
from core.data.categories import Categories
from core.data.feature_choice import feature_blocks
from core.errors import StoreUnavailable
from core.json_values import FeatureReader
from core.scorers import ScoringModel, categories_by_name, read_model
from core.store import Model, Store
from core.store.artifacts.keys import model_key
from core.store.visibility import visible_projects
from core.types import Float64Array, FloatArray

# A cached reference older than the first age is refreshed in the background. Requests for one older than the
# second age wait for the refresh, so that an alias moved by another process is followed within that time.
LOOK_UP_SECONDS = 0.25
STALE_SECONDS = 0.8
MAX_REFERENCES = 1_000
FEATURES_MEMBER = "features"
_LOG = structlog.stdlib.get_logger("rankery.serving")


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model in memory.

    Attributes:
        read_at: When the model was loaded, in seconds of the monotonic clock.
        categories: Values of the categorical features by name.
    """

    id: str
    name: str
    version: int
    feature_names: tuple[str, ...]
    scorer: ScoringModel
    reader: FeatureReader
    read_at: float
    categories: Mapping[str, Categories] = field(default_factory=dict)

    @cached_property
    def blocks(self) -> Mapping[str, range]:
        """The columns of each block of features, by the name of the block."""
        return feature_blocks(self.feature_names)

    @cached_property
    def columns(self) -> Mapping[str, range]:
        """The columns of each feature and each block, by name; no block has the name of a feature."""
        return {name: range(at, at + 1) for at, name in enumerate(self.feature_names)} | dict(self.blocks)

    @cached_property
    def _numeric_categories(self) -> tuple[tuple[int, Categories], ...]:
        return tuple(
            (column, self.categories[name])
            for column, name in enumerate(self.feature_names)
            if name in self.categories and not self.categories[name].are_texts
        )

    @cached_property
    def has_long_numbers(self) -> bool:
        """Whether a category is a whole number that float64 does not represent."""
        return any(each.are_long_whole_numbers for each in self.categories.values())

    def coded(self, features: FloatArray) -> FloatArray:
        """Return features, (n_documents, n_features), with codes in place of categories given as numbers."""
        if not self._numeric_categories:
            return features
        coded = features.copy()
        for column, categories in self._numeric_categories:
            coded[:, column] = categories.codes_of_numbers(features[:, column])
        return coded

    def rounded(self, values: FloatArray) -> FloatArray | None:
        """Round values to the precision of the model; return None if a value is infinite as float32.

        Requests of all formats are rounded by this method, so that a document has the same score in each.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # signalling NaN raises `invalid`
            single = values.astype(np.float32)
        if np.isinf(single).any():
            return None
        return single if self.scorer.precision == "float32" else values.astype(np.float64)

    def request_value(self, column: int, value: float) -> float | str | None:
        """Return the value of a feature as in requests: a category's text, None where it is missing."""
        if np.isnan(value):
            return None
        categories = self.categories.get(self.feature_names[column])
        text = None if categories is None else categories.texts(np.array([value]))[0]
        return float(value) if text is None else text

    def score(self, features: FloatArray) -> Float64Array:
        """Return the scores, (n_documents,), of features, (n_documents, n_features)."""
        return self.scorer.score(features)


@dataclass(frozen=True)
class Usage:
    """Cache hits and misses.

    Attributes:
        hits: Requests whose model was in memory.
        misses: Requests that waited for their model.
        bytes: Their memory in bytes.
    """

    hits: int
    misses: int
    models: int
    bytes: int


@dataclass(frozen=True)
class _Resolved:
    model: Model
    looked_up_at: float
    changes: int


# A model reference, and the projects to look it up in, None for all.
_Key = tuple[str, tuple[str, ...] | None]


class ServedModels:
    """LRU cache of models in memory, shared by all requests.

    Only the first request for a reference waits for the database; later ones refresh the cached model in
    the background. The new model of a moved alias is loaded before it replaces the cached one, so that no
    request waits for the loading.
    References are cached separately for each set of projects that callers are bound to. Use an instance
    within one event loop.

    Args:
        max_bytes: Limit of the models' memory; a single model may take more.
        references: Changes of references by this process.
    """

    def __init__(
        self, store: Store, max_bytes: int, kernels: ScoringKernels, references: ModelReferences
    ) -> None:
        self._store = store
        self._kernels = kernels
        self._references = references
        self._max_bytes = max_bytes
        self._resolved: OrderedDict[_Key, _Resolved] = OrderedDict()
        self._served: OrderedDict[str, ServedModel] = OrderedDict()
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}
        self._hits = self._misses = 0

    async def get(self, reference: str) -> ServedModel:
        """Return the model of a reference, loaded into memory if needed.

        Raises:
            NotFound: No model has this reference.
            ArtifactDamaged: The model's file fails its checksum.
            ModelError: The model's file cannot be used.
            StoreUnavailable: The reference cannot be looked up, and is not cached.
            KernelsNotReady: The service is still starting.
        """
        self._kernels.require()
        started_at = time.monotonic()
        model = await self._resolved_model(reference)
        served = self._served.get(model.id) or await self._load_once(model)
        if served.read_at < started_at:
            self._hits += 1
        else:
            self._misses += 1
        if served.id in self._served:  # else it was evicted meanwhile
            self._served.move_to_end(served.id)
        return served

    def usage(self) -> Usage:
        """Return the cache hits and misses."""
        return Usage(self._hits, self._misses, len(self._served), self._bytes())

    async def close(self) -> None:
        """Wait for lookups in the background, which use the store."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _resolved_model(self, reference: str) -> Model:
        key = reference, visible_projects()
        while True:
            resolved = self._resolved.get(key)
            is_current = resolved is not None and resolved.changes == self._references.changes
            age = time.monotonic() - resolved.looked_up_at if resolved and is_current else float("inf")
            if age > LOOK_UP_SECONDS:
                looking_up = self._task_of(key, lambda: self._look_up(key))
                if age > STALE_SECONDS:
                    await asyncio.shield(looking_up)
                resolved = self._resolved.get(key, resolved)
            if resolved is not None and resolved.changes == self._references.changes:
                return resolved.model
            # An alias moved during the lookup.

    async def _look_up(self, key: _Key) -> None:
        reference, _ = key  # the task has the projects of the request that started it
        started_at, changes = time.monotonic(), self._references.changes
        try:
            model = await LOOKUPS.run(lambda: self._resolve(reference))
        except StoreUnavailable:
            cached = self._resolved.get(key)
            if cached is None or cached.changes != self._references.changes:
                raise
            _LOG.warning("serving.cached_reference_used", reference=reference, exc_info=True)
            return
        except Exception:
            self._resolved.pop(key, None)
            raise
        if model.id not in self._served:
            await self._load_once(model)
        self._resolved[key] = _Resolved(model, started_at, changes)
        self._resolved.move_to_end(key)
        if len(self._resolved) > MAX_REFERENCES:
            self._resolved.popitem(last=False)

    def _resolve(self, reference: str) -> Model:
        with self._store.read() as tx:
            return tx.models.resolve(reference)

    async def _load_once(self, model: Model) -> ServedModel:
        served: ServedModel = await asyncio.shield(self._task_of(model.id, lambda: self._load(model)))
        return served

    async def _load(self, model: Model) -> ServedModel:
        served = await MODELS.run(lambda: _load_warm(self._store, model))
        self._served[model.id] = served
        while len(self._served) > 1 and self._bytes() > self._max_bytes:
            self._served.popitem(last=False)
        return served

    def _bytes(self) -> int:
        return sum(served.scorer.size_bytes for served in self._served.values())

    def _task_of(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]) -> "asyncio.Task[Any]":
        """Return the running task of a key, or start one."""
        task = self._under_way.get(key)
        if task is None or task.done():
            task = self._under_way[key] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._finished(key, done))
        return task

    def _finished(self, key: Hashable, done: "asyncio.Task[Any]") -> None:
        if self._under_way.get(key) is done:
            del self._under_way[key]
        retrieve_exception(done)  # callers that wait or the next request get the error


def _load_warm(store: Store, model: Model) -> ServedModel:
    scorer = read_model(store.verified.read_bytes(model_key(model.id), model.sha256), model.precision)
    scorer.score(np.zeros((1, len(scorer.feature_names)), scorer.precision))
    names = tuple(model.feature_names)
    reader = FeatureReader(FEATURES_MEMBER, names, feature_blocks(names))
    categories = categories_by_name(scorer, names)
    return ServedModel(
        model.id, model.name, model.version, names, scorer, reader, time.monotonic(), categories
    )
