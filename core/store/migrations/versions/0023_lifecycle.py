"""Trash, projects, notes and tags of jobs, highest versions of model names, and compared systems."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

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
    op.add_column("models", sa.Column("title", sa.String(255), nullable=True))
    op.add_column("api_keys", sa.Column("projects", sa.JSON(), nullable=True))
    op.create_table(
        "model_names",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("project", sa.String(100), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_model_names"),
    )
    op.create_index("ix_model_names_project", "model_names", ["project"])
    op.execute(
        "INSERT INTO model_names (name, last_version) SELECT name, max(version) FROM models GROUP BY name"
    )
    op.create_table(
        "pending_deletions",
        sa.Column("folder", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("folder", name="pk_pending_deletions"),
    )
    compared_systems = op.create_table(
        "compared_systems",
        sa.Column("comparison_id", sa.String(32), nullable=False),
        sa.Column("system_id", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("comparison_id", "system_id", name="pk_compared_systems"),
        sa.ForeignKeyConstraint(
            ["comparison_id"],
            ["comparisons.id"],
            name="fk_compared_systems_comparison_id_comparisons",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_compared_systems_system_id", "compared_systems", ["system_id"])
    op.bulk_insert(compared_systems, list(_compared_systems()))


def _compared_systems() -> Iterator[dict[str, Any]]:
    comparisons = sa.table("comparisons", sa.column("id", sa.String), sa.column("systems", sa.JSON))
    for comparison_id, systems in op.get_bind().execute(sa.select(comparisons)).all():
        system_ids = {each.get(name) for each in systems for name in ("model_id", "ranking_id")}
        for system_id in sorted(system_ids - {None}):
            yield {"comparison_id": comparison_id, "system_id": system_id}


def downgrade() -> None:
    op.drop_table("compared_systems")
    op.drop_table("pending_deletions")
    op.drop_table("model_names")
    op.drop_column("api_keys", "projects")
    op.drop_column("models", "title")
    op.drop_column("jobs", "tags")
    op.drop_column("jobs", "notes")
    for table in TRASHABLE:
        op.drop_index(f"ix_{table}_deleted_at", table)
        op.drop_column(table, "deleted_by")
        op.drop_column(table, "deleted_at")
    for table in LABELLED:
        op.drop_index(f"ix_{table}_project", table)
        op.drop_column(table, "project")
