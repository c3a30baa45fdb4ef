"""Tables of stored scoring requests and of the reports of drift in them."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base
from core.store.tables.mixins import Labelled


class ScoreSamples(Base):
    """An artifact with scoring requests and their scores, as one API process stored them.

    Attributes:
        models: Names of the models that scored.
        requests: How many there are.
        size_bytes: Of the artifact.
        first_at: When the first was scored.
        last_at: When the last was scored.
    """

    __tablename__ = "score_samples"
    __table_args__ = (Index(None, "last_at"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    models: Mapped[list[str]]
    requests: Mapped[int]
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class DriftReport(Labelled, Base):
    """What a drift job found; kept with the ids of what it looked at, which it outlives.

    Attributes:
        model_id: The model.
        model: Its reference, `web:3`.
        name: Its name, `web`.
        days: Samples of so many days were looked at.
        since: When they begin.
        until: When they end.
        verdict: `drift`, `none` or `too_few`.
        sentence: The same in words.
        requests: Sampled requests that were read.
        queries: Queries that were looked at.
        documents: Their documents.
        drifted_features: Names of the columns that drifted, `scores` among them.
        thresholds: What counts as drift.
        comparisons: With the training data, and with the samples before; see `worker.runners.drift`.
    """

    __tablename__ = "drift_reports"
    __table_args__ = (Index(None, "model_id", "id"), Index(None, "name", "id"))

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    job_id: Mapped[str] = mapped_column(ID, index=True)
    model_id: Mapped[str] = mapped_column(ID)
    model: Mapped[str] = mapped_column(NAME)
    name: Mapped[str] = mapped_column(NAME)
    days: Mapped[float] = mapped_column(Double)
    since: Mapped[datetime]
    until: Mapped[datetime]
    verdict: Mapped[str] = mapped_column(WORD)
    sentence: Mapped[str]
    requests: Mapped[int]
    queries: Mapped[int]
    documents: Mapped[int]
    drifted_features: Mapped[list[str]]
    thresholds: Mapped[dict[str, Any]]
    comparisons: Mapped[list[dict[str, Any]]]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
