"""Jobs as shown."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator

from app.schemas.base import FailureReason, Json, NextCursor, ResponseModel
from app.schemas.findings import Finding
from core.store import Job as JobRow
from core.store import JobAttempt

JobKind = Literal[
    "ingest",
    "import",
    "import-model",
    "train",
    "reproduce",
    "evaluate",
    "rank",
    "compare",
    "promote",
    "inspect",
]
PRIORITIES: Mapping[str, int] = MappingProxyType({"low": -1, "normal": 0, "high": 1})
JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
JobOrder = Literal["newest", "oldest", "longest", "metric"]
ORDER_WORDS = (
    "`newest` or `oldest`; `longest` begins with what took the longest, among the jobs that have ended;"
    " `metric` with the greatest latest value of the main metric, on the test data, else on the validation"
    " data, among the jobs that measured one"
)


class Progress(ResponseModel):
    """How far a running job is."""

    model_config = ConfigDict(from_attributes=True, extra="allow")

    phase: str = Field(description="What it is doing", examples=["training"])
    iteration: int | None = Field(None, description="Steps of the phase done", examples=[120])
    total: int | None = Field(None, description="Steps of the phase in all", examples=[500])
    eta_seconds: float | None = Field(None, description="Estimated time to the end", examples=[41.5])


class Attempt(ResponseModel):
    """One claim of a job by a worker."""

    number: int = Field(
        validation_alias="attempt", description="1 for the first; one that was handed back does not count"
    )
    worker: str = Field(description="Machine and process", examples=["trainer-2:41/57"])
    started_at: datetime
    ended_at: datetime | None
    ending: Literal["succeeded", "failed", "cancelled", "lost", "handed_back"] | None = Field(
        description="Null while it runs"
    )
    detail: str | None = Field(description="Why it ended so, where there is something to say")
    resumed_from: int | None = Field(description="Iteration of the checkpoint that it went on from")


class Job(ResponseModel):
    """A piece of work for a worker."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "job_01k9x2z4q7c8v5n3b6r1",
                    "kind": "rank",
                    "status": "running",
                    "spec": {
                        "kind": "rank",
                        "model": "web@champion",
                        "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
                        "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
                    },
                    "progress": {"phase": "scoring", "iteration": 0, "total": 1, "eta_seconds": None},
                    "metrics": None,
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
            ]
        },
    )

    id: str
    kind: JobKind
    status: JobStatus
    spec: Json = Field(description="What was asked for, all defaults and references spelled out")
    progress: Progress | None = Field(description="Null before it starts")
    metrics: dict[str, dict[str, float | None]] | None = Field(description="Latest values by data and metric")
    result: Json | None = Field(
        description="Ids of what it made: dataset, model, evaluation, ranking, comparison, inspection;"
        " or what it found"
    )
    problem: FailureReason | None = Field(description="Why it failed")
    findings: list[Finding] | None = Field(
        description="What to know of a training, and of its datasets beside each other; null until known"
    )
    priority: Literal["low", "normal", "high"]
    key_id: str | None = Field(description="The API key that submitted it; null where none was needed")
    attempt: int = Field(description="How often a worker has claimed it")
    resumable_from: int | None = Field(
        validation_alias="checkpoint", description="Iteration that a later attempt would go on from"
    )
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @field_validator("priority", mode="before")
    @classmethod
    def _in_a_word(cls, value: Any) -> Any:
        words = {number: word for word, number in PRIORITIES.items()}
        return words.get(value, value)

    @field_validator("resumable_from", mode="before")
    @classmethod
    def _iteration(cls, value: Any) -> Any:
        return value["iteration"] if isinstance(value, dict) else value


class JobWithAttempts(Job):
    """A job, and who has worked on it."""

    attempts: list[Attempt] = Field(description="Oldest first")

    @classmethod
    def of(cls, job: JobRow, attempts: Sequence[JobAttempt]) -> "JobWithAttempts":
        """Show a job on record with its claims."""
        shown = dict(Job.model_validate(job))
        return cls.model_construct(**shown, attempts=[Attempt.model_validate(row) for row in attempts])


class JobBatch(ResponseModel):
    """Jobs that were queued together."""

    jobs: list[Job] = Field(description="In the order in which they were asked for")


class JobPage(ResponseModel):
    """A page of jobs, in the order asked for."""

    items: list[Job]
    next_cursor: NextCursor


class JobHistory(ResponseModel):
    """Learning curves: one value an iteration for each metric on each data."""

    job_id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    best_iteration: int | None = Field(description="Set once the job has made its model", examples=[2])
    iterations: list[int] = Field(description="1-based, in order", examples=[[1, 2, 3]])
    curves: dict[str, dict[str, list[float | None]]] = Field(
        examples=[{"train": {"ndcg@10": [0.31, 0.34, 0.36]}, "validation": {"ndcg@10": [0.30, 0.33, 0.32]}}]
    )
