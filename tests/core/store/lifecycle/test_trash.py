"""The trash: lists, restoration and permanent deletion."""

from datetime import timedelta

import pytest

from core.errors import InvalidInput, NotFound
from core.store import Store
from core.store.clock import utc_now
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects, empty_trash, preview
from core.store.lifecycle.inventory import FolderSizes
from core.store.trash.kinds import KINDS
from core.store.visibility import limited_to
from tests.core.store.lifecycle.conftest import ObjectFactory, TrainingResults
from tests.purging import purge

UNAUDITED = Actor(is_audited=False)
TO_TRASH = DeletionMode(with_results=True, trash_days=7)


def trash(store: Store, kind: str, *ids: str) -> None:
    """Move objects to the trash, with their results."""
    assert not delete_objects(store, KINDS[kind], ids, TO_TRASH, UNAUDITED).refused


def trashed(store: Store) -> set[str]:
    """Return the ids of all objects in the trash."""
    with store.read() as tx:
        return {item.node.id for item in tx.trash.page(None, 100).items}


@pytest.mark.both_stores
def test_objects_deleted_together_are_restored_together(store: Store, results: TrainingResults) -> None:
    """Objects that were deleted earlier stay in the trash."""
    trash(store, "inspection", results.inspection.id)
    trash(store, "job", results.training.id)
    with store.begin() as tx:
        plan = tx.trash.restore([results.training.id])
    assert plan.counts == {"jobs": 1, "models": 1, "evaluations": 1, "rankings": 1}
    assert trashed(store) == {results.inspection.id}
    with store.read() as tx:
        assert tx.models.resolve("web").id == results.model.id
        assert tx.jobs.get(results.training.id).deleted_at is None


