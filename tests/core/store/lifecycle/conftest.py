"""A store with a training and its results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from core.jobs import System
from core.store import Comparison, Dataset, Evaluation, Inspection, Job, Model, Ranking, Store, Study
from core.store.artifacts.keys import (
    comparison_key,
    data_folder,
    dataset_upload_key,
    evaluation_key,
    model_key,
    new_data_key,
    queries_key,
    ranking_key,
    trial_key,
)
from core.store.repositories.studies import TrialResult
from core.studies import Budget

CONTENT = b"0123456789"


@dataclass(frozen=True)
class TrainingResults:
    """A training with its model, and results of the model.

    Attributes:
        training: The job that made the model and its evaluation.
        model: The model.
        evaluation: Evaluation of the model by the training.
        ranking: A ranking by the model, of another job.
        inspection: An inspection of the model, of a third job.
    """

    training: Job
    model: Model
    evaluation: Evaluation
    ranking: Ranking
    inspection: Inspection


def spec_of_study(dataset_id: str) -> dict[str, Any]:
    """Return the entries of a study's specification that its progress reads."""
    return {
        "name": "leaves",
        "model_name": "tuned",
        "dataset_id": dataset_id,
        "objective": {"metric": "ndcg@5"},
        "higher_is_better": True,
    }


class ObjectFactory:
    """Creates rows with their artifacts."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def job(self, kind: str = "train", spec: dict[str, Any] | None = None) -> Job:
        """Record a job that has succeeded."""
        with self.store.begin() as tx:
            job = tx.jobs.add(kind, spec or {"model_name": "web"})
            claimed = tx.jobs.claim(job.id, "w1", 15)
            assert claimed is not None
            tx.jobs.record(job.id, claimed.token, iterations=[(1, {"train": {"loss": 0.5}})])
            return tx.jobs.succeed(job.id, claimed.token, {})

    def model(self, job: Job, name: str = "web") -> Model:
        """Record a model of a job."""
        with self.store.begin() as tx:
            model = tx.models.add(
                name=name,
                job_id=job.id,
                feature_names=["f1"],
                best_iteration=7,
                sha256="0" * 64,
                size_bytes=len(CONTENT),
            )
        self.store.artifacts.write_bytes(model_key(model.id), CONTENT)
        return model

    def evaluation(self, job: Job, model: Model) -> Evaluation:
        """Record an evaluation of a model by a job."""
        with self.store.begin() as tx:
            evaluation = tx.evaluations.add(
                job_id=job.id,
                system=System(model.reference, model_id=model.id),
                dataset_id="ds_1",
                summaries={},
                contract={},
                baselines=[],
                slices=[],
            )
        self.store.artifacts.write_bytes(evaluation_key(evaluation.id), CONTENT)
        return evaluation

    def ranking(self, job: Job, model: Model) -> Ranking:
        """Record a ranking by a model of a job."""
        with self.store.begin() as tx:
            system = System(model.reference, model_id=model.id)
            ranking = tx.rankings.add(job_id=job.id, system=system, dataset_id="ds_1", queries=1, documents=2)
        self.store.artifacts.write_bytes(ranking_key(ranking.id), CONTENT)
        return ranking

    def inspection(self, job: Job, model: Model) -> Inspection:
        """Record an inspection of a model by a job."""
        with self.store.begin() as tx:
            return tx.inspections.add(
                job_id=job.id,
                model_id=model.id,
                dataset_id="ds_1",
                metric="ndcg@10",
                contract={},
                baseline={},
                repeats=1,
                within="query",
                seed=1,
                importance=[],
                partial_dependence=[],
                sample=1,
                findings=None,
            )

    def comparison(self, job: Job, *models: Model) -> Comparison:
        """Record a comparison of models by a job."""
        systems = [{"name": model.reference, "model_id": model.id, "ranking_id": None} for model in models]
        with self.store.begin() as tx:
            comparison = tx.comparisons.add(
                job_id=job.id,
                dataset_id="ds_1",
                sentence="They are equal.",
                systems=systems,
                metrics=["ndcg@10"],
                contract={},
                permutations=10,
                seed=1,
                pairs=[],
            )
        self.store.artifacts.write_bytes(comparison_key(comparison.id), CONTENT)
        return comparison

    def experiment(self, training: Job) -> str:
        """Record an experiment with one training, whose job also measures its model; return its id."""
        with self.store.begin() as tx:
            row = tx.experiments.add(
                paper="lambdaloss-2018", scale="quick", data="synthetic", folds=[], dry_run=False, datasets=[]
            )
            tx.experiments.add_training(
                row.id,
                digest="d",
                fold=0,
                place=0,
                sharing_key="s",
                spec={},
                job_id=training.id,
                evaluation_job_id=training.id,
                needs_training_values=False,
            )
        return row.id

    def dataset(self, digest: str = "d1", project: str | None = None) -> Dataset:
        """Record a dataset that was read, with its upload; datasets of one digest share their content."""
        with self.store.begin() as tx:
            dataset = tx.datasets.add(f"web {digest}", {"kind": "upload"}, size_bytes=10, project=project)
        self.store.artifacts.write_bytes(dataset_upload_key(dataset.id), CONTENT)
        data_key = new_data_key(dataset.id, 1)
        for key in (data_key, queries_key(data_key)):
            self.store.artifacts.write_bytes(key, CONTENT)
            with self.store.begin() as tx:
                tx.artifacts.record_checksum(key, "0" * 64, len(CONTENT))
        with self.store.begin() as tx:
            ready = tx.datasets.mark_ready(
                dataset.id, statistics={"queries": 3}, digest=digest, data_key=data_key
            )
            if ready.data_key != data_key:
                tx.artifacts.delete_checksums(data_folder(data_key))
        if ready.data_key != data_key:
            self.store.artifacts.delete(data_folder(data_key))
        return ready

    def study(self, dataset: Dataset) -> Study:
        """Record a cancelled study with one trial, whose job has succeeded."""
        with self.store.begin() as tx:
            study = tx.studies.add(spec_of_study(dataset.id), Budget(1, None, None), 1, None)
            (trial,) = tx.studies.trials(study.id)
            claimed = tx.jobs.claim(trial.job_id, "w1", 15)
            assert claimed is not None
            tx.studies.start_trial(study, trial, {}, {})
            tx.studies.end_trial(study.id, 0, TrialResult("succeeded", 0.5, [], None, [], 1))
            tx.studies.cancel(study.id)
            tx.jobs.succeed(trial.job_id, claimed.token, {})
            tx.artifacts.record_checksum(trial_key(study.id, 0), "0" * 64, len(CONTENT))
        self.store.artifacts.write_bytes(trial_key(study.id, 0), CONTENT)
        return study

    def results(self) -> TrainingResults:
        """Record a training with its results."""
        training = self.job()
        model = self.model(training)
        return TrainingResults(
            training,
            model,
            self.evaluation(training, model),
            self.ranking(self.job("rank"), model),
            self.inspection(self.job("inspect"), model),
        )


@pytest.fixture
def factory(store: Store) -> ObjectFactory:
    """A factory of objects in the store."""
    return ObjectFactory(store)


@pytest.fixture
def results(factory: ObjectFactory) -> TrainingResults:
    """A training with its results."""
    return factory.results()


@pytest.fixture
def stored_bytes(store: Store) -> Callable[[], int]:
    """A function that returns the bytes of all artifacts."""
    return lambda: sum(size_bytes for _, size_bytes in store.artifacts.sizes())
