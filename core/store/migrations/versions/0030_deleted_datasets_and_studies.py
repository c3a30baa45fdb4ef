"""Trash of datasets and studies."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

TABLES = ("datasets", "studies")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
        op.add_column(table, sa.Column("deleted_by", sa.String(32), nullable=True))
        op.create_index(f"ix_{table}_deleted_at", table, ["deleted_at"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_deleted_at", table)
        op.drop_column(table, "deleted_by")
        op.drop_column(table, "deleted_at")
