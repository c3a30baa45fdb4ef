"""Inspections of models."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "inspections",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("model_id", sa.String(32), nullable=False),
        sa.Column("dataset_id", sa.String(32), nullable=False),
        sa.Column("metric", sa.String(255), nullable=False),
        sa.Column("contract", sa.JSON(), nullable=False),
        sa.Column("baseline", sa.JSON(), nullable=False),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("within", sa.String(16), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("importance", sa.JSON(), nullable=False),
        sa.Column("partial_dependence", sa.JSON(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_inspections"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_inspections_job_id"),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_inspections_model_id"),
    )
    op.create_index("ix_inspections_job_id", "inspections", ["job_id"])
    op.create_index("ix_inspections_model_id_id", "inspections", ["model_id", "id"])


def downgrade() -> None:
    op.drop_table("inspections")
