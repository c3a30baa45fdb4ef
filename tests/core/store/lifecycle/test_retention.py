"""Retention: expired objects, reasons to keep them, and sweeps with a time limit."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NoReturn

import pytest
from sqlalchemy import update
from sqlalchemy.orm import object_session

from core.errors import StoreUnavailable
from core.jobs.ingest import IngestClicksJob
from core.store import Job, Model, Store, StoreSettings, new_id
from core.store.artifacts.keys import click_log_upload_key
from core.store.clock import utc_now
from core.store.lifecycle.deletion import CHUNK, Actor, DeletionMode, delete_objects
from core.store.lifecycle.retention import RetentionPolicy, Upkeep
from core.store.lifecycle.storage import measure_storage
from core.store.repositories.interleavings import assigned_lists
from core.store.tables import PendingDeletion
from core.store.trash.kinds import KINDS
from tests.core.store.lifecycle.conftest import CONTENT, ObjectFactory, TrainingResults

ALL = dict.fromkeys(KINDS, 30.0)
HOUR = 3600.0
UNHURRIED = float("inf")  # seconds of a sweep, in tests of the rules


def policy(days: Mapping[str, float], trash_days: float = 7) -> RetentionPolicy:
    """Return a policy whose kinds have the order of `KINDS`."""
    return RetentionPolicy({kind: days[kind] for kind in KINDS if kind in days}, None, trash_days)


def age(store: Store, days: float, *rows: Any) -> None:
    """Set the times of rows to some days ago."""
    moment = utc_now() - timedelta(days=days)
    with store.begin() as tx:
        session = object_session(tx.jobs.add("train", {}))
        assert session is not None
        for row in rows:
            values: dict[str, datetime] = {"created_at": moment}
            if isinstance(row, Job):
                values["finished_at"] = moment
            session.execute(update(type(row)).where(type(row).id == row.id).values(values))


def everything(results: TrainingResults) -> tuple[Any, ...]:
    """Return all rows of a training and its results."""
    return (results.training, results.model, results.evaluation, results.ranking, results.inspection)


def trashed(store: Store) -> set[str]:
    """Return the ids of the objects in the trash."""
    with store.read() as tx:
        return {item.node.id for item in tx.trash.page(None, 200).items}


@pytest.mark.both_stores
def test_old_objects_are_trashed_and_audited_as_retention(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """Objects are trashed with their results; no key has deleted them, and the audit names retention."""
    young = factory.results()
    age(store, 31, *everything(results))
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    assert trashed(store) == {row.id for row in everything(results)}
    with store.read() as tx:
        entries = tx.audit.page(None, 10).items
        assert {item.deleted_by for item in tx.trash.page(None, 200).items} == {None}
        assert tx.models.get(young.model.id).id == young.model.id
    assert {(entry.method, entry.request_id, entry.key_id) for entry in entries} == {
        ("RETENTION", "retention", None)
    }
    assert f"/v1/models/{results.model.id}" in {entry.path for entry in entries}


@pytest.mark.both_stores
def test_only_click_logs_that_the_service_made_expire(store: Store, factory: ObjectFactory) -> None:
    """Uploaded logs stay, and those that a gate, a schedule or an active job needs."""
    judged, kinds = factory.dataset(), ("served", "interleaved", "upload")
    with store.begin() as tx:
        logs = {kind: tx.click_logs.add("web", {"kind": kind}) for kind in kinds}
        needed, young = (tx.click_logs.add("web", {"kind": "served"}) for _ in range(2))
        rule = {"counterfactual": {"click_log_id": needed.id, "dataset_id": judged.id}}
        tx.aliases.set_gate("web", "champion", dataset_id=None, rule=rule)
    age(store, 31, *logs.values(), needed)
    Upkeep(policy({"click-log": 30.0}), HOUR).run(store, UNHURRIED)
    assert trashed(store) == {logs["served"].id, logs["interleaved"].id}
    with store.read() as tx:
        assert tx.click_logs.get(young.id).deleted_at is None


def alias(store: Store, results: TrainingResults) -> set[str]:
    """Point an alias at the model; return the ids of the objects that it keeps."""
    with store.begin() as tx:
        tx.aliases.move("web", "champion", results.model.version)
    return {results.model.id, results.training.id}


def moved_alias(store: Store, results: TrainingResults) -> set[str]:
    """Move an alias from the model to a newer one; return the ids of the objects that a rollback needs."""
    factory = ObjectFactory(store)
    newer = factory.model(factory.job())
    for model in (results.model, newer):
        with store.begin() as tx:
            tx.aliases.move("web", "champion", model.version)
    return {results.model.id, results.training.id}


def kept_model(store: Store, results: TrainingResults) -> set[str]:
    """Tag the model; return the ids of the objects that the tag keeps."""
    with store.begin() as tx:
        tx.models.tag(results.model.id, {"keep": ""})
    return {results.model.id, results.training.id}


def kept_job(store: Store, results: TrainingResults) -> set[str]:
    """Tag the job; return the ids of the objects that the tag keeps."""
    with store.begin() as tx:
        tx.jobs.label(results.training.id, {}, {"keep": "for the paper"})
    return {results.model.id, results.training.id, results.evaluation.id}


@pytest.mark.parametrize("keep", [alias, moved_alias, kept_model, kept_job])
def test_a_kept_object_stays_with_the_objects_that_it_needs(
    store: Store, results: TrainingResults, keep: Callable[[Store, TrainingResults], set[str]]
) -> None:
    """An alias, its rollback or the tag `keep` keeps a model and its job; a tagged job keeps its results."""
    age(store, 31, *everything(results))
    kept = keep(store, results)
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    assert trashed(store) == {row.id for row in everything(results)} - kept


def test_a_kind_without_retention_is_kept_for_ever(store: Store, results: TrainingResults) -> None:
    """Objects that it needs are kept, too."""
    age(store, 400, *everything(results))
    Upkeep(policy({"model": 30, "job": 30}), HOUR).run(store, UNHURRIED)
    assert trashed(store) == set()


def test_active_jobs_do_not_expire(store: Store) -> None:
    """A queued job stays, whatever its times are."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {})
    age(store, 400, job)
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    assert trashed(store) == set()


