"""Jobs that train networks: results, folds, studies, interruptions and limits."""

from typing import Any

import numpy as np
import pytest

from app.models.distillation import reproduction
from core.data import RankingDataset, synthetic_dataset
from core.jobs.folders import checkpoint_folder
from core.jobs.train import TrainJob
from core.scorers import Network, read_model
from core.store import Job
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import interrupt_when, shut_down_when
from tests.worker.studies import add_study
from worker.job.lease import Lease
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs
from worker.runners.training import run_training

NETWORK: dict[str, Any] = {
    "model_name": "net",
    "hyperparameters": {},
    "scorer": {"kind": "mlp", "hidden": [6], "dropout": 0.2, "epochs": 6, "batch_documents": 100},
}
# Epochs of 48 batches of one query each, so that a test can interrupt an epoch.
BATCHED = {
    **NETWORK,
    "validation": {"fraction": 0.2},
    "scorer": {**NETWORK["scorer"], "batch_documents": 2},
}


@pytest.fixture
def dataset() -> RankingDataset:
    """Sixty judged queries."""
    return synthetic_dataset(60, seed=1, documents_per_query=10, n_features=4)


@pytest.fixture
def dataset_id(inline_worker: InlineWorker, dataset: RankingDataset) -> str:
    """The id of the dataset."""
    return inline_worker.add(dataset, "judged")


def queue_training(inline_worker: InlineWorker, dataset_id: str, spec: dict[str, Any]) -> str:
    """Queue a training."""
    defaults = {"kind": "train", "loss": {"name": "lambdarank"}, "metrics": ["ndcg@5"]}
    with inline_worker.store.begin() as tx:
        return tx.jobs.add("train", {**defaults, "dataset_id": dataset_id, **spec}).id


def shut_down_within(inline_worker: InlineWorker, job_id: str, epochs: int) -> Job:
    """Shut the worker down within the epoch after this number of epochs; return the job after that."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("worker.runners.fitting._BATCH_SECONDS", 0.0)
        stop = shut_down_when(patched, lambda progress: _place(progress) == (epochs, 20))
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", RUNNERS)
    return inline_worker.job(job_id)


def _place(progress: dict[str, Any]) -> tuple[int, int]:
    return progress.get("iteration", 0), progress.get("batch", 0)


def epochs_of(job: Job) -> int:
    """Return the number of completed epochs."""
    return int((job.progress or {}).get("iteration") or 0)


def test_a_network_is_validated_tested_and_stored(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The row has the scorer, the lineage has JAX, and the evaluation is that of the stored file."""
    job = inline_worker.train(
        dataset_id,
        **NETWORK,
        validation={"fraction": 0.2},
        test={"fraction": 0.2},
        diagnostics={"interval": 2},
        early_stopping={"metric": "ndcg@5", "rounds": 3},
    )
    network = read_model(inline_worker.model_bytes(job))
    assert isinstance(network, Network)
    with inline_worker.store.read() as tx:
        row = tx.models.get((job.result or {})["model_id"])
        curves = {point.iteration: point.values for point in tx.jobs.iterations(job.id)}
    assert (row.kind, row.hyperparameters) == ("mlp", {})
    assert row.scorer is not None
    assert (row.scorer["hidden"], row.scorer["dropout"]) == ([6], 0.2)
    assert row.lineage is not None
    assert {"jax", "jaxlib", "optax"} <= set(row.lineage["libraries"])
    assert curves[row.best_iteration]["validation"] == (job.metrics or {})["validation"]
    assert "diagnostics" in curves[1]
    assert (job.metrics or {})["test"]["ndcg@5"] is not None
    codes = {finding["code"] for finding in job.findings or []}
    assert not codes & {"seed-without-effect", "no-checkpoints", "automatic-hyperparameters"}


@pytest.mark.long
def test_a_network_is_cross_validated(inline_worker: InlineWorker, dataset_id: str) -> None:
    """Each fold is held out once; the model has all queries and the epochs of the median fold."""
    folded = inline_worker.train(
        dataset_id, **NETWORK, validation={"folds": 3}, early_stopping={"metric": "ndcg@5", "rounds": 2}
    )
    content = inline_worker.model_bytes(folded)
    with inline_worker.store.read() as tx:
        row = tx.models.resolve("net")
    assert row.validation is not None
    best = [fold["best_iteration"] for fold in row.validation["cross_validation"]["folds"]]
    assert row.best_iteration == sorted(best)[1]
    scorer = {**NETWORK["scorer"], "epochs": row.best_iteration}
    assert content == inline_worker.model_bytes(
        inline_worker.train(dataset_id, **{**NETWORK, "scorer": scorer})
    )


