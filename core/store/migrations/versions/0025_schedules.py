"""Schedules and their runs."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("cron", sa.String(255), nullable=False),
        sa.Column("timezone", sa.String(255), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("job", sa.JSON(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("alias", sa.String(255), nullable=True),
        sa.Column("only_new_data", sa.Boolean(), nullable=False),
        sa.Column("next_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.JSON(), nullable=True),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("project", sa.String(100), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_schedules"),
    )
    op.create_index("ix_schedules_enabled_next_run_at", "schedules", ["enabled", "next_run_at"])
    op.create_index("ix_schedules_project", "schedules", ["project"])
    op.create_table(
        "schedule_runs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("schedule_id", sa.String(32), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("missed_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("trigger", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("datasets", sa.JSON(), nullable=False),
        sa.Column("job_id", sa.String(32), nullable=True),
        sa.Column("model_id", sa.String(32), nullable=True),
        sa.Column("promotion_job_id", sa.String(32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["schedule_id"],
            ["schedules.id"],
            name="fk_schedule_runs_schedule_id_schedules",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_schedule_runs"),
        sa.UniqueConstraint("schedule_id", "due_at", name="uq_schedule_runs_schedule_id_due_at"),
    )
    op.create_index("ix_schedule_runs_schedule_id_id", "schedule_runs", ["schedule_id", "id"])
    op.create_index("ix_schedule_runs_status", "schedule_runs", ["status"])


def downgrade() -> None:
    op.drop_table("schedule_runs")
    op.drop_table("schedules")
