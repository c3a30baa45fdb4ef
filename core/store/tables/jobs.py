"""Tables of jobs, their attempts and iterations, and workers."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base
from core.store.tables.mixins import Labelled, Trashable


class Job(Labelled, Trashable, Base):
    """One piece of work for a worker.

    Attributes:
        kind: What to do, see `core.jobs.JobKind`.
        status: See `core.store.repositories.job_states`.
        spec: What to do, as submitted and resolved.
        progress: `{"phase", "iteration", "total", "eta_seconds"}` or None.
        metrics: Latest means, `{"validation": {"ndcg@10": 0.4}}`, or None.
        result: Ids of what the job made, or None.
        problem: `{"title", "detail"}` of a job that did not succeed, or None.
        findings: What is to be said about it and its datasets beside each other, or None until that is known.
        priority: Jobs of a greater one are taken first.
        key_id: The API key that submitted it, None where no key was needed.
        checkpoint: Where an unfinished training goes on, `{"key", "iteration"}`, or None.
        title: The name that people know it by, or None.
        main_metric: The latest value of its main metric, or None.
        took_seconds: Time from its first start to its end, or None before.
        attempt: How often it was claimed.
        token: Fencing token, one more at each claim.
        lease_expires_at: End of its lease by the wall clock; changed by each heartbeat, see `LeaseWatch`.
        woken_at: When a wake-up was last sent for it by the sweeper.
        notes: What its owners write about it, or None.
        tags: What they mark it with, or None.
        trace_context: Headers that name the span of the request that submitted it, or None.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "status", "id"),
        Index(None, "kind", "id"),
        Index(None, "status", "woken_at"),
        Index(None, "status", "lease_expires_at"),
        Index(None, "key_id", "status"),
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


class JobAttempt(Base):
    """One claim of a job.

    Attributes:
        token: The fencing token of the claim.
        attempt: Its number among the attempts that count.
        ending: `succeeded`, `refused`, `failed`, `cancelled`, `lost`, `handed_back`, or None while it runs.
        detail: Why it ended so, where there is something to say.
        resumed_from: Iteration of the checkpoint that it went on from, or None.
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
    """The metrics of one boosting iteration: a point of the learning curves.

    Attributes:
        values: By data and metric.
        milliseconds: Mean times of an iteration since the point before, by part; None where not recorded.
    """

    __tablename__ = "job_iterations"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    iteration: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    values: Mapped[dict[str, Any]]
    milliseconds: Mapped[dict[str, Any] | None]


class JobDataset(Base):
    """A dataset used by an active job, which therefore cannot be deleted."""

    __tablename__ = "job_datasets"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    dataset_id: Mapped[str] = mapped_column(
        ID, ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Worker(Base):
    """A worker and its lease.

    Attributes:
        name: Machine and process, as its jobs name it before the id of the pool process.
        lane: The jobs that it carries out.
        processes: How many of them at the same time.
        expires_at: When it is taken to be gone, unless it is heard of again.
        compiling: How far the compilation of its kernels is, None once it carries out jobs.
    """

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    lane: Mapped[str] = mapped_column(WORD)
    processes: Mapped[int]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    compiling: Mapped[str | None] = mapped_column(WORD)
