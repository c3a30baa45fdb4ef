"""Deletion of experiments: their jobs can then be deleted, and restored ones have the remaining jobs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.store import Store
from core.store.artifacts.keys import experiment_report_key
from core.store.clock import utc_now
from core.store.lifecycle.deletion import Actor, Deletion, DeletionMode, delete_objects, empty_trash
from core.store.lifecycle.retention import RetentionPolicy, Upkeep
from core.store.repositories.experiments import ExperimentStatus
from core.store.trash.kinds import KINDS
from tests.checksums import checksums_under
from tests.core.store.lifecycle.conftest import ObjectFactory, TrainingResults

UNAUDITED = Actor(is_audited=False)
TO_TRASH, PERMANENT = DeletionMode(with_results=True, trash_days=7), DeletionMode(with_results=True)


@pytest.fixture
def experiment_id(store: Store, factory: ObjectFactory, results: TrainingResults) -> str:
    """An experiment that has ended, with a report on the training."""
    report = factory.job("report", {})
    experiment_id = factory.experiment(results.training)
    with store.begin() as tx:
        row = tx.experiments.get(experiment_id)
        row.report_job_id, row.report_key = report.id, experiment_report_key(row.id, report.id, 1)
        tx.experiments.finish(row, ExperimentStatus.SUCCEEDED)
        tx.artifacts.record_checksum(row.report_key, "0" * 64, 2)
    store.artifacts.write_bytes(row.report_key, b"{}")
    return experiment_id


def delete(store: Store, kind: str, object_id: str, mode: DeletionMode) -> Deletion:
    """Delete one object."""
    return delete_objects(store, KINDS[kind], [object_id], mode, UNAUDITED)


def test_jobs_of_a_deleted_experiment_can_be_deleted(
    store: Store, results: TrainingResults, experiment_id: str
) -> None:
    """A restored experiment shows a permanently deleted training as planned."""
    assert delete(store, "job", results.training.id, TO_TRASH).refused_count == 1
    found = delete(store, "experiment", experiment_id, TO_TRASH)
    assert (found.counts, found.size_bytes) == ({"experiments": 1}, 2)
    with store.read() as tx:
        assert tx.experiments.page(None, 10).items == []
        assert tx.jobs.get(results.training.id).deleted_at is None
    assert delete(store, "job", results.training.id, PERMANENT).refused == []
    with store.begin() as tx:
        assert tx.trash.restore([experiment_id]).counts == {"experiments": 1}
    with store.read() as tx:
        (training,) = tx.experiments.trainings(experiment_id)
        assert (training.status, training.row.job_id) == ("planned", None)
        key = tx.experiments.get(experiment_id).report_key
    assert key is not None
    assert store.artifacts.read_bytes(key) == b"{}"


@pytest.mark.parametrize("is_resumed_first", [True, False])
def test_an_experiment_drops_a_job_that_is_freed(
    store: Store, results: TrainingResults, experiment_id: str, *, is_resumed_first: bool
) -> None:
    """The restored experiment has no job for the training, whether it was resumed before or not."""
    delete(store, "experiment", experiment_id, TO_TRASH)
    delete(store, "job", results.training.id, TO_TRASH)
    with store.begin() as tx:
        tx.trash.restore([experiment_id])
    if is_resumed_first:
        with store.begin() as tx:
            tx.experiments.resume(experiment_id)
    with store.read() as tx:
        (training,) = tx.experiments.trainings(experiment_id)
        assert training.row.job_id == (None if is_resumed_first else results.training.id)
    empty_trash(store, [results.training.id], DeletionMode(), UNAUDITED)
    with store.read() as tx:
        assert [each.row.job_id for each in tx.experiments.trainings(experiment_id)] == [None]


def test_a_permanent_deletion_deletes_reports(
    store: Store, results: TrainingResults, experiment_id: str
) -> None:
    """Files and their checksums are deleted; the training stays."""
    with store.read() as tx:
        assert checksums_under(tx, f"experiments/{experiment_id}")
    delete(store, "experiment", experiment_id, PERMANENT)
    assert list(store.artifacts.sizes(f"experiments/{experiment_id}")) == []
    with store.read() as tx:
        assert checksums_under(tx, f"experiments/{experiment_id}") == []
        assert tx.jobs.get(results.training.id).id == results.training.id


def test_an_active_experiment_stays(store: Store, experiment_id: str) -> None:
    """A deleted experiment would queue trainings that have no use."""
    with store.begin() as tx:
        tx.experiments.locked(experiment_id).status = ExperimentStatus.PREPARING
    (refused,) = delete(store, "experiment", experiment_id, TO_TRASH).refused
    assert [(each.kind, each.id) for each in refused.holders] == [("experiment", experiment_id)]
    assert refused.holders[0].reason == "is preparing"


def test_retention_deletes_an_experiment_and_keeps_its_jobs(
    store: Store, results: TrainingResults, experiment_id: str
) -> None:
    """The days count from the end of an experiment; a running one stays, however old it is."""
    long_ago = utc_now() - timedelta(days=40)
    with store.begin() as tx:
        running = tx.experiments.add(
            paper="lambdaloss-2018", scale="quick", data="synthetic", folds=[], dry_run=False, datasets=[]
        )
        ended = tx.experiments.get(experiment_id)
        running.created_at = ended.created_at = ended.finished_at = long_ago
    policy = RetentionPolicy({"experiment": 60.0}, None, 7.0)
    Upkeep(policy, 3600.0).run(store, 10.0)
    with store.read() as tx:
        assert {row.id for row in tx.experiments.page(None, 10).items} == {experiment_id, running.id}
    Upkeep(replace(policy, days={"experiment": 30.0}), 3600.0).run(store, 10.0)
    with store.read() as tx:
        assert [row.id for row in tx.experiments.page(None, 10).items] == [running.id]
        assert [item.node.id for item in tx.trash.page(None, 10).items] == [experiment_id]
        assert tx.jobs.get(results.training.id).deleted_at is None
