"""Jobs as shown."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from app.schemas.base import FailureReason, Json, NextCursor, ResponseModel
from app.schemas.findings import Finding

JobKind = Literal["ingest", "import", "train", "evaluate", "rank", "compare"]
JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]


class Progress(ResponseModel):
    """How far a running job is."""

    model_config = ConfigDict(from_attributes=True, extra="allow")

    phase: str = Field(description="What it is doing", examples=["training"])
    iteration: int | None = Field(None, description="Steps of the phase done", examples=[120])
    total: int | None = Field(None, description="Steps of the phase in all", examples=[500])
    eta_seconds: float | None = Field(None, description="Estimated time to the end", examples=[41.5])


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
                    "attempt": 1,
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
        description="Ids of what it made: dataset, model, evaluation, ranking, comparison"
    )
    problem: FailureReason | None = Field(description="Why it failed")
    findings: list[Finding] | None = Field(
        description="What the doctor says of its datasets beside each other; null before they were compared"
    )
    attempt: int = Field(description="How often a worker has claimed it")
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobPage(ResponseModel):
    """A page of jobs, newest first."""

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
