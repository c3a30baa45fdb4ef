"""Trash, projects, notes and tags of jobs, and names of models that keep their highest version."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

TRASHABLE = ("jobs", "models", "evaluations", "rankings", "comparisons", "inspections")
LABELLED = (*TRASHABLE, "datasets", "studies", "experiments")


def upgrade() -> None:
    for table in LABELLED:
        op.add_column(table, sa.Column("project", sa.String(100), nullable=True))
        op.create_index(f"ix_{table}_project", table, ["project"])
    for table in TRASHABLE:
        op.add_column(table, sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
        op.add_column(table, sa.Column("deleted_by", sa.String(32), nullable=True))
        op.create_index(f"ix_{table}_deleted_at", table, ["deleted_at"])
    op.add_column("jobs", sa.Column("notes", sa.Text(), nullable=True))
    op.add_column("jobs", sa.Column("tags", sa.JSON(), nullable=True))
    op.add_column("api_keys", sa.Column("projects", sa.JSON(), nullable=True))
    op.create_table(
        "model_names",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_model_names"),
    )
    op.execute(
        "INSERT INTO model_names (name, last_version) SELECT name, max(version) FROM models GROUP BY name"
    )
    op.create_table(
        "pending_deletions",
        sa.Column("folder", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("folder", name="pk_pending_deletions"),
    )


def downgrade() -> None:
    op.drop_table("pending_deletions")
    op.drop_table("model_names")
    op.drop_column("api_keys", "projects")
    op.drop_column("jobs", "tags")
    op.drop_column("jobs", "notes")
    for table in TRASHABLE:
        op.drop_index(f"ix_{table}_deleted_at", table)
        op.drop_column(table, "deleted_by")
        op.drop_column(table, "deleted_at")
    for table in LABELLED:
        op.drop_index(f"ix_{table}_project", table)
        op.drop_column(table, "project")
