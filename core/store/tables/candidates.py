"""The table of the candidates of automatic trainings."""

from typing import Any

from sqlalchemy import JSON, Double, ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.tables.base import ID, NAME, WORD, Base


class Candidate(Base):
    """A candidate of an automatic training; see `core.autotrain.Candidate`.

    Attributes:
        job_id: The automatic training.
        number: Position in the portfolio.
        name: Name on the leaderboard.
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
        seconds: Running time.
        weight: Weight of its scaled scores in the model, 0 unless it is a member.
        size_bytes: Size of the member, or None.
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
