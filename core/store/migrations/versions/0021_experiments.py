"""Experiments and the trainings that they need."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "experiments",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("paper", sa.String(255), nullable=False),
        sa.Column("tables", sa.JSON(), nullable=True),
        sa.Column("scale", sa.String(16), nullable=False),
        sa.Column("data", sa.String(16), nullable=False),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("folds", sa.JSON(), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("datasets", sa.JSON(), nullable=False),
        sa.Column("corpus", sa.String(255), nullable=True),
        sa.Column("reported_tables", sa.Integer(), nullable=False),
        sa.Column("report_job_id", sa.String(32), nullable=True),
        sa.Column("report_key", sa.String(255), nullable=True),
        sa.Column("sentence", sa.String(), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["report_job_id"], ["jobs.id"], name="fk_experiments_report_job_id_jobs"),
        sa.PrimaryKeyConstraint("id", name="pk_experiments"),
    )
    op.create_index("ix_experiments_status_id", "experiments", ["status", "id"])
    op.create_table(
        "experiment_trainings",
        sa.Column("experiment_id", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("fold", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("sharing_key", sa.String(64), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=True),
        sa.Column("evaluation_job_id", sa.String(32), nullable=True),
        sa.Column("needs_training_values", sa.Boolean(), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id"],
            ["experiments.id"],
            name="fk_experiment_trainings_experiment_id_experiments",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_experiment_trainings_job_id_jobs"),
        sa.ForeignKeyConstraint(
            ["evaluation_job_id"], ["jobs.id"], name="fk_experiment_trainings_evaluation_job_id_jobs"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "digest", "fold", name="pk_experiment_trainings"),
    )
    op.create_index("ix_experiment_trainings_sharing_key", "experiment_trainings", ["sharing_key"])
    op.create_index("ix_experiment_trainings_job_id", "experiment_trainings", ["job_id"])


def downgrade() -> None:
    op.drop_table("experiment_trainings")
    op.drop_table("experiments")
