"""Responses of the overview: workers, counts and models in use."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from app.http.labels import ShownProject
from app.http.schemas import ResponseModel, example
from app.models.alias_schemas import Alias
from core.jobs import JobKind, JobStatus, is_known, specification_of
from core.store import Job, Model, ModelAlias, Worker


class RunningJob(ResponseModel):
    """A job that a worker is running."""

    id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    kind: JobKind
    kind_label: str = Field("", description="Display name of the kind", examples=["Training"])
    worker: str = Field(description="Worker and process that run it", examples=["trainer-2:41/57"])
    started_at: datetime

    @classmethod
    def of(cls, job: Job) -> "RunningJob":
        """Return the response of a running job."""
        return cls.model_validate(job).model_copy(update={"kind_label": specification_of(job.kind).label})


class WorkerAtWork(ResponseModel):
    """A live worker."""

    model_config = example(
        {
            "name": "trainer-2:41",
            "lane": "training",
            "processes": 1,
            "compiling": None,
            "started_at": "2026-01-05T09:00:00Z",
            "seen_at": "2026-01-05T10:02:11Z",
            "jobs": [
                {
                    "id": "job_01k9x2z4q7c8v5n3b6r1",
                    "kind": "train",
                    "kind_label": "Training",
                    "worker": "trainer-2:41/57",
                    "started_at": "2026-01-05T10:01:40Z",
                }
            ],
        }
    )

    name: str = Field(description="Machine and process")
    lane: Literal["training", "quick"] = Field(description="`training`, or `quick` for short jobs")
    processes: int = Field(description="Maximum number of concurrent jobs")
    compiling: str | None = Field(
        None, description="Progress of the worker's kernel compilation; null once it runs jobs"
    )
    started_at: datetime
    seen_at: datetime = Field(description="Time of the worker's last heartbeat, at most a few seconds ago")
    jobs: list[RunningJob] = Field(description="Running jobs of the worker, oldest first")

    @classmethod
    def of(cls, worker: Worker, running: list[Job]) -> "WorkerAtWork":
        """Return the response of a worker with its running jobs, without kinds of a later release."""
        worker_jobs = [
            job for job in running if (job.worker or "").startswith(f"{worker.name}/") and is_known(job.kind)
        ]
        jobs = [RunningJob.of(job) for job in sorted(worker_jobs, key=lambda job: job.id)]
        return cls.model_validate({**worker.column_values(), "jobs": jobs})


class WorkerList(ResponseModel):
    """The live workers, oldest first."""

    items: list[WorkerAtWork]


class Counts(ResponseModel):
    """Counts of jobs, datasets, models and results."""

    jobs: dict[JobStatus, int] = Field(
        description="Number of jobs by status",
        examples=[{"queued": 2, "running": 1, "succeeded": 40, "refused": 1, "failed": 1, "cancelled": 0}],
    )
    waiting: dict[Literal["training", "quick"], int] = Field(
        description="Queued jobs by the lane of the workers that run them",
        examples=[{"training": 2, "quick": 0}],
    )
    refused_promotions: int = Field(
        description="Number of promotions that a gate refused, as `refused` in `jobs`",
        examples=[1],
    )
    datasets: int = Field(examples=[6])
    models: int = Field(description="Number of model versions", examples=[31])
    evaluations: int = Field(examples=[12])
    comparisons: int = Field(examples=[4])
    rankings: int = Field(examples=[9])


class MetricTrend(ResponseModel):
    """A metric over the versions of a name that were tested on the same dataset."""

    metric: str = Field(examples=["ndcg@10"])
    versions: list[int] = Field(description="Versions, oldest first", examples=[[1, 2, 3]])
    values: list[float] = Field(description="Means on the test data", examples=[[0.4102, 0.4267, 0.4310]])

    @classmethod
    def of(cls, champion: Model, tested: Sequence[Model]) -> "MetricTrend | None":
        """Return the champion's first metric over the versions that were tested on its test dataset.

        None if there are fewer than two such versions.
        """
        dataset_id, metrics = _test_dataset(champion), champion.metrics or {}
        metric = next(iter(metrics), None)
        points = [
            (model.version, model.metrics[metric])
            for model in tested
            if metric and model.metrics and model.metrics.get(metric) is not None
            if _test_dataset(model) == dataset_id
        ]
        if metric is None or dataset_id is None or len(points) < 2:
            return None
        versions, values = zip(*points, strict=True)
        return cls(metric=metric, versions=versions, values=values)


def _test_dataset(model: Model) -> str | None:
    datasets = (model.lineage or {}).get("datasets") or {}
    return (datasets.get("test") or {}).get("id")


class AliasedModel(Alias):
    """An alias with the metrics of its model."""

    metrics: dict[str, float | None] | None = Field(
        description="Means of the metrics on the test data; null if the model was not tested",
        examples=[{"ndcg@10": 0.4310}],
    )
    trend: MetricTrend | None = Field(
        description="First metric over the latest versions that were tested on the same dataset; null for"
        " fewer than two"
    )

    @classmethod
    def among(cls, row: ModelAlias, gated: bool, tested: Sequence[Model]) -> "AliasedModel":
        """Return the response of an alias with the metrics of its model and of tested versions."""
        alias = dict(Alias.of(row, gated))
        return cls(**alias, metrics=row.model.metrics, trend=MetricTrend.of(row.model, tested))


class AliasedModels(ResponseModel):
    """The targets of one alias across model names, last moved first."""

    items: list[AliasedModel]


class SearchHit(ResponseModel):
    """A search result."""

    kind: Literal[
        "job",
        "model",
        "dataset",
        "evaluation",
        "comparison",
        "ranking",
        "study",
        "experiment",
        "click-log",
        "interleaving",
    ]
    id: str = Field(examples=["mdl_01k9x2z4q7c8v5n3b6r1"])
    name: str = Field(
        description="Name of the object, title of a job, or reference of a model", examples=["web:3"]
    )
    detail: str | None = Field(
        description="Status of a dataset, click log, study or experiment; kind and status of a job;"
        " rankers of an interleaving; null for others",
        examples=[None],
    )
    project: ShownProject
    created_at: datetime


class SearchHits(ResponseModel):
    """Search results by kind."""

    items: list[SearchHit]
