"""Candidates of automatic trainings."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.create_table(
        "candidates",
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("training", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("worker_job_id", sa.String(32), nullable=True),
        sa.Column("worker_token", sa.Integer(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("interval", sa.JSON(), nullable=True),
        sa.Column("folds", sa.Integer(), nullable=False),
        sa.Column("planned_folds", sa.Integer(), nullable=False),
        sa.Column("iterations", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=True),
        sa.Column("tied_with_best", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_candidates"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_candidates_job_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    op.drop_table("candidates")
