"""Interleaved lists of models: by `/rank`, by two requests at a time, and by two processes."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from app.scoring.interleaved import InterleavedList, InterleavedLists, InterleavingCache
from app.served.rankings import UserHashes
from app.served.writer import MAX_WAITING, ListWriter, PendingList
from core.errors import NotFound, StoreUnavailable
from core.interleaving import METHODS, Method, interleave, seeded_draw
from core.store import Store, StoreSettings
from core.store.clock import utc_now
from core.store.tables import Interleaving
from tests.app.conftest import TestClient
from tests.servers.fixtures import StoreArguments

DOCUMENTS = [
    {"id": f"d{place}", "features": {"bm25": place / 12, "pagerank": 1 - place / 12}} for place in range(12)
]
RANKINGS = [list(range(12)), list(range(11, -1, -1))]
NAMES = [f"d{place}" for place in range(12)]
USERS = UserHashes(b"key")


def create(client: TestClient, **options: Any) -> str:
    """Create an interleaving; return its id."""
    answer = client.post("/v1/interleavings", json={"name": "x", "length": 6, **options})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def rank(client: TestClient, model: str, **options: Any) -> Any:
    """Rank two queries."""
    queries = [{"id": "q", "documents": DOCUMENTS}, {"id": "p", "documents": DOCUMENTS[:2]}]
    return client.post(f"/v1/models/{model}/rank", json={"queries": queries, **options})


def test_rank_returns_interleaved_lists(client: TestClient, models: list[str]) -> None:
    """The list equals that of `lists` and has the scores of the model in the path; events may follow."""
    interleaving = create(client, models=models, click_window_seconds=0)
    plain = rank(client, models[0]).json()["queries"]
    scores = {one["id"]: one["score"] for one in plain[0]["ranking"]}
    answer = rank(client, models[0], interleaving=interleaving, user="u", top_k=6)
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["queries"]
    assert [one["rank"] for one in first["ranking"]] == [1, 2, 3, 4, 5, 6]
    assert {one["id"]: one["score"] for one in first["ranking"]}.items() <= scores.items()
    assert len(second["ranking"]) == 2
    body = {"user": "u", "query": {"id": "q", "documents": DOCUMENTS}}
    kept_list = client.post(f"/v1/interleavings/{interleaving}/lists", json=body).json()
    assert kept_list == {
        "ranking_id": first["ranking_id"],
        "query": "q",
        "documents": [one["id"] for one in first["ranking"]],
        "kept": True,
    }
    event = {"ranking_id": first["ranking_id"], "document_id": first["ranking"][0]["id"]}
    events = client.post(f"/v1/interleavings/{interleaving}/events", json={"events": [event]}).json()
    assert events["recorded"] == 1
    both = {one["id"] for user in "uvwx" for one in shown_list(client, models[0], interleaving, user)}
    assert {"d0", "d11"} <= both
    other = rank(client, models[1], interleaving=interleaving, user="u").json()["queries"][0]
    assert [one["id"] for one in other["ranking"]] == kept_list["documents"]
    assert client.get(f"/v1/interleavings/{interleaving}/verdict").json()["lists"] == 2 + 2 * 3


def shown_list(client: TestClient, model: str, interleaving: str, user: str) -> list[dict[str, Any]]:
    """Return the list of a user."""
    ranking: list[dict[str, Any]] = rank(client, model, interleaving=interleaving, user=user).json()[
        "queries"
    ][0]["ranking"]
    return ranking


def test_a_request_that_does_not_fit_an_interleaving_is_refused(
    client: TestClient, models: list[str]
) -> None:
    """The error points at the option and names a remedy."""
    interleaving, of_rankings = create(client, models=models), create(client, rankings=["a", "b"])
    for options, pointer in (
        ({"interleaving": interleaving, "top_k": 5}, "/top_k"),
        ({"interleaving": interleaving, "explain": True}, "/explain"),
        ({"interleaving": of_rankings}, "/interleaving"),
    ):
        answer = rank(client, models[0], **options)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert rank(client, models[0], interleaving="itl_absent").status_code == 404
    assert rank(client, models[0], interleaving=7).status_code == 422


@pytest.mark.parametrize("method", METHODS)
def test_rank_makes_the_list_of_the_models_own_rankings(
    client: TestClient, models: list[str], method: Method, store: Store
) -> None:
    """The same seed, user, query and rankings make the same list, whichever model is in the path."""
    interleaving = create(client, models=models, method=method)
    with store.read() as tx:
        row = tx.interleavings.get(interleaving)
    alone = [rank(client, model).json()["queries"][0]["ranking"] for model in models]
    rankings = [[NAMES.index(one["id"]) for one in ranking] for ranking in alone]
    for index, user in enumerate("abcdef"):
        expected = interleave(method, rankings, row.length, seeded_draw(row.seed, user, "q"))
        ranking = shown_list(client, models[index % 2], interleaving, user)
        assert [one["id"] for one in ranking] == [NAMES[document] for document in expected.documents]
        scores = {one["id"]: one["score"] for one in alone[index % 2]}
        assert [one["score"] for one in ranking] == [scores[one["id"]] for one in ranking]


def test_a_deleted_interleaving_is_not_found(client: TestClient, models: list[str], store: Store) -> None:
    """A process that has it in memory finds it deleted after the next read."""
    interleaving, cache = create(client, models=models), InterleavingCache(store)

    async def get_until_absent() -> None:
        assert (await cache.get(interleaving)).id == interleaving
        with store.begin() as tx:
            tx.interleavings.delete(interleaving)
        while True:
            await cache.get(interleaving)
            await asyncio.sleep(0.05)

    with pytest.raises(NotFound):
        asyncio.run(asyncio.wait_for(get_until_absent(), 30))


class Process:
    """The lists of one process of the API."""

    def __init__(self, store: Store) -> None:
        self.writer = ListWriter(store, seconds=3_600)
        self.writer.start()
        self.lists = InterleavedLists(store, self.writer, USERS)

    def ask(self, row: Interleaving, times: int = 1, names: list[str] | None = None) -> list[InterleavedList]:
        """Request the list of one user and query several times concurrently."""

        async def ask() -> list[InterleavedList]:
            lists = (self.lists.of(row, RANKINGS, names or NAMES, "q", "u") for _ in range(times))
            return list(await asyncio.gather(*lists))

        return asyncio.run(ask())


@pytest.fixture
def own_store(store_arguments: StoreArguments) -> Iterator[Store]:
    """A migrated, empty store."""
    store = Store.open(StoreSettings(**store_arguments))
    yield store
    store.close()


@pytest.fixture
def processes(own_store: Store) -> Iterator[tuple[Process, Process]]:
    """Two processes with one store."""
    processes = Process(own_store), Process(own_store)
    yield processes
    for process in processes:
        process.writer.close()


@pytest.fixture
def row(own_store: Store) -> Interleaving:
    """An interleaving."""
    options = {"method": "team_draft", "length": 6, "seed": 1, "unit": "user", "click_window_seconds": 0}
    with own_store.begin() as tx:
        return tx.interleavings.add(name="x", rankers=["a", "b"], model_ids=None, rule={}, **options)


def number_of_lists(store: Store, row: Interleaving) -> int:
    """Count the stored lists."""
    with store.read() as tx:
        return tx.interleavings.counts(row.id).lists


def test_concurrent_requests_get_one_list(
    own_store: Store, processes: tuple[Process, Process], row: Interleaving
) -> None:
    """One request creates the list; it is stored once, with the id of all answers."""
    one, other, third = processes[0].ask(row, times=3)
    assert sorted([one.kept, other.kept, third.kept]) == [False, True, True]
    assert one.ranking_id == other.ranking_id == third.ranking_id
    assert one.documents == other.documents == third.documents
    assert number_of_lists(own_store, row) == 0
    processes[0].writer.flush([one.ranking_id])
    assert number_of_lists(own_store, row) == 1
    with own_store.begin() as tx:
        assert tx.interleavings.shown_list(row.id, one.ranking_id).content["documents"] == one.documents


def test_two_processes_make_one_list(
    own_store: Store, processes: tuple[Process, Process], row: Interleaving
) -> None:
    """Equal candidates make equal lists without communication between processes."""
    first, second = (process.ask(row)[0] for process in processes)
    assert (first.ranking_id, first.documents) == (second.ranking_id, second.documents)
    for process in processes:
        process.writer.flush()
    assert number_of_lists(own_store, row) == 1
    processes[0].lists = InterleavedLists(own_store, processes[0].writer, USERS)  # after a restart
    (later,) = processes[0].ask(row)
    assert later == InterleavedList(first.ranking_id, first.documents, kept=True)


def test_of_two_different_lists_the_first_stored_is_kept(
    own_store: Store, processes: tuple[Process, Process], row: Interleaving
) -> None:
    """Other candidates make a list with another id, so that its clicks do not count for the first list."""
    (first,), (second,) = processes[0].ask(row), processes[1].ask(row, names=[f"e{n}" for n in range(12)])
    assert first.ranking_id != second.ranking_id
    for process in processes:
        process.writer.flush()
    assert number_of_lists(own_store, row) == 1
    for process in processes:
        assert process.ask(row, names=NAMES)[0] == InterleavedList(
            first.ranking_id, first.documents, kept=True
        )


def test_a_list_after_the_retention_of_a_clicked_one_is_stored(
    own_store: Store,
    processes: tuple[Process, Process],
    row: Interleaving,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same user, query and candidates get a new id, whose clicks count."""
    before, now = utc_now() - timedelta(days=2), utc_now()
    monkeypatch.setattr("app.scoring.interleaved.utc_now", lambda: before)
    (old,) = processes[0].ask(row)
    processes[0].writer.flush()
    with own_store.begin() as tx:
        tx.interleavings.record_clicks(tx.interleavings.shown_list(row.id, old.ranking_id), [0])
        assert tx.interleavings.expire_lists(now - timedelta(days=1), 10) == 1
    monkeypatch.setattr("app.scoring.interleaved.utc_now", lambda: now)
    (new,) = processes[1].ask(row)
    processes[1].writer.flush()
    assert new.documents == old.documents
    with own_store.begin() as tx:
        assert not tx.interleavings.shown_list(row.id, new.ranking_id).expired
        assert tx.interleavings.shown_list(row.id, old.ranking_id).expired


def test_lists_of_a_deleted_interleaving_are_dropped(
    own_store: Store, processes: tuple[Process, Process], row: Interleaving
) -> None:
    """Lists of other interleavings are still stored."""
    with own_store.begin() as tx:
        options = {"method": "team_draft", "length": 6, "seed": 1, "unit": "user", "click_window_seconds": 0}
        other = tx.interleavings.add(name="y", rankers=["a", "b"], model_ids=None, rule={}, **options)
    processes[0].ask(row)
    processes[0].ask(other)
    with own_store.begin() as tx:
        tx.interleavings.delete(row.id)
    processes[0].writer.flush()
    assert number_of_lists(own_store, other) == 1


def test_a_full_writer_makes_no_list(processes: tuple[Process, Process], row: Interleaving) -> None:
    """A list that cannot be stored is refused, so that no later request takes it as shown."""
    full = ListWriter(processes[0].lists._store, seconds=3_600)
    waiting = [PendingList("rankings", {"id": f"srv_{n}"}) for n in range(MAX_WAITING)]
    assert full.put(*waiting)
    lists = InterleavedLists(processes[0].lists._store, full, USERS)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            asyncio.run(lists.of(row, RANKINGS, NAMES, "q", "u"))
