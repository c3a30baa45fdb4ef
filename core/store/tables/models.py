"""Tables of models, and of aliases with their moves and gates."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.store.clock import utc_now
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, InProjectOfName, Trashable
from core.types import Precision


class Model(InProject, Trashable, Base):
    """A ranking model, trained here or imported.

    Attributes:
        dataset_id: Its training data, which may be deleted; None for an imported model.
        loss: Its loss; None for an imported model, a weighted sum and the model of an automatic training.
        hyperparameters: Hyperparameters of its trees; None for an imported model, empty for other scorers and
            automatic trainings.
        scorer: Kind and options of a linear scorer, a network or a sum, `{"kind": "mlp", …}`; None for trees.
        best_iteration: Its number of trees, or the epoch of its weights.
        findings: Findings on its test data, see `core.doctor`; None without findings.
        title: Title of the version, or None; its identity is its name and version.
        lineage: Inputs and software of its training, see `worker.job.lineage`; None for models of earlier
            releases.
        explanation: `core.scoring.Explainability` as JSON; None for models of earlier releases.
        validation: Summaries on the validation data, `{"metrics": {"ndcg@10": {"mean", "lower", "upper"}},
            "queries", "query_ids_sha256"}`; None without such data and for models of earlier releases. The
            values of its queries are an artifact.
    """

    __tablename__ = "models"
    __table_args__ = (UniqueConstraint("name", "version"), Index(None, "name", "id"))

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    version: Mapped[int]
    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    dataset_id: Mapped[str | None] = mapped_column(ID)
    feature_names: Mapped[list[str]]
    loss: Mapped[dict[str, Any] | None]
    hyperparameters: Mapped[dict[str, Any] | None]
    scorer: Mapped[dict[str, Any] | None]
    best_iteration: Mapped[int]
    sha256: Mapped[str] = mapped_column(SHA256)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    metrics: Mapped[dict[str, Any] | None]
    findings: Mapped[list[dict[str, Any]] | None]
    title: Mapped[str | None] = mapped_column(NAME)
    description: Mapped[str | None] = mapped_column(Text)
    tags: Mapped[dict[str, str] | None]
    lineage: Mapped[dict[str, Any] | None]
    explanation: Mapped[dict[str, Any] | None]
    validation: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def reference(self) -> str:
        """The reference of the model: `web:3`."""
        return f"{self.name}:{self.version}"

    @property
    def kind(self) -> str:
        """The kind of scorer: `trees`, `linear`, `mlp` or `sum`."""
        return "trees" if self.scorer is None else str(self.scorer["kind"])

    @property
    def source(self) -> str:
        """The origin of the model: `trained` or `imported`."""
        return "imported" if self.dataset_id is None else "trained"

    @property
    def precision(self) -> Precision:
        """The precision that features are rounded to: float64 for imported trees, else float32."""
        return "float64" if self.source == "imported" and self.kind == "trees" else "float32"


class ModelName(InProject, Base):
    """A name of models, whose versions belong to its project; numbers of deleted versions are not reused.

    The row exists from the submission of the first job or study that makes a version of the name.

    Attributes:
        last_version: The highest version so far, 0 before the first.
    """

    __tablename__ = "model_names"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    last_version: Mapped[int]


class ModelAlias(InProjectOfName, Base):
    """A movable name for one version of a model: `web@champion`.

    Attributes:
        move_id: The move that a rollback undoes next, or None.
    """

    __tablename__ = "model_aliases"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    alias: Mapped[str] = mapped_column(NAME, primary_key=True)
    model_id: Mapped[str] = mapped_column(ID, ForeignKey("models.id", ondelete="CASCADE"), index=True)
    move_id: Mapped[str | None] = mapped_column(ID)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
    model: Mapped[Model] = relationship(lazy="joined", innerjoin=True)

    @property
    def reference(self) -> str:
        """The reference of the alias: `web@champion`."""
        return f"{self.name}@{self.alias}"


class AliasMove(InProjectOfName, Base):
    """An entry in the history of an alias, kept after its removal.

    Attributes:
        kind: `moved`, `promoted`, `refused`, `rolled_back` or `removed`.
        from_version: The version before the move, None for a new alias.
        to_version: The version after the move, or the refused one; None for a removal.
        previous_id: The move that a rollback undoes after this one, or None.
        key_id: The API key that requested it, None without authentication.
        job_id: The job that compared the two versions for a gate, or None.
        report: The report of the job, see `core.evaluation.GateDecision`.
    """

    __tablename__ = "alias_moves"
    __table_args__ = (Index(None, "name", "alias", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    alias: Mapped[str] = mapped_column(NAME)
    kind: Mapped[str] = mapped_column(WORD)
    from_version: Mapped[int | None]
    to_version: Mapped[int | None]
    previous_id: Mapped[str | None] = mapped_column(ID)
    key_id: Mapped[str | None] = mapped_column(ID)
    job_id: Mapped[str | None] = mapped_column(ID)
    report: Mapped[dict[str, Any] | None]
    at: Mapped[datetime] = mapped_column(default=utc_now)


class AliasGate(InProjectOfName, Base):
    """The promotion gate of an alias, which may exist without the alias.

    Attributes:
        dataset_id: The dataset with the judgments that the versions are compared on; None where clicks alone
            decide.
        rule: The rule, resolved when it was set.
        key_id: The API key that set it, None without authentication.
    """

    __tablename__ = "alias_gates"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    alias: Mapped[str] = mapped_column(NAME, primary_key=True)
    dataset_id: Mapped[str | None] = mapped_column(ID, ForeignKey("datasets.id"), index=True)
    rule: Mapped[dict[str, Any]]
    key_id: Mapped[str | None] = mapped_column(ID)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    @property
    def reference(self) -> str:
        """The alias that the gate guards: `web@champion`."""
        return f"{self.name}@{self.alias}"

    @property
    def dataset_ids(self) -> set[str]:
        """The datasets that the versions are compared on, which cannot be deleted."""
        return {
            each for each in (self.dataset_id, self._counterfactual.get("dataset_id")) if each is not None
        }

    @property
    def click_log_ids(self) -> set[str]:
        """The click log of estimates, which cannot be deleted; empty without one."""
        rule = self._counterfactual
        return {rule["click_log_id"]} if rule else set()

    @property
    def _counterfactual(self) -> dict[str, Any]:
        return self.rule.get("counterfactual") or {}
