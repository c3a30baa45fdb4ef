"""Trash of experiments."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column("experiments", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("experiments", sa.Column("deleted_by", sa.String(32), nullable=True))
    op.create_index("ix_experiments_deleted_at", "experiments", ["deleted_at"])


def downgrade() -> None:
    op.drop_index("ix_experiments_deleted_at", "experiments")
    op.drop_column("experiments", "deleted_by")
    op.drop_column("experiments", "deleted_at")
