"""The rows: what Rankery remembers about datasets, jobs, models and results."""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, Double, ForeignKey, Index, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from core.store.clock import utc_now
from core.store.columns import UtcDateTime

ID = String(32)
NAME = String(255)
WORD = String(16)
SHA256 = String(64)


class Base(DeclarativeBase):
    """What all rows share: column types by annotation and constraint names by rule."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime,
        dict[str, Any]: JSON(none_as_null=True),
        dict[str, str]: JSON(none_as_null=True),
        list[str]: JSON(none_as_null=True),
        list[dict[str, Any]]: JSON(none_as_null=True),
    }


class Job(Base):
    """One piece of work for a worker.

    Attributes:
        kind: What to do, see `core.jobs.JobKind`.
        status: See `core.store.job_states`.
        spec: What to do, as submitted and resolved.
        progress: `{"phase", "iteration", "total", "eta_seconds"}` or None.
        metrics: Latest means, `{"validation": {"ndcg@10": 0.4}}`, or None.
        result: Ids of what the job made, or None.
        problem: `{"title", "detail"}` of a job that did not succeed, or None.
        findings: What is to be said about it and its datasets beside each other, or None until that is known.
        priority: Jobs of a greater one are taken first.
        key_id: The API key that submitted it, None where no key was needed.
        checkpoint: Where an unfinished training goes on, `{"key", "iteration"}`, or None.
        title: The name that people know it by, or None.
        main_metric: The latest value of its main metric, or None.
        took_seconds: Time from its first start to its end, or None before.
        attempt: How often it was claimed.
        token: Fencing token, one more at each claim.
        lease_expires_at: End of its lease by the wall clock; changed by each heartbeat, see `LeaseWatch`.
        woken_at: When a wake-up was last sent for it by the sweeper.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "status", "id"),
        Index(None, "kind", "id"),
        Index(None, "status", "woken_at"),
        Index(None, "status", "lease_expires_at"),
        Index(None, "key_id", "status"),
        Index(None, "main_metric", "id"),
        Index(None, "took_seconds", "id"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(WORD)
    status: Mapped[str] = mapped_column(WORD)
    spec: Mapped[dict[str, Any]]
    progress: Mapped[dict[str, Any] | None]
    metrics: Mapped[dict[str, Any] | None]
    result: Mapped[dict[str, Any] | None]
    problem: Mapped[dict[str, Any] | None]
    findings: Mapped[list[dict[str, Any]] | None]
    priority: Mapped[int] = mapped_column(default=0, server_default="0")
    key_id: Mapped[str | None] = mapped_column(ID)
    checkpoint: Mapped[dict[str, Any] | None]
    title: Mapped[str | None] = mapped_column(NAME)
    main_metric: Mapped[float | None] = mapped_column(Double)
    took_seconds: Mapped[float | None] = mapped_column(Double)
    attempt: Mapped[int] = mapped_column(default=0)
    token: Mapped[int] = mapped_column(BigInteger, default=0)
    lease_expires_at: Mapped[datetime | None]
    worker: Mapped[str | None] = mapped_column(NAME)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    woken_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class JobAttempt(Base):
    """One claim of a job.

    Attributes:
        token: The fencing token of the claim.
        attempt: Its number among the attempts that count.
        ending: `succeeded`, `failed`, `cancelled`, `lost`, `handed_back`, or None while it runs.
        detail: Why it ended so, where there is something to say.
        resumed_from: Iteration of the checkpoint that it went on from, or None.
    """

    __tablename__ = "job_attempts"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    token: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    attempt: Mapped[int]
    worker: Mapped[str] = mapped_column(NAME)
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    ending: Mapped[str | None] = mapped_column(WORD)
    detail: Mapped[str | None] = mapped_column(Text)
    resumed_from: Mapped[int | None]


class Worker(Base):
    """A worker that was there a moment ago.

    Attributes:
        name: Machine and process, as its jobs name it before the id of the pool process.
        lane: The jobs that it carries out.
        processes: How many of them at the same time.
        expires_at: When it is taken to be gone, unless it is heard of again.
    """

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    lane: Mapped[str] = mapped_column(WORD)
    processes: Mapped[int]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class JobIteration(Base):
    """The metrics of one boosting iteration: a point of the learning curves."""

    __tablename__ = "job_iterations"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    iteration: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    values: Mapped[dict[str, Any]]


class Dataset(Base):
    """A judged dataset: `pending` until ingested, then `ready` or `invalid`.

    Attributes:
        source: Where it came from, `{"kind": "upload", "filename", "format", "options"}` or
            `{"kind": "synthetic", …}`.
        size_bytes: Size of the bytes as sent.
        sha256: Checksum of the bytes as sent.
        digest: What decides its content; datasets of one digest are the same. None until it is ready.
        data_key: Key of its Parquet artifact, which datasets of one digest share. None until it is ready.
        statistics: See `core.data.dataset_statistics`.
        findings: What is to be said about it, see `core.doctor`. None until it is ready.
        parts: The datasets that came in the same upload, `{"train": "ds_…", "test": "ds_…"}`, or None.
        key_id: The API key that sent it, None where no key was needed.
        problem: `{"title", "detail", "errors"}` of an invalid one.
    """

    __tablename__ = "datasets"
    __table_args__ = (Index(None, "status", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    status: Mapped[str] = mapped_column(WORD, default="pending")
    source: Mapped[dict[str, Any]]
    job_id: Mapped[str | None] = mapped_column(ID, ForeignKey("jobs.id"))
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    digest: Mapped[str | None] = mapped_column(SHA256, index=True)
    data_key: Mapped[str | None] = mapped_column(NAME, index=True)
    statistics: Mapped[dict[str, Any] | None]
    findings: Mapped[list[dict[str, Any]] | None]
    parts: Mapped[dict[str, str] | None]
    key_id: Mapped[str | None] = mapped_column(ID, index=True)
    problem: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)


class JobDataset(Base):
    """A job reads or makes a dataset, which therefore stays while the job is active."""

    __tablename__ = "job_datasets"

    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    dataset_id: Mapped[str] = mapped_column(
        ID, ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Model(Base):
    """A model that ranks: trained here, or imported.

    Attributes:
        dataset_id: What it learnt from, which it outlives; None of an imported one.
        loss: The loss that it was trained with; None of an imported one.
        hyperparameters: How its trees were grown; None of an imported one.
        description: What its owners say of it, or None.
        tags: What they mark it with, or None.
        lineage: What it was made of and by what, see `worker.lineage`; None from before that was kept.
        explanation: `core.scoring.Explainability` as JSON; None from before that was kept.
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
    best_iteration: Mapped[int]
    sha256: Mapped[str] = mapped_column(SHA256)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    metrics: Mapped[dict[str, Any] | None]
    description: Mapped[str | None] = mapped_column(Text)
    tags: Mapped[dict[str, str] | None]
    lineage: Mapped[dict[str, Any] | None]
    explanation: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def reference(self) -> str:
        """What people call it: `web:3`."""
        return f"{self.name}:{self.version}"

    @property
    def source(self) -> str:
        """Where it comes from: `trained` here, or `imported`."""
        return "imported" if self.dataset_id is None else "trained"


class ArtifactDigest(Base):
    """The checksum of a stored artifact.

    Attributes:
        key: Of the artifact.
        sha256: Of its bytes when they were written; None where no good ones were ever seen.
        damaged_at: When it was found to have other bytes, or none; None while it is good.
    """

    __tablename__ = "artifact_digests"

    key: Mapped[str] = mapped_column(NAME, primary_key=True)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    damaged_at: Mapped[datetime | None] = mapped_column(index=True)


class ModelAlias(Base):
    """A movable name for one version of a model: `web@champion`.

    Attributes:
        move_id: The move that a rollback undoes next, or None where there is none on record.
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
        """What people call it: `web@champion`."""
        return f"{self.name}@{self.alias}"


class AliasMove(Base):
    """A line in the history of an alias, which outlives the alias.

    Attributes:
        kind: `moved`, `promoted`, `refused`, `rolled_back` or `removed`.
        from_version: The version that the alias pointed at, None where it pointed nowhere.
        to_version: The version that it was to point at, None where it was removed.
        previous_id: The move that a rollback undoes after this one, or None.
        key_id: The API key that asked for it, None where no key was needed.
        job_id: The job that compared the two versions, where a gate asked for that.
        report: What it found, see `core.evaluation.GateDecision.as_json`.
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


class AliasGate(Base):
    """What a version must show before an alias moves to it. The alias itself may come later, and may go.

    Attributes:
        dataset_id: The dataset that the versions are compared on, which therefore stays.
        rule: What is asked for, as resolved when it was set.
        key_id: The API key that set it, None where no key was needed.
    """

    __tablename__ = "alias_gates"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    alias: Mapped[str] = mapped_column(NAME, primary_key=True)
    dataset_id: Mapped[str] = mapped_column(ID, ForeignKey("datasets.id"), index=True)
    rule: Mapped[dict[str, Any]]
    key_id: Mapped[str | None] = mapped_column(ID)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    @property
    def reference(self) -> str:
        """The alias that it stands before: `web@champion`."""
        return f"{self.name}@{self.alias}"


class Evaluation(Base):
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


class Ranking(Base):
    """A dataset's documents in the order a system gives them; the order itself is an artifact.

    Attributes:
        system: Name of what ranks: `web:3`, or that of a run from elsewhere.
        model_id: The model, or None for a run from elsewhere.
        findings: As of an evaluation.
    """

    __tablename__ = "rankings"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    job_id: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), index=True)
    system: Mapped[str] = mapped_column(NAME)
    model_id: Mapped[str | None] = mapped_column(ID, ForeignKey("models.id"), index=True)
    dataset_id: Mapped[str] = mapped_column(ID)
    queries: Mapped[int] = mapped_column(BigInteger)
    documents: Mapped[int] = mapped_column(BigInteger)
    findings: Mapped[list[dict[str, Any]] | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Comparison(Base):
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


class Inspection(Base):
    """What a model looks at, as a dataset shows it.

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


class IdempotencyRecord(Base):
    """The answer once given to a request that carried an `Idempotency-Key`."""

    __tablename__ = "idempotency_records"

    key: Mapped[str] = mapped_column(NAME, primary_key=True)
    endpoint: Mapped[str] = mapped_column(NAME, primary_key=True)
    request_sha256: Mapped[str] = mapped_column(SHA256)
    status_code: Mapped[int]
    body: Mapped[dict[str, Any]]
    headers: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)


class ApiKey(Base):
    """What lets a caller in.

    Attributes:
        secret_sha256: SHA-256 of the secret, in hexadecimal; the secret itself is not kept.
        hint: The first characters of the secret, to tell keys apart in a list.
        scopes: `read`, `score`, `write`, `admin`.
        created_by: The key that made it, None for one made at the command line.
        max_active_jobs: Its own bound on jobs that have not ended, None for the setting's.
        max_stored_bytes: Its own bound on the bytes of its datasets, None for the setting's.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    secret_sha256: Mapped[str] = mapped_column(SHA256, unique=True)
    hint: Mapped[str] = mapped_column(WORD)
    scopes: Mapped[list[str]]
    max_active_jobs: Mapped[int | None]
    max_stored_bytes: Mapped[int | None] = mapped_column(BigInteger)
    created_by: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class BrowserSession(Base):
    """A browser that signed in with a key."""

    __tablename__ = "sessions"

    token_sha256: Mapped[str] = mapped_column(SHA256, primary_key=True)
    key_id: Mapped[str] = mapped_column(ID, ForeignKey("api_keys.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AuditEntry(Base):
    """A request that would change something, and what became of it.

    Attributes:
        key_id: The key it came with, None where there was none.
        status: HTTP status of the answer.
        address: Where it came from.
    """

    __tablename__ = "audit_entries"
    __table_args__ = (Index(None, "key_id", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now)
    key_id: Mapped[str | None] = mapped_column(ID)
    method: Mapped[str] = mapped_column(WORD)
    path: Mapped[str] = mapped_column(Text)
    status: Mapped[int]
    request_id: Mapped[str] = mapped_column(NAME)
    address: Mapped[str | None] = mapped_column(NAME)


class Tally(Base):
    """A counter that only grows, shared by all processes.

    Attributes:
        labels: JSON with sorted keys, `{}` for none.
    """

    __tablename__ = "tallies"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    labels: Mapped[str] = mapped_column(NAME, primary_key=True)
    value: Mapped[float] = mapped_column(Double)
