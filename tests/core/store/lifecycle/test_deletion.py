"""Deletion of objects: holders that prevent a deletion, results that are deleted as well, and freed bytes."""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import object_session

from core.errors import NotFound
from core.store import Store, Study, new_id
from core.store.artifacts.keys import evaluation_key, model_key, ranking_key
from core.store.clock import utc_now
from core.store.lifecycle.deletion import (
    Actor,
    Deletion,
    DeletionMode,
    delete_objects,
    empty_trash,
    preview,
    preview_of_emptying,
)
from core.store.lifecycle.inventory import FolderSizes, take_inventory
from core.store.trash.kinds import KINDS
from core.studies import Budget
from tests.checksums import checksums_under
from tests.core.store.lifecycle.conftest import CONTENT, ObjectFactory, TrainingResults, spec_of_study

BYTES = len(CONTENT)
PERMANENT = DeletionMode(with_results=True)
TO_TRASH = DeletionMode(with_results=True, trash_days=7)


def delete(store: Store, kind: str, *ids: str, mode: DeletionMode = TO_TRASH) -> Deletion:
    """Delete some objects."""
    return delete_objects(store, KINDS[kind], ids, mode, Actor("key_1", "r-1"))


def holders(deletion: Deletion) -> set[tuple[str, str]]:
    """Return the kinds and ids of the objects that prevent a deletion."""
    return {(holder.kind, holder.id) for refused in deletion.refused for holder in refused.holders}


def assert_gone(store: Store, results: TrainingResults) -> None:
    """Require that no object of a training is found."""
    with store.read() as tx:
        for get, row in (
            (tx.jobs.get, results.training),
            (tx.models.get, results.model),
            (tx.evaluations.get, results.evaluation),
            (tx.rankings.get, results.ranking),
            (tx.inspections.get, results.inspection),
        ):
            with pytest.raises(NotFound):
                get(row.id)


def test_an_object_with_results_stays_and_the_refusal_lists_them(
    store: Store, results: TrainingResults
) -> None:
    """A job or model is deleted without its results only if no results are left."""
    refused = delete(store, "job", results.training.id, mode=DeletionMode(trash_days=7))
    assert not refused.counts
    assert refused.refused[0].only_results
    assert holders(refused) == {
        ("model", results.model.id),
        ("evaluation", results.evaluation.id),
        ("ranking", results.ranking.id),
        ("inspection", results.inspection.id),
    }
    for kind, row in (("evaluation", results.evaluation), ("ranking", results.ranking)):
        assert not delete(store, kind, row.id, mode=DeletionMode(trash_days=7)).refused
    delete(store, "inspection", results.inspection.id)
    delete(store, "model", results.model.id, mode=DeletionMode(trash_days=7))
    assert delete(store, "job", results.training.id, mode=DeletionMode(trash_days=7)).counts == {"jobs": 1}


@pytest.mark.both_stores
def test_a_job_is_deleted_with_all_of_its_results(store: Store, results: TrainingResults) -> None:
    """Results of other jobs are deleted with their model; those jobs stay."""
    found = delete(store, "job", results.training.id)
    counts = {"jobs": 1, "models": 1, "evaluations": 1, "rankings": 1, "inspections": 1}
    assert (found.counts, found.size_bytes, found.missing) == (counts, 3 * BYTES, [])
    assert found.purge_at is not None
    assert_gone(store, results)
    with store.read() as tx:
        assert tx.jobs.get(results.ranking.job_id).status == "succeeded"
        assert tx.jobs.page(None, 50).items[-1].id != results.training.id


