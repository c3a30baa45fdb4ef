"""Deletion of datasets: objects that prevent it, restoration, and shared contents."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from core.errors import NotFound
from core.store import Dataset, Store
from core.store.artifacts.keys import queries_key
from core.store.lifecycle.deletion import Actor, Deletion, DeletionMode, delete_objects, empty_trash
from core.store.lifecycle.inventory import take_inventory
from core.store.lifecycle.retention import RetentionPolicy, Upkeep
from core.store.lifecycle.storage import measure_storage
from core.store.trash.kinds import KINDS
from core.store.visibility import limited_to
from tests.checksums import checksums_under
from tests.core.store.lifecycle.conftest import CONTENT, ObjectFactory

UNAUDITED = Actor(is_audited=False)
TO_TRASH, PERMANENT = DeletionMode(trash_days=7), DeletionMode()
CONTENT_BYTES, UPLOAD_BYTES = 2 * len(CONTENT), len(CONTENT)
KEEP_ALL = RetentionPolicy(MappingProxyType({}), None, 7.0)


def delete(store: Store, dataset: Dataset, mode: DeletionMode = TO_TRASH) -> Deletion:
    """Delete a dataset."""
    return delete_objects(store, KINDS["dataset"], [dataset.id], mode, UNAUDITED)


def restore(store: Store, dataset: Dataset) -> None:
    """Restore a dataset."""
    with store.begin() as tx:
        assert tx.trash.restore([dataset.id]).counts == {"datasets": 1}


def content_of(store: Store, dataset: Dataset) -> bytes:
    """Return the stored index of a dataset's queries."""
    with store.read() as tx:
        data_key = tx.datasets.get(dataset.id).data_key
    assert data_key is not None
    return store.artifacts.read_bytes(queries_key(data_key))


@pytest.mark.both_stores
def test_a_deleted_dataset_is_gone_until_it_is_restored(store: Store, factory: ObjectFactory) -> None:
    """A dataset in the trash is neither listed nor used; a restored dataset is unchanged."""
    dataset = factory.dataset()
    found = delete(store, dataset)
    assert (found.counts, found.size_bytes) == ({"datasets": 1}, CONTENT_BYTES + UPLOAD_BYTES)
    with store.begin() as tx:
        assert tx.datasets.page(None, 10).items == []
        assert tx.datasets.newest(dataset.name) is None
        uses: list[Any] = [
            lambda: tx.datasets.get(dataset.id),
            lambda: tx.jobs.add("train", {}, [dataset.id]),
            lambda: tx.aliases.set_gate("web", "champion", dataset_id=dataset.id, rule={}),
        ]
        for use in uses:
            with pytest.raises(NotFound):
                use()
    assert take_inventory(store).orphaned == []
    restore(store, dataset)
    assert content_of(store, dataset) == CONTENT
    with store.read() as tx:
        assert tx.datasets.get(dataset.id).statistics == {"queries": 3}


def test_jobs_and_gates_prevent_the_deletion_of_their_dataset(store: Store, factory: ObjectFactory) -> None:
    """Queued and running jobs and gates prevent it; another project does not learn the name of the gate."""
    dataset = factory.dataset(project="web")
    with store.begin() as tx:
        job = tx.jobs.add("train", {"model_name": "ads"}, [dataset.id, dataset.id])
        tx.aliases.set_gate("secret", "champion", dataset_id=dataset.id, rule={})
    (refused,) = delete(store, dataset).refused
    assert {(each.kind, each.id) for each in refused.holders} == {
        ("job", job.id),
        ("gate", "secret@champion"),
    }
    with limited_to(("web",)):
        (refused,) = delete(store, dataset).refused
    gate = next(each for each in refused.holders if each.kind == "gate")
    assert (gate.id, gate.name, gate.reason) == ("gate", "gate", "belongs to another project")
    with store.begin() as tx:
        tx.aliases.delete_gate("secret", "champion")
        claimed = tx.jobs.claim(job.id, "w1", 15)
        assert claimed is not None
    (refused,) = delete(store, dataset).refused
    assert refused.holders[0].reason == "is running and uses it"
    with store.begin() as tx:
        tx.jobs.succeed(job.id, claimed.token, {})
    assert delete(store, dataset).refused == []


