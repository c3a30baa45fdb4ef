"""Responses that show jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import structlog
from pydantic import ConfigDict, Field, field_validator

from app.datasets.schemas import Finding
from app.http.labels import MultilineText, ProjectName, ShownProject, ShownTags, TagChanges
from app.http.schemas import FailureReason, Json, PageModel, RequestModel, ResponseModel, VisibleText, example
from app.jobs.parameter_schemas import RankProgress
from core.errors import NotFound
from core.jobs import (
    PRIORITIES,
    JobKind,
    JobStatus,
    is_known,
    main_metric_of,
    specification_of,
    title_of,
)
from core.store import Job as JobRow
from core.store import Transaction

ORDER_DESCRIPTION = (
    "Sort key. `duration` is the time from the first start to the end; `metric` is the latest value of"
    " the main metric; a training with validation data is sorted by its validation value. `newest`,"
    " `oldest` and `longest` include the direction and ignore `order`"
)

_log = structlog.stdlib.get_logger("rankery.jobs")


class Progress(ResponseModel):
    """Progress of a running job."""

    model_config = ConfigDict(extra="allow")

    phase: str = Field(description="Current phase of the job", examples=["training"])
    iteration: int | None = Field(
        None, description="Completed steps of the phase: trees, or epochs of a network", examples=[120]
    )
    total: int | None = Field(None, description="Total number of steps of the phase", examples=[500])
    batch: int | None = Field(
        None,
        description="Completed batches of the current epoch; omitted unless epochs are long",
        examples=[12],
        exclude_if=lambda batch: batch is None,
    )
    batches: int | None = Field(
        None,
        description="Total number of batches of an epoch",
        examples=[60],
        exclude_if=lambda batches: batches is None,
    )
    eta_seconds: float | None = Field(None, description="Estimated remaining time", examples=[41.5])
    ranks: list[RankProgress] | None = Field(
        None,
        description="Ranks of a distributed training; omitted for other jobs",
        exclude_if=lambda ranks: ranks is None,
    )
    restarts: int | None = Field(
        None,
        description="How often all ranks were restarted in this attempt because a rank was lost; omitted for"
        " jobs without ranks",
        examples=[1],
        exclude_if=lambda restarts: restarts is None,
    )


class Phase(ResponseModel):
    """A phase of an attempt, with its duration and memory."""

    phase: str = Field(examples=["training"])
    seconds: float = Field(description="Duration of the phase so far", examples=[41.2])
    peak_memory_bytes: int | None = Field(
        description="Largest memory that the job added to its worker's process in the phase, by regular"
        " samples; its memory limit applies to the same quantity. Null if unknown",
        examples=[1_288_490_188],
    )


class Attempt(ResponseModel):
    """One claim of a job by a worker."""

    number: int = Field(
        validation_alias="attempt",
        description="Number of the attempt, from 1; those handed back by a worker that shut down are not"
        " counted",
    )
    worker: str = Field(description="Machine and process", examples=["trainer-2:41/57"])
    started_at: datetime
    ended_at: datetime | None
    ending: Literal["succeeded", "refused", "failed", "cancelled", "lost", "handed_back"] | None = Field(
        description="Null while it runs"
    )
    detail: str | None = Field(description="Reason of the ending, if known")
    resumed_from: int | None = Field(description="Iteration of the checkpoint that the attempt resumed from")
    phases: list[Phase] = Field(
        [], description="In the order in which they began; none for attempts of earlier releases"
    )

    @field_validator("phases", mode="before")
    @classmethod
    def _null_to_empty(cls, value: Any) -> Any:
        return value or []


class MainMetric(ResponseModel):
    """The metric to show first: that of early stopping, else the first requested one."""

    name: str = Field(examples=["ndcg@10"])
    data: Literal["test", "validation", "held-out", "train"] = Field(
        description="`validation` for trainings with validation data, so that choosing among them leaves the"
        " test data unseen; otherwise `test`, `held-out` queries of an automatic training, or `train`"
    )
    value: float = Field(description="Latest mean over queries", examples=[0.4310])


class Job(ResponseModel):
    """A job that a worker runs."""

    model_config = example(
        {
            "id": "job_01k9x2z4q7c8v5n3b6r1",
            "kind": "rank",
            "kind_label": "Ranking",
            "title": "web:3",
            "name": None,
            "notes": None,
            "tags": {"team": "search"},
            "project": "web",
            "status": "running",
            "spec": {
                "kind": "rank",
                "model": "web@champion",
                "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
                "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            },
            "progress": {"phase": "scoring", "iteration": 0, "total": 1, "eta_seconds": None},
            "metrics": None,
            "main_metric": None,
            "dataset_names": {"ds_01k9x2m4q7c8v5n3b6r3": "web test"},
            "result": None,
            "problem": None,
            "findings": None,
            "priority": "normal",
            "key_id": "key_01k9x2m4q7c8v5n3b6r9",
            "attempt": 1,
            "resumable_from": None,
            "cancel_requested": False,
            "created_at": "2026-01-05T09:58:00Z",
            "started_at": "2026-01-05T09:58:01Z",
            "finished_at": None,
        }
    )

    id: str
    kind: JobKind
    kind_label: str = Field("", description="Label of the kind", examples=["Training"])
    title: str = Field(
        "",
        description="Name of the job, or a default title that names what it creates, measures or moves",
        examples=["web:3 for @champion"],
    )
    name: str | None = Field(None, description="Name that a user gave the job; null without one")
    notes: str | None = Field(description="Notes on the job")
    tags: ShownTags
    project: ShownProject
    status: JobStatus
    spec: Json = Field(description="The request with all defaults and resolved references")
    progress: Progress | None = Field(description="Progress of the job; null before it starts")
    metrics: dict[str, dict[str, float | None]] | None = Field(description="Latest values by data and metric")
    main_metric: MainMetric | None = Field(None, description="Main metric; null until it is measured")
    dataset_names: dict[str, str] = Field(
        {},
        description="Names by id of the datasets that the job reads or creates, without deleted ones",
    )
    result: Json | None = Field(
        description="Ids of the objects that the job created: dataset, model, evaluation, ranking,"
        " comparison, inspection; and the outcome of kinds that report one, such as `conclusion`"
    )
    problem: FailureReason | None = Field(description="Why the job failed")
    findings: list[Finding] | None = Field(
        description="Findings about a training and its datasets; null until known"
    )
    priority: Literal["low", "normal", "high"]
    key_id: str | None = Field(description="API key that submitted the job; null without authentication")
    attempt: int = Field(
        description="Number of attempts; those handed back by a worker that shut down are not counted"
    )
    resumable_from: int | None = Field(
        validation_alias="checkpoint", description="Iteration that a later attempt would resume from"
    )
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, tx: Transaction, row: JobRow) -> "Job":
        """Return the response of a stored job.

        Raises:
            NotFound: Its kind is one of a later release.
        """
        shown = cls.all_of(tx, [row])
        if not shown:
            hint = f"this release cannot show its kind {row.kind!r}; `POST /v1/jobs/cancel` cancels it"
            raise NotFound("job", row.id, hint)
        return shown[0]

    @classmethod
    def all_of(cls, tx: Transaction, rows: Sequence[JobRow]) -> list["Job"]:
        """Return the responses of stored jobs, without those whose kind is one of a later release.

        The names of their datasets are read in one statement.
        """
        known_rows = []
        for row in rows:
            if is_known(row.kind):
                known_rows.append(row)
            else:
                _log.info("job.of_later_release", job_id=row.id, kind=row.kind)
        names = tx.datasets.names_by_job([row.id for row in known_rows])
        return [
            Job.model_validate(row.column_values() | _derived_fields(row, names[row.id]))
            for row in known_rows
        ]

    @field_validator("priority", mode="before")
    @classmethod
    def _priority_name(cls, value: Any) -> Any:
        names = {number: name for name, number in PRIORITIES.items()}
        return names.get(value, value)

    @field_validator("resumable_from", mode="before")
    @classmethod
    def _iteration(cls, value: Any) -> Any:
        return value["iteration"] if isinstance(value, dict) else value


class JobWithAttempts(Job):
    """A job with its attempts."""

    attempts: list[Attempt] = Field(description="Oldest first")

    @classmethod
    def of(cls, tx: Transaction, row: JobRow) -> "JobWithAttempts":
        """Return the response of a stored job and its attempts."""
        attempts = [Attempt.model_validate(attempt) for attempt in tx.jobs.attempts(row.id)]
        return cls.model_construct(**dict(Job.of(tx, row)), attempts=attempts)


class JobBatch(ResponseModel):
    """Jobs that were queued together."""

    jobs: list[Job] = Field(description="In the requested order")


class JobPage(PageModel):
    """A page of jobs, in the requested order."""

    items: list[Job]


Curves = dict[str, dict[str, list[float | None]]]


class _LearningCurves(ResponseModel):
    job_id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    best_iteration: int | None = Field(
        description="Best iteration; null until the job has created its model", examples=[2]
    )
    iterations: list[int] = Field(description="1-based, in order", examples=[[1, 2, 3]])
    curves: Curves = Field(
        description="By data and metric, a value for each of the iterations",
        examples=[{"train": {"ndcg@10": [0.31, 0.34, 0.36]}, "validation": {"ndcg@10": [0.30, 0.33, 0.32]}}],
    )
    milliseconds: dict[str, list[float | None]] = Field(
        {},
        description="Mean wall time per iteration since the previously listed one, by part: `objective` is"
        " the loss and its gradient, `tree` the rest of LightGBM's work, `metrics` the evaluation,"
        " `diagnostics` the diagnostics; null if not recorded",
        examples=[{"objective": [14.2, 8.1, 8.0], "tree": [131.0, 92.4, 91.8], "metrics": [6.1, 4.2, 4.1]}],
    )


class JobHistory(_LearningCurves):
    """Learning curves: one value per iteration for each metric on each part of the data."""


class JobCurves(_LearningCurves):
    """The learning curves of one of several jobs; `milliseconds` is empty unless `times=true` is given."""

    attempt: int = Field(
        description="Number of the attempt; if it changes, request all iterations again, since curves may"
        " have restarted",
        examples=[1],
    )
    status: JobStatus


class JobHistories(ResponseModel):
    """The learning curves of several jobs."""

    items: list[JobCurves] = Field(description="In the requested order")
    missing: list[str] = Field(description="Unknown ids", examples=[[]])


class CancelledJob(ResponseModel):
    """Outcome of a cancel request for one job."""

    id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    outcome: Literal["cancelled", "stopping", "already_ended", "missing"] = Field(
        description="`cancelled`: the job was queued; `stopping`: the job is running and stops within"
        " moments; `already_ended`: the job had ended before; `missing`: there is no such job"
    )
    status: JobStatus | None = Field(description="Current status; null if the job is missing")


class CancelledJobs(ResponseModel):
    """Outcomes of a cancel request for several jobs."""

    items: list[CancelledJob] = Field(description="In the requested order")


def _derived_fields(row: JobRow, dataset_names: Mapping[str, str]) -> Json:
    label = specification_of(row.kind).label
    default_title = title_of(row.kind, row.spec)
    return {
        "kind_label": label,
        # Specifications of earlier releases have no dataset names: use the current names of the datasets.
        "title": row.title or default_title or ", ".join(dataset_names.values()) or label,
        "name": row.title if row.title != default_title else None,
        "main_metric": main_metric_of(row.kind, row.spec, row.metrics),
        "dataset_names": dataset_names,
    }


CHANGE_EXAMPLES: Any = {
    "describe": {
        "summary": "Set the name and one tag, and remove another tag",
        "value": {
            "name": "fewer leaves",
            "notes": "Without the week of the outage",
            "tags": {"team": "search", "draft": None},
        },
    },
    "move": {"summary": "Move a job and its results to a project", "value": {"project": "web-search"}},
}


class JobChanges(RequestModel):
    """Changes of a job's name, notes, tags and project; omitted fields stay."""

    name: VisibleText | None = Field(
        None, description="Name of the job; null for its default title", examples=["fewer leaves"]
    )
    notes: MultilineText | None = Field(
        None, description="Notes on the job; null for no notes", examples=["As of May"]
    )
    tags: TagChanges = Field(default_factory=dict)
    project: ProjectName | None = Field(
        None, description="Name of a project; null for no project", examples=["web-search"]
    )