@pytest.mark.slow
def test_folds_of_a_network_are_trained_again_to_the_same_bytes(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """The lineage of the model suffices for a reproduction with the same bytes."""
    inline_worker.training_result(dataset_id, **NETWORK, validation={"folds": 3})
    with inline_worker.store.begin() as tx:
        job_id = tx.enqueue(reproduction(tx, tx.models.resolve("net:1"))).id
    again = inline_worker.run_queued(job_id)
    assert again.result is not None, again.problem
    assert (again.result["equal"], again.result["differences"]) == (True, [])


@pytest.mark.slow
@pytest.mark.long
def test_a_study_tunes_a_network(inline_worker: InlineWorker, dataset_id: str) -> None:
    """Trials vary the scorer; winner and default are refitted with their best numbers of epochs."""
    space = {
        "/scorer/learning_rate": {"type": "float", "low": 0.01, "high": 0.3, "log": True},
        "/scorer/hidden": {"type": "choice", "choices": [[6], [3, 3]]},
    }
    study_id = add_study(inline_worker, dataset_id, scorer=NETWORK["scorer"], search_space=space, trials=6).id
    run_jobs(inline_worker.store, inline_worker.settings, StopFlag(), "w1", RUNNERS)
    with inline_worker.store.read() as tx:
        study, trials = tx.studies.get(study_id), tx.studies.trials(study_id)
    assert study.status == "succeeded", study.problem
    assert study.best_number
    with inline_worker.store.read() as tx:
        refits = [tx.jobs.get(job_id or "") for job_id in (study.default_job_id, study.winner_job_id)]
    assert trials[0].parameters == {"/scorer/learning_rate": 0.001, "/scorer/hidden": [6]}
    for trial in trials:
        assert trial.status == "succeeded", trial.problem
        assert trial.training is not None
        assert trial.parameters is not None
        for pointer, value in trial.parameters.items():
            assert trial.training["scorer"][pointer.rpartition("/")[2]] == value
    for refit, number in zip(refits, (0, study.best_number), strict=True):
        scorer = refit.spec["scorer"]
        assert scorer["hidden"] == (trials[number or 0].parameters or {})["/scorer/hidden"]
        assert scorer["epochs"] == trials[number or 0].best_iteration


@pytest.mark.long
def test_a_shutdown_within_an_epoch_costs_that_epoch(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The training continues from the file of its checkpoint, to the same bytes, curves and metrics."""
    undisturbed = inline_worker.train(dataset_id, **BATCHED)
    job_id = queue_training(inline_worker, dataset_id, BATCHED)
    keys = []
    for epochs in (1, 3):
        job = shut_down_within(inline_worker, job_id, epochs)
        assert (job.status, job.attempt) == ("queued", 0)
        assert job.checkpoint is not None
        assert job.checkpoint["iteration"] == epochs
        keys.append(job.checkpoint["key"])
    assert not inline_worker.store.artifacts.exists(keys[0])
    job = inline_worker.run_queued(job_id)
    assert inline_worker.model_bytes(job) == inline_worker.model_bytes(undisturbed)
    assert job.metrics == undisturbed.metrics
    with inline_worker.store.read() as tx:
        curves, expected = (
            [(point.iteration, point.values) for point in tx.jobs.iterations(each)]
            for each in (job_id, undisturbed.id)
        )
    assert curves == expected
    assert not inline_worker.store.artifacts.exists(checkpoint_folder(job_id))


@pytest.mark.long
@pytest.mark.parametrize("n_lost", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_lost_workers_cost_the_batches_after_the_checkpoint(
    inline_worker: InlineWorker, dataset_id: str, monkeypatch: pytest.MonkeyPatch, n_lost: int
) -> None:
    """Workers are lost one after the other, each at a different epoch."""
    spec = {**NETWORK, "validation": {"fraction": 0.2}}
    epochs = 3 * n_lost
    spec["scorer"] = {**NETWORK["scorer"], "epochs": epochs}
    undisturbed = inline_worker.model_bytes(inline_worker.train(dataset_id, **spec))
    often = InlineWorker(
        inline_worker.store,
        inline_worker.settings.model_copy(update={"checkpoint_seconds": 0.0, "attempts": 20}),
    )
    job_id = queue_training(often, dataset_id, spec)
    losses = np.sort(np.random.default_rng(5).choice(np.arange(1, epochs - 1), n_lost, replace=False))

    class Lost(BaseException):
        """An exception in place of a kill of the process."""

    for epoch in losses.tolist():
        checks = 0

        def check(lease: Lease, epoch: int = epoch) -> None:
            nonlocal checks
            checks += epochs_of(often.job(lease.job_id)) >= epoch
            if checks > 6 + epoch % 5:  # the first checks belong to the report of the epoch
                raise Lost

        with monkeypatch.context() as patched:
            patched.setattr(Lease, "check", check)
            claimed = JobRun.claim_next(
                often.store, often.settings.model_copy(update={"lease_seconds": -1.0}), {"train"}, "w3"
            )
            assert claimed is not None
            with pytest.raises(Lost):
                run_training(claimed, TrainJob.from_json(claimed.spec))
        with often.store.begin() as tx:
            recovered = tx.jobs.recover(tx.jobs.get(job_id), 20)
        assert recovered is not None
        assert recovered.status == "queued"
        checkpoint = often.job(job_id).checkpoint
        assert checkpoint is not None
        assert checkpoint["iteration"] >= epoch
    assert often.model_bytes(often.run_queued(job_id)) == undisturbed


@pytest.mark.long
def test_folds_of_a_network_resume_within_their_fold(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The checkpoint has the completed folds and the epochs of the current fold."""
    spec = {**BATCHED, "validation": {"folds": 2}}
    undisturbed = inline_worker.model_bytes(inline_worker.train(dataset_id, **spec))
    job_id = queue_training(inline_worker, dataset_id, spec)
    job = shut_down_within(inline_worker, job_id, 8)
    assert job.checkpoint is not None
    assert job.checkpoint["iteration"] == 8
    assert inline_worker.model_bytes(inline_worker.run_queued(job_id)) == undisturbed


@pytest.mark.long
def test_long_epochs_show_their_batches_and_can_be_cancelled(
    inline_worker: InlineWorker, dataset_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job ends within the epoch, between two batches."""
    monkeypatch.setattr("worker.runners.fitting._BATCH_SECONDS", 0.0)
    job_id = queue_training(inline_worker, dataset_id, BATCHED)

    def cancel(lease: Lease) -> None:
        with inline_worker.store.begin() as tx:
            tx.jobs.request_cancel(lease.job_id)

    interrupt_when(monkeypatch, lambda progress: _place(progress) == (0, 5), cancel)
    job = inline_worker.run_queued(job_id)
    assert job.status == "cancelled"
    assert job.progress is not None
    assert (job.progress["batch"], job.progress["batches"]) == (5, 48)  # of one query each: 80% of 60
    assert epochs_of(job) == 0


def test_a_network_beyond_the_memory_limit_is_refused(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The job fails before the training, with the required memory."""
    job = inline_worker.train(dataset_id, **NETWORK, limits={"memory_bytes": 2**27})
    assert (job.status, (job.problem or {})["title"]) == ("failed", "Memory limit")
    assert "256 for JAX" in (job.problem or {})["detail"]


def test_categories_are_refused_by_name(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The training fails finally, with the JSON pointer and a solution."""
    whole = dataset.matrix.copy()
    whole[:, 1] = np.arange(len(whole)) % 3
    dataset_id = inline_worker.add(dataset.with_features(whole, dataset.feature_names), "categories")
    job = inline_worker.train(dataset_id, **NETWORK, categorical_feature=["f2"])
    assert job.status == "failed"
    assert "/categorical_feature" in str(job.problem)


def test_weights_without_bounds_fail_the_job(inline_worker: InlineWorker, dataset_id: str) -> None:
    """The problem names the learning rate, and the job is not retried."""
    scorer = {"kind": "linear", "optimizer": "sgd", "learning_rate": 100.0, "epochs": 50}
    job = inline_worker.train(dataset_id, **{**NETWORK, "scorer": scorer}, loss={"name": "mse"})
    assert (job.status, job.attempt) == ("failed", 1)
    assert "/scorer/learning_rate" in str(job.problem)
