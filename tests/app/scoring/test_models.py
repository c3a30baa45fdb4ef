"""Models in memory."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from app.lifecycle.caches import ModelReferences
from app.scoring import served_models as models
from app.scoring.kernels import ScoringKernels
from app.scoring.served_models import ServedModels
from core.errors import NotFound, StoreUnavailable
from core.store import Model, Store
from core.store.artifacts.keys import model_key

MANY_BYTES = 10**9
PATIENCE_SECONDS = 20.0
KERNELS = ScoringKernels(compile_ahead=True)


@pytest.fixture(autouse=True, scope="module")
def loaded_kernels() -> None:
    """Load the kernels before the first test."""
    KERNELS.start()


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_a_model_is_read_once(
    store: Store, add_model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Concurrent requests share one read, whichever reference they use."""
    model = add_model("web")
    reads: list[str] = []
    read_bytes = store.artifacts.read_bytes
    monkeypatch.setattr(store.artifacts, "read_bytes", lambda key: reads.append(key) or read_bytes(key))  # type: ignore[func-returns-value]

    async def work() -> None:
        served = ServedModels(store, MANY_BYTES, KERNELS, ModelReferences())
        models_served = await asyncio.gather(
            *(served.get(reference) for reference in ("web", "web:1", model.id) for _ in range(9))
        )
        assert len({id(one) for one in models_served}) == 1
        assert await served.get("web") is models_served[0]
        usage = served.usage()
        assert (usage.hits + usage.misses, usage.models) == (28, 1)
        assert usage.bytes > 0

    _run(work())
    assert reads == [model_key(model.id)]


def test_models_beyond_the_limit_are_removed(store: Store, add_model: Callable[[str], Model]) -> None:
    """The least recently used model is removed first; a single model may exceed the limit."""
    add_model("web")
    add_model("web")

    async def work() -> None:
        one_alone = ServedModels(store, 0, KERNELS, ModelReferences())
        first = await one_alone.get("web:1")
        assert await one_alone.get("web:1") is first
        await one_alone.get("web:2")
        assert one_alone.usage().models == 1
        assert await one_alone.get("web:1") is not first
        both = ServedModels(store, 2 * first.scorer.size_bytes, KERNELS, ModelReferences())
        second = await both.get("web:1")
        await both.get("web:2")
        assert await both.get("web:1") is second

    _run(work())


def test_an_alias_moved_by_another_process_is_followed(
    store: Store, add_model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old model answers until the new one is loaded; a stale or invalidated reference is not used."""
    for _ in range(2):
        add_model("web")

    def move_alias(version: int) -> None:
        with store.begin() as tx:
            tx.aliases.move("web", "live", version)

    async def work() -> None:
        references = ModelReferences()
        served = ServedModels(store, MANY_BYTES, KERNELS, references)

        async def version() -> int:
            return (await served.get("web@live")).version

        monkeypatch.setattr(models, "STALE_SECONDS", PATIENCE_SECONDS)
        move_alias(1)
        assert await version() == 1
        move_alias(2)
        assert await version() == 1
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await version() == 1:
                await asyncio.sleep(0.02)
        assert await version() == 2
        move_alias(1)
        references.invalidate()
        assert await version() == 1
        move_alias(2)
        monkeypatch.setattr(models, "LOOK_UP_SECONDS", -1.0)
        monkeypatch.setattr(models, "STALE_SECONDS", -1.0)
        assert await version() == 2

    _run(work())


def test_models_in_memory_are_served_without_a_database(
    store: Store, add_model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown model is not found, and a reference that was not used before needs the database."""
    add_model("web")

    async def work() -> None:
        served = ServedModels(store, MANY_BYTES, KERNELS, ModelReferences())
        for _ in range(2):
            with pytest.raises(NotFound):
                await served.get("shop")
        cached = await served.get("web")

        def refuse() -> None:
            raise StoreUnavailable("the database is not available")

        monkeypatch.setattr(store, "read", refuse)
        monkeypatch.setattr(models, "STALE_SECONDS", -1.0)
        monkeypatch.setattr(models, "LOOK_UP_SECONDS", -1.0)
        assert await served.get("web") is cached
        with pytest.raises(StoreUnavailable):
            await served.get("web:1")

    _run(work())


def test_closing_waits_for_a_look_up(
    store: Store, add_model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store may be closed afterwards, and a look-up must not leave a connection open."""
    add_model("web")
    resolved: list[str] = []
    released = threading.Event()
    monkeypatch.setattr(models, "LOOK_UP_SECONDS", -1.0)
    monkeypatch.setattr(models, "STALE_SECONDS", PATIENCE_SECONDS)

    async def work() -> None:
        served = ServedModels(store, MANY_BYTES, KERNELS, ModelReferences())
        await served.get("web")
        resolve = served._resolve

        def slow_resolve(reference: str) -> Model:
            released.wait(PATIENCE_SECONDS)
            model = resolve(reference)
            resolved.append(reference)
            return model

        monkeypatch.setattr(served, "_resolve", slow_resolve)
        await served.get("web")  # answered immediately, and looked up again
        closing = asyncio.create_task(served.close())
        await asyncio.sleep(0.02)
        assert not closing.done()
        assert resolved == []
        released.set()
        await closing
        assert resolved == ["web"]

    _run(work())
