"""The trash: what is seen of it, what comes back, and what goes for good."""

from datetime import timedelta

import pytest

from core.errors import InvalidInput
from core.store import Store
from core.store.clock import utc_now
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects, empty_trash
from core.store.trash.kinds import KINDS
from core.store.visibility import limited_to
from tests.core.store.lifecycle.conftest import Author, Story
from tests.purging import purge

UNAUDITED = Actor(is_audited=False)
TO_TRASH = DeletionMode(with_results=True, trash_days=7)


def trash(store: Store, kind: str, *ids: str) -> None:
    """Move objects to the trash, with their results."""
    assert not delete_objects(store, KINDS[kind], ids, TO_TRASH, UNAUDITED).refused


def there(store: Store) -> set[str]:
    """Return the ids of all that is in the trash."""
    with store.read() as tx:
        return {item.node.id for item in tx.trash.page(None, 100).items}


@pytest.mark.both_stores
def test_what_went_together_comes_back_together(store: Store, story: Story) -> None:
    """Objects that were in the trash before stay there."""
    trash(store, "inspection", story.inspection.id)
    trash(store, "job", story.training.id)
    with store.begin() as tx:
        plan = tx.trash.restore([story.training.id])
    assert plan.counts == {"jobs": 1, "models": 1, "evaluations": 1, "rankings": 1}
    assert there(store) == {story.inspection.id}
    with store.read() as tx:
        assert tx.models.resolve("web").id == story.model.id
        assert tx.jobs.get(story.training.id).deleted_at is None


def test_what_is_needed_comes_back_too(store: Store, author: Author, story: Story) -> None:
    """An evaluation brings its model and both jobs, a comparison the models that it includes."""
    other = author.story()
    job = author.job("compare")
    comparison = author.comparison(job, story.model, other.model)
    trash(store, "comparison", comparison.id)
    for each in (story, other):
        trash(store, "job", each.training.id)
    with store.begin() as tx:
        plan = tx.trash.restore([comparison.id])
    assert plan.counts == {"comparisons": 1, "models": 2, "jobs": 2}
    with store.begin() as tx:
        assert tx.trash.restore([story.evaluation.id]).counts == {"evaluations": 1}


def test_what_could_not_be_alone_goes_for_good_with_what_it_needs(
    store: Store, author: Author, story: Story
) -> None:
    """A comparison in the trash goes with the models that it includes."""
    job = author.job("compare")
    comparison = author.comparison(job, story.model)
    trash(store, "comparison", comparison.id)
    trash(store, "inspection", story.inspection.id)
    trash(store, "job", story.training.id)
    found = empty_trash(store, [story.training.id], DeletionMode(), UNAUDITED)
    assert found.counts == {
        "jobs": 1,
        "models": 1,
        "evaluations": 1,
        "rankings": 1,
        "inspections": 1,
        "comparisons": 1,
    }
    assert there(store) == set()


def test_what_is_in_use_is_not_emptied(store: Store, story: Story) -> None:
    """An id that is not in the trash is missing there."""
    found = empty_trash(store, [story.training.id], DeletionMode(), UNAUDITED)
    assert (found.counts, found.missing) == ({}, [story.training.id])


@pytest.mark.both_stores
def test_pages_go_on_where_the_last_one_ended(store: Store, author: Author) -> None:
    """Pages have each object once, over all kinds and moments."""
    stories = [author.story() for _ in range(3)]
    for each in stories:
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
        stories[2].training.id,
        stories[2].model.id,
        stories[2].evaluation.id,
        stories[2].ranking.id,
        stories[2].inspection.id,
    }


def test_an_ingestion_leaves_its_dataset(store: Store, author: Author) -> None:
    """The dataset stays, without the job that read it."""
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
    assert author.job().id != job.id


@pytest.mark.both_stores
def test_expired_objects_are_found_by_age(store: Store, story: Story) -> None:
    """Nothing before its time; then jobs first, so that what went together is purged together."""
    trash(store, "job", story.training.id)
    now = utc_now()
    with store.read() as tx:
        assert tx.trash.expired(now - timedelta(days=7), 10) == []
        assert tx.trash.expired(now + timedelta(seconds=1), 10) == [story.training.id]


def test_another_project_holds_what_it_made(store: Store, author: Author, story: Story) -> None:
    """A caller that is limited to a project neither deletes another's results nor learns their names."""
    with store.begin() as tx:
        tx.projects.move_name("web", "web")
        tx.jobs.label(story.training.id, {"project": "web"}, {})
        tx.jobs.label(story.inspection.job_id, {"project": "web"}, {})
        tx.jobs.label(story.ranking.job_id, {"project": "ads"}, {})
    with limited_to(("web",)):
        found = delete_objects(store, KINDS["job"], [story.training.id], TO_TRASH, UNAUDITED)
        assert [(each.kind, each.name) for each in found.refused[0].holders] == [("ranking", "ranking")]
        other = delete_objects(store, KINDS["ranking"], [story.ranking.id], TO_TRASH, UNAUDITED)
        assert other.missing == [story.ranking.id]
    with limited_to(("ads",)):
        trash(store, "ranking", story.ranking.id)
    with limited_to(("web",)):
        trash(store, "job", story.training.id)
        assert story.ranking.id not in there(store)
    assert story.ranking.id in there(store)
    assert author.store is store


def test_what_holds_an_object_in_another_project_is_not_named(
    store: Store, author: Author, story: Story
) -> None:
    """A comparison and a queued job of another project refuse a deletion, without what they are about."""
    secret = author.model(author.job(), "secret")
    compare = author.job("compare")
    comparison = author.comparison(compare, story.model, secret)
    with store.begin() as tx:
        tx.projects.move_name("web", "web")
        tx.jobs.label(story.training.id, {"project": "web"}, {})
        tx.jobs.label(compare.id, {"project": "ads"}, {})
        waiting = tx.jobs.add("evaluate", {"model_id": story.model.id, "system": "secret"})
    with limited_to(("web",)):
        found = delete_objects(store, KINDS["model"], [story.model.id], DeletionMode(trash_days=7), UNAUDITED)
    held = {(each.kind, each.id, each.name, each.reason) for each in found.refused[0].holders}
    reason = "belongs to another project"
    assert ("comparison", comparison.id, "comparison", reason) in held
    assert ("job", waiting.id, "job", reason) in held


def test_nothing_is_restored_without_what_it_needs_of_another_project(store: Store, story: Story) -> None:
    """A ranking of a model of another project waits until that is restored."""
    with store.begin() as tx:
        tx.projects.move_name("web", "web")
        tx.jobs.label(story.training.id, {"project": "web"}, {})
        tx.jobs.label(story.ranking.job_id, {"project": "ads"}, {})
    trash(store, "job", story.training.id)
    with limited_to(("ads",)), pytest.raises(InvalidInput, match=story.model.id), store.begin() as tx:
        tx.trash.restore([story.ranking.id])
    assert {story.ranking.id, story.model.id} <= there(store)
    with limited_to(("web",)), store.begin() as tx:
        tx.trash.restore([story.training.id])
    with limited_to(("ads",)), store.begin() as tx:
        assert tx.trash.restore([story.ranking.id]).counts == {"rankings": 1}
    assert there(store) == {story.inspection.id}