def alias(store: Store, factory: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Point an alias at the model."""
    del factory
    with store.begin() as tx:
        tx.aliases.move("web", "champion", results.model.version)
    return "alias", "web@champion"


def comparison(_: Store, factory: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Compare the model with another one."""
    other = factory.model(factory.job())
    return "comparison", factory.comparison(factory.job("compare"), results.model, other).id


def active_job(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Queue an evaluation of the model."""
    with store.begin() as tx:
        return "job", tx.jobs.add("evaluate", {"model_id": results.model.id, "system": "web:1"}).id


def continued_training(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Queue a training that continues from the model, by its reference."""
    with store.begin() as tx:
        return "job", tx.jobs.add("train", {"init_model": results.model.reference}).id


def distillation(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Queue a training that learns from the scores of the model."""
    with store.begin() as tx:
        return "job", tx.jobs.add("train", {"labels_from": f"model:{results.model.reference}"}).id


def ensemble(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Queue a sum of models, the model among them."""
    scorer = {"kind": "sum", "models": ["net:9", results.model.reference]}
    with store.begin() as tx:
        return "job", tx.jobs.add("train", {"scorer": scorer}).id


def schedule(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Let a schedule train from the model, also while it is paused."""
    return "schedule", scheduled(store, init_model=results.model.reference)


def schedule_by_name(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Let a schedule use the latest version of the model's name."""
    return "schedule", scheduled(store, kind="drift", model=results.model.name)


def scheduled(store: Store, **fields: object) -> str:
    """Add a paused schedule of a training with the given fields; return its id."""
    job = {"kind": "train", "dataset": "clicks", **fields}
    with store.begin() as tx:
        row = tx.schedules.add(
            name="nightly",
            cron="0 3 * * *",
            timezone="UTC",
            enabled=False,
            job=job,
            spec=job,
            alias=None,
            only_new_data=False,
            next_run_at=None,
            key_id=None,
            project=None,
        )
    return row.id


def interleaving(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Let an interleaving show lists of the model."""
    with store.begin() as tx:
        row = tx.interleavings.add(
            name="new features",
            rankers=["web:9", results.model.reference],
            model_ids=[new_id("mdl_"), results.model.id],
            method="team_draft",
            length=10,
            seed=42,
            unit="user",
            rule={"error": 0.05, "miss": 0.2, "difference": 0.05},
            click_window_seconds=0,
        )
    return "interleaving", row.id


def study(store: Store, _: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Let a study conclude from the training."""
    with store.begin() as tx:
        row = Study(
            id=new_id("std_"),
            name="leaves",
            model_name="web",
            dataset_id="ds_1",
            status="succeeded",
            spec={},
            trials=2,
            parallel_trials=1,
            winner_job_id=results.training.id,
        )
        session = object_session(tx.jobs.get(results.training.id))
        assert session is not None
        session.add(row)
    return "study", row.id


def experiment(_: Store, factory: ObjectFactory, results: TrainingResults) -> tuple[str, str]:
    """Let an experiment report on the training."""
    return "experiment", factory.experiment(results.training)


@pytest.mark.parametrize(
    "hold",
    [
        *(alias, comparison, active_job, continued_training, distillation, ensemble),
        *(schedule, schedule_by_name, interleaving, study, experiment),
    ],
)
@pytest.mark.parametrize("mode", [PERMANENT, TO_TRASH])
def test_a_needed_object_prevents_the_whole_deletion(
    store: Store,
    factory: ObjectFactory,
    results: TrainingResults,
    hold: Callable[..., tuple[str, str]],
    mode: DeletionMode,
) -> None:
    """If any of the objects to delete is needed, all of them stay, and the holder is named."""
    holder = hold(store, factory, results)
    for kind, row in (("job", results.training), ("model", results.model)):
        found = delete(store, kind, row.id, mode=mode)
        assert holders(found) == {holder}
        assert (found.counts, found.refused_count) == ({}, 1)
        assert not found.refused[0].only_results
    with store.read() as tx:
        assert tx.models.get(results.model.id).id == results.model.id
        assert tx.evaluations.get(results.evaluation.id).id == results.evaluation.id


def test_an_active_job_stays(store: Store, factory: ObjectFactory) -> None:
    """Neither a queued job nor a running one is deleted; the refusal names the job as the holder."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {})
    assert holders(delete(store, "job", job.id)) == {("job", job.id)}
    with store.begin() as tx:
        tx.jobs.claim(job.id, "w", 15)
    assert "is running" in delete(store, "job", job.id).refused[0].holders[0].reason
    assert factory.job().id != job.id


def test_a_schedule_holds_the_latest_version_of_a_name(store: Store, factory: ObjectFactory) -> None:
    """Earlier versions are deleted; once the latest is in the trash, the one before is needed."""
    ids = [factory.model(factory.job()).id for _ in range(3)]
    schedule_id = scheduled(store, kind="drift", model="web")
    found = delete(store, "model", *ids[::2])
    assert (found.requested, holders(found)) == ([ids[0]], {("schedule", schedule_id)})
    with store.begin() as tx:
        tx.models.get(ids[2]).deleted_at = utc_now()
    assert holders(delete(store, "model", ids[1], mode=PERMANENT)) == {("schedule", schedule_id)}
    with store.begin() as tx:
        tx.schedules.delete(schedule_id)
    assert not delete(store, "model", ids[1]).refused


def test_a_schedule_holds_its_click_log(store: Store) -> None:
    """A click log that a schedule trains on stays until the schedule is deleted."""
    with store.begin() as tx:
        log_id = tx.click_logs.add("web", {"kind": "upload"}).id
    schedule_id = scheduled(store, clicks={"log": log_id, "correction": "ips"})
    assert holders(delete(store, "click-log", log_id)) == {("schedule", schedule_id)}
    with store.begin() as tx:
        tx.schedules.delete(schedule_id)
    assert delete(store, "click-log", log_id).counts == {"click-logs": 1}


def test_a_schedule_holds_its_reference_dataset(store: Store, factory: ObjectFactory) -> None:
    """A dataset that a scheduled drift job names stays until the schedule is deleted."""
    dataset = factory.dataset()
    schedule_id = scheduled(store, kind="drift", dataset_id=dataset.id)
    assert holders(delete(store, "dataset", dataset.id)) == {("schedule", schedule_id)}
    with store.begin() as tx:
        tx.schedules.delete(schedule_id)
    assert delete(store, "dataset", dataset.id).counts == {"datasets": 1}


def test_a_paused_study_holds_its_dataset(store: Store, factory: ObjectFactory) -> None:
    """The dataset of a paused study without an active job stays until the study has ended."""
    dataset = factory.dataset()
    with store.begin() as tx:
        study = tx.studies.add(spec_of_study(dataset.id), Budget(9, None, None), 1, None)
        tx.studies.pause(study.id)
        (trial,) = tx.studies.trials(study.id)
        tx.jobs.cancel_active([trial.job_id])
    assert holders(delete(store, "dataset", dataset.id)) == {("study", study.id)}
    with store.begin() as tx:
        tx.studies.cancel(study.id)
    assert delete(store, "dataset", dataset.id).counts == {"datasets": 1}


def test_an_active_experiment_holds_its_datasets(store: Store, factory: ObjectFactory) -> None:
    """A dataset of an experiment whose trainings are not queued yet stays until the experiment has ended."""
    dataset = factory.dataset()
    entry = {"fold": 5, "name": "fold 5", "part": "train", "dataset_id": dataset.id}
    with store.begin() as tx:
        row = tx.experiments.add(
            paper="lambdaloss-2018",
            scale="quick",
            data="datasets",
            folds=[5],
            dry_run=False,
            datasets=[entry],
        )
    assert holders(delete(store, "dataset", dataset.id)) == {("experiment", row.id)}
    with store.begin() as tx:
        tx.experiments.cancel(row.id)
    assert delete(store, "dataset", dataset.id).counts == {"datasets": 1}


def test_a_comparison_does_not_hold_results_of_the_same_job(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """A job is deleted with its comparison and the rankings that it stored for the comparison."""
    job = factory.job("compare")
    factory.ranking(job, results.model)
    factory.comparison(job, results.model)
    assert delete(store, "job", job.id).counts == {"jobs": 1, "rankings": 1, "comparisons": 1}
    assert delete(store, "model", results.model.id).counts["models"] == 1


def test_newer_objects_free_older_ones(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """If objects are deleted from new to old, a deleted comparison does not hold its models."""
    job = factory.job("compare")
    factory.comparison(job, results.model)
    ids = (job.id, results.training.id)
    planned = preview(store, KINDS["job"], ids, TO_TRASH, set(), FolderSizes(store.artifacts))
    found = delete(store, "job", *ids)
    assert planned.counts == found.counts
    assert (planned.refused_count, found.refused_count) == (0, 0)
    assert found.counts["jobs"] == 2


@pytest.mark.parametrize("trash_days", [0, 7])
def test_a_deletion_frees_the_bytes_of_its_dry_run(
    store: Store,
    factory: ObjectFactory,
    results: TrainingResults,
    stored_bytes: Callable[[], int],
    trash_days: int,
) -> None:
    """A dry run changes nothing; the deletion frees exactly the counted bytes and leaves no file."""
    kept = factory.results()
    before, mode = stored_bytes(), DeletionMode(with_results=True, trash_days=trash_days)
    ids = [results.training.id]
    planned = preview(store, KINDS["job"], ids, mode, set(), FolderSizes(store.artifacts))
    assert stored_bytes() == before
    found = delete(store, "job", *ids, mode=mode)
    assert (found.counts, found.size_bytes) == (planned.counts, planned.size_bytes)
    if trash_days:
        assert stored_bytes() == before
        emptied = preview_of_emptying(store, ids, DeletionMode())
        assert emptied.size_bytes == planned.size_bytes
        assert empty_trash(store, ids, DeletionMode(), Actor()).size_bytes == planned.size_bytes
    assert before - stored_bytes() == planned.size_bytes == 3 * BYTES
    assert_gone(store, results)
    with store.read() as tx:
        assert tx.trash.pending(10) == []
        assert [row.key for row in checksums_under(tx) if results.model.id in row.key] == []
        assert tx.models.get(kept.model.id).version == kept.model.version
        assert tx.jobs.iterations(kept.training.id)


def test_a_version_number_is_not_given_again(
    store: Store, factory: ObjectFactory, results: TrainingResults
) -> None:
    """The number is not used while the last version is in the trash, nor after it is gone."""
    delete(store, "job", results.training.id)
    assert factory.model(factory.job()).version == results.model.version + 1
    empty_trash(store, [results.training.id], DeletionMode(), Actor())
    assert factory.model(factory.job()).version == results.model.version + 2


def test_the_inventory_includes_the_trash(store: Store, results: TrainingResults) -> None:
    """Files of the trash are not orphaned, and after their deletion they are not missing."""
    delete(store, "job", results.training.id)
    with store.read() as tx:
        # No checksums refer to the evaluation and the ranking.
        assert {
            model_key(results.model.id),
            evaluation_key(results.evaluation.id),
            ranking_key(results.ranking.id),
        } <= tx.artifacts.referenced()
    empty_trash(store, [results.training.id], DeletionMode(), Actor())
    found = take_inventory(store)
    assert (found.missing, found.orphaned) == ([], [])


@pytest.mark.both_stores
def test_folders_that_could_not_be_deleted_are_recorded(store: Store, results: TrainingResults) -> None:
    """Folders that a killed process left behind have no rows, but their deletions are pending."""
    delete(store, "job", results.training.id)
    with store.begin() as tx:
        plan = tx.trash.purge_plan([results.training.id])
        tx.trash.purge(plan)
    with store.read() as tx:
        assert sorted(tx.trash.pending(10)) == sorted(plan.folders)
        assert f"models/{results.model.id}" in tx.artifacts.referenced_folders()


def test_unknown_ids_are_missing(store: Store, results: TrainingResults) -> None:
    """An unknown id is no error, so that the same request can be sent again."""
    ids = ("job_00000000000000000000", results.training.id)
    assert delete(store, "job", *ids).missing == [ids[0]]
    assert delete(store, "job", *ids).missing == list(ids)


def test_the_audit_has_an_entry_for_each_object(
    store: Store, results: TrainingResults, factory: ObjectFactory
) -> None:
    """An entry has the key and the request of the deletion; refused objects have no entry."""
    other = factory.results()
    with store.begin() as tx:
        tx.aliases.move("web", "champion", other.model.version)
    delete(store, "job", other.training.id, results.training.id)
    with store.read() as tx:
        (entry,) = tx.audit.page(None, 10).items
    assert (entry.method, entry.path) == ("DELETE", f"/v1/jobs/{results.training.id}")
    assert (entry.key_id, entry.request_id) == ("key_1", "r-1")