def test_needed_objects_are_restored_too(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """A comparison is restored with its models and their jobs, an evaluation with those not yet restored."""
    other = factory.results()
    job = factory.job("compare")
    comparison = factory.comparison(job, results.model, other.model)
    trash(store, "comparison", comparison.id)
    for each in (results, other):
        trash(store, "job", each.training.id)
    with store.begin() as tx:
        plan = tx.trash.restore([comparison.id])
    assert plan.counts == {"comparisons": 1, "models": 2, "jobs": 2}
    with store.begin() as tx:
        assert tx.trash.restore([results.evaluation.id]).counts == {"evaluations": 1}


def test_objects_in_the_trash_are_freed_with_the_objects_that_they_need(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """A comparison in the trash is freed with the models that it includes."""
    job = factory.job("compare")
    comparison = factory.comparison(job, results.model)
    trash(store, "comparison", comparison.id)
    trash(store, "inspection", results.inspection.id)
    trash(store, "job", results.training.id)
    found = empty_trash(store, [results.training.id], DeletionMode(), UNAUDITED)
    assert found.counts == {
        "jobs": 1,
        "models": 1,
        "evaluations": 1,
        "rankings": 1,
        "inspections": 1,
        "comparisons": 1,
    }
    assert trashed(store) == set()


def test_emptying_the_trash_does_not_free_objects_in_use(store: Store, results: TrainingResults) -> None:
    """An id that is not in the trash is reported as missing."""
    found = empty_trash(store, [results.training.id], DeletionMode(), UNAUDITED)
    assert (found.counts, found.missing) == ({}, [results.training.id])


@pytest.mark.both_stores
def test_each_page_continues_after_the_one_before(store: Store, factory: ObjectFactory) -> None:
    """Pages have each object once, across kinds and times of deletion."""
    trainings = [factory.results() for _ in range(3)]
    for each in trainings:
        trash(store, "job", each.training.id)
    found, cursor = [], None
    while True:
        with store.read() as tx:
            page = tx.trash.page(cursor, 2)
        found += [item.node.id for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 15
    assert set(found[:5]) == {
        trainings[2].training.id,
        trainings[2].model.id,
        trainings[2].evaluation.id,
        trainings[2].ranking.id,
        trainings[2].inspection.id,
    }


def test_deleting_an_ingestion_keeps_its_dataset(store: Store) -> None:
    """The dataset stays without a reference to the job."""
    with store.begin() as tx:
        dataset = tx.datasets.add("web", {"kind": "upload"})
        job = tx.jobs.add("ingest", {"dataset_id": dataset.id}, [dataset.id])
        tx.datasets.attach_job(dataset.id, job.id)
        claimed = tx.jobs.claim(job.id, "w", 15)
        assert claimed is not None
        tx.datasets.mark_ready(dataset.id, statistics={})
        tx.jobs.succeed(job.id, claimed.token, {})
    trash(store, "job", job.id)
    empty_trash(store, [job.id], DeletionMode(), UNAUDITED)
    with store.begin() as tx:
        assert tx.datasets.get(dataset.id).job_id is None
        assert purge(tx, "dataset", dataset.id)
    with store.read() as tx, pytest.raises(NotFound):
        tx.datasets.get(dataset.id)


@pytest.mark.both_stores
def test_expired_objects_are_found_by_age(store: Store, results: TrainingResults) -> None:
    """Expired objects of a kind are listed in pages."""
    trash(store, "job", results.training.id)
    job, now = KINDS["job"], utc_now()
    before, after = now - timedelta(days=7), now + timedelta(seconds=1)
    with store.read() as tx:
        assert not tx.trash.has_overdue_trash(before)
        assert tx.trash.overdue_trash(job, before, "", 10) == []
        assert tx.trash.has_overdue_trash(after)
        assert tx.trash.overdue_trash(job, after, "", 10) == [results.training.id]
        assert tx.trash.overdue_trash(job, after, results.training.id, 10) == []


def test_results_of_another_project_prevent_a_deletion(store: Store, results: TrainingResults) -> None:
    """A caller that is limited to a project neither deletes another's results nor learns their names."""
    with store.begin() as tx:
        tx.projects.move_name("web", "web")
        tx.jobs.label(results.training.id, {"project": "web"}, {})
        tx.jobs.label(results.inspection.job_id, {"project": "web"}, {})
        tx.jobs.label(results.ranking.job_id, {"project": "ads"}, {})
    with limited_to(("web",)):
        found = delete_objects(store, KINDS["job"], [results.training.id], TO_TRASH, UNAUDITED)
        assert [(each.kind, each.name) for each in found.refused[0].holders] == [("ranking", "ranking")]
        other = delete_objects(store, KINDS["ranking"], [results.ranking.id], TO_TRASH, UNAUDITED)
        assert other.missing == [results.ranking.id]
    with limited_to(("ads",)):
        trash(store, "ranking", results.ranking.id)
    with limited_to(("web",)):
        trash(store, "job", results.training.id)
        assert results.ranking.id not in trashed(store)
    assert results.ranking.id in trashed(store)


@pytest.mark.both_stores
def test_the_trash_of_another_project_is_not_emptied(store: Store, results: TrainingResults) -> None:
    """A job stays while a model that it made is in the trash of another project."""
    with store.begin() as tx:
        tx.projects.move_name("web", "ads")
        for job_id in (results.training.id, results.inspection.job_id, results.ranking.job_id):
            tx.jobs.label(job_id, {"project": "web"}, {})
    with limited_to(("web",)):
        mode = DeletionMode(trash_days=7)
        kept = delete_objects(store, KINDS["job"], [results.training.id], mode, UNAUDITED)
        names = {each.id: each.name for each in kept.refused[0].holders}
        assert names[results.model.id] == "model"
    trash(store, "model", results.model.id)
    with limited_to(("web",)):
        mode = DeletionMode(with_results=True)
        preview_of_job = preview(
            store, KINDS["job"], [results.training.id], mode, set(), FolderSizes(store.artifacts)
        )
        kept = delete_objects(store, KINDS["job"], [results.training.id], mode, UNAUDITED)
        trash(store, "job", results.training.id)
        emptied = empty_trash(store, [results.training.id], DeletionMode(), UNAUDITED)
    for refused in (preview_of_job.refused, kept.refused, emptied.refused):
        assert [(each.id, each.name) for each in refused[0].holders] == [(results.model.id, "model")]
    assert {results.training.id, results.model.id} <= trashed(store)
    assert empty_trash(store, [results.training.id], DeletionMode(), UNAUDITED).counts["models"] == 1


def test_holders_of_another_project_are_not_named(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """The refusal has the ids of a comparison and a queued job of another project, without their names."""
    secret = factory.model(factory.job(), "secret")
    compare = factory.job("compare")
    comparison = factory.comparison(compare, results.model, secret)
    with store.begin() as tx:
        tx.projects.move_name("web", "web")
        tx.jobs.label(results.training.id, {"project": "web"}, {})
        tx.jobs.label(compare.id, {"project": "ads"}, {})
        waiting = tx.jobs.add("evaluate", {"model_id": results.model.id, "system": "secret"})
    with limited_to(("web",)):
        found = delete_objects(
            store, KINDS["model"], [results.model.id], DeletionMode(trash_days=7), UNAUDITED
        )
    holders = {(each.kind, each.id, each.name, each.reason) for each in found.refused[0].holders}
    reason = "belongs to another project"
    assert ("comparison", comparison.id, "comparison", reason) in holders
    assert ("job", waiting.id, "job", reason) in holders


def test_a_ranking_cannot_be_restored_before_a_model_of_another_project(
    store: Store, results: TrainingResults
) -> None:
    """A ranking can be restored only after the other project has restored its model."""
    with store.begin() as tx:
        tx.projects.move_name("web", "web")
        tx.jobs.label(results.training.id, {"project": "web"}, {})
        tx.jobs.label(results.ranking.job_id, {"project": "ads"}, {})
    trash(store, "job", results.training.id)
    with limited_to(("ads",)), pytest.raises(InvalidInput, match=results.model.id), store.begin() as tx:
        tx.trash.restore([results.ranking.id])
    assert {results.ranking.id, results.model.id} <= trashed(store)
    with limited_to(("web",)), store.begin() as tx:
        tx.trash.restore([results.training.id])
    with limited_to(("ads",)), store.begin() as tx:
        assert tx.trash.restore([results.ranking.id]).counts == {"rankings": 1}
    assert trashed(store) == {results.inspection.id}
