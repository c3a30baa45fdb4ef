"""Tables of served rankings, interleavings, score samples and drift reports."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Double, ForeignKey, Index, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, InProjectOfName


class ServedRanking(InProjectOfName, Base):
    """A stored ranking that a model served; it is kept when the model is deleted.

    Attributes:
        user: Keyed hash of the user, None where unknown.
        session: Keyed hash of the session, None where unknown.
        content: `{"query", "documents"}`: ids of the query and of the documents returned, best first.
    """

    __tablename__ = "served_rankings"
    __table_args__ = (Index(None, "name", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    version: Mapped[int]
    user: Mapped[str | None] = mapped_column(ID)
    session: Mapped[str | None] = mapped_column(ID)
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ServedEvent(Base):
    """An action of a user on a document of a served ranking; a repeated action counts once.

    Attributes:
        place: Position of the document in the ranking, from 0.
        action: Name of the action, such as `click`.
    """

    __tablename__ = "served_events"

    ranking_id: Mapped[str] = mapped_column(ID, primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    action: Mapped[str] = mapped_column(ID, primary_key=True)
    at: Mapped[datetime]


class HashKey(Base):
    """A secret key of keyed hashes (HMAC), shared by all processes.

    Attributes:
        name: Purpose of the key.
        key: 32 random bytes in hexadecimal.
    """

    __tablename__ = "hash_keys"

    name: Mapped[str] = mapped_column(WORD, primary_key=True)
    key: Mapped[str] = mapped_column(SHA256)


class Interleaving(InProject, Base):
    """An experiment that interleaves the rankings of two or more rankers.

    Attributes:
        rankers: Names of the rankers; a model has its reference, such as `web:3`, as its name.
        model_ids: Ids of the models, in the order of the rankers; None if callers send the rankings.
        unit: Unit of the sequential test, `user` or `list`.
        rule: Error probabilities and smallest difference, see `core.interleaving.SequentialRule`.
        click_window_seconds: Time after a list is shown in which clicks count; afterwards the list is
            evaluated. With 0, clicks always count immediately.
        key_id: The API key that created it, None without authentication.
        expired_lists: Lists without a click that retention deleted.
    """

    __tablename__ = "interleavings"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    rankers: Mapped[list[str]]
    model_ids: Mapped[list[str] | None]
    method: Mapped[str] = mapped_column(WORD)
    length: Mapped[int]
    seed: Mapped[int]
    unit: Mapped[str] = mapped_column(WORD)
    rule: Mapped[dict[str, Any]]
    click_window_seconds: Mapped[int]
    key_id: Mapped[str | None] = mapped_column(ID)
    expired_lists: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ShownList(Base):
    """A list that an interleaving showed.

    Attributes:
        assignment: Hash of the user and the query, which always get the same list; None without a user.
        user: Hash of the user, None where unknown.
        content: Query, documents and the credits for a click, see `InterleavedList.to_json`; empty after its
            retention.
        clicks: Clicked positions from 0, ascending; None before the first click.
        credits: Credits of the rankers for these clicks, None before the first click.
        expired: Whether its retention is over, so that only user, clicks and credits are left.
    """

    __tablename__ = "interleaved_lists"
    __table_args__ = (
        UniqueConstraint("interleaving_id", "assignment"),
        Index(None, "interleaving_id", "id"),
        Index(None, "expired", "created_at"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    interleaving_id: Mapped[str] = mapped_column(ID, ForeignKey("interleavings.id"))
    assignment: Mapped[str | None] = mapped_column(ID)
    user: Mapped[str | None] = mapped_column(ID)
    content: Mapped[dict[str, Any]]
    clicks: Mapped[list[int] | None]
    credits: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))
    expired: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ScoreSamples(Base):
    """An artifact with scoring requests and their scores, stored by one API process.

    Attributes:
        models: Names of the models that scored.
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
        model: Its reference, `web:3`.
        name: Its name, `web`.
        days: Length of the examined period.
        verdict: `drift`, `none` or `too_few`.
        requests: Number of sampled requests that were read.
        drifted_features: Names of the columns that drifted, `scores` among them.
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
