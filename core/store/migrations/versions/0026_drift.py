"""Stored scoring requests, and reports of drift in them."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.create_table(
        "score_samples",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_score_samples"),
    )
    op.create_index("ix_score_samples_last_at", "score_samples", ["last_at"])
    op.create_table(
        "drift_reports",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("model_id", sa.String(32), nullable=False),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("days", sa.Double(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("queries", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("drifted_features", sa.JSON(), nullable=False),
        sa.Column("thresholds", sa.JSON(), nullable=False),
        sa.Column("comparisons", sa.JSON(), nullable=False),
        sa.Column("project", sa.String(100), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_drift_reports"),
    )
    op.create_index("ix_drift_reports_job_id", "drift_reports", ["job_id"])
    op.create_index("ix_drift_reports_model_id_id", "drift_reports", ["model_id", "id"])
    op.create_index("ix_drift_reports_name_id", "drift_reports", ["name", "id"])
    op.create_index("ix_drift_reports_project", "drift_reports", ["project"])


def downgrade() -> None:
    op.drop_table("drift_reports")
    op.drop_table("score_samples")
