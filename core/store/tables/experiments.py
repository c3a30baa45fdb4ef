"""Tables of experiments and of the trainings that they need."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, Trashable


class Experiment(InProject, Trashable, Base):
    """A reproduction of tables of a paper.

    Attributes:
        paper: Name of the paper, see `core.experiments`.
        tables: Names of its tables, None for all.
        scale: `quick` or `paper`.
        data: `synthetic` or `sparse` for generated data, `folder` for files of the user.
        source: The requested folder, or None.
        folds: Numbers of the folds, empty for a single split.
        dry_run: Whether to train only five trees or epochs of each loss, to estimate the time.
        status: See `core.store.repositories.experiments`.
        datasets: `[{"fold", "name", "part", "dataset_id"}]`.
        corpus: The corpus of the paper that has the same counts as the data. None until the counts are
            checked, or if no corpus has them.
        reported_tables: Number of complete tables in the latest report.
        report_job_id: The latest report job, or None.
        report_key: Key of the latest report, or None.
        sentence: Summary of the report, or None.
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
        digest: Digest of the run in the plan.
        fold: Number of the fold, 0 without folds.
        sharing_key: Digest of the specification and of the contents of its datasets.
        place: Its position in the plan, from 0.
        spec: Complete specification of the training job.
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
