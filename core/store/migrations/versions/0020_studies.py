"""Studies and their trials."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "studies",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("model_name", sa.String(255), nullable=False),
        sa.Column("dataset_id", sa.String(32), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("patience", sa.Integer(), nullable=True),
        sa.Column("parallel_trials", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("best_number", sa.Integer(), nullable=True),
        sa.Column("best_value", sa.Double(), nullable=True),
        sa.Column("default_value", sa.Double(), nullable=True),
        sa.Column("default_job_id", sa.String(32), nullable=True),
        sa.Column("winner_job_id", sa.String(32), nullable=True),
        sa.Column("conclude_job_id", sa.String(32), nullable=True),
        sa.Column("conclusion", sa.JSON(), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("paused_seconds", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
    )
    op.create_index("ix_studies_status_id", "studies", ["status", "id"])
    op.create_index("ix_studies_dataset_id_id", "studies", ["dataset_id", "id"])
    op.create_index("ix_studies_default_job_id", "studies", ["default_job_id"])
    op.create_index("ix_studies_winner_job_id", "studies", ["winner_job_id"])
    op.create_table(
        "trials",
        sa.Column("study_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=True),
        sa.Column("training", sa.JSON(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("folds", sa.JSON(), nullable=True),
        sa.Column("interval", sa.JSON(), nullable=True),
        sa.Column("curve", sa.JSON(), nullable=True),
        sa.Column("best_iteration", sa.Integer(), nullable=True),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("study_id", "number", name="pk_trials"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_trials_study_id", ondelete="CASCADE"),
    )
    op.create_index("ix_trials_job_id", "trials", ["job_id"], unique=True)


def downgrade() -> None:
    op.drop_table("trials")
    op.drop_table("studies")
