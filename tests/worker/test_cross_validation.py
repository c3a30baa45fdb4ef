"""Trainings with cross-validation, in which each fold is held out once."""

from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from app.models.distillation import reproduction
from core.data import RankingDataset, synthetic_dataset
from core.data.folds import RandomFolds
from core.evaluation import measure
from core.jobs import parse
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.store import Job, Store
from core.store.artifacts.keys import folds_key, validation_key
from core.training import train, training_spec
from core.training.binning import SharedBins
from core.training.boosting import bin_features
from core.training.cross_validation import CrossValidation
from worker import WorkerSettings
from worker.job.lease import WorkerStopping
from worker.job.run import JobRun
from worker.process.tasks import record_outcome
from worker.runners.cross_validation import cross_validate
from worker.runners.training import run_training

from .inline_worker import SMALL, InlineWorker

FOLDS = 3
EARLY = {"metric": "ndcg@5", "rounds": 2}


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """A small dataset with a column of folds."""
    synthetic = synthetic_dataset(30, seed=3, n_features=5)
    columns = {"fold": tuple(f"S{query % FOLDS}" for query in range(synthetic.n_queries))}
    return RankingDataset.from_arrays(
        synthetic.matrix,
        synthetic.labels,
        synthetic.query_boundaries,
        query_ids=[f"q{number}" for number in range(synthetic.n_queries)],
        query_columns=columns,
    )


def stored_values(store: Store, job: Job) -> dict[str, list[Any]]:
    """Return the stored validation values of the model, with the folds."""
    assert job.result is not None, job.problem
    model_id = job.result["model_id"]
    with store.artifacts.open(validation_key(model_id)) as file:
        values = pq.read_table(file).to_pydict()
    with store.artifacts.open(folds_key(model_id)) as file:
        folds = pq.read_table(file).to_pydict()
    assert folds["query_id"] == values["query_id"]
    return values | {"fold": folds["fold"]}


def stored_curves(store: Store, job: Job) -> list[tuple[int, Any]]:
    """Return the job's learning curves."""
    with store.read() as tx:
        return [(row.iteration, row.values) for row in tx.jobs.iterations(job.id)]


