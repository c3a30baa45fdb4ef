"""The first tables, as in the first release whose databases can be migrated."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = None
branch_labels = None
depends_on = None

_METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)
_ID, _WORD, _NAME, _SHA256 = sa.String(32), sa.String(16), sa.String(255), sa.String(64)
_MOMENT = sa.DateTime(timezone=True)


def _required(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _optional(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind) for name in names]


sa.Table(
    "jobs",
    _METADATA,
    *_required(_ID, "id"),
    *_required(_WORD, "kind", "status"),
    *_required(sa.JSON, "spec"),
    *_optional(sa.JSON, "progress", "metrics", "result", "problem"),
    *_required(sa.Integer, "attempt"),
    *_required(sa.BigInteger, "token"),
    *_optional(_MOMENT, "lease_expires_at"),
    *_optional(_NAME, "worker"),
    *_required(sa.Boolean, "cancel_requested"),
    *_optional(_MOMENT, "woken_at"),
    *_required(_MOMENT, "created_at"),
    *_optional(_MOMENT, "started_at", "finished_at"),
    *_optional(sa.JSON, "findings"),
    sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
    *_optional(_ID, "key_id"),
    *_optional(sa.JSON, "checkpoint"),
    *_optional(_NAME, "title"),
    *_optional(sa.Double, "main_metric", "took_seconds"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index(None, "key_id", "status"),
    sa.Index(None, "kind", "id"),
    sa.Index(None, "main_metric", "id"),
    sa.Index(None, "status", "id"),
    sa.Index(None, "status", "lease_expires_at"),
    sa.Index(None, "status", "woken_at"),
    sa.Index(None, "took_seconds", "id"),
)
sa.Table(
    "job_iterations",
    _METADATA,
    *_required(_ID, "job_id"),
    sa.Column("iteration", sa.Integer, nullable=False, autoincrement=False),
    *_required(sa.JSON, "values"),
    sa.PrimaryKeyConstraint("job_id", "iteration"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], ondelete="CASCADE"),
)
sa.Table(
    "job_attempts",
    _METADATA,
    *_required(_ID, "job_id"),
    sa.Column("token", sa.BigInteger, nullable=False, autoincrement=False),
    *_required(sa.Integer, "attempt"),
    *_required(_NAME, "worker"),
    *_required(_MOMENT, "started_at"),
    *_optional(_MOMENT, "ended_at"),
    *_optional(_WORD, "ending"),
    *_optional(sa.Text, "detail"),
    *_optional(sa.Integer, "resumed_from"),
    sa.PrimaryKeyConstraint("job_id", "token"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], ondelete="CASCADE"),
)
sa.Table(
    "datasets",
    _METADATA,
    *_required(_ID, "id"),
    *_required(_NAME, "name"),
    *_required(_WORD, "status"),
    *_required(sa.JSON, "source"),
    *_optional(_ID, "job_id"),
    *_optional(sa.BigInteger, "size_bytes"),
    *_optional(_SHA256, "sha256"),
    *_optional(sa.JSON, "statistics", "problem"),
    *_required(_MOMENT, "created_at", "updated_at"),
    *_optional(_SHA256, "digest"),
    *_optional(_NAME, "data_key"),
    *_optional(sa.JSON, "findings", "parts"),
    *_optional(_ID, "key_id"),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"]),
    sa.Index(None, "data_key"),
    sa.Index(None, "digest"),
    sa.Index(None, "key_id"),
    sa.Index(None, "status", "id"),
)
sa.Table(
    "job_datasets",
    _METADATA,
    *_required(_ID, "job_id", "dataset_id"),
    sa.PrimaryKeyConstraint("job_id", "dataset_id"),
    sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], ondelete="CASCADE"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], ondelete="CASCADE"),
    sa.Index(None, "dataset_id"),
)
sa.Table(
    "models",
    _METADATA,
    *_required(_ID, "id"),
    *_required(_NAME, "name"),
    *_required(sa.Integer, "version"),
    *_required(_ID, "job_id"),
    *_required(sa.JSON, "feature_names"),
    *_required(sa.Integer, "best_iteration"),
    *_required(_SHA256, "sha256"),
    *_required(sa.BigInteger, "size_bytes"),
    *_optional(sa.JSON, "metrics"),
    *_required(_MOMENT, "created_at"),
    *_optional(_ID, "dataset_id"),
    *_optional(sa.JSON, "loss", "hyperparameters"),
    *_optional(sa.Text, "description"),
    *_optional(sa.JSON, "tags", "lineage"),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"]),
    sa.UniqueConstraint("name", "version"),
    sa.Index(None, "job_id"),
    sa.Index(None, "name", "id"),
)
sa.Table(
    "model_aliases",
    _METADATA,
    *_required(_NAME, "name", "alias"),
    *_required(_ID, "model_id"),
    *_required(_MOMENT, "updated_at"),
    *_optional(_ID, "move_id"),
    sa.PrimaryKeyConstraint("name", "alias"),
    sa.ForeignKeyConstraint(["model_id"], ["models.id"], ondelete="CASCADE"),
    sa.Index(None, "model_id"),
)
sa.Table(
    "alias_moves",
    _METADATA,
    *_required(_ID, "id"),
    *_required(_NAME, "name", "alias"),
    *_required(_WORD, "kind"),
    *_optional(sa.Integer, "from_version", "to_version"),
    *_optional(_ID, "previous_id", "key_id", "job_id"),
    *_optional(sa.JSON, "report"),
    *_required(_MOMENT, "at"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index(None, "name", "alias", "id"),
)
sa.Table(
    "alias_gates",
    _METADATA,
    *_required(_NAME, "name", "alias"),
    *_required(_ID, "dataset_id"),
    *_required(sa.JSON, "rule"),
    *_optional(_ID, "key_id"),
    *_required(_MOMENT, "updated_at"),
    sa.PrimaryKeyConstraint("name", "alias"),
    sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"]),
    sa.Index(None, "dataset_id"),
)
sa.Table(
    "evaluations",
    _METADATA,
    *_required(_ID, "id", "job_id"),
    *_optional(_ID, "model_id"),
    *_required(_ID, "dataset_id"),
    *_required(sa.JSON, "summaries"),
    *_required(_MOMENT, "created_at"),
    *_required(_NAME, "system"),
    *_optional(_ID, "ranking_id"),
    *_optional(sa.JSON, "contract", "baselines", "slices", "diagnostics"),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"]),
    sa.ForeignKeyConstraint(["model_id"], ["models.id"]),
    sa.Index(None, "job_id"),
    sa.Index(None, "model_id"),
)
sa.Table(
    "rankings",
    _METADATA,
    *_required(_ID, "id", "job_id"),
    *_optional(_ID, "model_id"),
    *_required(_ID, "dataset_id"),
    *_required(sa.BigInteger, "queries", "documents"),
    *_required(_MOMENT, "created_at"),
    *_required(_NAME, "system"),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"]),
    sa.ForeignKeyConstraint(["model_id"], ["models.id"]),
    sa.Index(None, "job_id"),
    sa.Index(None, "model_id"),
)
sa.Table(
    "comparisons",
    _METADATA,
    *_required(_ID, "id", "job_id", "dataset_id"),
    *_required(sa.Text, "sentence"),
    *_required(sa.JSON, "systems", "metrics", "contract"),
    *_required(sa.Integer, "permutations", "seed"),
    *_required(sa.JSON, "pairs"),
    *_required(_MOMENT, "created_at"),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"]),
    sa.Index(None, "job_id"),
)
sa.Table(
    "inspections",
    _METADATA,
    *_required(_ID, "id", "job_id", "model_id", "dataset_id"),
    *_required(_NAME, "metric"),
    *_required(sa.JSON, "contract", "baseline"),
    *_required(sa.Integer, "repeats"),
    *_required(_WORD, "within"),
    *_required(sa.Integer, "seed"),
    *_required(sa.JSON, "importance", "partial_dependence"),
    *_required(sa.Integer, "sample"),
    *_required(_MOMENT, "created_at"),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["job_id"], ["jobs.id"]),
    sa.ForeignKeyConstraint(["model_id"], ["models.id"]),
    sa.Index(None, "job_id"),
    sa.Index(None, "model_id", "id"),
)
sa.Table(
    "api_keys",
    _METADATA,
    *_required(_ID, "id"),
    *_required(_NAME, "name"),
    *_required(_SHA256, "secret_sha256"),
    *_required(_WORD, "hint"),
    *_required(sa.JSON, "scopes"),
    *_optional(sa.Integer, "max_active_jobs"),
    *_optional(sa.BigInteger, "max_stored_bytes"),
    *_optional(_ID, "created_by"),
    *_required(_MOMENT, "created_at"),
    *_optional(_MOMENT, "expires_at", "revoked_at", "last_used_at"),
    sa.PrimaryKeyConstraint("id"),
    sa.UniqueConstraint("secret_sha256"),
)
sa.Table(
    "sessions",
    _METADATA,
    *_required(_SHA256, "token_sha256"),
    *_required(_ID, "key_id"),
    *_required(_MOMENT, "created_at", "expires_at"),
    sa.PrimaryKeyConstraint("token_sha256"),
    sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], ondelete="CASCADE"),
    sa.Index(None, "expires_at"),
    sa.Index(None, "key_id"),
)
sa.Table(
    "audit_entries",
    _METADATA,
    *_required(_ID, "id"),
    *_required(_MOMENT, "at"),
    *_optional(_ID, "key_id"),
    *_required(_WORD, "method"),
    *_required(sa.Text, "path"),
    *_required(sa.Integer, "status"),
    *_required(_NAME, "request_id"),
    *_optional(_NAME, "address"),
    sa.PrimaryKeyConstraint("id"),
    sa.Index(None, "key_id", "id"),
)
sa.Table(
    "idempotency_records",
    _METADATA,
    *_required(_NAME, "key", "endpoint"),
    *_required(_SHA256, "request_sha256"),
    *_required(sa.Integer, "status_code"),
    *_required(sa.JSON, "body", "headers"),
    *_required(_MOMENT, "created_at"),
    sa.PrimaryKeyConstraint("key", "endpoint"),
    sa.Index(None, "created_at"),
)
sa.Table(
    "tallies",
    _METADATA,
    *_required(sa.String(64), "name"),
    *_required(_NAME, "labels"),
    *_required(sa.Double, "value"),
    sa.PrimaryKeyConstraint("name", "labels"),
)
sa.Table(
    "workers",
    _METADATA,
    *_required(_NAME, "name"),
    *_required(_WORD, "lane"),
    *_required(sa.Integer, "processes"),
    *_required(_MOMENT, "started_at", "seen_at", "expires_at"),
    sa.PrimaryKeyConstraint("name"),
)


def upgrade() -> None:
    _METADATA.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    _METADATA.drop_all(op.get_bind(), checkfirst=False)
