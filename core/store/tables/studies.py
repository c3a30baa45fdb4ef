"""Tables of studies and their trials."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Double, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base, InProject, Trashable


class Study(InProject, Trashable, Base):
    """A hyperparameter study: many trainings of one specification.

    Attributes:
        status: `running`, `paused`, `concluding`, `succeeded`, `failed` or `cancelled`.
        spec: The requested specification, resolved; see `core.studies.StudySpec`. It never changes.
        trials: Maximum number of trials.
        seconds: Time since the first trial, without pauses, after which no trial is queued, or None.
        patience: Number of trials without improvement after which no trial is queued, or None.
        parallel_trials: Number of concurrently queued or running trials.
        key_id: The API key that submitted it, None without authentication.
        best_number: Number of the best successful trial, or None.
        best_value: Value of the best successful trial, or None.
        default_value: Value of trial 0, or None.
        default_job_id: The training that refits the default; None until it is queued.
        winner_job_id: The training that refits the winner; None until it is queued, or if the default won.
        conclude_job_id: The job that writes the conclusion; None until it is queued.
        conclusion: See `core.studies.Conclusion`; None until its job has succeeded.
        problem: `{"title", "detail"}` of a study that failed, or None.
        paused_seconds: Duration of all ended pauses.
    """

    __tablename__ = "studies"
    __table_args__ = (
        Index(None, "status", "id"),
        Index(None, "dataset_id", "id"),
        Index(None, "default_job_id"),
        Index(None, "winner_job_id"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    model_name: Mapped[str] = mapped_column(NAME)
    dataset_id: Mapped[str] = mapped_column(ID)
    status: Mapped[str] = mapped_column(WORD)
    spec: Mapped[dict[str, Any]]
    trials: Mapped[int]
    seconds: Mapped[float | None] = mapped_column(Double)
    patience: Mapped[int | None]
    parallel_trials: Mapped[int]
    key_id: Mapped[str | None] = mapped_column(ID)
    best_number: Mapped[int | None]
    best_value: Mapped[float | None] = mapped_column(Double)
    default_value: Mapped[float | None] = mapped_column(Double)
    default_job_id: Mapped[str | None] = mapped_column(ID)
    winner_job_id: Mapped[str | None] = mapped_column(ID)
    conclude_job_id: Mapped[str | None] = mapped_column(ID)
    conclusion: Mapped[dict[str, Any] | None]
    problem: Mapped[dict[str, Any] | None]
    paused_seconds: Mapped[float] = mapped_column(Double, default=0.0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class Trial(Base):
    """One trial of a study.

    Attributes:
        number: Its position in the study; 0 is the default.
        status: `queued`, `running`, `succeeded`, `pruned`, `failed` or `cancelled`.
        source: `default`, `sampler` or `hand`.
        parameters: Values by pointer; None until they are sampled.
        training: Complete `{"loss", "hyperparameters", "scorer"}` with these values, or None.
        value: See `core.store.repositories.studies.TrialResult`; None before the trial ends, or without one.
        folds: `[{"fold", "value", "best_iteration"}]` of the finished folds, or None.
        interval: `[lower, upper]` of the value over queries, or None.
        curve: `[[iteration, value], …]` of the first fold, or None.
        best_iteration: Median over the folds, or None.
        job_id: Job that runs the trial, or None.
        problem: `{"title", "detail"}` of a trial that failed, or None.
    """

    __tablename__ = "trials"
    __table_args__ = (Index(None, "job_id", unique=True),)

    study_id: Mapped[str] = mapped_column(ID, ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(WORD)
    source: Mapped[str] = mapped_column(WORD)
    parameters: Mapped[dict[str, Any] | None]
    training: Mapped[dict[str, Any] | None]
    value: Mapped[float | None] = mapped_column(Double)
    folds: Mapped[list[dict[str, Any]] | None]
    interval: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))
    curve: Mapped[list[list[float]] | None] = mapped_column(JSON(none_as_null=True))
    best_iteration: Mapped[int | None]
    job_id: Mapped[str] = mapped_column(ID)
    problem: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
