"""Tables of evaluations, rankings, comparisons and inspections."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base
from core.store.tables.mixins import Labelled, Trashable


class Evaluation(Labelled, Trashable, Base):
    """How a system ranks a dataset: a summary a metric; per-query values are an artifact.

    Attributes:
        system: Name of what ranks: `web:3`, or that of a ranking from elsewhere.
        model_id: The model, or None where a ranking was evaluated.
        ranking_id: That ranking, or None.
        summaries: By metric, see `core.evaluation.Evaluation.as_json`.
        contract: The conventions of the numbers; None for an evaluation from before they were kept.
        baselines: Summaries of rankings that need no training.
        slices: Summaries of groups of queries.
        diagnostics: What was asked about a loss at these scores, or None.
        findings: What to know of the model on this dataset, see `core.doctor`; None where there is nothing.
    """

    __tablename__ = "evaluations"
    __table_args__ = (Index(None, "dataset_id", "id"), Index(None, "system", "id"))

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    system: Mapped[str] = mapped_column(NAME)
    model_id: Mapped[str | None] = mapped_column(ID, ForeignKey("models.id"), index=True)
    ranking_id: Mapped[str | None] = mapped_column(ID)
    dataset_id: Mapped[str] = mapped_column(ID)
    summaries: Mapped[dict[str, Any]]
    contract: Mapped[dict[str, Any] | None]
    baselines: Mapped[list[dict[str, Any]] | None]
    slices: Mapped[list[dict[str, Any]] | None]
    diagnostics: Mapped[dict[str, Any] | None]
    findings: Mapped[list[dict[str, Any]] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Ranking(Labelled, Trashable, Base):
    """A dataset's documents in the order a system gives them; the order itself is an artifact.

    Attributes:
        system: Name of what ranks: `web:3`, or that of a run from elsewhere.
        model_id: The model, or None for a run from elsewhere.
        findings: As of an evaluation.
    """

    __tablename__ = "rankings"
    __table_args__ = (Index(None, "dataset_id", "id"), Index(None, "system", "id"))

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    system: Mapped[str] = mapped_column(NAME)
    model_id: Mapped[str | None] = mapped_column(ID, ForeignKey("models.id"), index=True)
    dataset_id: Mapped[str] = mapped_column(ID)
    queries: Mapped[int] = mapped_column(BigInteger)
    documents: Mapped[int] = mapped_column(BigInteger)
    findings: Mapped[list[dict[str, Any]] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Comparison(Labelled, Trashable, Base):
    """Several systems on the same queries; per-query values are an artifact.

    Attributes:
        sentence: What may be said of them.
        systems: `{"name", "model_id", "ranking_id", "metrics", "findings"}` of each; its
            ranking is always stored.
        metrics: Spellings; the first one decides.
        contract: The conventions of the numbers.
        pairs: See `core.evaluation.Pair.as_json`.
    """

    __tablename__ = "comparisons"
    __table_args__ = (Index(None, "dataset_id", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    dataset_id: Mapped[str] = mapped_column(ID)
    sentence: Mapped[str] = mapped_column(Text)
    systems: Mapped[list[dict[str, Any]]]
    metrics: Mapped[list[str]]
    contract: Mapped[dict[str, Any]]
    permutations: Mapped[int]
    seed: Mapped[int]
    pairs: Mapped[list[dict[str, Any]]]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ComparedSystem(Base):
    """A model or ranking that a comparison includes, to be found by its id.

    Attributes:
        system_id: Id of the model, or of the ranking.
    """

    __tablename__ = "compared_systems"

    comparison_id: Mapped[str] = mapped_column(
        ID, ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True
    )
    system_id: Mapped[str] = mapped_column(ID, primary_key=True, index=True)


class Inspection(Labelled, Trashable, Base):
    """Feature importance and partial dependence of a model on a dataset.

    Attributes:
        metric: Spelling of what was measured.
        contract: The conventions of the metric.
        baseline: Its summary for the model as it is, as `core.evaluation.Evaluation.as_json` gives it.
        repeats: How often each feature was mixed up.
        within: `query` or `dataset`: among what it was.
        importance: See `core.inspection.PermutationImportance.as_json`, the most important feature first.
        partial_dependence: See `core.inspection.PartialDependence.as_json`.
        sample: Documents that the scores of the partial dependence are means of, at most.
        findings: As of an evaluation.
    """

    __tablename__ = "inspections"
    __table_args__ = (Index(None, "model_id", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    model_id: Mapped[str] = mapped_column(ID, ForeignKey("models.id"))
    dataset_id: Mapped[str] = mapped_column(ID)
    metric: Mapped[str] = mapped_column(NAME)
    contract: Mapped[dict[str, Any]]
    baseline: Mapped[dict[str, Any]]
    repeats: Mapped[int]
    within: Mapped[str] = mapped_column(WORD)
    seed: Mapped[int]
    importance: Mapped[list[dict[str, Any]]]
    partial_dependence: Mapped[list[dict[str, Any]]]
    sample: Mapped[int]
    findings: Mapped[list[dict[str, Any]] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