def test_pooled_values_are_those_of_held_out_queries(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The stored value of a query is that of a model trained without its fold; the mean is the metric."""
    dataset_id = inline_worker.add(dataset, "d")
    job = inline_worker.train(dataset_id, validation={"folds": FOLDS}, seed=7)
    assert job.status == "succeeded", job.problem
    stored = stored_values(inline_worker.store, job)
    spec = training_spec(
        {"loss": {"name": "lambdarank"}, "hyperparameters": SMALL, "metrics": ["ndcg@5"], "seed": 7}
    )
    assignment, bins = RandomFolds(FOLDS).assign(dataset, 7), bin_features(spec, dataset)
    expected, best = np.zeros(dataset.n_queries), []
    for fold in range(FOLDS):
        training, held_out = assignment.split(dataset, fold)
        rows = assignment.documents(dataset.query_boundaries, fold)
        ranker = train(spec, training, held_out, bins=SharedBins(bins, *rows))
        scores = Forest(ModelText.read(ranker.model_text)).score(held_out.features, 1)
        expected[assignment.fold_of == fold] = measure(scores, held_out, ["ndcg@5"])["ndcg@5"]
        best.append(ranker.best_iteration)
    np.testing.assert_allclose(stored["ndcg@5"], expected, rtol=1e-12)
    assert stored["fold"] == [str(fold + 1) for fold in assignment.fold_of]
    assert job.metrics is not None
    assert job.metrics["validation"]["ndcg@5"] == pytest.approx(expected.mean())
    with inline_worker.store.read() as tx:
        model = tx.models.get(job.result["model_id"] if job.result else "")
    assert model.validation is not None
    assert model.validation["metrics"]["ndcg@5"]["mean"] == pytest.approx(expected.mean())
    held_out_folds = model.validation["cross_validation"]
    assert [fold["best_iteration"] for fold in held_out_folds["folds"]] == best
    assert held_out_folds["best_iteration"] == sorted(best)[1] == model.best_iteration
    means = [job.metrics[f"fold {fold + 1}"]["ndcg@5"] for fold in range(FOLDS)]
    assert held_out_folds["over_folds"]["ndcg@5"]["mean"] == pytest.approx(np.mean(means))


def test_the_model_is_trained_on_all_queries(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The model has the trees of a training without validation, as many as were best in the median fold."""
    dataset_id = inline_worker.add(dataset, "d")
    folded = inline_worker.train(dataset_id, validation={"folds": FOLDS}, early_stopping=EARLY)
    assert folded.result is not None, folded.problem
    with inline_worker.store.read() as tx:
        trees = tx.models.get(folded.result["model_id"]).best_iteration
    whole = inline_worker.training_result(dataset_id, hyperparameters={**SMALL, "num_iterations": trees})
    assert inline_worker.model_text(folded.result) == inline_worker.model_text(whole)


@pytest.mark.long
def test_a_cross_validation_is_reproduced(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """A reproduction with the same folds yields the same bytes."""
    inline_worker.training_result(inline_worker.add(dataset, "d"), validation={"folds": FOLDS})
    with inline_worker.store.begin() as tx:
        job_id = tx.enqueue(reproduction(tx, tx.models.resolve("web"))).id
    job = inline_worker.run_queued(job_id)
    assert job.result is not None, job.problem
    assert (job.result["equal"], job.result["differences"]) == (True, [])


def test_test_queries_are_in_no_fold_of_a_column(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The values of the column are the folds; queries of the test set are in no fold."""
    dataset_id = inline_worker.add(dataset, "d")
    job = inline_worker.train(
        dataset_id, validation={"fold_column": "fold"}, test={"fraction": 0.2}, diagnostics={"interval": 2}
    )
    assert job.result is not None, job.problem
    stored = stored_values(inline_worker.store, job)
    own = dict(zip(dataset.query_ids, dataset.query_columns["fold"], strict=True))
    assert [own[query] for query in stored["query_id"]] == stored["fold"]
    tested = inline_worker.tested_queries(job.result)
    assert not set(tested) & set(stored["query_id"])
    assert len(tested) + len(stored["query_id"]) == dataset.n_queries
    rows = stored_curves(inline_worker.store, job)
    assert set(rows[0][1]) == {"train", "validation", "fold S0", "fold S1", "fold S2", "diagnostics"}


@pytest.mark.long
def test_folds_are_pooled_in_comparisons(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Each query is ranked by the model that was trained without it; test queries are in no fold."""
    dataset_id = inline_worker.add(dataset, "d")
    jobs = [
        inline_worker.train(
            dataset_id, validation={"folds": FOLDS}, test={"fraction": 0.2}, loss={"name": loss}
        )
        for loss in ("lambdarank", "ranknet")
    ]
    systems = []
    for job in jobs:
        assert job.result is not None, job.problem
        ranking_id = job.result["cross_validation"]["cross_validation"]["ranking_id"]
        systems.append({"ranking_id": ranking_id, "system": job.spec["loss"]["name"]})
    compared = inline_worker.run(
        "compare", dataset_id, systems=systems, metrics=["ndcg@5"], permutations=1_000, pool_folds=True
    )
    assert compared.result is not None, compared.problem
    with inline_worker.store.read() as tx:
        comparison = tx.comparisons.get(compared.result["comparison_id"])
    stored = [stored_values(inline_worker.store, job) for job in jobs]
    means = [np.mean(values["ndcg@5"]) for values in stored]
    tests = comparison.pairs[0]["metrics"]["ndcg@5"]
    assert (tests["mean_a"], tests["mean_b"]) == pytest.approx(means)
    assert tests["queries"] == len(stored[0]["query_id"]) < dataset.n_queries


def interrupt_training(inline_worker: InlineWorker, job_id: str, after: int) -> None:
    """Train until a number of reports, then stop like a worker that shuts down."""
    settings = inline_worker.settings.model_copy(update={"checkpoint_seconds": 0.0, "report_seconds": 0.0})
    run = JobRun.claim_next(inline_worker.store, settings, {"train"}, "w1")
    assert run is not None
    assert run.id == job_id
    report, reports = run.reporter.report, 0

    def stopping(**values: Any) -> None:
        nonlocal reports
        reports += values.get("progress", {}).get("phase", "binning") != "binning"
        if reports > after:
            run.lease.interrupt(WorkerStopping())
        report(**values)

    run.reporter.report = stopping  # type: ignore[method-assign]
    try:
        run_training(run, parse(run.kind, run.spec))  # type: ignore[arg-type]
    except WorkerStopping as stop:
        record_outcome(run, stop)


@pytest.mark.long
@pytest.mark.parametrize("sampling", [{}, {"bagging_fraction": 0.7, "bagging_freq": 1}])
def test_interruptions_do_not_change_the_result(
    inline_worker: InlineWorker, dataset: RankingDataset, sampling: dict[str, Any]
) -> None:
    """Model, values, curves and metrics equal those of an undisturbed job."""
    dataset_id = inline_worker.add(dataset, "d")
    spec = {"validation": {"folds": FOLDS}, "hyperparameters": SMALL | sampling}
    whole = inline_worker.train(dataset_id, **spec)
    assert whole.result is not None, whole.problem
    with inline_worker.store.begin() as tx:
        job_id = tx.jobs.add("train", whole.spec).id
    resumed_from = []
    for after in (2, 3, 4, 2, 0):
        interrupt_training(inline_worker, job_id, after)
        with inline_worker.store.read() as tx:
            job = tx.jobs.get(job_id)
        assert job.checkpoint is not None
        resumed_from.append(job.checkpoint["iteration"])
    # Iterations in each fold, at the end of the last one, and in the training on all queries.
    assert resumed_from == [3, 7, 12, 15, 16]
    job = inline_worker.run_queued(job_id)
    assert job.result is not None, job.problem
    assert inline_worker.model_text(job.result) == inline_worker.model_text(whole.result)
    assert stored_values(inline_worker.store, job) == stored_values(inline_worker.store, whole)
    assert stored_curves(inline_worker.store, job) == stored_curves(inline_worker.store, whole)
    assert job.metrics == whole.metrics


def test_the_callback_after_a_fold_can_stop_the_job(
    inline_worker: InlineWorker, dataset: RankingDataset, settings: WorkerSettings
) -> None:
    """The callback gets the completed folds after each fold; its error ends the cross-validation."""
    dataset_id = inline_worker.add(dataset, "d")
    seen: list[tuple[int, CrossValidation]] = []

    class Pruned(Exception):
        """The error of the callback."""

    def after_fold(fold: int, so_far: CrossValidation) -> None:
        seen.append((fold, so_far))
        if fold == 1:
            raise Pruned

    with inline_worker.store.begin() as tx:
        tx.jobs.add(
            "train",
            {
                "kind": "train",
                "model_name": "web",
                "dataset_id": dataset_id,
                "loss": {"name": "lambdarank"},
                "hyperparameters": SMALL,
                "metrics": ["ndcg@5"],
                "validation": {"folds": FOLDS},
            },
        )
    run = JobRun.claim_next(inline_worker.store, settings, {"train"}, "w1")
    assert run is not None
    with pytest.raises(Pruned):
        cross_validate(run, parse(run.kind, run.spec), after_fold=after_fold)  # type: ignore[arg-type]
    assert [fold for fold, _ in seen] == [0, 1]
    for fold, so_far in seen:
        untested = np.isnan(so_far.per_query["ndcg@5"])
        assert untested[so_far.fold_of > fold].all()
        assert not untested[so_far.fold_of <= fold].all()
    run.release()


def test_early_stopping_by_an_undefined_metric_is_refused_outside_of_folds(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Without a relevant document in the validation data, no iteration is the best; other folds have some."""
    numbers = np.repeat(np.arange(dataset.n_queries), np.diff(dataset.query_boundaries))
    partly = dataset.with_labels(np.where(numbers % FOLDS == 0, 0, dataset.labels))
    partly_id = inline_worker.add(partly, "d1")
    irrelevant_id = inline_worker.add(dataset.with_labels(np.zeros_like(dataset.labels)), "d2")
    refused = inline_worker.train(partly_id, early_stopping=EARLY, validation={"dataset_id": irrelevant_id})
    assert refused.problem is not None
    assert "/early_stopping: ndcg@5 is undefined on the validation data" in refused.problem["detail"]
    folds = inline_worker.train(partly_id, early_stopping=EARLY, validation={"fold_column": "fold"})
    assert folds.metrics is not None, folds.problem
    assert folds.metrics["fold S0"] == {"ndcg@5": None}


def test_a_fold_without_the_metric_does_not_count_in_the_best_iteration(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Two of three folds have no relevant document; the model has the iterations of the third."""
    numbers = np.repeat(np.arange(dataset.n_queries), np.diff(dataset.query_boundaries))
    partly = dataset.with_labels(np.where(numbers % FOLDS != 0, 0, dataset.labels))
    dataset_id = inline_worker.add(partly, "d1")
    job = inline_worker.train(dataset_id, validation={"fold_column": "fold"})
    assert job.result is not None, job.problem
    with inline_worker.store.read() as tx:
        model = tx.models.get(job.result["model_id"])
    assert model.validation is not None
    crossed = model.validation["cross_validation"]
    (best,) = [fold["best_iteration"] for fold in crossed["folds"] if fold["metrics"]["ndcg@5"] is not None]
    assert crossed["best_iteration"] == model.best_iteration == best
