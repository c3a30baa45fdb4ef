"""Click logs."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.create_table(
        "click_logs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("source", sa.JSON(), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("sha256", sa.String(64), nullable=True),
        sa.Column("folder", sa.String(255), nullable=True),
        sa.Column("statistics", sa.JSON(), nullable=True),
        sa.Column("findings", sa.JSON(), nullable=True),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("project", sa.String(100), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_by", sa.String(32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_click_logs"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_click_logs_job_id_jobs"),
    )
    op.create_index("ix_click_logs_status_id", "click_logs", ["status", "id"])
    for column in ("job_id", "key_id", "project", "deleted_at"):
        op.create_index(f"ix_click_logs_{column}", "click_logs", [column])


def downgrade() -> None:
    op.drop_table("click_logs")
