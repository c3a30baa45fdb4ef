"""Events: recorded with the change that they report, in an order that readers can follow."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from core.errors import InvalidInput, LeaseLost
from core.events import EVENT_KINDS
from core.store import Dataset, Job, Model, Store
from core.store.clock import utc_now
from core.store.repositories.aliases import Promotion
from core.store.repositories.events import Gap
from core.store.tables import Event
from core.store.visibility import limited_to


def _events(store: Store, after: int = 0) -> list[Event]:
    with store.read() as tx:
        return tx.events.after(after, 1_000)


def _add(store: Store, number: int, project: str | None = None) -> None:
    with store.begin() as tx:
        tx.events.add("drift.found", "model", f"mdl_{number}", {"number": number}, project=project)


@pytest.mark.both_stores
@pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled"])
def test_the_end_of_a_job_is_one_event(store: Store, claimed: Job, status: str) -> None:
    """The transaction that ends the job records one event, with the result or the problem."""
    problem = {"title": "Broken", "detail": "It broke."}
    for _ in range(2):
        try:
            with store.begin() as tx:
                if status == "succeeded":
                    tx.jobs.succeed(claimed.id, claimed.token, {"model_id": "mdl_1"})
                elif status == "failed":
                    tx.jobs.fail(claimed.id, claimed.token, problem)
                else:
                    tx.jobs.end_cancelled(claimed.id, claimed.token)
        except LeaseLost:
            pass
    (event,) = _events(store)
    assert (event.kind, event.object_kind, event.object_id) == ("job.ended", "job", claimed.id)
    assert event.data["status"] == status
    assert event.data["kind"] == "train"
    assert event.data["result"] == ({"model_id": "mdl_1"} if status == "succeeded" else None)
    assert (event.data["problem"] is None) == (status == "succeeded")
    assert event.data["took_seconds"] >= 0


def test_the_cancellation_of_a_queued_job_is_an_event(store: Store, job: Job) -> None:
    """Jobs also end without a worker."""
    with store.begin() as tx:
        tx.jobs.request_cancel(job.id)
    assert [event.data["status"] for event in _events(store)] == ["cancelled"]


def test_a_ready_dataset_is_an_event(store: Store, ingest: tuple[Dataset, Job]) -> None:
    """The event of the dataset follows the event of its job."""
    dataset, job = ingest
    with store.begin() as tx:
        claimed = tx.jobs.claim(job.id, "w1", 15)
        assert claimed is not None
        tx.jobs.succeed(job.id, claimed.token, {"dataset_id": dataset.id})
        tx.datasets.mark_ready(dataset.id, statistics={"queries": 3, "documents": 9})
    ended, ready = _events(store)
    assert (ended.kind, ready.kind) == ("job.ended", "dataset.ready")
    assert (ready.object_id, ready.data["queries"], ready.data["name"]) == (dataset.id, 3, "web")


def test_moves_of_an_alias_are_events(store: Store, add_model: Callable[[str], Model]) -> None:
    """Each move and each refusal is an event about the alias, which belongs to the project of the name."""
    first, second = add_model("web"), add_model("web")
    report = {"sentence": "It is worse."}
    promotion = Promotion("web", "champion", first.id, second.id, "job_1", "key_1", report)
    with store.begin() as tx:
        tx.aliases.move("web", "champion", 1, "key_1")
        tx.aliases.refuse(promotion)
        tx.aliases.promote(promotion)
        tx.aliases.roll_back("web", "champion")
        tx.aliases.remove("web", "champion")
    found = _events(store)
    assert {event.object_id for event in found} == {"web@champion"}
    assert [event.data.get("change", event.kind) for event in found] == [
        *("moved", "gate.refused", "promoted", "rolled_back", "removed")
    ]
    refused = found[1]
    assert (refused.data["sentence"], refused.data["from_version"]) == ("It is worse.", 1)
    assert (refused.data["to_version"], refused.data["job_id"], refused.key_id) == (2, "job_1", "key_1")


def test_lost_processes_and_workers_are_events(store: Store, claimed: Job) -> None:
    """Events report a process that lost its job, and a worker that no longer reports."""
    with store.begin() as tx:
        tx.workers.report("host:1", "training", 2, seconds=-1)
    with store.begin() as tx:
        tx.jobs.recover(claimed, 3)
        tx.events.process_lost("w1", claimed.id)
        tx.workers.report("host:2", "quick", 1, seconds=60)
    process, worker = _events(store)
    assert (process.kind, process.object_id, process.data["jobs"]) == ("worker.lost", "w1", [claimed.id])
    assert (worker.kind, worker.object_id, worker.data["lane"]) == ("worker.lost", "host:1", "training")


def test_a_transaction_that_fails_reports_nothing(store: Store, job: Job) -> None:
    """Events are committed with the change that they report, or not at all."""
    with pytest.raises(ZeroDivisionError), store.begin() as tx:
        tx.jobs.request_cancel(job.id).priority = 1 // 0
    assert _events(store) == []


@pytest.mark.long
@pytest.mark.both_stores
def test_a_reader_misses_nothing(store: Store) -> None:
    """A reader that has seen an id never finds a smaller new one, however many write at the same time."""
    writers, each = 6, 20

    def write(writer: int) -> None:
        for number in range(each):
            _add(store, writer * each + number)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    seen: list[Event] = []
    while len(seen) < writers * each:
        alive = any(thread.is_alive() for thread in threads)
        seen += _events(store, seen[-1].id if seen else 0)
        assert alive or len(seen) == writers * each, "an event was committed behind one that was read"
    for thread in threads:
        thread.join()
    assert sorted(event.data["number"] for event in seen) == list(range(writers * each))


@pytest.mark.both_stores
def test_the_newest_event_is_kept(store: Store) -> None:
    """A reader that continues after old events were removed notices it, as the newest id never decreases."""
    for number in range(3):
        _add(store, number)
    first, second, third = (event.id for event in _events(store))
    with store.begin() as tx:
        assert tx.events.remove_before(utc_now() + timedelta(seconds=1), 10) == 2
        assert tx.events.latest_id() == third
        assert [tx.events.gap(each) for each in (0, first)] == [Gap(0, third), Gap(first, third)]
        assert [tx.events.gap(each) for each in (second, third)] == [None, None]


@pytest.mark.both_stores
def test_gaps_are_found(store: Store) -> None:
    """A reader that continues is notified if events may have been removed since."""
    with store.read() as tx:
        assert tx.events.gap(0) is None
        assert tx.events.gap(7) == Gap(7, None)
    for number in range(4):
        _add(store, number)
    first, second, *_, last = _events(store)
    with store.begin() as tx:
        assert tx.events.remove_before(utc_now() + timedelta(seconds=1), 2) == 2
    with store.read() as tx:
        assert tx.events.gap(first.id) == Gap(first.id, second.id + 1)
        assert tx.events.gap(last.id) is None
        assert tx.events.gap(last.id + 100) == Gap(last.id + 100, second.id + 1)
        assert tx.events.latest_id() == last.id


def test_events_are_filtered_and_listed_in_either_order(store: Store) -> None:
    """Lists are in either order, and are filtered by kind, object and lower bound."""
    for number in range(5):
        _add(store, number)
    ids = [event.id for event in _events(store)]
    with store.read() as tx:
        newest = tx.events.page(None, 2)
        assert [event.id for event in newest.items] == ids[:2:-1]
        assert [event.id for event in tx.events.page(newest.next_cursor, 9).items] == ids[2::-1]
        oldest = tx.events.page(None, 2, after=ids[0], ascending=True)
        assert [event.id for event in oldest.items] == ids[1:3]
        rest = tx.events.page(oldest.next_cursor, 2, after=ids[0], ascending=True)
        assert ([event.id for event in rest.items], rest.next_cursor) == (ids[3:], None)
        assert tx.events.page(None, 9, kinds=["job.ended"]).items == []
        assert len(tx.events.page(None, 9, kinds=["drift.found", "job.ended"]).items) == 5
        assert [event.id for event in tx.events.page(None, 9, object_id="mdl_3").items] == [ids[3]]
        for wrong in ("x", "-1", str(2**63), "１"):
            with pytest.raises(InvalidInput):
                tx.events.page(wrong, 9)


def test_a_limited_key_sees_events_of_its_projects_only(store: Store) -> None:
    """A key of one project sees its events; whether there is a gap does not depend on the key."""
    for number, project in enumerate(["web", None, "ads", "web"]):
        _add(store, number, project)
    everything = _events(store)
    with limited_to(("web",)):
        assert [event.data["number"] for event in _events(store)] == [0, 3]
        with store.read() as tx:
            assert tx.events.gap(everything[1].id) is None
            assert tx.events.latest_id() == everything[-1].id


def test_kinds_are_described() -> None:
    """Each kind has a sentence for the documentation."""
    assert all(kind.count(".") == 1 and text[0].isupper() for kind, text in EVENT_KINDS.items())
