"""Tables of jobs, their attempts and iterations, and workers."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, ForeignKey, Index, Text, cast
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base, InProject, Trashable


class Job(InProject, Trashable, Base):
    """A job that a worker runs.

    Attributes:
        kind: See `core.jobs.JobKind`.
        status: See `core.jobs.base`.
        spec: The submitted specification, resolved.
        progress: `{"phase", "iteration", "total", "eta_seconds"}` or None.
        metrics: Latest means, `{"validation": {"ndcg@10": 0.4}}`, or None.
        problem: `{"title", "detail"}` of a job that did not succeed, or None.
        findings: Findings of the job and of the comparison of its datasets, None until known.
        priority: Jobs of a higher priority are claimed first.
        key_id: The API key that submitted it, None without authentication.
        checkpoint: The checkpoint that a training resumes from, `{"key", "sha256", "iteration", "total",
            "processors"}`, or None.
        title: Name given by the submitter, or the default title; None where the kind has none.
        took_seconds: Time from its first start to its end, None until then.
        attempt: Number of attempts; those handed back by a worker that shut down do not count.
        token: Fencing token, incremented by each claim.
        lease_expires_at: End of its lease by the wall clock; changed by each heartbeat, see `LeaseWatch`.
        woken_at: Time when the sweeper last announced the queued job to workers again, or None.
        trace_context: Trace headers of the request that submitted it, or None.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "status", "id"),
        Index(None, "kind", "id"),
        Index(None, "status", "woken_at"),
        Index(None, "status", "lease_expires_at"),
        Index(None, "key_id", "status"),
        Index(None, "key_id", "started_at"),
        Index(None, "main_metric", "id"),
        Index(None, "took_seconds", "id"),
        Index(None, "title", "id"),
        Index(None, "started_at", "id"),
        Index(None, "finished_at", "id"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(WORD)
    status: Mapped[str] = mapped_column(WORD)
    spec: Mapped[dict[str, Any]]
    progress: Mapped[dict[str, Any] | None]
    metrics: Mapped[dict[str, Any] | None]
    result: Mapped[dict[str, Any] | None]
    problem: Mapped[dict[str, Any] | None]
    findings: Mapped[list[dict[str, Any]] | None]
    priority: Mapped[int] = mapped_column(default=0, server_default="0")
    key_id: Mapped[str | None] = mapped_column(ID)
    checkpoint: Mapped[dict[str, Any] | None]
    title: Mapped[str | None] = mapped_column(NAME)
    main_metric: Mapped[float | None] = mapped_column(Double)
    took_seconds: Mapped[float | None] = mapped_column(Double)
    attempt: Mapped[int] = mapped_column(default=0)
    token: Mapped[int] = mapped_column(BigInteger, default=0)
    lease_expires_at: Mapped[datetime | None]
    worker: Mapped[str | None] = mapped_column(NAME)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    woken_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    notes: Mapped[str | None] = mapped_column(Text)
    tags: Mapped[dict[str, str] | None]
    trace_context: Mapped[dict[str, str] | None]

    @classmethod
    def specification_has(cls, text: str) -> ColumnElement[bool]:
        """Return the condition that the JSON text of the specification contains a text."""
        # Search the text: PostgreSQL cannot extract members of JSON that has the character NUL anywhere.
        return cast(cls.spec, Text).contains(text, autoescape=True)


class JobAttempt(Base):
    """One claim of a job.

    Attributes:
        attempt: Its number, without attempts that were handed back by a worker that shut down.
        ending: `succeeded`, `refused`, `failed`, `cancelled`, `lost`, `handed_back`, or None while it runs.
        phases: `[{"phase", "seconds", "peak_memory_bytes"}]` in order, or None until known.
    """

    __tablename__ = "job_attempts"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    token: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    attempt: Mapped[int]
    worker: Mapped[str] = mapped_column(NAME)
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    ending: Mapped[str | None] = mapped_column(WORD)
    detail: Mapped[str | None] = mapped_column(Text)
    resumed_from: Mapped[int | None]
    phases: Mapped[list[dict[str, Any]] | None]


class JobIteration(Base):
    """The metrics of one iteration, a tree or an epoch: a point of the learning curves.

    Attributes:
        milliseconds: Mean times of an iteration since the previous point, by part; None where not recorded.
    """

    __tablename__ = "job_iterations"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    iteration: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    values: Mapped[dict[str, Any]]
    milliseconds: Mapped[dict[str, Any] | None]


class JobDataset(Base):
    """A dataset that a job reads or makes; it cannot be deleted while the job is active."""

    __tablename__ = "job_datasets"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    dataset_id: Mapped[str] = mapped_column(
        ID, ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Worker(Base):
    """A worker and its lease.

    Attributes:
        name: Machine and process, the prefix of the names of its pool processes.
        lane: Lane of the jobs that it runs.
        expires_at: End of its lease, which each report extends.
        compiling: Progress of the compilation of its kernels, None when it is ready.
    """

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    lane: Mapped[str] = mapped_column(WORD)
    processes: Mapped[int]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    compiling: Mapped[str | None] = mapped_column(WORD)