def test_expired_trash_is_freed(store: Store, results: TrainingResults) -> None:
    """A sweep frees bytes and rows without a request."""
    age(store, 31, *everything(results))
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    Upkeep(policy({}, trash_days=7), HOUR).run(store, UNHURRIED)
    assert len(trashed(store)) == 5
    Upkeep(policy({}, trash_days=0), HOUR).run(store, UNHURRIED)
    assert trashed(store) == set()
    assert list(store.artifacts.sizes()) == []


def test_an_object_that_must_stay_does_not_block_others(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """A job in the trash whose model is in use stays there; all else that has expired is freed."""
    other = factory.results()
    for each in (results, other):
        delete_objects(
            store, KINDS["job"], [each.training.id], DeletionMode(True, 7), Actor(is_audited=False)
        )
    with store.begin() as tx:
        session = object_session(tx.jobs.get(results.ranking.job_id))
        assert session is not None
        session.execute(update(Model).where(Model.id == results.model.id).values(deleted_at=None))
    Upkeep(policy({}, trash_days=0), HOUR).run(store, UNHURRIED)
    assert trashed(store) == {results.training.id}


@pytest.mark.both_stores
def test_folders_that_a_killed_process_left_are_deleted(store: Store, results: TrainingResults) -> None:
    """The next sweep deletes folders whose rows are gone."""
    age(store, 31, *everything(results))
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    with store.begin() as tx:
        plan = tx.trash.purge_plan([results.training.id])
        tx.trash.purge(plan)
    assert store.artifacts.exists(f"models/{results.model.id}")
    Upkeep(policy({}), HOUR).run(store, UNHURRIED)
    with store.read() as tx:
        assert tx.trash.pending(10) == []
    assert not any(store.artifacts.exists(folder) for folder in plan.folders)


def test_the_upload_of_a_cancelled_click_log_is_deleted(store: Store) -> None:
    """Its folder is a part of the folder of the log, which stays until the log is deleted."""
    with store.begin() as tx:
        log = tx.click_logs.add("log", {"kind": "upload", "format": "auto"})
        job = tx.enqueue(IngestClicksJob(click_log_id=log.id, name="log"))
        tx.click_logs.attach_job(log.id, job.id)
    store.artifacts.write_bytes(click_log_upload_key(log.id, "file"), CONTENT)
    with store.begin() as tx:
        tx.jobs.request_cancel(job.id)
    Upkeep(policy({}), HOUR).run(store, UNHURRIED)
    with store.read() as tx:
        assert tx.trash.pending(10) == []
    assert list(store.artifacts.files()) == []


def test_folders_that_cannot_be_deleted_do_not_block_others(
    store: Store, results: TrainingResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletions of these folders stay pending and are tried again after the others."""
    age(store, 31, *everything(results))
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    broken, delete = [f"models/broken_{number}" for number in range(CHUNK)], store.artifacts.delete
    with store.begin() as tx:
        session = object_session(tx.jobs.add("train", {}))
        assert session is not None
        session.add_all(PendingDeletion(folder=folder, at=utc_now()) for folder in broken)
        tx.trash.purge(tx.trash.purge_plan([results.training.id]))
    for folder in broken:
        store.artifacts.write_bytes(f"{folder}/model.txt", b"")

    def delete_others(folder: str) -> None:
        if folder in broken:
            raise StoreUnavailable("the artifact storage fails")
        delete(folder)

    monkeypatch.setattr(store.artifacts, "delete", delete_others)
    for _ in range(2):
        Upkeep(policy({}), HOUR).run(store, UNHURRIED)
    with store.read() as tx:
        assert sorted(tx.trash.pending(2 * CHUNK)) == sorted(broken)


@pytest.mark.long
def test_a_sweep_continues_where_the_time_limit_ended_the_last_one(
    store: Store, factory: ObjectFactory
) -> None:
    """Several short sweeps check all objects; the next check begins an hour later."""
    jobs = [factory.job() for _ in range(60)]
    age(store, 31, *jobs)
    upkeep = Upkeep(policy({"job": 30}), HOUR)
    upkeep.run(store, 0.001)
    assert len(trashed(store)) < len(jobs)
    while trashed(store) != {job.id for job in jobs}:
        upkeep.run(store, 0.05)
    upkeep.run(store, UNHURRIED)
    late = factory.job()
    age(store, 31, late)
    upkeep.run(store, UNHURRIED)
    assert late.id not in trashed(store)


@pytest.mark.long
def test_a_sweep_purges_a_page_at_least(store: Store, factory: ObjectFactory) -> None:
    """Each sweep continues with the next page, so that objects that must stay do not block others."""
    jobs = [factory.job() for _ in range(CHUNK + 1)]
    age(store, 31, *jobs)
    Upkeep(policy({"job": 30}), HOUR).run(store, UNHURRIED)
    upkeep = Upkeep(policy({}, trash_days=0), HOUR)
    for left in (1, 0):
        upkeep.run(store, 0)
        assert len(trashed(store)) == left


def test_a_sweep_continues_after_a_failure(
    store: Store, factory: ObjectFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects that a failed sweep had listed are trashed by the next sweep, not an hour later."""
    job = factory.job()
    age(store, 31, job)
    upkeep = Upkeep(policy({"job": 30}), HOUR)
    with monkeypatch.context() as patch:
        patch.setattr(store, "begin", fail)
        with pytest.raises(StoreUnavailable):
            upkeep.run(store, UNHURRIED)
    upkeep.run(store, UNHURRIED)
    assert trashed(store) == {job.id}


def fail() -> NoReturn:
    """Fail as a transaction on a database that is unreachable."""
    raise StoreUnavailable("the database refuses connections")


@pytest.mark.long
def test_storage_shows_what_retention_will_delete(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """Numbers and bytes are shown by kind, without objects that are kept."""
    kept = factory.results()
    age(store, 31, *everything(results), *everything(kept))
    with store.begin() as tx:
        tx.aliases.move("web", "champion", kept.model.version)
    found = {kind.name: kind for kind in measure_storage(store, policy(ALL)).kinds}
    counts = {name: kind.retention_objects for name, kind in found.items() if kind.retention_objects}
    assert counts == {"models": 1, "evaluations": 2, "rankings": 2, "inspections": 2, "jobs": 1}
    assert found["models"].retention_bytes == len(CONTENT)
    assert found["evaluations"].retention_bytes == 2 * len(CONTENT)
    Upkeep(policy(ALL), HOUR).run(store, UNHURRIED)
    after = {kind.name: kind for kind in measure_storage(store, policy(ALL)).kinds}
    assert {name: kind.trash_objects for name, kind in after.items() if kind.trash_objects} == counts
    assert after["models"].trash_bytes == found["models"].retention_bytes
    assert after["models"].size_bytes == len(CONTENT)


def test_old_audit_entries_are_deleted(store: Store) -> None:
    """Only entries older than the setting are deleted."""
    with store.begin() as tx:
        for _ in range(3):
            tx.audit.add(method="POST", path="/", status=200, request_id="", key_id=None, address=None)
    Upkeep(RetentionPolicy({}, 1.0, 7), HOUR).run(store, UNHURRIED)
    with store.read() as tx:
        assert len(tx.audit.page(None, 10).items) == 3
    Upkeep(RetentionPolicy({}, -1.0, 7), HOUR).run(store, UNHURRIED)
    with store.read() as tx:
        assert tx.audit.page(None, 10).items == []


def test_the_policy_is_that_of_the_settings(settings: StoreSettings) -> None:
    """Kinds of results come before the kinds that they need; kinds without a setting are absent."""
    found = RetentionPolicy.of(
        settings.model_copy(update={"retention_jobs_days": 90, "retention_models_days": 60.0})
    )
    assert list(found.days.items()) == [("model", 60), ("job", 90)]
    assert (found.audit_days, found.trash_days) == (None, 7)


def test_old_served_rankings_are_deleted(store: Store) -> None:
    """Rankings older than the setting are deleted with their events; newer ones stay."""
    with store.begin() as tx:
        rows = [served(index) for index in range(3)]
        tx.served.add(rows)
        tx.served.record(
            [{"ranking_id": row["id"], "place": 0, "action": "click", "at": utc_now()} for row in rows]
        )
    Upkeep(RetentionPolicy({}, None, 7, 1.0), HOUR).run(store, UNHURRIED)
    with store.read() as tx:
        assert len(list(tx.served.lists("web", None, None, utc_now()))) == 3
    Upkeep(RetentionPolicy({}, None, 7, -1.0), HOUR).run(store, UNHURRIED)
    with store.begin() as tx:
        assert list(tx.served.lists("web", None, None, utc_now())) == []
        tx.served.add(rows)  # a new ranking with the same id has no events
        assert all(not found.actions for found in tx.served.lists("web", None, None, utc_now()))


def test_old_interleaved_lists_are_deleted_and_the_verdict_stays(store: Store) -> None:
    """The shown lists are deleted; their number, and the credits of clicked lists, stay."""
    with store.begin() as tx:
        options = {"method": "team_draft", "length": 2, "seed": 1, "unit": "user", "click_window_seconds": 0}
        shown = tx.interleavings.add(name="x", rankers=["a", "b"], model_ids=None, rule={}, **options)
        content = {"query": "secret", "documents": ["d", "e"], "teams": [0, 1], "rankers": 2}
        rows = [
            {"id": f"lst_{index}", "interleaving_id": shown.id, "assignment": f"{index}", "user": f"u{index}"}
            | {"content": content, "created_at": utc_now()}
            for index in range(3)
        ]
        tx.interleavings.add_lists(rows)
        tx.interleavings.record_clicks(tx.interleavings.shown_list(shown.id, "lst_1"), [1])
        before = tx.interleavings.credits(shown.id, utc_now()), tx.interleavings.counts(shown.id)
    for days in (1.0, None):
        Upkeep(RetentionPolicy({}, None, 7, 90, days), HOUR).run(store, UNHURRIED)
        with store.connect() as connection:
            assert assigned_lists(connection, shown.id, ["0"]) == {"0": ("lst_0", ["d", "e"])}
    for _ in range(2):
        Upkeep(RetentionPolicy({}, None, 7, 90, -1.0), HOUR).run(store, UNHURRIED)
        with store.begin() as tx:
            assert (
                tx.interleavings.credits(shown.id, utc_now()),
                tx.interleavings.counts(shown.id),
            ) == before
            expired = tx.interleavings.shown_list(shown.id, "lst_1")
            assert (expired.content, expired.clicks, expired.user) == ({}, [1], "u1")
        with store.connect() as connection:
            assert assigned_lists(connection, shown.id, ["0", "1"]) == {}


def served(place: int) -> dict[str, Any]:
    """Return a ranking that was served now."""
    row = {"id": new_id("srv_"), "name": "web", "version": 1, "user": None, "session": None}
    return row | {"content": {"query": f"q{place}", "documents": ["a"]}, "created_at": utc_now()}
