"""Tables of studies, their trials, experiments and candidates of automatic trainings."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Double, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, Trashable


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
        best_value: Value of the best successful trial, or None.
        default_value: Value of trial 0, or None.
        default_job_id: The training that refits the default; None until it is queued.
        winner_job_id: The training that refits the winner; None until it is queued, or if the default won.
        conclude_job_id: The job that writes the conclusion; None until it is queued.
        conclusion: See `core.studies.conclusion.Conclusion`; None until its job has succeeded.
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


class Experiment(InProject, Trashable, Base):
    """A reproduction of tables of a paper.

    Attributes:
        paper: Name of the paper, see `core.experiments`.
        tables: Names of its tables, None for all.
        scale: `quick` or `paper`.
        data: `synthetic` or `sparse` for generated data, `folder` for files of the user.
        folds: Numbers of the folds, empty for a single split.
        dry_run: Whether to train only five trees or epochs of each loss, to estimate the time.
        status: See `core.store.repositories.experiments`.
        datasets: `[{"fold", "name", "part", "dataset_id"}]`.
        corpus: The corpus of the paper that has the same counts as the data. None until the counts are
            checked, or if no corpus has them.
        reported_tables: Number of complete tables in the latest report.
        problem: `{"title", "detail"}` of a failed experiment, or None.
        key_id: The API key that submitted it, None without authentication.
    """

    __tablename__ = "experiments"
    __table_args__ = (Index(None, "status", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    paper: Mapped[str] = mapped_column(NAME)
    tables: Mapped[list[str] | None]
    scale: Mapped[str] = mapped_column(WORD)
    data: Mapped[str] = mapped_column(WORD)
    source: Mapped[str | None]
    folds: Mapped[list[int]]
    dry_run: Mapped[bool]
    status: Mapped[str] = mapped_column(WORD)
    datasets: Mapped[list[dict[str, Any]]]
    corpus: Mapped[str | None] = mapped_column(NAME)
    reported_tables: Mapped[int] = mapped_column(default=0)
    report_job_id: Mapped[str | None] = mapped_column(ID, ForeignKey("jobs.id"))
    report_key: Mapped[str | None] = mapped_column(NAME)
    sentence: Mapped[str | None]
    problem: Mapped[dict[str, Any] | None]
    key_id: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
    finished_at: Mapped[datetime | None]


class ExperimentTraining(Base):
    """A training that an experiment needs; several experiments may share its job.

    Attributes:
        fold: Number of the fold, 0 without folds.
        sharing_key: Digest of the specification and of the contents of its datasets.
        place: Its position in the plan, from 0.
        job_id: The training, None until it is queued.
        evaluation_job_id: The evaluation of its model on the training data, None until it is queued.
        needs_training_values: Whether the report needs values on the training data.
        is_shared: Whether the job existed before the experiment.
    """

    __tablename__ = "experiment_trainings"
    __table_args__ = (Index(None, "sharing_key"),)

    experiment_id: Mapped[str] = mapped_column(
        ID, ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True
    )
    digest: Mapped[str] = mapped_column(SHA256, primary_key=True)
    fold: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    place: Mapped[int]
    sharing_key: Mapped[str] = mapped_column(SHA256)
    spec: Mapped[dict[str, Any]]
    job_id: Mapped[str | None] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    evaluation_job_id: Mapped[str | None] = mapped_column(ID, ForeignKey("jobs.id"))
    needs_training_values: Mapped[bool]
    is_shared: Mapped[bool] = mapped_column(default=False)


class Candidate(Base):
    """A candidate of an automatic training; see `core.autotrain.Candidate`.

    Attributes:
        training: `{"loss", "scorer", "hyperparameters"}`.
        status: `queued`, `running`, `complete`, `stopped`, `out-of-time` or `not-tried`.
        reason: Reason why it was stopped or not tried, or None.
        worker_job_id: Job that took it last, the automatic training or a parallel job; None until then.
        worker_token: Claim of that job.
        value: Mean of the metric over the held-out queries, or None.
        interval: `[lower, upper]` of the value, or None.
        folds: Number of folds held out so far.
        planned_folds: Number of folds to hold out, 0 until its first fold has ended.
        iterations: Best number of iterations over all folds, or None.
        weight: Weight of its scaled scores in the model, 0 unless it is a member.
        tied_with_best: Whether its difference from the best candidate is not significant; None for an
            incomplete candidate, and until the training has ended.
    """

    __tablename__ = "candidates"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(NAME)
    training: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(WORD)
    reason: Mapped[str | None] = mapped_column(Text)
    worker_job_id: Mapped[str | None] = mapped_column(ID)
    worker_token: Mapped[int | None]
    value: Mapped[float | None] = mapped_column(Double)
    interval: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))
    folds: Mapped[int] = mapped_column(default=0)
    planned_folds: Mapped[int] = mapped_column(default=0)
    iterations: Mapped[int | None]
    seconds: Mapped[float] = mapped_column(Double, default=0.0)
    weight: Mapped[float] = mapped_column(Double, default=0.0)
    size_bytes: Mapped[int | None]
    tied_with_best: Mapped[bool | None]
