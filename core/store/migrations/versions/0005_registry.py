"""Lineage of models, imported models, and the history and gates of aliases.

New columns are nullable or have a default, so that workers of the previous release can insert rows.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# Columns that imported models lack, with a default for the previous release.
_OF_TRAINED: dict[str, tuple[Any, str]] = {
    "dataset_id": (sa.String(32), ""),
    "loss": (sa.JSON(), "{}"),
    "hyperparameters": (sa.JSON(), "{}"),
}


def upgrade() -> None:
    for name, (kind, _) in _OF_TRAINED.items():
        _replace(sa.Column(name, kind, nullable=True), "kept")
    for column in (
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("tags", sa.JSON(), nullable=True),
        sa.Column("lineage", sa.JSON(), nullable=True),
    ):
        op.add_column("models", column)
    op.add_column("model_aliases", sa.Column("move_id", sa.String(32), nullable=True))
    op.create_table(
        "alias_moves",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("alias", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("from_version", sa.Integer(), nullable=True),
        sa.Column("to_version", sa.Integer(), nullable=True),
        sa.Column("previous_id", sa.String(32), nullable=True),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("job_id", sa.String(32), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alias_moves"),
    )
    op.create_index("ix_alias_moves_name_alias_id", "alias_moves", ["name", "alias", "id"])
    op.create_table(
        "alias_gates",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("alias", sa.String(255), nullable=False),
        sa.Column("dataset_id", sa.String(32), nullable=False),
        sa.Column("rule", sa.JSON(), nullable=False),
        sa.Column("key_id", sa.String(32), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", "alias", name="pk_alias_gates"),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_alias_gates_dataset_id"),
    )
    op.create_index("ix_alias_gates_dataset_id", "alias_gates", ["dataset_id"])


def downgrade() -> None:
    op.drop_table("alias_gates")
    op.drop_table("alias_moves")
    op.drop_column("model_aliases", "move_id")
    for name in ("lineage", "tags", "description"):
        op.drop_column("models", name)
    for name, (kind, default) in _OF_TRAINED.items():
        column = sa.Column(name, kind, nullable=False, server_default=default)
        _replace(column, f"COALESCE(kept, '{default}')")


def _replace(column: sa.Column[Any], value: str) -> None:
    """Replace the column of the same name.

    A batch operation on SQLite would copy the table and drop the original, to which foreign keys refer.
    """
    op.execute(f"ALTER TABLE models RENAME COLUMN {column.name} TO kept")
    op.add_column("models", column)
    op.execute(f"UPDATE models SET {column.name} = {value}")  # noqa: S608 - constant names
    op.drop_column("models", "kept")
