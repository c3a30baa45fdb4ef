"""Deletion of studies: their jobs can then be deleted, and restored trials have their values."""

import pytest

from core.errors import NotFound
from core.store import Store, Study
from core.store.artifacts.keys import study_folder, trial_key
from core.store.lifecycle.deletion import Actor, Deletion, DeletionMode, delete_objects, empty_trash
from core.store.trash.kinds import KINDS
from core.studies import Budget
from tests.checksums import checksums_under
from tests.core.store.lifecycle.conftest import CONTENT, ObjectFactory, spec_of_study

UNAUDITED = Actor(is_audited=False)
TO_TRASH, PERMANENT = DeletionMode(trash_days=7), DeletionMode()


@pytest.fixture
def study(factory: ObjectFactory) -> Study:
    """A study that has ended."""
    return factory.study(factory.dataset())


def delete(store: Store, kind: str, object_id: str, mode: DeletionMode) -> Deletion:
    """Delete one object."""
    return delete_objects(store, KINDS[kind], [object_id], mode, UNAUDITED)


@pytest.mark.both_stores
def test_a_deleted_study_is_gone_until_it_is_restored(store: Store, study: Study) -> None:
    """A restored study has its trials and their values, even if its jobs were deleted meanwhile."""
    with store.read() as tx:
        (trial,) = tx.studies.trials(study.id)
    assert delete(store, "job", trial.job_id, TO_TRASH).refused_count == 1
    found = delete(store, "study", study.id, TO_TRASH)
    assert (found.counts, found.size_bytes) == ({"studies": 1}, len(CONTENT))
    with store.read() as tx:
        assert tx.studies.page(None, 10).items == []
        with pytest.raises(NotFound):
            tx.studies.get(study.id)
    assert delete(store, "job", trial.job_id, PERMANENT).refused == []
    with store.begin() as tx:
        assert tx.trash.restore([study.id]).counts == {"studies": 1}
    with store.read() as tx:
        (restored,) = tx.studies.trials(study.id)
        assert (restored.value, tx.studies.get(study.id).best_value) == (0.5, 0.5)
    assert store.artifacts.read_bytes(trial_key(study.id, 0)) == CONTENT


def test_a_study_is_permanently_deleted_with_its_trials(store: Store, study: Study) -> None:
    """Rows, values and their checksums are deleted; the jobs and the dataset of the study stay."""
    delete(store, "study", study.id, PERMANENT)
    assert list(store.artifacts.sizes(study_folder(study.id))) == []
    with store.read() as tx:
        assert tx.studies.trials(study.id) == []
        assert checksums_under(tx, study_folder(study.id)) == []
        assert len(tx.jobs.page(None, 10).items) == 1
        assert tx.datasets.get(study.dataset_id).status == "ready"


def test_a_running_study_stays(store: Store, factory: ObjectFactory) -> None:
    """A deleted study would train models that have no use."""
    dataset = factory.dataset()
    with store.begin() as tx:
        running = tx.studies.add(spec_of_study(dataset.id), Budget(1, None, None), 1, None)
    (refused,) = delete(store, "study", running.id, TO_TRASH).refused
    assert [(each.kind, each.id) for each in refused.holders] == [("study", running.id)]
    assert refused.holders[0].reason == "is running"


@pytest.mark.parametrize("is_purged", [False, True])
def test_the_job_of_a_deleted_study_ends(store: Store, factory: ObjectFactory, *, is_purged: bool) -> None:
    """A running trial of a deleted, cancelled study stops; a restored study shows it as cancelled."""
    dataset = factory.dataset()
    with store.begin() as tx:
        study = tx.studies.add(spec_of_study(dataset.id), Budget(1, None, None), 1, None)
        (trial,) = tx.studies.trials(study.id)
        claimed = tx.jobs.claim(trial.job_id, "w1", 15)
        assert claimed is not None
        tx.studies.cancel(study.id)
        tx.jobs.request_cancel(trial.job_id)
    delete(store, "study", study.id, TO_TRASH)
    if is_purged:
        empty_trash(store, [study.id], DeletionMode(), UNAUDITED)
    with store.begin() as tx:
        assert tx.jobs.end_cancelled(trial.job_id, claimed.token).status == "cancelled"
    with store.begin() as tx:
        tx.trash.restore([study.id])
        assert [each.status for each in tx.studies.trials(study.id)] == ([] if is_purged else ["cancelled"])
