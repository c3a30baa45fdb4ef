"""Attempts, priorities and checkpoints of jobs; API keys, sessions, the audit log and shared counters.

New columns are nullable or have a default, so that workers of the previous release can insert rows.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("priority", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("key_id", sa.String(32), nullable=True))
    op.add_column("jobs", sa.Column("checkpoint", sa.JSON(), nullable=True))
    op.create_index("ix_jobs_key_id_status", "jobs", ["key_id", "status"])
    op.add_column("datasets", sa.Column("key_id", sa.String(32), nullable=True))
    op.create_index("ix_datasets_key_id", "datasets", ["key_id"])
    _create_job_attempts()
    _create_keys()
    _create_audit_entries()
    op.create_table(
        "tallies",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("labels", sa.String(255), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", "labels", name="pk_tallies"),
    )


def downgrade() -> None:
    for table in ("tallies", "audit_entries", "sessions", "api_keys", "job_attempts"):
        op.drop_table(table)
    op.drop_index("ix_datasets_key_id", "datasets")
    op.drop_column("datasets", "key_id")
    op.drop_index("ix_jobs_key_id_status", "jobs")
    for name in ("checkpoint", "key_id", "priority"):
        op.drop_column("jobs", name)


def _moment(name: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _create_job_attempts() -> None:
    op.create_table(
        "job_attempts",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("token", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(255), nullable=False),
        _moment("started_at", nullable=False),
        _moment("ended_at"),
        sa.Column("ending", sa.String(16), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("resumed_from", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("job_id", "token", name="pk_job_attempts"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_attempts_job_id", ondelete="CASCADE"),
    )


def _create_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("hint", sa.String(16), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("max_active_jobs", sa.Integer(), nullable=True),
        sa.Column("max_stored_bytes", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.String(32), nullable=True),
        _moment("created_at", nullable=False),
        _moment("expires_at"),
        _moment("revoked_at"),
        _moment("last_used_at"),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("secret_sha256", name="uq_api_keys_secret_sha256"),
    )
    op.create_table(
        "sessions",
        sa.Column("token_sha256", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(32), nullable=False),
        _moment("created_at", nullable=False),
        _moment("expires_at", nullable=False),
        sa.PrimaryKeyConstraint("token_sha256", name="pk_sessions"),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name="fk_sessions_key_id", ondelete="CASCADE"),
    )
    op.create_index("ix_sessions_key_id", "sessions", ["key_id"])
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"])


def _create_audit_entries() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.String(32), nullable=False),
        _moment("at", nullable=False),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("method", sa.String(16), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.String(255), nullable=False),
        sa.Column("address", sa.String(255), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
    )
    op.create_index("ix_audit_entries_key_id_id", "audit_entries", ["key_id", "id"])