@pytest.mark.parametrize("is_uploaded_again_first", [True, False])
def test_a_content_is_deleted_with_its_last_dataset(
    store: Store, factory: ObjectFactory, *, is_uploaded_again_first: bool
) -> None:
    """An upload shares the equal content of a dataset in the trash, and keeps it when that is deleted."""
    first = factory.dataset()
    if is_uploaded_again_first:
        second = factory.dataset()
        assert delete(store, first).size_bytes == UPLOAD_BYTES
    else:
        assert delete(store, first).size_bytes == UPLOAD_BYTES + CONTENT_BYTES
        second = factory.dataset()
    assert second.data_key == first.data_key
    restore(store, first)
    delete(store, first)
    assert empty_trash(store, [first.id], DeletionMode(), UNAUDITED).size_bytes == UPLOAD_BYTES
    assert content_of(store, second) == CONTENT
    assert delete(store, second, PERMANENT).size_bytes == UPLOAD_BYTES + CONTENT_BYTES
    assert list(store.artifacts.sizes()) == []
    with store.read() as tx:
        assert checksums_under(tx) == []


def test_a_dataset_in_the_trash_keeps_a_shared_content(store: Store, factory: ObjectFactory) -> None:
    """A permanent deletion of the other dataset frees only its upload."""
    first, second = factory.dataset(), factory.dataset()
    delete(store, first)
    assert delete(store, second, PERMANENT).size_bytes == UPLOAD_BYTES
    restore(store, first)
    assert content_of(store, first) == CONTENT


def test_bytes_of_the_trash_are_counted_once(store: Store, factory: ObjectFactory) -> None:
    """Kinds and trash add up to all bytes; a content is in the trash when no dataset in use has it."""
    datasets = [factory.dataset(), factory.dataset(), factory.dataset("other")]
    for dataset in datasets[1:]:
        delete(store, dataset)
    kinds = {kind.name: kind for kind in measure_storage(store, KEEP_ALL).kinds}
    assert (kinds["datasets"].objects, kinds["datasets"].trash_objects) == (1, 2)
    assert (kinds["datasets"].size_bytes, kinds["datasets"].trash_bytes) == (UPLOAD_BYTES, 2 * UPLOAD_BYTES)
    assert (kinds["data"].objects, kinds["data"].trash_objects) == (1, 1)
    assert (kinds["data"].size_bytes, kinds["data"].trash_bytes) == (CONTENT_BYTES, CONTENT_BYTES)
    with store.read() as tx:
        listed = {item.node.id: len(item.folders) for item in tx.trash.page(None, 10).items}
    assert listed == {datasets[1].id: 1, datasets[2].id: 2}


def test_a_sweep_completes_the_deletion_of_a_killed_process(store: Store, factory: ObjectFactory) -> None:
    """Rows were deleted, and their folders recorded, in one transaction; a shared content stays."""
    lost, first, second = factory.dataset("lost"), factory.dataset(), factory.dataset()
    for dataset in (lost, first):
        delete(store, dataset)
    with store.begin() as tx:
        tx.trash.purge(tx.trash.purge_plan([lost.id, first.id]))
    assert take_inventory(store).orphaned == []
    Upkeep(KEEP_ALL, 3600.0).run(store, 10.0)
    assert content_of(store, second) == CONTENT
    assert sum(size for _, size in store.artifacts.sizes()) == UPLOAD_BYTES + CONTENT_BYTES


def test_a_sweep_deletes_expired_objects_of_the_trash(store: Store, factory: ObjectFactory) -> None:
    """Datasets and studies are deleted `trash_days` after they were moved to the trash."""
    dataset = factory.dataset()
    study = factory.study(dataset)
    delete(store, dataset)
    delete_objects(store, KINDS["study"], [study.id], TO_TRASH, UNAUDITED)
    Upkeep(KEEP_ALL, 3600.0).run(store, 10.0)
    with store.read() as tx:
        assert {item.node.id for item in tx.trash.page(None, 10).items} == {dataset.id, study.id}
    Upkeep(replace(KEEP_ALL, trash_days=0.0), 3600.0).run(store, 10.0)
    with store.read() as tx:
        assert tx.trash.page(None, 10).items == []
        assert checksums_under(tx) == []
    assert list(store.artifacts.sizes()) == []
