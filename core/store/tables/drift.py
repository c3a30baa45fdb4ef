"""Tables of stored scoring requests and of the reports of drift in them."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, Index
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base, InProject


class ScoreSamples(Base):
    """An artifact with scoring requests and their scores, stored by one API process.

    Attributes:
        models: Names of the models that scored.
        requests: Number of requests.
        size_bytes: Size of the artifact.
        first_at: Time of the first request.
        last_at: Time of the last request.
    """

    __tablename__ = "score_samples"
    __table_args__ = (Index(None, "last_at"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    models: Mapped[list[str]]
    requests: Mapped[int]
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class DriftReport(InProject, Base):
    """The report of a drift job; it is kept when its job or model is deleted.

    Attributes:
        model_id: The model.
        model: Its reference, `web:3`.
        name: Its name, `web`.
        days: Length of the examined period.
        since: Start of the period.
        until: End of the period.
        verdict: `drift`, `none` or `too_few`.
        sentence: The verdict as a sentence.
        requests: Number of sampled requests that were read.
        queries: Number of examined queries.
        documents: Number of their documents.
        drifted_features: Names of the columns that drifted, `scores` among them.
        thresholds: Thresholds of drift.
        comparisons: Comparisons with the training data and with earlier samples; see `worker.runners.drift`.
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
