"""Responses of the overview: workers, counts and models in use."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from app.http.schemas import ResponseModel
from app.models.alias_schemas import Alias
from core.jobs import JobKind, JobStatus
from core.store import Job, ModelAlias, Worker


class RunningJob(ResponseModel):
    """A job that a worker is running."""

    id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    kind: JobKind
    kind_label: str = Field("", description="The kind for people", examples=["Training"])
    worker: str = Field(description="The worker and its process that has it", examples=["trainer-2:41/57"])
    started_at: datetime

    @classmethod
    def of(cls, job: Job) -> "RunningJob":
        """Show a running job."""
        return cls.model_validate(job).model_copy(
            update={"kind_label": JobKind(job.kind).specification.label}
        )


class WorkerAtWork(ResponseModel):
    """A live worker."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
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
            ]
        },
    )

    name: str = Field(description="Machine and process")
    lane: Literal["training", "quick"] = Field(description="`training`, or the jobs that take little time")
    processes: int = Field(description="How many jobs it carries out at the same time")
    compiling: str | None = Field(
        None, description="How far the compilation of its kernels is; null once it carries out jobs"
    )
    started_at: datetime
    seen_at: datetime = Field(description="When it was heard of last, some seconds ago at most")
    jobs: list[RunningJob] = Field(description="What it is at, oldest first")

    @classmethod
    def of(cls, worker: Worker, running: list[Job]) -> "WorkerAtWork":
        """Return the response of a worker with its running jobs."""
        own = [job for job in running if (job.worker or "").startswith(f"{worker.name}/")]
        return cls(
            name=worker.name,
            lane=worker.lane,
            processes=worker.processes,
            compiling=worker.compiling,
            started_at=worker.started_at,
            seen_at=worker.seen_at,
            jobs=[RunningJob.of(job) for job in sorted(own, key=lambda job: job.id)],
        )


class WorkerList(ResponseModel):
    """The live workers, oldest first."""

    items: list[WorkerAtWork]


class Counts(ResponseModel):
    """Counts of jobs, datasets, models and results."""

    jobs: dict[JobStatus, int] = Field(
        description="By status",
        examples=[{"queued": 2, "running": 1, "succeeded": 40, "failed": 1, "cancelled": 0}],
    )
    datasets: int = Field(examples=[6])
    models: int = Field(description="All versions", examples=[31])
    evaluations: int = Field(examples=[12])
    comparisons: int = Field(examples=[4])
    rankings: int = Field(examples=[9])


class AliasedModel(Alias):
    """An alias with the metrics of its model."""

    metrics: dict[str, float | None] | None = Field(
        description="Means on the test data of its training; null where it was not tested",
        examples=[{"ndcg@10": 0.4310}],
    )

    @classmethod
    def of(cls, row: ModelAlias, gated: bool) -> "AliasedModel":
        """Return the response of an alias with the metrics of its model."""
        return cls(**dict(Alias.of(row, gated)), metrics=row.model.metrics)


class AliasedModels(ResponseModel):
    """The targets of one alias across model names, last moved first."""

    items: list[AliasedModel]
