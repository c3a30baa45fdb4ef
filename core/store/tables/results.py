"""Tables of evaluations, rankings, comparisons and inspections."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, WORD, Base, InProject, Trashable


class Evaluation(InProject, Trashable, Base):
    """An evaluation of a system on a dataset: one summary for each metric; values by query are an artifact.

    Attributes:
        system: Name of the system: `web:3`, or the name of an uploaded run.
        model_id: The model, or None where a ranking was evaluated.
        summaries: Summaries by metric, see `core.evaluation.Evaluation.to_json`.
        contract: The metric conventions; None for an evaluation of an earlier release.
        baselines: Summaries of rankings that need no training.
        slices: Summaries by segment, a group of queries.
        diagnostics: Diagnostics of a loss at these scores, or None.
        findings: Findings of the model on this dataset, see `core.doctor`; None without findings.
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


class Ranking(InProject, Trashable, Base):
    """A ranking of a dataset's documents by a system; the order is an artifact.

    Attributes:
        system: Name of the system: `web:3`, or the name of an uploaded run.
        model_id: The model, or None for an uploaded run.
        findings: See `Evaluation.findings`.
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


class Comparison(InProject, Trashable, Base):
    """A comparison of several systems on the same queries; values by query are an artifact.

    Attributes:
        systems: `{"name", "model_id", "ranking_id", "metrics", "findings"}` of each system, whose ranking
            is always stored.
        metrics: Spellings of the metrics; the first one decides the verdict.
        pairs: See `core.evaluation.Pair.to_json`.
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
    """An entry of the index of comparisons by their models and rankings."""

    __tablename__ = "compared_systems"

    comparison_id: Mapped[str] = mapped_column(
        ID, ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True
    )
    system_id: Mapped[str] = mapped_column(ID, primary_key=True, index=True)


class Inspection(InProject, Trashable, Base):
    """Feature importance and partial dependence of a model on a dataset.

    Attributes:
        baseline: Summary of the metric without permutation, see `core.evaluation.Evaluation.to_json`.
        within: Scope of the permutations, `query` or `dataset`.
        importance: See `core.inspection.PermutationImportance`, the most important feature first.
        partial_dependence: See `core.inspection.PartialDependence.to_json`.
        sample: Maximum number of documents in the means of the partial dependence.
        findings: See `Evaluation.findings`.
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
